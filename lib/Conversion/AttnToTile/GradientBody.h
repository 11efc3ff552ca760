// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the bodies of the kernels of attn.attention_grad in terms of tiles.

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_GRADIENTBODY_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_GRADIENTBODY_H

#include "GradientRows.h"
#include "TileOrder.h"
#include "attune/Schedule/AttentionGrad/Legality.h"

namespace attune {

/// Emits the gradients of one tile of keys, or of queries, of one head, by
/// matrix instructions of this kind. What heads visit may take all of the
/// device's cache. Expects an op whose short forms were expanded.
void buildGradientBody(mlir::OpBuilder &builder, attn::AttentionGradOp op,
                       const GradientOperands &operands,
                       const GradientKernel &kernel, tile::MmaAtomAttr atom,
                       tile::TargetAttr target);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_GRADIENTBODY_H
