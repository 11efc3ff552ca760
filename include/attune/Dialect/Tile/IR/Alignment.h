// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known of where the rows of a buffer start, and which dimensions they
// have.

#ifndef ATTUNE_DIALECT_TILE_IR_ALIGNMENT_H
#define ATTUNE_DIALECT_TILE_IR_ALIGNMENT_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Value.h"

namespace attune::tile {

/// The largest known divisor of all row strides and offsets of a buffer, in
/// elements: what its rows are aligned to. 1 where columns are not contiguous.
int64_t knownRowDivisor(mlir::Value buffer);

/// The dimensions of its source that a view does not have. Where strides leave
/// open which one that is 1 it has, it has one that is 1 in the source as well:
/// the only query of a head, and not one head of many.
llvm::SmallBitVector findDroppedDims(mlir::memref::SubViewOp view);

/// A view that has the `kept` ones of a buffer's dimensions alone, in their
/// order; the others have an extent of 1. The view's own type says which, to
/// upstream as well, also where several are 1 and their strides are not known.
mlir::Value viewDims(mlir::ImplicitLocOpBuilder &b, mlir::Value buffer,
                     llvm::ArrayRef<mlir::OpFoldResult> offsets,
                     llvm::ArrayRef<mlir::OpFoldResult> extents,
                     llvm::ArrayRef<int64_t> kept);

/// The part of a buffer at `index` of dimension `dim`, without that dimension.
mlir::Value selectAt(mlir::ImplicitLocOpBuilder &b, mlir::Value buffer,
                     int64_t dim, mlir::OpFoldResult index);

} // namespace attune::tile

#endif // ATTUNE_DIALECT_TILE_IR_ALIGNMENT_H
