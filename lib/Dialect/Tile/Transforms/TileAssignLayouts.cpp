// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts from the matrix instruction; what is stored is first exchanged
// between lanes, so that each writes many bytes at once.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Dialect/Tile/Transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

namespace attune::tile {
#define GEN_PASS_DEF_TILEASSIGNLAYOUTSPASS
#include "attune/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attune::tile

using namespace mlir;
using namespace attune;
using namespace attune::tile;

namespace {

struct TileAssignLayouts
    : tile::impl::TileAssignLayoutsPassBase<TileAssignLayouts> {
  void runOnOperation() override;
  LogicalResult chooseAtom();
  /// The layout of a tile of `shape` made of an atom's operand of `rows` x
  /// `columns`: repeated along the columns, then along the rows of a warp, then
  /// over the
  /// groups of warps.
  LayoutAttr repeat(LayoutAttr operand, int64_t rows, int64_t columns,
                    ArrayRef<int64_t> shape);
  /// `type`, the type of `value`, with the layout that its uses ask for.
  FailureOr<TileType> withLayout(Value value, TileType type);
  LogicalResult assign(Value value);
  template <typename MultiplyOp> LogicalResult finish(MultiplyOp mma);
  /// Lets a lane store as many neighbours at once as it can.
  void finish(StoreOp store);
  void convertOperand(Operation *mma, OpOperand &operand, LayoutAttr layout);

  MmaAtomAttr atom;
  /// Groups of warps that multiply together, among which rows are dealt.
  int64_t groups = 0;
};

} // namespace

LogicalResult TileAssignLayouts::chooseAtom() {
  gpu::GPUFuncOp kernel = getOperation();
  // A pass object sees one kernel after the other.
  atom = {};
  auto target = TargetAttr::lookup(kernel);
  if (!target)
    return emitError(kernel.getLoc())
           << "expects a '" << TileDialect::kTargetAttrName
           << "' attribute on the kernel or around it; run "
              "attune-attach-target first";
  auto schedule = kernel->getAttrOfType<schedule::AttentionAttr>(
      TileDialect::kScheduleAttrName);
  if (!schedule)
    return emitError(kernel.getLoc())
           << "expects a '" << TileDialect::kScheduleAttrName
           << "' attribute on the kernel";
  WalkResult result = kernel.walk([&](Operation *mma) {
    if (!isa<MmaOp, MmaAsyncOp>(mma))
      return WalkResult::advance();
    Type type = cast<TileType>(mma->getOperand(0).getType()).getElementType();
    MmaAtomAttr found = target.findAtom(type, schedule.getMmaWarps());
    if (!found) {
      InFlightDiagnostic diagnostic = mma->emitOpError()
                                      << "expects an element type that '"
                                      << target.getChip()
                                      << "' has a matrix instruction";
      if (schedule.getMmaWarps() > 1)
        diagnostic << " of " << schedule.getMmaWarps() << " warps";
      diagnostic << " for, but got " << type;
      return WalkResult::interrupt();
    }
    if (atom && atom != found) {
      mma->emitOpError() << "expects the same matrix instruction as the other "
                            "multiplies of the kernel";
      return WalkResult::interrupt();
    }
    atom = found;
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  // A kernel whose loop never runs multiplies nothing, but still fills and
  // stores tiles.
  if (!atom && !target.getMma().empty())
    atom = target.getMma().front();
  if (!atom)
    return success();
  if (schedule.getNumWarps() % atom.getWarps() != 0)
    return emitError(kernel.getLoc())
           << "expects num-warps to be a multiple of the " << atom.getWarps()
           << " warps of '" << atom.getName() << "', but got "
           << schedule.getNumWarps();
  groups = schedule.getNumWarps() / atom.getWarps();
  return success();
}

LayoutAttr TileAssignLayouts::repeat(LayoutAttr operand, int64_t rows,
                                     int64_t columns, ArrayRef<int64_t> shape) {
  int64_t rowsPerGroup = shape[0] / groups;
  return operand
      .withRegisterModes(
          {{shape[1] / columns, 1, columns}, {rowsPerGroup / rows, 0, rows}})
      .withWarpModes({{groups, 0, rowsPerGroup}});
}

FailureOr<TileType> TileAssignLayouts::withLayout(Value value, TileType type) {
  // What is only read to be multiplied is read as the multiply wants it.
  auto isLhs = [](OpOperand &use) {
    return isa<MmaOp, MmaAsyncOp>(use.getOwner()) &&
           use.getOperandNumber() == 0;
  };
  auto refuse = [&](int64_t columns) {
    return emitError(value.getLoc())
           << "expects tiles of a multiple of " << groups * atom.getM() << "x"
           << columns << " (" << groups * atom.getWarps() << " warps of '"
           << atom.getName() << "'), but got " << type;
  };
  if (isa_and_nonnull<ReadOp, LoadOp>(value.getDefiningOp()) &&
      !value.use_empty() && llvm::all_of(value.getUses(), isLhs)) {
    ArrayRef<int64_t> shape = type.getShape();
    if (shape[0] % (groups * atom.getM()) != 0 || shape[1] % atom.getK() != 0)
      return refuse(atom.getK());
    return type.withLayout(
        repeat(atom.getLhs(), atom.getM(), atom.getK(), shape));
  }
  int64_t rows = type.getShape()[0],
          columns = type.getRank() == 2 ? type.getShape()[1] : atom.getN();
  // A tile of partial row results has one column per lane that shares a row.
  LayoutAttr partial = atom.getAcc().getPartialColumns();
  bool isPartial =
      columns == partial.getShape(2)[1] && columns % atom.getN() != 0;
  if (isPartial)
    columns = atom.getN();
  if (rows % (groups * atom.getM()) != 0 || columns % atom.getN() != 0)
    return refuse(atom.getN());
  LayoutAttr layout =
      repeat(atom.getAcc(), atom.getM(), atom.getN(), {rows, columns});
  if (type.getRank() == 1)
    layout = layout.dropDim(1);
  else if (isPartial)
    layout = layout.getPartialColumns();
  return type.withLayout(layout);
}

LogicalResult TileAssignLayouts::assign(Value value) {
  auto pending = dyn_cast<PendingType>(value.getType());
  auto type = pending ? pending.getTile() : dyn_cast<TileType>(value.getType());
  if (!type || !type.isRegisters() || type.getLayout())
    return success();
  FailureOr<TileType> assigned = withLayout(value, type);
  if (failed(assigned))
    return failure();
  value.setType(pending ? Type(PendingType::get(&getContext(), *assigned))
                        : Type(*assigned));
  return success();
}

void TileAssignLayouts::convertOperand(Operation *mma, OpOperand &operand,
                                       LayoutAttr layout) {
  auto type = cast<TileType>(operand.get().getType());
  if (!type.isRegisters() || type.getLayout() == layout)
    return;
  OpBuilder builder(mma);
  operand.set(ConvertLayoutOp::create(builder, mma->getLoc(),
                                      type.withLayout(layout), operand.get()));
}

template <typename MultiplyOp>
LogicalResult TileAssignLayouts::finish(MultiplyOp mma) {
  mma.setAtomAttr(atom);
  ArrayRef<int64_t> lhsShape = mma.getLhs().getType().getShape(),
                    rhsShape = mma.getRhs().getType().getShape();
  bool rhsInRegisters = mma.getRhs().getType().isRegisters();
  if (rhsInRegisters && (mma.getTransposeRhs() || atom.getWarps() > 1))
    return mma.emitOpError()
           << "expects "
           << (mma.getTransposeRhs() ? "a transposed rhs"
                                     : "the rhs of a multiply by several warps")
           << " in shared memory; run tile-promote-to-shared first";
  convertOperand(mma, mma.getLhsMutable(),
                 repeat(atom.getLhs(), atom.getM(), atom.getK(), lhsShape));
  if (!rhsInRegisters)
    return success();
  // Every warp needs all of the right-hand side.
  LayoutAttr rhs =
      atom.getRhs()
          .withRegisterModes({{rhsShape[1] / atom.getN(), 1, atom.getN()},
                              {rhsShape[0] / atom.getK(), 0, atom.getK()}})
          .withWarpModes({{groups, 0, 0}});
  convertOperand(mma, mma.getRhsMutable(), rhs);
  return success();
}

void TileAssignLayouts::finish(StoreOp store) {
  constexpr int64_t kWidestStoreBytes = 16;
  TileType type = store.getValue().getType();
  MemRefType destination = store.getDestination().getType();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (type.getRank() != 2 || !type.getLayout() ||
      failed(destination.getStridesAndOffset(strides, offset)) ||
      strides.back() != 1)
    return;
  int64_t elementBytes = type.getElementType().getIntOrFloatBitWidth() / 8;
  LayoutAttr layout = type.getRegisterLayout();
  LayoutAttr wide = layout.getWithRuns(kWidestStoreBytes / elementBytes);
  if (wide == layout)
    return;
  OpBuilder builder(store);
  store.getValueMutable().assign(ConvertLayoutOp::create(
      builder, store.getLoc(), type.withLayout(wide), store.getValue()));
}

void TileAssignLayouts::runOnOperation() {
  if (failed(chooseAtom()))
    return signalPassFailure();
  if (!atom)
    return;
  WalkResult result = getOperation().walk([&](Operation *op) {
    for (Value value : op->getResults())
      if (failed(assign(value)))
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          if (failed(assign(argument)))
            return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return signalPassFailure();
  result = getOperation().walk([&](Operation *op) {
    LogicalResult finished =
        TypeSwitch<Operation *, LogicalResult>(op)
            .Case<MmaOp, MmaAsyncOp>([&](auto mma) { return finish(mma); })
            .Case([&](StoreOp store) {
              finish(store);
              return success();
            })
            .Default([](Operation *) { return success(); });
    return failed(finished) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}
