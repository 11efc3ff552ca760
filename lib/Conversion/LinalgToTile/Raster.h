// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which tile of a matrix a workgroup computes, and when.

#ifndef ATTUNE_LIB_CONVERSION_LINALGTOTILE_RASTER_H
#define ATTUNE_LIB_CONVERSION_LINALGTOTILE_RASTER_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attune {

/// A tile of a batch of matrices; index values.
struct MatrixTile {
  mlir::Value batch, row, column;
};

/// The tile of a number, of `rows` x `columns` tiles of each matrix: all of one
/// matrix before the next one. Rows come in groups of `group`, in which tiles
/// run down the rows first, so that workgroups which run at a time share rows
/// and columns in the cache. With `alongColumns` both are exchanged.
MatrixTile orderTiles(mlir::ImplicitLocOpBuilder &b, mlir::Value number,
                      mlir::Value rows, mlir::Value columns, int64_t group,
                      bool alongColumns);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_LINALGTOTILE_RASTER_H
