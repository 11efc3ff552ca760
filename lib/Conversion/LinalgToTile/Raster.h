// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which tile of a matrix a workgroup computes and when, and what the device's
// cache keeps of it.

#ifndef ATTUNE_LIB_CONVERSION_LINALGTOTILE_RASTER_H
#define ATTUNE_LIB_CONVERSION_LINALGTOTILE_RASTER_H

#include "attune/Schedule/Matmul/Legality.h"
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

/// What the device's cache is asked to do with what kernels read and write.
struct Evictions {
  tile::Eviction lhs = tile::Eviction::Normal, rhs = tile::Eviction::Normal,
                 result = tile::Eviction::Normal;
};

/// Of a problem that the cache does not hold as a whole, the result goes first:
/// nobody reads it here. A group of tiles keeps its part of one operand and
/// reads all of the other; if that is more than the cache holds, it does not
/// stay until the next group anyway. Of sizes that are not known, the cache
/// decides.
Evictions chooseEvictions(const MatmulProblem &problem,
                          schedule::MatmulAttr schedule,
                          tile::TargetAttr target);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_LINALGTOTILE_RASTER_H
