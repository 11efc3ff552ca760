// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets warpgroups multiply in ping-pong.

#include "attune/Dialect/Tile/IR/Warps.h"
#include "attune/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace attune::tile {
#define GEN_PASS_DEF_TILEPINGPONGPASS
#include "attune/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attune::tile

using namespace mlir;
using namespace attune;
using namespace attune::tile;

namespace {
struct TilePingPong : tile::impl::TilePingPongPassBase<TilePingPong> {
  void runOnOperation() override;
};
} // namespace

void TilePingPong::runOnOperation() {
  gpu::GPUFuncOp kernel = getOperation();
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) {
    if (loop->removeAttr(TileDialect::kPingPongAttrName))
      loops.push_back(loop);
  });
  if (loops.empty())
    return;
  std::optional<WarpRange> warps = getWarps(kernel);
  if (!warps) {
    emitError(kernel.getLoc())
        << "expects 'known_block_size' and '" << TileDialect::kTargetAttrName
        << "' on a kernel with '" << TileDialect::kPingPongAttrName << "'";
    return signalPassFailure();
  }
  int64_t ofGroup = TargetAttr::lookup(kernel).getWarpgroupWarps(),
          groups = warps->count / ofGroup;
  if (groups < 2 || warps->count % ofGroup != 0) {
    emitError(kernel.getLoc())
        << "expects warps for at least two warpgroups of " << ofGroup
        << " where '" << TileDialect::kPingPongAttrName << "' is, but got "
        << warps->count;
    return signalPassFailure();
  }
  Operation *start = nullptr;
  for (scf::ForOp loop : loops) {
    SmallVector<MmaAsyncOp> multiplies(loop.getBody()->getOps<MmaAsyncOp>());
    if (multiplies.empty())
      continue;
    OpBuilder b(multiplies.front());
    PingPongWaitOp::create(b, loop.getLoc(), groups);
    b.setInsertionPointAfter(multiplies.back());
    PingPongArriveOp::create(b, loop.getLoc(), groups);
    if (!start)
      start = loop;
  }
  if (!start)
    return;
  // In the body of the kernel, before all loops with ping-pong.
  while (start->getParentOp() != kernel)
    start = start->getParentOp();
  OpBuilder b(start);
  PingPongInitOp::create(b, start->getLoc(), groups);
}
