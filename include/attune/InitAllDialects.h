// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers the dialects of the project and all of upstream's with what
// upstream keeps apart from them: a transform script may name any.

#ifndef ATTUNE_INITALLDIALECTS_H
#define ATTUNE_INITALLDIALECTS_H

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Dialect/Attn/Transforms/TilingInterfaceImpl.h"
#include "attune/Dialect/Launch/IR/Launch.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Schedule/Attention/Register.h"
#include "attune/Schedule/AttentionGrad/Register.h"
#include "attune/Schedule/Matmul/Register.h"
#include "attune/Schedule/TransformOps/ScheduleTransformOps.h"
#include "attune/Target/TargetRegistry.h"
#include "mlir/IR/DialectRegistry.h"

namespace attune {

/// The dialects of the project alone, for a host that has upstream's already.
inline void registerAttuneDialects(mlir::DialectRegistry &registry) {
  registry.insert<attn::AttnDialect, launch::LaunchDialect,
                  schedule::ScheduleDialect, tile::TileDialect>();
  attn::registerTilingInterfaceExternalModels(registry);
  registerAttentionTunable(registry);
  registerAttentionGradTunable(registry);
  registerMatmulTunable(registry);
  registerTransformExtension(registry);
  registerTargetDialects(registry);
}

/// Upstream's dialects, with what upstream keeps apart from them. Not inline:
/// upstream's functions of the same names stay out of sight.
void registerUpstreamDialects(mlir::DialectRegistry &registry);

inline void registerAllDialects(mlir::DialectRegistry &registry) {
  registerAttuneDialects(registry);
  registerUpstreamDialects(registry);
}

} // namespace attune

#endif // ATTUNE_INITALLDIALECTS_H
