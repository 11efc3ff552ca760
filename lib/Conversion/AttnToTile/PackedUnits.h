// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keys and values that are multiplied in units (tile.mma), as numbers that are
// more than the integers that bytes hold: what is made of queries, so that
// columns have one unit, and what makes up for both.

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_PACKEDUNITS_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_PACKEDUNITS_H

#include "OnlineSoftmax.h"

namespace attune {

/// Queries in f32, of amounts less than 2, so that products with keys have one
/// unit, and are as large as f16 have room for; and what products of these are
/// to be multiplied by.
mlir::Value scaleForUnits(TileBuilder &b, mlir::Value queries,
                          mlir::ArrayRef<int64_t> units);
double getUnitOfScaled(mlir::ArrayRef<int64_t> units);
/// What is to be added to products of these queries, in f32 as they are
/// multiplied, element by element.
mlir::Value getBiases(TileBuilder &b, mlir::Value queries,
                      mlir::ArrayRef<int64_t> units);

/// Adds, in each column, the weights of a block as an MMA with packed values
/// has them.
mlir::Value addCounts(TileBuilder &b, mlir::Value weights, mlir::Value counts);
/// Sums of products of weights, of which there are so many in a row, with
/// values, as integers have them.
mlir::Value dropUnits(TileBuilder &b, mlir::Value sums, mlir::Value counts,
                      mlir::ArrayRef<int64_t> units);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_PACKEDUNITS_H
