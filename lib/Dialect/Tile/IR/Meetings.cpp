// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks backwards from gets and puts to what they must not run ahead of.

#include "attune/Dialect/Tile/IR/Meetings.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attune;
using namespace attune::tile;

using Gets = llvm::DenseSet<Operation *>;

/// Whether `op`, or what stands in it, is such an op.
static bool contains(Operation &op, function_ref<bool(Operation *)> isOne) {
  return op
      .walk([&](Operation *inner) {
        return isOne(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// What constants are added to, and their sum.
static std::pair<Value, int64_t> splitSum(Value value) {
  int64_t added = 0;
  APInt constant;
  for (auto sum = value.getDefiningOp<arith::AddIOp>();
       sum && matchPattern(sum.getRhs(), m_ConstantInt(&constant));
       sum = value.getDefiningOp<arith::AddIOp>()) {
    added += constant.getSExtValue();
    value = sum.getLhs();
  }
  return {value, added};
}

/// Whether the element that `put` puts is known to lie in another slot than the
/// released one, of the same iteration.
static bool liesElsewhere(Operation *put, ReleaseOp release) {
  Value element = isa<PutOp>(put) ? cast<PutOp>(put).getElement()
                                  : cast<PutTileOp>(put).getElement();
  auto [base, added] = splitSum(element);
  auto [releasedBase, releasedAdded] = splitSum(release.getElement());
  return base == releasedBase &&
         (added - releasedAdded) % release.getChannel().getType().getStages() !=
             0;
}

/// Finds the last release of a slot that may be that of `put`, and calls `pass`
/// for each get on the way there, which ends the search by returning true.
/// Returns whether it came to a release.
static bool findRelease(Operation *put, function_ref<bool(GetOp)> pass) {
  bool isOtherIteration = false;
  auto releases = [&](Operation *op) {
    auto release = dyn_cast<ReleaseOp>(op);
    return release && release.getChannel() == put->getOperand(0) &&
           (isOtherIteration || !liesElsewhere(put, release));
  };
  auto scan = [&](Block *block, Block::iterator from) -> std::optional<bool> {
    for (Operation &op :
         llvm::reverse(llvm::make_range(block->begin(), from))) {
      // tile-ping-pong knows that this is enough.
      if (isa<PingPongWaitOp>(op))
        return false;
      if (auto get = dyn_cast<GetOp>(op)) {
        if (pass(get))
          return false;
        continue;
      }
      if (contains(op, releases))
        return true;
    }
    return std::nullopt;
  };
  Operation *op = put;
  while (op && !isa<gpu::GPUFuncOp>(op)) {
    if (std::optional<bool> answer = scan(op->getBlock(), op->getIterator()))
      return *answer;
    Operation *parent = op->getParentOp();
    isOtherIteration = true;
    if (isa<scf::ForOp>(parent))
      if (std::optional<bool> answer =
              scan(op->getBlock(), op->getBlock()->end()))
        return *answer;
    op = parent;
  }
  return false;
}

bool tile::overwritesEarly(Operation *put, const Gets &needless) {
  return findRelease(put, [&](GetOp get) { return !needless.contains(get); });
}

/// Whether threads have met in this block since the element was put. What is
/// copied directly is waited for at the get, so that they meet behind that.
static bool haveMet(GetOp get, const Gets &needless) {
  if (get.getChannel().getType().getChunk())
    return false;
  auto puts = [&](Operation *op) {
    return isa<PutOp, PutTileOp>(op) && op->getOperand(0) == get.getChannel();
  };
  for (Operation *op = get->getPrevNode(); op; op = op->getPrevNode()) {
    if (isa<PingPongWaitOp>(op) || (isa<GetOp>(op) && !needless.contains(op)))
      return true;
    if (contains(*op, puts))
      return false;
  }
  return false;
}

Gets tile::findNeedlessMeetings(gpu::GPUFuncOp kernel) {
  Gets needless;
  auto target = TargetAttr::lookup(kernel);
  if (!target || !target.copiesThroughRegisters())
    return needless;
  kernel.walk([&](GetOp get) {
    if (haveMet(get, needless))
      needless.insert(get);
  });
  // One meeting of those between a release and a put is enough.
  kernel.walk([&](Operation *op) {
    if (!isa<PutOp, PutTileOp>(op))
      return;
    GetOp last;
    bool meets = false;
    bool released = findRelease(op, [&](GetOp get) {
      meets |= !needless.contains(get);
      last = last ? last : get;
      return meets;
    });
    if (released && last)
      needless.erase(last);
  });
  return needless;
}
