// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which reads of an op's regions are tiles: of a block of scores, those of one
// read are neighbours in its tensor, which can be copied as a whole.

#ifndef ATTUNE_DIALECT_ATTN_ANALYSIS_REGIONTILES_H
#define ATTUNE_DIALECT_ATTN_ANALYSIS_REGIONTILES_H

#include "attune/Dialect/Attn/Analysis/MaskRanges.h"
#include "attune/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace attune {

/// The reads of the op's score region, and behind them those of its mask, in
/// order, of i8 or of floats of 8, 16 or 32 bits, whose last two indices are
/// the query and the key, and whose others are computed of batch and head, of
/// what surrounds the op, and of constants alone. None where batches have
/// lengths of their own or keys lie in pages, whose positions are not places.
llvm::SmallVector<mlir::tensor::ExtractOp>
findRegionTiles(attn::AttentionOpInterface op);

/// Whether all batches read the same tile.
bool isOfAllBatches(mlir::tensor::ExtractOp tile);

/// Whether each head of each batch reads a tile of its own, and the regions of
/// the op nothing else of the tensor.
bool isOfOneHead(attn::AttentionOpInterface op, mlir::tensor::ExtractOp tile);

/// Whether tiles of one head each are known to be all of the tensor.
bool coversTensor(attn::AttentionOpInterface op, mlir::tensor::ExtractOp tile);

/// Whether a score or mask region reads a tensor at a place that depends on the
/// query, or on the key.
bool readsTensorAt(mlir::Region &region, MaskDim dim);

} // namespace attune

#endif // ATTUNE_DIALECT_ATTN_ANALYSIS_REGIONTILES_H
