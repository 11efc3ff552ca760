// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Issues the first MMA of a loop behind the last one of the iteration before.

#include "LoopUtils.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace attune::tile {
#define GEN_PASS_DEF_TILEISSUEAHEADPASS
#include "attune/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attune::tile

using namespace mlir;
using namespace attune;
using namespace attune::tile;

namespace {

/// A loop whose first MMA needs nothing of the iterations before it.
class Rotator {
public:
  explicit Rotator(scf::ForOp loop) : loop(loop) {}
  /// Fails where the first MMA cannot be issued ahead; then nothing changes.
  LogicalResult run();

private:
  bool matchLoop();
  /// Issues the first MMA of an iteration.
  void issue(OpBuilder &b, IRMapping &mapping);
  /// Waits for it. The assembler follows no MMA from one iteration into the
  /// next whose result is then read.
  Value await(OpBuilder &b, IRMapping &mapping) {
    return b.clone(*wait, mapping)->getResult(0);
  }
  /// Clones the rest of an iteration, in which the first MMA has given
  /// `result`. `issueNext` is called behind the last MMA.
  void cloneRest(OpBuilder &b, IRMapping &mapping, Value result,
                 function_ref<void()> issueNext);
  SmallVector<Value> emitAll(OpBuilder &b);

  scf::ForOp loop;
  MmaAsyncOp first, last;
  WaitOp wait;
  PutOp put;
  GetOp get;
  /// Waits behind the last MMA for others whose left operands are in registers,
  /// which the one that is issued ahead wants.
  SetVector<Operation *> early;
  /// The first MMA and all that it needs, in the order of the loop.
  SmallVector<Operation *> needed;
};

struct TileIssueAhead : tile::impl::TileIssueAheadPassBase<TileIssueAhead> {
  void runOnOperation() override;
};

} // namespace

bool Rotator::matchLoop() {
  Block *body = loop.getBody();
  auto multiplies = llvm::to_vector(body->getOps<MmaAsyncOp>());
  if (multiplies.size() < 2)
    return false;
  first = multiplies.front();
  last = multiplies.back();
  if (!first->hasOneUse())
    return false;
  wait = dyn_cast<WaitOp>(*first->user_begin());
  if (!wait || wait->getBlock() != body)
    return false;
  get = first.getRhs().getDefiningOp<GetOp>();
  if (!get || get->getBlock() != body)
    return false;
  // The slot of this iteration is read until its end.
  Value channel = get.getChannel();
  if (cast<ChannelType>(channel.getType()).getStages() < 2)
    return false;
  for (auto op : body->getOps<PutOp>())
    if (op.getChannel() == channel) {
      if (put)
        return false;
      put = op;
    }
  if (!put)
    return false;
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.omitBlockArguments = true;
  options.inclusive = true;
  options.filter = [&](Operation *op) { return op->getBlock() == body; };
  for (Operation *root : {put.getOperation(), first.getOperation()})
    if (failed(getBackwardSlice(root, &slice, options)))
      return false;
  for (Operation &op : *body) {
    if (!slice.contains(&op))
      continue;
    bool isOfChannel = &op == put || &op == get;
    if (!isOfChannel && &op != first && !isPure(&op))
      return false;
    for (Value operand : op.getOperands())
      if (llvm::is_contained(loop.getRegionIterArgs(), operand))
        return false;
    needed.push_back(&op);
  }
  for (MmaAsyncOp mma : multiplies) {
    auto lhs = dyn_cast<TileType>(mma.getLhs().getType());
    if (mma == last || !lhs || !lhs.isRegisters())
      continue;
    for (Operation *user : mma->getUsers())
      if (isa<WaitOp>(user) && user->getBlock() == body &&
          last->isBeforeInBlock(user))
        early.insert(user);
  }
  return true;
}

void Rotator::issue(OpBuilder &b, IRMapping &mapping) {
  for (Operation *op : needed)
    b.clone(*op, mapping);
}

void Rotator::cloneRest(OpBuilder &b, IRMapping &mapping, Value result,
                        function_ref<void()> issueNext) {
  mapping.map(wait.getResult(), result);
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (&op == put || &op == first || &op == wait || early.contains(&op))
      continue;
    b.clone(op, mapping);
    if (&op != last)
      continue;
    for (Operation *waited : early)
      b.clone(*waited, mapping);
    if (issueNext)
      issueNext();
  }
}

SmallVector<Value> Rotator::emitAll(OpBuilder &b) {
  Location loc = loop.getLoc();
  ValueRange yielded = loop.getBody()->getTerminator()->getOperands();
  auto mapYielded = [&](IRMapping &mapping) {
    SmallVector<Value> values;
    for (Value value : yielded)
      values.push_back(mapping.lookupOrDefault(value));
    return values;
  };
  IRMapping start;
  start.map(loop.getInductionVar(), loop.getLowerBound());
  SmallVector<Value> state(loop.getInitArgs());
  issue(b, start);
  state.push_back(await(b, start));
  Value end = getLastIteration(b, loop);
  auto rotated = scf::ForOp::create(b, loc, loop.getLowerBound(), end,
                                    loop.getStep(), state);
  rotated->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(rotated.getBody());
    IRMapping current, next;
    current.map(loop.getInductionVar(), rotated.getInductionVar());
    current.map(loop.getRegionIterArgs(),
                rotated.getRegionIterArgs().drop_back());
    cloneRest(b, current, rotated.getRegionIterArgs().back(), [&] {
      next.map(loop.getInductionVar(),
               Value(arith::AddIOp::create(b, loc, rotated.getInductionVar(),
                                           loop.getStep())));
      issue(b, next);
    });
    SmallVector<Value> values = mapYielded(current);
    values.push_back(await(b, next));
    scf::YieldOp::create(b, loc, values);
  }
  IRMapping final;
  final.map(loop.getInductionVar(), end);
  final.map(loop.getRegionIterArgs(), rotated.getResults().drop_back());
  cloneRest(b, final, rotated.getResults().back(), nullptr);
  return mapYielded(final);
}

LogicalResult Rotator::run() {
  if (!matchLoop())
    return failure();
  replaceLoop(loop, [&](OpBuilder &b) { return emitAll(b); });
  return success();
}

void TileIssueAhead::runOnOperation() {
  SmallVector<scf::ForOp> loops;
  getOperation().walk([&](scf::ForOp loop) {
    if (loop->removeAttr(TileDialect::kIssueAheadAttrName))
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops)
    (void)Rotator(loop).run();
}
