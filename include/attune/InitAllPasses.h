// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers the passes of the project and those of upstream that its
// pipelines, or people who debug them, run by name.

#ifndef ATTUNE_INITALLPASSES_H
#define ATTUNE_INITALLPASSES_H

#include "attune/Conversion/Passes.h"
#include "attune/Dialect/Attn/Transforms/Passes.h"
#include "attune/Dialect/Tile/Transforms/Passes.h"
#include "attune/Pipelines/Pipelines.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

namespace attune {

/// The passes and pipelines of the project alone, for a host that has
/// upstream's already.
inline void registerAttunePasses() {
  attn::registerAttnPasses();
  tile::registerTilePasses();
  registerConversionPasses();
  registerPipelines();
}

inline void registerAllPasses() {
  registerAttunePasses();
  mlir::registerTransformsPasses();
  mlir::bufferization::registerBufferizationPasses();
  mlir::memref::registerMemRefPasses();
}

} // namespace attune

#endif // ATTUNE_INITALLPASSES_H
