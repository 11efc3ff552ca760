// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Waits for the MMAs of a loop as late as their results and operands allow.

#include "LoopUtils.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Dialect/Tile/IR/Warps.h"
#include "attune/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace attune::tile {
#define GEN_PASS_DEF_TILEDEFERWAITSPASS
#include "attune/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attune::tile

using namespace mlir;
using namespace attune;
using namespace attune::tile;

namespace {
struct TileDeferWaits : tile::impl::TileDeferWaitsPassBase<TileDeferWaits> {
  void runOnOperation() override;
};
} // namespace

/// The channel of a slot that an operand lies in; null where it lies in none.
static Value findChannel(Value operand) {
  auto get = operand.getDefiningOp<GetOp>();
  return get ? Value(get.getChannel()) : Value();
}

/// The first op of the MMA's block that must not come before its end: one that
/// reads its result, or frees a slot that it reads.
static Operation *findDeadline(MmaOp mma) {
  Block *block = mma->getBlock();
  Operation *deadline = block->getTerminator();
  auto consider = [&](Operation *op) {
    if (op->isBeforeInBlock(deadline))
      deadline = op;
  };
  for (Operation *user : mma.getResult().getUsers())
    consider(block->findAncestorOpInBlock(*user));
  for (Value operand : {mma.getLhs(), mma.getRhs()}) {
    Value channel = findChannel(operand);
    for (auto release : block->getOps<ReleaseOp>())
      if (release.getChannel() == channel && mma->isBeforeInBlock(release))
        consider(release);
  }
  return deadline;
}

/// Whether another MMA of the block adds to what this one computes, and nothing
/// else reads it: these need not wait for each other.
static bool isAddedTo(MmaOp mma) {
  if (!mma.getResult().hasOneUse())
    return false;
  OpOperand &use = *mma.getResult().use_begin();
  auto next = dyn_cast<MmaOp>(use.getOwner());
  return next && next->getBlock() == mma->getBlock() &&
         next.getScope() == MmaScope::Warpgroup &&
         &use == &next.getAccMutable();
}

/// Issues the MMAs of a loop where they stand, and waits for each of them at
/// its deadline. Releases come last, in their order, so that slots which an MMA
/// reads do not end what could run beside it.
static void deferWaits(scf::ForOp loop) {
  Block *body = loop.getBody();
  for (ReleaseOp release : llvm::to_vector(body->getOps<ReleaseOp>()))
    release->moveBefore(body->getTerminator());
  SmallVector<std::pair<MmaOp, Operation *>> deadlines;
  for (auto mma : body->getOps<MmaOp>())
    if (mma.getScope() == MmaScope::Warpgroup)
      deadlines.emplace_back(mma, findDeadline(mma));
  llvm::DenseMap<Value, Value> added;
  for (auto [mma, deadline] : deadlines) {
    OpBuilder b(mma);
    Value before = added.lookup(mma.getAcc());
    MmaAsyncOp pending = issueMma(b, mma, mma.getLhs(), mma.getRhs(),
                                  before ? before : Value(mma.getAcc()));
    if (isAddedTo(mma)) {
      added[mma.getResult()] = pending;
      continue;
    }
    b.setInsertionPoint(deadline);
    auto wait = WaitOp::create(b, mma.getLoc(), mma.getType(), pending);
    mma.replaceAllUsesWith(wait.getResult());
  }
  for (auto [mma, deadline] : llvm::reverse(deadlines))
    mma.erase();
}

void TileDeferWaits::runOnOperation() {
  gpu::GPUFuncOp kernel = getOperation();
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) {
    if (loop->removeAttr(TileDialect::kDeferWaitsAttrName))
      loops.push_back(loop);
  });
  // Without roles, puts are placed by when slots are released.
  if (getRoles(kernel).empty())
    return;
  for (scf::ForOp loop : loops)
    deferWaits(loop);
}
