// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers the passes of the project and those of upstream, for pipelines that
// name them.

#ifndef ATTUNE_INITALLPASSES_H
#define ATTUNE_INITALLPASSES_H

#include "attune/Conversion/Passes.h"
#include "attune/Dialect/Attn/Transforms/Passes.h"
#include "attune/Dialect/Tile/Transforms/Passes.h"
#include "attune/Matmul/Passes.h"
#include "attune/Pipelines/Pipelines.h"
#include "attune/Schedule/Transforms/Passes.h"

namespace attune {

/// The passes and pipelines of the project alone, for a host that has
/// upstream's already.
inline void registerAttunePasses() {
  attn::registerAttnPasses();
  matmul::registerMatmulPasses();
  registerSchedulePasses();
  tile::registerTilePasses();
  registerConversionPasses();
  registerPipelines();
}

/// Upstream's passes.
void registerUpstreamPasses();

inline void registerAllPasses() {
  registerAttunePasses();
  registerUpstreamPasses();
}

} // namespace attune

#endif // ATTUNE_INITALLPASSES_H
