// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What dropout of an op draws its random numbers from.

#ifndef ATTUNE_DIALECT_ATTN_IR_DROPOUT_H
#define ATTUNE_DIALECT_ATTN_IR_DROPOUT_H

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Support/Philox.h"

namespace attune::attn {

class Dropout {
public:
  /// Of an op that has dropout; `load` reads the element of a number of the
  /// seed and the offset, an i64.
  Dropout(mlir::OpBuilder &builder, mlir::Location loc, AttentionOpInterface op,
          llvm::function_ref<mlir::Value(int64_t number)> load);

  /// Whether the weight of a batch, query head, query and key, all indices, is
  /// kept, of so many heads.
  mlir::Value isKept(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value b, mlir::Value h, mlir::Value heads,
                     mlir::Value m, mlir::Value n) const;
  const PhiloxSeed &getSeed() const { return seed; }
  /// How many of kDropoutSteps are dropped.
  int64_t getThreshold() const { return threshold; }
  /// The number of a head among those of all batches, 32 bits.
  static mlir::Value getHead(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value b, mlir::Value h, mlir::Value heads);
  /// What weights that are kept are multiplied by.
  static float getScale(AttentionOpInterface op);

private:
  PhiloxSeed seed;
  int64_t threshold;
};

} // namespace attune::attn

#endif // ATTUNE_DIALECT_ATTN_IR_DROPOUT_H
