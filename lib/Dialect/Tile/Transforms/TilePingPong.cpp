// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets warpgroups, or halves of a workgroup, multiply in ping-pong.

#include "LoopUtils.h"
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

/// Whether a half of the workgroup may run the loop a phase behind the other
/// one.
static bool allowsLag(scf::ForOp loop, MmaAsyncOp last) {
  llvm::SmallDenseMap<Value, Value> read;
  SmallVector<PutTileOp> puts;
  for (Operation &op : *loop.getBody()) {
    // What one half waits for, the other one knows nothing of.
    auto meets = [&](Operation *inner) {
      bool isWithin = inner != &op && isa<GetOp, PutTileOp>(inner);
      return isWithin || isa<PutOp, BarrierOp, gpu::BarrierOp>(inner)
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    };
    if (op.walk(meets).wasInterrupted())
      return false;
    if (auto get = dyn_cast<GetOp>(op))
      if (!read.try_emplace(get.getChannel(), get.getElement()).second)
        return false;
    if (auto put = dyn_cast<PutTileOp>(op))
      puts.push_back(put);
  }
  return llvm::all_of(puts, [&](PutTileOp put) {
    Value element = read.lookup(put.getChannel());
    if (!element || put->isBeforeInBlock(last))
      return false;
    constexpr int64_t kFewest = 2;
    std::optional<int64_t> ahead =
        foldSum({{put.getElement(), 1}, {element, -1}});
    return ahead && *ahead >= kFewest &&
           *ahead < put.getChannel().getType().getStages();
  });
}

/// Lets two halves of the workgroup alternate between the MMAs of a loop and
/// all else.
static void alternate(scf::ForOp loop, ArrayRef<MmaAsyncOp> multiplies) {
  constexpr int64_t kHalves = 2;
  if (!allowsLag(loop, multiplies.back()))
    return;
  Location loc = loop.getLoc();
  Operation *first = multiplies.front();
  for (GetOp get : loop.getBody()->getOps<GetOp>())
    if (get->isBeforeInBlock(first))
      first = get;
  OpBuilder b(loop);
  PingPongInitOp::create(b, loc, kHalves);
  b.setInsertionPoint(first);
  PingPongWaitOp::create(b, loc, kHalves);
  b.setInsertionPointAfter(multiplies.back());
  PingPongArriveOp::create(b, loc, kHalves);
  b.setInsertionPointAfter(loop);
  PingPongEndOp::create(b, loc, kHalves);
}

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
  int64_t ofGroup = TargetAttr::lookup(kernel).getWarpgroupWarps();
  bool areHalves = ofGroup == 1 && getRoles(kernel).empty();
  if (areHalves && warps->count % 2 != 0) {
    emitError(kernel.getLoc())
        << "expects warps for two halves where '"
        << TileDialect::kPingPongAttrName << "' is, but got " << warps->count;
    return signalPassFailure();
  }
  int64_t groups = warps->count / ofGroup;
  if (!areHalves && (groups < 2 || warps->count % ofGroup != 0)) {
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
    if (areHalves) {
      alternate(loop, multiplies);
      continue;
    }
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
