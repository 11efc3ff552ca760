// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets groups of warps multiply in turns.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace attune::tile {
#define GEN_PASS_DEF_TILETAKETURNSPASS
#include "attune/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attune::tile

using namespace mlir;
using namespace attune;
using namespace attune::tile;

namespace {
struct TileTakeTurns : tile::impl::TileTakeTurnsPassBase<TileTakeTurns> {
  void runOnOperation() override;
};
} // namespace

void TileTakeTurns::runOnOperation() {
  auto schedule = getOperation()->getAttrOfType<schedule::AttentionAttr>(
      TileDialect::kScheduleAttrName);
  if (!schedule || schedule.getOverlap() != schedule::Overlap::PingPong)
    return;
  int64_t groups = schedule.getNumWarps() / schedule.getMmaWarps();
  Operation *start = nullptr;
  getOperation().walk([&](scf::ForOp loop) {
    SmallVector<MmaAsyncOp> multiplies(loop.getBody()->getOps<MmaAsyncOp>());
    if (multiplies.empty())
      return;
    OpBuilder b(multiplies.front());
    TakeTurnOp::create(b, loop.getLoc(), groups);
    b.setInsertionPointAfter(multiplies.back());
    GiveTurnOp::create(b, loop.getLoc(), groups);
    if (!start)
      start = loop;
  });
  if (!start)
    return;
  // In the body of the kernel, before all loops that take turns.
  while (start->getParentOp() != getOperation())
    start = start->getParentOp();
  OpBuilder b(start);
  StartTurnsOp::create(b, start->getLoc(), groups);
}
