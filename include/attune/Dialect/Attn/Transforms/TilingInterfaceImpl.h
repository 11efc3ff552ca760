// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiling of attn.attention by whoever tiles by upstream's interfaces.

#ifndef ATTUNE_DIALECT_ATTN_TRANSFORMS_TILINGINTERFACEIMPL_H
#define ATTUNE_DIALECT_ATTN_TRANSFORMS_TILINGINTERFACEIMPL_H

#include "mlir/IR/DialectRegistry.h"

namespace attune::attn {

/// The iteration domain of attn.attention is (b, h, m, n): batches, query heads
/// and queries are parallel, keys are a reduction.
///
/// - A tile of the parallel dimensions is attention of slices, with what the
///   regions, `causal` and the like say of positions moved by the tile's
///   offset. A tile of several heads must fit the groups that share a key head.
/// - Keys are tiled as a partial reduction whose parts are independent
///   (PartialReductionOuterParallel, as transform's
///   structured.tile_reduction_using_forall does): each part is attention of
///   its keys with its `lse`, and mergeStates() makes one of them. A plain loop
///   over keys is refused: a part alone says nothing of the others' sum.
/// - Partial results have the element type of the operands: there is one
///   rounding more than without tiling. They are merged in f32.
void registerTilingInterfaceExternalModels(mlir::DialectRegistry &registry);

} // namespace attune::attn

#endif // ATTUNE_DIALECT_ATTN_TRANSFORMS_TILINGINTERFACEIMPL_H
