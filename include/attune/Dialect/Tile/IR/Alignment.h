// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known of where the rows of a buffer start.

#ifndef ATTUNE_DIALECT_TILE_IR_ALIGNMENT_H
#define ATTUNE_DIALECT_TILE_IR_ALIGNMENT_H

#include "mlir/IR/Value.h"

namespace attune::tile {

/// The largest known divisor of all row strides and offsets of a buffer, in
/// elements: what its rows are aligned to. 1 where columns are not contiguous.
int64_t knownRowDivisor(mlir::Value buffer);

} // namespace attune::tile

#endif // ATTUNE_DIALECT_TILE_IR_ALIGNMENT_H
