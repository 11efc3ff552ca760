// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts from the matrix instruction.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Dialect/Tile/Transforms/Passes.h"
#include "mlir/IR/Builders.h"

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
  /// over the warps.
  LayoutAttr repeat(LayoutAttr operand, int64_t rows, int64_t columns,
                    ArrayRef<int64_t> shape);
  LogicalResult assign(Value value);
  void convertOperand(MmaOp mma, OpOperand &operand, LayoutAttr layout);

  MmaAtomAttr atom;
  int64_t warps = 0;
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
  auto schedule =
      kernel->getAttrOfType<attn::ScheduleAttr>(TileDialect::kScheduleAttrName);
  if (!schedule)
    return emitError(kernel.getLoc())
           << "expects a '" << TileDialect::kScheduleAttrName
           << "' attribute on the kernel";
  warps = schedule.getNumWarps();
  WalkResult result = kernel.walk([&](MmaOp mma) {
    MmaAtomAttr found =
        target.findAtom(mma.getLhs().getType().getElementType());
    if (!found) {
      mma.emitOpError() << "expects an element type that '" << target.getChip()
                        << "' has a matrix instruction for, but got "
                        << mma.getLhs().getType().getElementType();
      return WalkResult::interrupt();
    }
    if (atom && atom != found) {
      mma.emitOpError() << "expects the same matrix instruction as the other "
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
  return success();
}

LayoutAttr TileAssignLayouts::repeat(LayoutAttr operand, int64_t rows,
                                     int64_t columns, ArrayRef<int64_t> shape) {
  int64_t rowsPerWarp = shape[0] / warps;
  return operand
      .withRegisterModes(
          {{shape[1] / columns, 1, columns}, {rowsPerWarp / rows, 0, rows}})
      .withWarpModes({{warps, 0, rowsPerWarp}});
}

LogicalResult TileAssignLayouts::assign(Value value) {
  auto type = dyn_cast<TileType>(value.getType());
  if (!type || !type.isRegisters() || type.getLayout())
    return success();
  // What is only read to be multiplied is read as the multiply wants it.
  Operation *producer = value.getDefiningOp();
  auto isLhs = [&](OpOperand &use) {
    auto mma = dyn_cast<MmaOp>(use.getOwner());
    return mma && &mma.getLhsMutable() == &use;
  };
  if (isa_and_nonnull<ReadOp, LoadOp>(producer) && !value.use_empty() &&
      llvm::all_of(value.getUses(), isLhs)) {
    ArrayRef<int64_t> shape = type.getShape();
    if (shape[0] % (warps * atom.getM()) != 0 || shape[1] % atom.getK() != 0)
      return emitError(value.getLoc())
             << "expects tiles of a multiple of " << warps * atom.getM() << "x"
             << atom.getK() << " (" << warps << " warps of '" << atom.getName()
             << "'), but got " << type;
    value.setType(type.withLayout(
        repeat(atom.getLhs(), atom.getM(), atom.getK(), shape)));
    return success();
  }
  int64_t rows = type.getShape()[0],
          columns = type.getRank() == 2 ? type.getShape()[1] : atom.getN();
  // A tile of partial row results has one column per lane that shares a row.
  LayoutAttr partial = atom.getAcc().getPartialColumns();
  bool isPartial =
      columns == partial.getShape(2)[1] && columns % atom.getN() != 0;
  if (isPartial)
    columns = atom.getN();
  if (rows % (warps * atom.getM()) != 0 || columns % atom.getN() != 0)
    return emitError(value.getLoc())
           << "expects tiles of a multiple of " << warps * atom.getM() << "x"
           << atom.getN() << " (" << warps << " warps of '" << atom.getName()
           << "'), but got " << type;
  LayoutAttr layout =
      repeat(atom.getAcc(), atom.getM(), atom.getN(), {rows, columns});
  if (type.getRank() == 1)
    layout = layout.dropDim(1);
  else if (isPartial)
    layout = layout.getPartialColumns();
  value.setType(type.withLayout(layout));
  return success();
}

void TileAssignLayouts::convertOperand(MmaOp mma, OpOperand &operand,
                                       LayoutAttr layout) {
  auto type = cast<TileType>(operand.get().getType());
  if (!type.isRegisters() || type.getLayout() == layout)
    return;
  OpBuilder builder(mma);
  operand.set(ConvertLayoutOp::create(builder, mma.getLoc(),
                                      type.withLayout(layout), operand.get()));
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
  result = getOperation().walk([&](MmaOp mma) {
    mma.setAtomAttr(atom);
    ArrayRef<int64_t> lhsShape = mma.getLhs().getType().getShape(),
                      rhsShape = mma.getRhs().getType().getShape();
    bool rhsInRegisters = mma.getRhs().getType().isRegisters();
    if (rhsInRegisters && mma.getTransposeRhs()) {
      mma.emitOpError() << "expects a transposed rhs in shared memory; run "
                           "tile-promote-to-shared first";
      return WalkResult::interrupt();
    }
    convertOperand(mma, mma.getLhsMutable(),
                   repeat(atom.getLhs(), atom.getM(), atom.getK(), lhsShape));
    if (!rhsInRegisters)
      return WalkResult::advance();
    // Every warp needs all of the right-hand side.
    LayoutAttr rhs =
        atom.getRhs()
            .withRegisterModes({{rhsShape[1] / atom.getN(), 1, atom.getN()},
                                {rhsShape[0] / atom.getK(), 0, atom.getK()}})
            .withWarpModes({{warps, 0, 0}});
    convertOperand(mma, mma.getRhsMutable(), rhs);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}
