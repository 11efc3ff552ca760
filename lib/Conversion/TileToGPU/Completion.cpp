// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows what is pending back to where it was issued, through what loops and
// branches carry, and counts on the way.

#include "Completion.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace attune;

namespace {

class LaterMmas {
public:
  /// MMAs that have been issued after that of `pending` when `at` runs; kNone
  /// where no warpgroup has issued it.
  int64_t count(Value pending, Operation *at);

  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

private:
  /// The same for the place where the value is defined.
  int64_t countAtDefinition(Value pending);

  /// Those on the way from the wait.
  llvm::DenseSet<Value> visiting;
};

} // namespace

static bool isOfWarpgroup(Operation &op) {
  auto mma = dyn_cast<tile::MmaAsyncOp>(op);
  return mma && mma.getScope() == tile::MmaScope::Warpgroup;
}

/// MMAs that are issued in a block before `end`, from `first` on. What stands
/// in loops and branches may not run.
static int64_t countIssued(Block::iterator first, Operation *end) {
  return llvm::count_if(llvm::make_range(first, end->getIterator()),
                        isOfWarpgroup);
}

int64_t LaterMmas::count(Value pending, Operation *at) {
  int64_t later = 0;
  for (; at->getBlock() != pending.getParentBlock(); at = at->getParentOp())
    later += countIssued(at->getBlock()->begin(), at);
  Operation *op = pending.getDefiningOp();
  later += countIssued(op ? std::next(op->getIterator())
                          : pending.getParentBlock()->begin(),
                       at);
  int64_t before = countAtDefinition(pending);
  return before == kNone ? kNone : before + later;
}

int64_t LaterMmas::countAtDefinition(Value pending) {
  // The way on which fewest are issued does not go round and round.
  if (!visiting.insert(pending).second)
    return kNone;
  int64_t fewest = kNone;
  auto comeFrom = [&](Value value, Operation *at) {
    fewest = std::min(fewest, count(value, at));
  };
  auto result = dyn_cast<OpResult>(pending);
  Operation *op = result ? pending.getDefiningOp()
                         : pending.getParentBlock()->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    unsigned number = result ? result.getResultNumber()
                             : cast<BlockArgument>(pending).getArgNumber() -
                                   loop.getNumInductionVars();
    comeFrom(loop.getInitArgs()[number], loop);
    comeFrom(loop.getYieldedValues()[number], loop.getBody()->getTerminator());
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (scf::YieldOp yield : {branch.thenYield(), branch.elseYield()})
      comeFrom(yield.getOperand(result.getResultNumber()), yield);
  } else if (!isa<tile::MmaAsyncOp>(op) || isOfWarpgroup(*op)) {
    // Of what comes in another way nothing is known.
    fewest = 0;
  }
  visiting.erase(pending);
  return fewest;
}

/// MMAs that may still run before `op` by the wait in front of it in its block.
static int64_t countRunning(Operation *op,
                            const llvm::DenseMap<Operation *, int64_t> &later) {
  int64_t issued = 0;
  for (Operation *at = op->getPrevNode(); at; at = at->getPrevNode()) {
    if (auto wait = later.find(at); wait != later.end())
      return wait->second + issued;
    if (isOfWarpgroup(*at))
      ++issued;
    else if (at->walk([](tile::MmaAsyncOp) {
                 return WalkResult::interrupt();
               }).wasInterrupted())
      break;
  }
  return LaterMmas::kNone;
}

llvm::DenseMap<Operation *, int64_t>
attune::countLaterMmas(gpu::GPUFuncOp kernel) {
  LaterMmas counter;
  llvm::DenseMap<Operation *, int64_t> later;
  kernel.walk([&](Operation *op) {
    if (!isa<tile::WaitOp, tile::WaitReadsOp>(op) ||
        !isa<tile::PendingType>(op->getOperand(0).getType()))
      return;
    int64_t count = counter.count(op->getOperand(0), op);
    // No wait says more than is known: an assembler that reads "two may run"
    // behind "one may" takes it that two do.
    if (count != LaterMmas::kNone)
      later[op] = std::min(count, countRunning(op, later));
  });
  return later;
}
