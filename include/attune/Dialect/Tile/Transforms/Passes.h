// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of the tile dialect.

#ifndef ATTUNE_DIALECT_TILE_TRANSFORMS_PASSES_H
#define ATTUNE_DIALECT_TILE_TRANSFORMS_PASSES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"

namespace attune::tile {

#define GEN_PASS_DECL
#include "attune/Dialect/Tile/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "attune/Dialect/Tile/Transforms/Passes.h.inc"

} // namespace attune::tile

#endif // ATTUNE_DIALECT_TILE_TRANSFORMS_PASSES_H
