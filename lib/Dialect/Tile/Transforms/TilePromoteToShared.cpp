// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts a channel between a load from global memory and the matrix multiplies
// that use it.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Dialect/Tile/Transforms/Passes.h"
#include "attune/Schedule/Legality.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

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
  int64_t stages = !loop        ? 1
                   : transposed ? schedule.getKStages()
                                : schedule.getVStages();
  OpBuilder b(loop ? loop.getOperation() : load.getOperation());
  Location loc = load.getLoc();
  // Multiplies by several warps read what the copy engine writes.
  int64_t panel = schedule.getMmaWarps() > 1
                      ? getPanel(type.getShape()[1], type.getElementType(),
                                 TargetAttr::lookup(getOperation()))
                      : 0;
  auto channelType = ChannelType::get(&getContext(), type.getShape(),
                                      type.getElementType(), stages, panel);
  Value channel = ChannelOp::create(b, loc, channelType);

  b.setInsertionPoint(load);
  // Blocks are visited one by one, and a channel's elements count from 0.
  Value element = loop ? b.createOrFold<arith::SubIOp>(
                             loc, loop.getInductionVar(), loop.getLowerBound())
                       : arith::ConstantIndexOp::create(b, loc, 0).getResult();
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
  SmallVector<LoadOp> loads;
  getOperation().walk([&](LoadOp load) { loads.push_back(load); });
  for (LoadOp load : loads)
    promote(load, schedule);
}
