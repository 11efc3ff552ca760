// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts start at the MMAs, whose atoms say how lanes hold their operands, and
// spread from there through all that works element by element or row by row.
// What no MMA reaches is assigned to the threads in blocks. Where two layouts
// meet, a conversion is put in between.

#include "BlockedLayout.h"
#include "attune/Dialect/Tile/IR/Warps.h"
#include "attune/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

namespace attune::tile {
#define GEN_PASS_DEF_TILEASSIGNLAYOUTSPASS
#include "attune/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attune::tile

using namespace mlir;
using namespace attune;
using namespace attune::tile;

/// The type of a tile in registers, also of one that is pending; null for all
/// else.
static TileType getRegisterTile(Value value) {
  Type type = value.getType();
  if (auto pending = dyn_cast<PendingType>(type))
    type = pending.getTile();
  auto tile = dyn_cast<TileType>(type);
  return tile && tile.isRegisters() ? tile : TileType();
}

/// The layout of what an input of that layout is reduced to.
static LayoutAttr getReduced(ReduceOp op, LayoutAttr input) {
  return op.getResult().getType().getRank() == 1 ? input.dropDim(op.getDim())
                                                 : input.getPartialColumns();
}

/// The layout of the parts of an input of that layout; null where a thread does
/// not hold the same of all of them.
static LayoutAttr getPart(DeinterleaveOp op, LayoutAttr input) {
  auto found =
      input.deinterleave(op.getDim(), op.getBlock(), op.getParts().size());
  return found ? found->first : LayoutAttr();
}

/// A layout of the input that gives parts of that layout.
static std::optional<LayoutAttr> getWhole(DeinterleaveOp op, LayoutAttr part) {
  return part.interleave(op.getDim(), op.getBlock(), op.getParts().size());
}

namespace {
/// How an MMA is assigned to the scopes (warps or warpgroups) that issue it.
struct Distribution {
  MmaAtomAttr atom;
  /// Scopes along the result's rows and columns, and those with the same part.
  int64_t alongM, alongN, replicas;

  LayoutAttr getAcc(ArrayRef<int64_t> shape) const {
    return atom.getAccLayout(shape, alongM, alongN, replicas);
  }
  /// Of a lhs in registers, which is not transposed.
  LayoutAttr getLhs(ArrayRef<int64_t> shape) const {
    return atom.getLhs().repeat(shape, alongM, alongN, replicas,
                                {shape[0] / alongM, 0});
  }
  /// Its steps along k are outermost.
  LayoutAttr getRhs(ArrayRef<int64_t> shape) const {
    return atom.getRhs().repeat(shape, alongM, alongN, replicas,
                                {0, shape[1] / alongN});
  }
};

struct TileAssignLayouts
    : tile::impl::TileAssignLayoutsPassBase<TileAssignLayouts> {
  void runOnOperation() override;

  /// Finds the atom of an MMA, and who issues it.
  template <typename MmaLikeOp>
  FailureOr<Distribution> distribute(MmaLikeOp mma);
  /// Gives the result of an MMA the layout of its atom, before any other can
  /// reach it.
  template <typename MmaLikeOp> LogicalResult pin(MmaLikeOp mma);
  /// Spreads it, and gives operands theirs.
  template <typename MmaLikeOp> void anchor(MmaLikeOp mma);
  /// Gives a value a layout, unless it has one, and all values that follow.
  void assign(Value value, LayoutAttr layout);
  void spreadToUsers(Value value, LayoutAttr layout);
  void spreadToDefinition(Value value, LayoutAttr layout);
  void assignCarried(Operation *loopOrBranch, unsigned number,
                     LayoutAttr layout);
  /// Blocks of neighbouring columns a thread, threads along the rows first, and
  /// warps along the rows, or along the columns if then no reduction of the
  /// tile, or of one that gets its layout with it, crosses warps.
  LogicalResult assignBlocked(Value value);
  /// Whether one does among those that do not stand in `before`.
  bool reducesAcrossWarps(const DenseMap<Value, LayoutAttr> &before);
  void setTypes();
  /// That a reduction to partial columns has as many as the layout of its input
  /// leaves; a kernel that was made for another chip may have others.
  LogicalResult checkPartialColumns(ReduceOp reduce);
  /// Puts a conversion in front of an operand that has another layout.
  void convertOperand(OpOperand &operand, LayoutAttr layout);
  template <typename MmaLikeOp> LogicalResult finish(MmaLikeOp mma);
  /// Lets a thread store as many neighbours at once as it can.
  LogicalResult finish(StoreOp store);
  /// Converts where a layout was expected that did not come.
  void reconcile(Operation *op);

  DenseMap<Value, LayoutAttr> layouts;
  SmallVector<Value> worklist;
  DenseMap<Operation *, Distribution> distributions;
};

} // namespace

template <typename MmaLikeOp>
FailureOr<Distribution> TileAssignLayouts::distribute(MmaLikeOp mma) {
  auto target = TargetAttr::lookup(mma);
  TileType accTile = getRegisterTile(mma.getAcc());
  Type lhs = mma.getLhs().getType().getElementType(),
       rhs = mma.getRhs().getType().getElementType(),
       acc = accTile.getElementType();
  MmaAtomAttr atom = target.findAtom(lhs, rhs, acc, mma.getScope());
  if (!atom)
    return mma.emitOpError()
           << "expects element types that '" << target.getChip()
           << "' has a matrix instruction of a "
           << stringifyMmaScope(mma.getScope()) << " for, but got " << lhs
           << ", " << rhs << " and " << acc;
  int64_t warps = getWarps(mma)->count, alongN = mma.getWarpsN(),
          replicas = mma.getReplicas(),
          ofRows = atom.getWarps() * alongN * replicas;
  if (warps % ofRows != 0)
    return mma.emitOpError()
           << "expects a multiple of " << ofRows << " warps for '"
           << atom.getName() << "', but got " << warps;
  Distribution distribution{atom, warps / ofRows, alongN, replicas};
  ArrayRef<int64_t> shape = accTile.getShape();
  int64_t depth =
              mma.getLhs().getType().getShape()[mma.getTransposeLhs() ? 0 : 1],
          rows = distribution.alongM * atom.getM(),
          columns = alongN * atom.getN();
  if (shape[0] % rows != 0 || shape[1] % columns != 0 ||
      depth % atom.getK() != 0)
    return mma.emitOpError()
           << "expects a result of a multiple of " << rows << "x" << columns
           << " and a depth of a multiple of " << atom.getK() << " (" << warps
           << " warps of '" << atom.getName() << "'), but got " << shape[0]
           << "x" << shape[1] << " and " << depth;
  return distribution;
}

template <typename MmaLikeOp>
LogicalResult TileAssignLayouts::pin(MmaLikeOp mma) {
  FailureOr<Distribution> distribution = distribute(mma);
  if (failed(distribution))
    return failure();
  distributions.insert({mma, *distribution});
  mma.setAtomAttr(distribution->atom);
  LayoutAttr acc =
      distribution->getAcc(getRegisterTile(mma.getAcc()).getShape());
  TileType type = getRegisterTile(mma.getResult());
  if (type.getLayout() && type.getLayout() != acc)
    return mma.emitOpError()
           << "expects a result in the layout " << acc << " of '"
           << distribution->atom.getName() << "', but got " << type.getLayout();
  if (!type.getLayout())
    layouts.insert({mma.getResult(), acc});
  // What is pending cannot be converted.
  for (Operation *user : mma->getUsers())
    if (isa<WaitOp>(user) && !getRegisterTile(user->getResult(0)).getLayout())
      layouts.insert({user->getResult(0), acc});
  return success();
}

template <typename MmaLikeOp> void TileAssignLayouts::anchor(MmaLikeOp mma) {
  const Distribution *distribution = &distributions.find(mma)->second;
  // Zeros that all compute are not those of columns that they share.
  if (auto fill = mma.getAcc().template getDefiningOp<FillOp>();
      fill && mma.getReplicas() > 1)
    mma.getAccMutable().assign(OpBuilder(mma).clone(*fill)->getResult(0));
  LayoutAttr acc =
      distribution->getAcc(getRegisterTile(mma.getAcc()).getShape());
  assign(mma.getAcc(), acc);
  spreadToUsers(mma.getResult(), acc);
  for (Operation *user : mma->getUsers())
    if (isa<WaitOp>(user))
      spreadToUsers(user->getResult(0), acc);
  // That has no layout in registers.
  if (mma.getTransposeLhs())
    return;
  // What is only read to be multiplied, and to be reduced besides, is read as
  // the MMA wants it, and so is what it multiplies from shared memory: then
  // rows are where the result's are.
  auto takesLhs = [](OpOperand &use) {
    if (auto map = dyn_cast<MapOp>(use.getOwner()))
      return map.getInputs().size() == 1 &&
             llvm::all_of(map->getUsers(), llvm::IsaPred<ReduceOp>);
    return isa<MmaOp, MmaAsyncOp>(use.getOwner()) &&
           use.getOperandNumber() == 0;
  };
  Value lhs = mma.getLhs();
  LayoutAttr own = distribution->getLhs(mma.getLhs().getType().getShape());
  if (isa_and_nonnull<ReadOp, LoadOp>(lhs.getDefiningOp()) &&
      llvm::all_of(lhs.getUses(), takesLhs))
    assign(lhs, own);
  for (Operation *user : lhs.getUsers())
    if (auto read = dyn_cast<ReadOp>(user))
      assign(read.getResult(), own);
}

//===----------------------------------------------------------------------===//
// Spreading
//===----------------------------------------------------------------------===//

void TileAssignLayouts::assign(Value value, LayoutAttr layout) {
  TileType type = getRegisterTile(value);
  if (!type || type.getLayout() || !layouts.insert({value, layout}).second)
    return;
  worklist.push_back(value);
  // Callers are many; one of them empties the list.
  if (worklist.size() > 1)
    return;
  while (!worklist.empty()) {
    Value next = worklist.front();
    LayoutAttr own = layouts.lookup(next);
    spreadToDefinition(next, own);
    spreadToUsers(next, own);
    worklist.erase(worklist.begin());
  }
}

void TileAssignLayouts::assignCarried(Operation *op, unsigned number,
                                      LayoutAttr layout) {
  assign(op->getResult(number), layout);
  for (Region &region : op->getRegions())
    if (!region.empty())
      assign(region.front().getTerminator()->getOperand(number), layout);
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    assign(loop.getRegionIterArg(number), layout);
    assign(loop.getInitArgs()[number], layout);
  }
}

void TileAssignLayouts::spreadToDefinition(Value value, LayoutAttr layout) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && argument.getArgNumber() > 0)
      assignCarried(loop, argument.getArgNumber() - 1, layout);
    return;
  }
  Operation *op = value.getDefiningOp();
  if (isa<scf::ForOp, scf::IfOp>(op))
    assignCarried(op, cast<OpResult>(value).getResultNumber(), layout);
  else if (auto map = dyn_cast<MapOp>(op))
    for (Value input : map.getInputs())
      assign(input, layout);
  else if (auto broadcast = dyn_cast<BroadcastOp>(op))
    assign(broadcast.getInput(), layout.dropDim(1 - broadcast.getDim()));
  else if (auto reduce = dyn_cast<ReduceOp>(op)) {
    if (reduce.getInit())
      assign(reduce.getInit(), layout);
  } else if (isa<SwapColumnsOp, WaitOp>(op))
    assign(op->getOperand(0), layout);
  else if (auto deinterleave = dyn_cast<DeinterleaveOp>(op)) {
    if (std::optional<LayoutAttr> whole = getWhole(deinterleave, layout))
      assign(deinterleave.getInput(), *whole);
    for (Value part : deinterleave.getParts())
      assign(part, layout);
  }
}

void TileAssignLayouts::spreadToUsers(Value value, LayoutAttr layout) {
  for (OpOperand &use : value.getUses()) {
    Operation *op = use.getOwner();
    if (isa<MapOp, SwapColumnsOp, WaitOp>(op))
      assign(op->getResult(0), layout);
    else if (auto reduce = dyn_cast<ReduceOp>(op))
      assign(reduce.getResult(), use.get() == reduce.getInit()
                                     ? layout
                                     : getReduced(reduce, layout));
    else if (auto deinterleave = dyn_cast<DeinterleaveOp>(op)) {
      if (LayoutAttr ofPart = getPart(deinterleave, layout))
        for (Value part : deinterleave.getParts())
          assign(part, ofPart);
    } else if (auto loop = dyn_cast<scf::ForOp>(op))
      assignCarried(loop, use.getOperandNumber() - loop.getNumControlOperands(),
                    layout);
    else if (isa<scf::YieldOp>(op) &&
             isa<scf::ForOp, scf::IfOp>(op->getParentOp()))
      assignCarried(op->getParentOp(), use.getOperandNumber(), layout);
  }
}

/// Whether a tile is put into slots that are stored by columns.
static bool isPutTransposed(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    auto put = dyn_cast<PutTileOp>(user);
    return put && put.getChannel().getType().getTransposed();
  });
}

bool TileAssignLayouts::reducesAcrossWarps(
    const DenseMap<Value, LayoutAttr> &before) {
  return getOperation()
      .walk([&](ReduceOp reduce) {
        LayoutAttr layout = layouts.lookup(reduce.getInput());
        bool isNew = layout && !before.contains(reduce.getInput());
        return isNew && crossesWarps(layout,
                                     static_cast<int64_t>(reduce.getDim()))
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult TileAssignLayouts::assignBlocked(Value value) {
  Operation *place = value.getDefiningOp();
  if (!place)
    place = value.getParentBlock()->getParentOp();
  int64_t lanes = TargetAttr::lookup(getOperation()).getLanes(),
          warps = getWarps(place)->count;
  TileType type = getRegisterTile(value);
  if (isPutTransposed(value))
    if (LayoutAttr layout = getTransposingLayout(type, lanes, warps)) {
      assign(value, layout);
      return success();
    }
  const DenseMap<Value, LayoutAttr> before = layouts;
  // Rows stay whole in a warp where neither way will do.
  for (bool warpsAlongColumns : {false, true, false}) {
    layouts = before;
    LayoutAttr layout = getBlockedLayout([&] { return place->emitOpError(); },
                                         type, lanes, warps, warpsAlongColumns);
    if (!layout)
      return failure();
    assign(value, layout);
    if (!reducesAcrossWarps(before))
      break;
  }
  return success();
}

void TileAssignLayouts::setTypes() {
  for (auto [value, layout] : layouts) {
    TileType type = getRegisterTile(value).withLayout(layout);
    value.setType(isa<PendingType>(value.getType()) ? PendingType::getOf(type)
                                                    : Type(type));
  }
}

LogicalResult TileAssignLayouts::checkPartialColumns(ReduceOp reduce) {
  TileType type = reduce.getResult().getType();
  LayoutAttr input = layouts.lookup(reduce.getInput());
  if (!input)
    input = getRegisterTile(reduce.getInput()).getRegisterLayout();
  SmallVector<int64_t, 2> left =
      getReduced(reduce, input).getShape(type.getRank());
  if (ArrayRef<int64_t>(left) == type.getShape())
    return success();
  return reduce.emitOpError("expects a result of ")
         << ArrayRef<int64_t>(left)
         << ", as the layout of its input leaves on this chip, but got "
         << type.getShape();
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

void TileAssignLayouts::convertOperand(OpOperand &operand, LayoutAttr layout) {
  TileType type = getRegisterTile(operand.get());
  if (!type || type.getLayout() == layout)
    return;
  OpBuilder builder(operand.getOwner());
  operand.set(ConvertLayoutOp::create(builder, operand.getOwner()->getLoc(),
                                      type.withLayout(layout), operand.get()));
}

template <typename MmaLikeOp>
LogicalResult TileAssignLayouts::finish(MmaLikeOp mma) {
  const Distribution &distribution = distributions.find(mma)->second;
  bool byWarps = distribution.atom.getScope() == MmaScope::Warp;
  // What instructions do not read from registers so.
  auto check = [&](TileType type, bool transposed, StringRef name,
                   bool alwaysShared) -> LogicalResult {
    if (type.isShared() || (!transposed && !alwaysShared))
      return success();
    return mma.emitOpError()
           << "expects " << (transposed ? "a transposed " : "the ") << name
           << (transposed ? "" : " of an MMA of a warpgroup")
           << " in shared memory; run tile-promote-to-shared first";
  };
  if (failed(check(mma.getLhs().getType(), mma.getTransposeLhs(), "lhs",
                   /*alwaysShared=*/false)) ||
      failed(check(mma.getRhs().getType(), mma.getTransposeRhs(), "rhs",
                   /*alwaysShared=*/!byWarps)))
    return failure();
  convertOperand(mma.getAccMutable(),
                 getRegisterTile(mma.getResult()).getRegisterLayout());
  if (TileType lhs = getRegisterTile(mma.getLhs()))
    convertOperand(mma.getLhsMutable(), distribution.getLhs(lhs.getShape()));
  if (TileType rhs = getRegisterTile(mma.getRhs()))
    convertOperand(mma.getRhsMutable(), distribution.getRhs(rhs.getShape()));
  return success();
}

LogicalResult TileAssignLayouts::finish(StoreOp store) {
  TileType type = store.getValue().getType();
  MemRefType destination = store.getDestination().getType();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (store.getByThreads() || type.getRank() != 2 || !type.getLayout() ||
      failed(destination.getStridesAndOffset(strides, offset)) ||
      strides.back() != 1)
    return success();
  LayoutAttr layout = type.getRegisterLayout();
  convertOperand(store.getValueMutable(),
                 layout.getWithRuns(getWidestRun(type)));
  return success();
}

void TileAssignLayouts::reconcile(Operation *op) {
  auto layoutOf = [](Value value) {
    return getRegisterTile(value).getRegisterLayout();
  };
  if (auto map = dyn_cast<MapOp>(op)) {
    for (OpOperand &input : map.getInputsMutable())
      convertOperand(input, layoutOf(map.getResult()));
  } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    convertOperand(
        broadcast.getInputMutable(),
        layoutOf(broadcast.getResult()).dropDim(1 - broadcast.getDim()));
  } else if (auto deinterleave = dyn_cast<DeinterleaveOp>(op)) {
    LayoutAttr part = layoutOf(deinterleave.getParts().front());
    std::optional<LayoutAttr> whole = getWhole(deinterleave, part);
    if (whole &&
        getPart(deinterleave, layoutOf(deinterleave.getInput())) != part)
      convertOperand(deinterleave.getInputMutable(), *whole);
  } else if (auto swap = dyn_cast<SwapColumnsOp>(op)) {
    convertOperand(swap.getInputMutable(), layoutOf(swap.getResult()));
  } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
    LayoutAttr input = layoutOf(reduce.getInput()),
               wanted = layoutOf(reduce.getResult());
    TileType type = reduce.getResult().getType();
    LayoutAttr given = getReduced(reduce, input);
    if (reduce.getInit())
      convertOperand(*reduce.getInitMutable().begin(), given);
    if (given == wanted)
      return;
    reduce.getResult().setType(type.withLayout(given));
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    auto converted = ConvertLayoutOp::create(builder, op->getLoc(), type,
                                             reduce.getResult());
    reduce.getResult().replaceAllUsesExcept(converted, converted);
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [init, result] :
         llvm::zip_equal(loop.getInitArgsMutable(), loop.getResults()))
      if (getRegisterTile(result))
        convertOperand(init, layoutOf(result));
  } else if (isa<scf::YieldOp>(op) &&
             isa<scf::ForOp, scf::IfOp>(op->getParentOp())) {
    for (auto [operand, result] :
         llvm::zip_equal(op->getOpOperands(), op->getParentOp()->getResults()))
      if (getRegisterTile(result))
        convertOperand(operand, layoutOf(result));
  }
}

/// What the pass needs to know of a kernel with tiles in registers.
static LogicalResult checkKernel(gpu::GPUFuncOp kernel) {
  if (!TargetAttr::lookup(kernel))
    return emitError(kernel.getLoc())
           << "expects a '" << TileDialect::kTargetAttrName
           << "' attribute on the kernel or around it; run "
              "attune-attach-target first";
  if (!getWorkgroupWarps(kernel))
    return emitError(kernel.getLoc())
           << "expects a 'known_block_size' of whole warps along x";
  return success();
}

void TileAssignLayouts::runOnOperation() {
  gpu::GPUFuncOp kernel = getOperation();
  layouts.clear();
  distributions.clear();
  SmallVector<Value> tiles, given;
  auto collect = [&](ValueRange values) {
    for (Value value : values)
      if (TileType type = getRegisterTile(value))
        (type.getLayout() ? given : tiles).push_back(value);
  };
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    collect(op->getResults());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        collect(block.getArguments());
  });
  if (tiles.empty() && given.empty())
    return;
  if (failed(checkKernel(kernel)))
    return signalPassFailure();
  WalkResult result = kernel.walk([&](Operation *op) -> WalkResult {
    return TypeSwitch<Operation *, LogicalResult>(op)
        .Case<MmaOp, MmaAsyncOp>([&](auto mma) { return pin(mma); })
        .Default([](Operation *) { return success(); });
  });
  if (result.wasInterrupted())
    return signalPassFailure();
  for (Value tile : given) {
    LayoutAttr layout = getRegisterTile(tile).getRegisterLayout();
    spreadToDefinition(tile, layout);
    spreadToUsers(tile, layout);
  }
  kernel.walk([&](Operation *op) {
    TypeSwitch<Operation *>(op).Case<MmaOp, MmaAsyncOp>(
        [&](auto mma) { anchor(mma); });
  });
  // What no other layout reached is computed as the MMA wants it.
  kernel.walk([&](MmaOp mma) {
    TileType lhs = getRegisterTile(mma.getLhs());
    if (lhs && mma.getLhs().getDefiningOp<MapOp>())
      assign(mma.getLhs(),
             distributions.find(mma)->second.getLhs(lhs.getShape()));
  });
  // What is reduced decides about what is known of its rows or columns.
  for (int64_t rank : {2, 1})
    for (Value tile : tiles)
      if (getRegisterTile(tile).getRank() == rank && !layouts.contains(tile) &&
          failed(assignBlocked(tile)))
        return signalPassFailure();
  auto check = [&](ReduceOp op) { return WalkResult(checkPartialColumns(op)); };
  if (kernel.walk(check).wasInterrupted())
    return signalPassFailure();
  setTypes();
  result = kernel.walk([&](Operation *op) -> WalkResult {
    reconcile(op);
    return TypeSwitch<Operation *, LogicalResult>(op)
        .Case<MmaOp, MmaAsyncOp, StoreOp>([&](auto op) { return finish(op); })
        .Default([](Operation *) { return success(); });
  });
  if (result.wasInterrupted())
    signalPassFailure();
}
