// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts a channel between a load from global memory and the matrix multiplies
// that use it.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Dialect/Tile/Transforms/Passes.h"
#include "attune/Schedule/Legality.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"

namespace attune::tile {
#define GEN_PASS_DEF_TILEPROMOTETOSHAREDPASS
#include "attune/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attune::tile

using namespace mlir;
using namespace attune;
using namespace attune::tile;

namespace {

struct TilePromoteToShared
    : tile::impl::TilePromoteToSharedPassBase<TilePromoteToShared> {
  void runOnOperation() override;
  void promote(LoadOp load, attn::ScheduleAttr schedule);
  Value addCounter(scf::ForOp &loop,
                   function_ref<Value(OpBuilder &)> increment);
  Value numberElement(OpBuilder &b, Location loc, scf::ForOp loop);

  /// Counts of iterations, by the body of the loop that they are of.
  DenseMap<Block *, Value> counters;
};

} // namespace

/// The op after which nothing of `users` runs any more, in the block of
/// `anchor`.
static Operation *lastUserInBlock(Operation *anchor, ArrayRef<MmaOp> users) {
  Operation *last = anchor;
  for (MmaOp user : users) {
    Operation *ancestor = anchor->getBlock()->findAncestorOpInBlock(*user);
    if (ancestor && last->isBeforeInBlock(ancestor))
      last = ancestor;
  }
  return last;
}

/// Adds to `loop` a count that starts at 0 and grows by what `increment`
/// returns in each iteration; returns the count before it.
Value TilePromoteToShared::addCounter(
    scf::ForOp &loop, function_ref<Value(OpBuilder &)> increment) {
  // A loop that carries more is another loop, and its counts are others.
  Block *old = loop.getBody();
  SmallVector<std::pair<Block *, unsigned>> known;
  for (auto [block, counter] : counters)
    if (auto argument = cast<BlockArgument>(counter);
        argument.getOwner() == old)
      known.push_back({block, argument.getArgNumber()});
  IRRewriter rewriter(loop);
  Value zero = arith::ConstantIndexOp::create(rewriter, loop.getLoc(), 0);
  auto yield = [&](OpBuilder &b, Location loc,
                   ArrayRef<BlockArgument> added) -> SmallVector<Value> {
    return {arith::AddIOp::create(b, loc, added.front(), increment(b))};
  };
  loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, zero, /*replaceInitOperandUsesInLoop=*/false, yield));
  for (auto [block, number] : known) {
    counters.erase(block);
    counters[block == old ? loop.getBody() : block] =
        loop.getBody()->getArgument(number);
  }
  return loop.getRegionIterArgs().back();
}

/// The number of the element that an iteration of `loop`, null where there is
/// none, puts: elements count from 0, over all iterations of a loop around it.
Value TilePromoteToShared::numberElement(OpBuilder &b, Location loc,
                                         scf::ForOp loop) {
  if (!loop)
    return arith::ConstantIndexOp::create(b, loc, 0);
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  Value counter = counters.lookup(loop.getBody());
  // Blocks are visited one by one; another step needs a count of its own.
  if (step != 1) {
    if (counter)
      return counter;
    counter = addCounter(loop, [&](OpBuilder &inner) -> Value {
      return arith::ConstantIndexOp::create(inner, loc, 1);
    });
    return counters[loop.getBody()] = counter;
  }
  Value iteration = b.createOrFold<arith::SubIOp>(loc, loop.getInductionVar(),
                                                  loop.getLowerBound());
  auto outer = loop->getParentOfType<scf::ForOp>();
  if (!outer)
    return iteration;
  if (!counter) {
    counter = addCounter(outer, [&](OpBuilder &inner) -> Value {
      return inner.createOrFold<arith::SubIOp>(loc, loop.getUpperBound(),
                                               loop.getLowerBound());
    });
    counters[loop.getBody()] = counter;
  }
  return b.createOrFold<arith::AddIOp>(loc, counter, iteration);
}

/// Loads a tile once more where it is multiplied from both sides, as that of
/// one tensor with itself: what is best for the one is not for the other.
static void splitSides(LoadOp load) {
  auto isLhs = [](OpOperand &use) {
    auto mma = dyn_cast<MmaOp>(use.getOwner());
    return mma && &use == &mma.getLhsMutable();
  };
  if (llvm::none_of(load->getUses(), isLhs) ||
      llvm::all_of(load->getUses(), isLhs))
    return;
  OpBuilder b(load);
  auto other = cast<LoadOp>(b.clone(*load));
  load.getResult().replaceUsesWithIf(
      other.getResult(), [&](OpOperand &use) { return !isLhs(use); });
}

void TilePromoteToShared::promote(LoadOp load, attn::ScheduleAttr schedule) {
  SmallVector<MmaOp> users;
  bool asLhs = false, transposed = false;
  for (OpOperand &use : load->getUses()) {
    auto mma = dyn_cast<MmaOp>(use.getOwner());
    if (!mma || use.get() == mma.getAcc())
      return;
    users.push_back(mma);
    asLhs |= mma.getLhs() == load.getResult();
    transposed |= mma.getRhs() == load.getResult() && mma.getTransposeRhs();
  }
  if (users.empty())
    return;

  auto loop = load->getParentOfType<scf::ForOp>();
  auto type = load.getResult().getType();
  // What is multiplied in an inner loop only is loaded once for all of that, as
  // is the query where that loop has gone, for it has one iteration.
  bool once = !loop || asLhs || llvm::none_of(users, [&](MmaOp user) {
    return user->getBlock() == load->getBlock();
  });
  int64_t stages = once         ? (loop ? schedule.getQStages() : 1)
                   : transposed ? schedule.getKStages()
                                : schedule.getVStages();
  Operation *outermost = load;
  while (outermost->getParentOp() != getOperation())
    outermost = outermost->getParentOp();
  OpBuilder b(outermost);
  Location loc = load.getLoc();
  // Multiplies by several warps read what the copy engine writes.
  int64_t panel = schedule.getMmaWarps() > 1
                      ? getPanel(type.getShape()[1], type.getElementType(),
                                 TargetAttr::lookup(getOperation()))
                      : 0;
  auto channelType = ChannelType::get(&getContext(), type.getShape(),
                                      type.getElementType(), stages, panel,
                                      /*cluster=*/1);
  Value channel = ChannelOp::create(b, loc, channelType);

  b.setInsertionPoint(load);
  Value element = numberElement(b, loc, loop);
  // A count makes another loop, whose block is another.
  b.setInsertionPoint(load);
  PutOp::create(b, loc, channel, element, load.getSource(), load.getRow(),
                load.getColumn(), /*predicate=*/Value(),
                load.getInBoundsAttr());
  Value shared = GetOp::create(b, loc, channelType.getTileType(), channel,
                               element, /*pending=*/0);
  if (asLhs && schedule.getQInRegisters()) {
    Value read = ReadOp::create(b, loc, type, shared);
    ReleaseOp::create(b, loc, channel, element);
    load.getResult().replaceAllUsesWith(read);
  } else {
    b.setInsertionPointAfter(lastUserInBlock(load, users));
    ReleaseOp::create(b, loc, channel, element);
    load.getResult().replaceAllUsesWith(shared);
  }
  load.erase();
}

void TilePromoteToShared::runOnOperation() {
  auto schedule = getOperation()->getAttrOfType<attn::ScheduleAttr>(
      TileDialect::kScheduleAttrName);
  if (!schedule)
    return;
  if (schedule.getMmaWarps() > 1 && !TargetAttr::lookup(getOperation())) {
    emitError(getOperation().getLoc())
        << "expects a '" << TileDialect::kTargetAttrName
        << "' attribute on the kernel or around it; run attune-attach-target "
           "first";
    return signalPassFailure();
  }
  counters.clear();
  SmallVector<LoadOp> loads;
  getOperation().walk([&](LoadOp load) { splitSides(load); });
  getOperation().walk([&](LoadOp load) { loads.push_back(load); });
  for (LoadOp load : loads)
    promote(load, schedule);
}
