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

/// Emits the length, an index, that an element of the lengths of batches, an
/// i32, says, of at most `size`.
mlir::Value clampLength(mlir::ImplicitLocOpBuilder &b, mlir::Value length,
                        mlir::Value size);

} // namespace attune::attn

#endif // ATTUNE_DIALECT_ATTN_IR_SIZEFACTS_H
