// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Channels of one slot carry tiles from one layout to another: what gives slots
// places and lets threads meet need not know what they are for.

#include "attune/Dialect/Tile/IR/LayoutConversion.h"
#include "attune/Dialect/Tile/IR/Warps.h"
#include "attune/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

namespace attune::tile {
#define GEN_PASS_DEF_TILECONVERTINSHAREDPASS
#include "attune/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attune::tile

using namespace mlir;
using namespace attune;
using namespace attune::tile;

namespace {
struct TileConvertInShared
    : tile::impl::TileConvertInSharedPassBase<TileConvertInShared> {
  void runOnOperation() override;
};
} // namespace

/// That all threads of the workgroup meet at the conversion, and that memory
/// has elements of that size.
static LogicalResult checkConversion(ConvertLayoutOp op) {
  constexpr unsigned kByteBits = 8;
  TileType type = op.getResult().getType();
  if (type.getElementType().getIntOrFloatBitWidth() % kByteBits != 0)
    return op.emitOpError() << "expects elements of whole bytes, which shared "
                               "memory carries between warps, but got "
                            << type;
  if (RoleAttr role = getRole(op))
    return op.emitOpError()
           << "expects a conversion between warps to stand outside of roles, "
              "but got it in role '"
           << role.getName() << "'";
  auto loop = op->getParentOfType<scf::ForOp>();
  if (loop && !loop.getOps<PingPongWaitOp>().empty())
    return op.emitOpError() << "expects a conversion between warps to stand "
                               "outside of loops with 'tile.ping_pong_wait'";
  return success();
}

static void convert(ConvertLayoutOp op, Value channel) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value element = arith::ConstantIndexOp::create(b, loc, 0);
  PutTileOp::create(b, loc, channel, element, op.getInput(),
                    /*role=*/StringAttr());
  Value shared =
      GetOp::create(b, loc, cast<ChannelType>(channel.getType()).getTileType(),
                    channel, element, /*pending=*/0);
  Value read = ReadOp::create(b, loc, op.getResult().getType(), shared);
  ReleaseOp::create(b, loc, channel, element, /*after=*/ValueRange());
  op.replaceAllUsesWith(read);
  op.erase();
}

/// The layout in which each of the warps that share the dimension has all of
/// it.
static LayoutAttr gatherWarps(LayoutAttr layout, int64_t dim) {
  SmallVector<Mode> registers(layout.getRegisters()), warps(layout.getWarps());
  for (Mode &mode : warps)
    if (mode.dim == dim && mode.stride != 0) {
      registers.push_back(mode);
      mode = {mode.extent, 0, 0};
    }
  return LayoutAttr::getNormal(layout.getContext(), registers,
                               layout.getLanes(), warps);
}

/// Lets a reduction to one dimension have all of what it reduces in each warp,
/// which holds the same of the result as before.
static void gatherInput(ReduceOp op) {
  TileType type = op.getInput().getType(), result = op.getResult().getType();
  LayoutAttr layout = type.getRegisterLayout();
  auto dim = static_cast<int64_t>(op.getDim());
  if (!layout || result.getRank() != 1 || getRole(op) ||
      !crossesWarps(layout, dim))
    return;
  LayoutAttr gathered = gatherWarps(layout, dim);
  if (gathered.dropDim(dim) != result.getRegisterLayout())
    return;
  OpBuilder b(op);
  op.getInputMutable().assign(ConvertLayoutOp::create(
      b, op.getLoc(), type.withLayout(gathered), op.getInput()));
}

void TileConvertInShared::runOnOperation() {
  gpu::GPUFuncOp kernel = getOperation();
  kernel.walk(gatherInput);
  // One after the other, so that those of one type share their room.
  llvm::MapVector<Type, SmallVector<ConvertLayoutOp>> conversions;
  WalkResult result = kernel.walk([&](ConvertLayoutOp op) {
    TileType from = op.getInput().getType(), to = op.getResult().getType();
    if (!from.getRegisterLayout() || !to.getRegisterLayout() ||
        convertsWithinWarps(from, to))
      return WalkResult::advance();
    if (failed(checkConversion(op)))
      return WalkResult::interrupt();
    auto type = ChannelType::get(&getContext(), to.getRowsAndColumns(),
                                 to.getElementType(), /*stages=*/1,
                                 /*swizzle_atom=*/0);
    conversions[type].push_back(op);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return signalPassFailure();
  for (auto &[type, ops] : conversions) {
    OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
    Value channel = ChannelOp::create(b, kernel.getLoc(), type,
                                      /*offset=*/nullptr, /*barriers=*/nullptr);
    for (ConvertLayoutOp op : ops)
      convert(op, channel);
  }
}
