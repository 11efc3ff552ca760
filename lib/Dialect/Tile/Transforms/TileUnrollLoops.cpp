// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unrolls the loops over key blocks.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace attune::tile {
#define GEN_PASS_DEF_TILEUNROLLLOOPSPASS
#include "attune/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attune::tile

using namespace mlir;
using namespace attune;
using namespace attune::tile;

namespace {
struct TileUnrollLoops : tile::impl::TileUnrollLoopsPassBase<TileUnrollLoops> {
  void runOnOperation() override;
};
} // namespace

/// Whether the loop visits one block after the other: an innermost one that
/// uses channels. One over query tiles, of which no inner loop is left, goes in
/// steps of the grid.
static bool visitsBlocks(scf::ForOp loop) {
  if (!isConstantIntValue(loop.getStep(), 1))
    return false;
  bool usesChannels = false;
  WalkResult result = loop.getBody()->walk([&](Operation *op) {
    usesChannels |= isa<PutOp, GetOp>(op);
    return isa<LoopLikeOpInterface>(op) ? WalkResult::interrupt()
                                        : WalkResult::advance();
  });
  return usesChannels && !result.wasInterrupted();
}

void TileUnrollLoops::runOnOperation() {
  auto schedule = getOperation()->getAttrOfType<schedule::AttentionAttr>(
      TileDialect::kScheduleAttrName);
  if (!schedule || schedule.getUnroll() == 1)
    return;
  SmallVector<scf::ForOp> loops;
  getOperation().walk([&](scf::ForOp loop) {
    if (visitsBlocks(loop))
      loops.push_back(loop);
  });
  // Fails for loops that never run, which may stay.
  for (scf::ForOp loop : loops)
    (void)loopUnrollByFactor(loop, schedule.getUnroll());
}
