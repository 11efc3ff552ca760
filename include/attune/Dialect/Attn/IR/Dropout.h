// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which weights dropout keeps, as arithmetic on scalars: references and kernels
// have the same, and so drop the same ones.

#ifndef ATTUNE_DIALECT_ATTN_IR_DROPOUT_H
#define ATTUNE_DIALECT_ATTN_IR_DROPOUT_H

#include "attune/Dialect/Attn/IR/Attn.h"

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
  /// What weights that are kept are multiplied by.
  static float getScale(AttentionOpInterface op);

private:
  /// Of 32 bits each.
  mlir::Value seed[2], offset;
  int64_t threshold;
};

} // namespace attune::attn

#endif // ATTUNE_DIALECT_ATTN_IR_DROPOUT_H
