// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Issues the MMAs of a loop without waiting for those of the iteration before.

#include "LoopUtils.h"
#include "attune/Dialect/Tile/IR/Warps.h"
#include "attune/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace attune::tile {
#define GEN_PASS_DEF_TILECHAINMMASPASS
#include "attune/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attune::tile

using namespace mlir;
using namespace attune;
using namespace attune::tile;

namespace {

/// A loop that carries accumulators alone, each of one MMA.
class LoopChainer {
public:
  explicit LoopChainer(scf::ForOp loop) : loop(loop) {}
  LogicalResult run();

private:
  bool matchLoop();
  /// An iteration without its releases; `pending`, which are carried, become
  /// what its MMAs give.
  void emitIteration(OpBuilder &b, Value iv, SmallVectorImpl<Value> &carried);
  /// The releases of the iteration of `iv`.
  void emitReleases(OpBuilder &b, Value iv);
  /// The whole, for at least one iteration; returns the accumulators.
  SmallVector<Value> emitAll(OpBuilder &b);

  scf::ForOp loop;
  /// In the order of what the loop carries.
  SmallVector<MmaOp> multiplies;
  SmallVector<ReleaseOp> releases;
};

struct TileChainMmas : tile::impl::TileChainMmasPassBase<TileChainMmas> {
  void runOnOperation() override;
};

} // namespace

/// Whether an MMA reads shared memory alone: slots of more than one in a
/// ring, or what is written outside of the loop.
static bool readsRings(MmaOp mma, scf::ForOp loop) {
  return llvm::all_of(ValueRange{mma.getLhs(), mma.getRhs()}, [&](Value tile) {
    if (!cast<TileType>(tile.getType()).isShared())
      return false;
    auto get = tile.getDefiningOp<GetOp>();
    return loop.isDefinedOutsideOfLoop(tile) ||
           (get && get.getChannel().getType().getStages() > 1);
  });
}

bool LoopChainer::matchLoop() {
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  for (auto [argument, value] :
       llvm::zip_equal(loop.getRegionIterArgs(), yield.getOperands())) {
    auto mma = value.getDefiningOp<MmaOp>();
    if (!mma || mma->getBlock() != loop.getBody() ||
        mma.getScope() != MmaScope::Warpgroup || mma.getAcc() != argument ||
        !argument.hasOneUse() || !value.hasOneUse() || !readsRings(mma, loop))
      return false;
    multiplies.push_back(mma);
  }
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto release = dyn_cast<ReleaseOp>(op))
      releases.push_back(release);
    else if (isa<MmaOp>(op) && !llvm::is_contained(multiplies, &op))
      return false;
  }
  return !multiplies.empty();
}

void LoopChainer::emitIteration(OpBuilder &b, Value iv,
                                SmallVectorImpl<Value> &carried) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), iv);
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (isa<ReleaseOp>(op))
      continue;
    auto mma = dyn_cast<MmaOp>(op);
    if (!mma) {
      b.clone(op, mapping);
      continue;
    }
    Value &acc = carried[llvm::find(multiplies, mma) - multiplies.begin()];
    acc = issueMma(b, mma, mapping.lookupOrDefault(mma.getLhs()),
                   mapping.lookupOrDefault(mma.getRhs()), acc);
  }
}

void LoopChainer::emitReleases(OpBuilder &b, Value iv) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), iv);
  std::function<void(Value)> require = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != loop.getBody() || mapping.contains(value))
      return;
    for (Value operand : op->getOperands())
      require(operand);
    b.clone(*op, mapping);
  };
  for (ReleaseOp release : releases) {
    require(release.getElement());
    b.clone(*release, mapping);
  }
}

SmallVector<Value> LoopChainer::emitAll(OpBuilder &b) {
  Location loc = loop.getLoc();
  SmallVector<Value> carried(loop.getInitArgs());
  emitIteration(b, loop.getLowerBound(), carried);
  Value second =
      b.createOrFold<arith::AddIOp>(loc, loop.getLowerBound(), loop.getStep());
  auto chained = scf::ForOp::create(b, loc, second, loop.getUpperBound(),
                                    loop.getStep(), carried);
  chained->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(chained.getBody());
    SmallVector<Value> pending(chained.getRegionIterArgs());
    emitIteration(b, chained.getInductionVar(), pending);
    // All that were issued in this iteration may run.
    WaitReadsOp::create(b, loc, chained.getRegionIterArgs().back());
    Value last = arith::SubIOp::create(b, loc, chained.getInductionVar(),
                                       loop.getStep());
    emitReleases(b, last);
    scf::YieldOp::create(b, loc, pending);
  }
  SmallVector<Value> results;
  for (auto [type, pending] :
       llvm::zip_equal(loop.getResultTypes(), chained.getResults()))
    results.push_back(WaitOp::create(b, loc, type, pending));
  emitReleases(b, getLastIteration(b, loop));
  return results;
}

LogicalResult LoopChainer::run() {
  if (!matchLoop())
    return failure();
  replaceLoop(loop, [&](OpBuilder &b) { return emitAll(b); });
  return success();
}

void TileChainMmas::runOnOperation() {
  gpu::GPUFuncOp kernel = getOperation();
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) {
    if (loop->removeAttr(TileDialect::kChainAttrName))
      loops.push_back(loop);
  });
  // Without roles, puts are placed by when slots are released.
  if (getRoles(kernel).empty())
    return;
  for (scf::ForOp loop : loops)
    (void)LoopChainer(loop).run();
}
