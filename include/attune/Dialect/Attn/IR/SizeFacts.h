// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known of sizes before the op runs.

#ifndef ATTUNE_DIALECT_ATTN_IR_SIZEFACTS_H
#define ATTUNE_DIALECT_ATTN_IR_SIZEFACTS_H

#include "attune/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <limits>

namespace attune::attn {

/// All of a static size; of a dynamic one what assertions (`cf.assert`) in
/// front of the op say of its `tensor.dim`.
struct SizeFacts {
  /// The largest number that is known to divide the size.
  int64_t divisor = 1;
  /// The least and the most that it can be, in elements.
  int64_t min = 0, max = std::numeric_limits<int32_t>::max();
};

/// Of the number of queries and of keys.
SizeFacts getQueryFacts(AttentionOpInterface op);
SizeFacts getKeyFacts(AttentionOpInterface op);

/// Emits the number of keys that a batch has room for, an index.
mlir::OpFoldResult getKeyCount(mlir::OpBuilder &builder,
                               AttentionOpInterface op);

/// The argument of a score or mask region that is the batch.
mlir::BlockArgument getBatchArgument(mlir::Region &region);

/// Of one batch, the queries or the keys, as index values.
struct BatchRows {
  /// The first one's place along `s`; null where they are not packed.
  mlir::Value first;
  /// How many there are, and how many there is room for.
  mlir::Value length, room;
};

/// Emits an element, an i32, of a tensor of a dimension, or of its buffer.
using EmitLoad = llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)>;

/// Emits what starts and lengths say of batch `batch`; either may be null.
/// There are `size` places along `s`, which nothing reaches beyond whatever
/// they say.
BatchRows getBatchRows(mlir::ImplicitLocOpBuilder &b, mlir::Value starts,
                       mlir::Value lengths, mlir::Value batch, mlir::Value size,
                       EmitLoad load);

/// Emits an element of starts as a place along `s`.
mlir::Value clampStart(mlir::ImplicitLocOpBuilder &b, mlir::Value start,
                       mlir::Value size);

/// Emits the checks of sizes alone: those that RuntimeVerifiableOpInterface
/// emits but for those of what starts hold, which may be on a device.
void emitSizeChecks(mlir::OpBuilder &builder, AttentionOpInterface op);

/// Emits how many batches there are.
mlir::OpFoldResult getBatchCount(mlir::OpBuilder &builder,
                                 AttentionOpInterface op);

} // namespace attune::attn

#endif // ATTUNE_DIALECT_ATTN_IR_SIZEFACTS_H
