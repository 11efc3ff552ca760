// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts a channel between a load from global memory and the MMAs
// that use it, and a buffer in shared memory between what is computed and the
// multiply or the store that takes it.

#include "ElementNumbers.h"
#include "attune/Dialect/Tile/IR/Alignment.h"
#include "attune/Dialect/Tile/IR/Warps.h"
#include "attune/Dialect/Tile/Transforms/Passes.h"
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
  /// Lets a tile that asks for stages go through a channel.
  void promote(LoadOp load);
  /// Lets a tile that another role reads go through a channel.
  void promote(HandOverOp handOver);
  /// A channel in front of `op`, outside of all loops.
  Value createChannel(Operation *op, ChannelType type);
  /// The channel of a tile that `users` multiply.
  ChannelType getChannel(LoadOp load, ArrayRef<MmaOp> users, int64_t stages);
  /// Channels and buffers of tiles that the copy engine moves have swizzle
  /// atoms.
  int64_t getSwizzleAtom(TileType type);
  /// Room in shared memory for a tile that is computed.
  Value createBuffer(TileType type);
  /// Multiplies the left operand from shared memory.
  void writeOperand(MmaOp mma);
  /// Multiplies a right operand as warpgroups read it: columns that were rows
  /// of a channel, or in more bits.
  void restageOperand(MmaOp mma);
  LogicalResult writeOutput(StoreOp store);
  ElementNumbers numbers;
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

/// The op in the block of `op` that uses it first.
static Operation *firstUserInBlock(Operation *op) {
  Operation *first = op->getBlock()->getTerminator();
  for (Operation *user : op->getUsers()) {
    Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*user);
    if (ancestor && ancestor->isBeforeInBlock(first))
      first = ancestor;
  }
  return first;
}

/// Loads a tile once more where warps multiply it from both sides, as that of
/// one tensor with itself: what is best for the one is not for the other.
/// Warpgroups read both from the same swizzle atoms.
static void splitSides(LoadOp load) {
  auto isLhs = [](OpOperand &use) {
    auto mma = dyn_cast<MmaOp>(use.getOwner());
    return mma && mma.getScope() == MmaScope::Warp &&
           &use == &mma.getLhsMutable();
  };
  auto isRhs = [](OpOperand &use) {
    auto mma = dyn_cast<MmaOp>(use.getOwner());
    return mma && &use == &mma.getRhsMutable();
  };
  if (llvm::none_of(load->getUses(), isLhs) ||
      llvm::none_of(load->getUses(), isRhs))
    return;
  OpBuilder b(load);
  auto other = cast<LoadOp>(b.clone(*load));
  load.getResult().replaceUsesWithIf(other.getResult(), isRhs);
}

int64_t TilePromoteToShared::getSwizzleAtom(TileType type) {
  return TargetAttr::lookup(getOperation())
      .getSwizzleAtom(type.getShape()[1], type.getElementType());
}

/// Whether what is loaded passes through registers on its way to shared memory.
/// Interleaved buffers are put as a whole.
static bool copiesThroughRegisters(LoadOp load) {
  auto target = TargetAttr::lookup(load);
  return target && target.copiesThroughRegisters() &&
         !load.getSource().getDefiningOp<InterleavedOp>();
}

/// How these MMAs use `tile`, where copies pass through registers. None where
/// the chip has no instruction for them, or they are of warpgroups.
static std::optional<OperandUse> getUse(Value tile, ArrayRef<MmaOp> users) {
  std::optional<OperandUse> use;
  auto target = TargetAttr::lookup(tile.getParentRegion()->getParentOp());
  for (MmaOp mma : users) {
    OperandUse own;
    own.atom = target.findAtom(mma.getLhs().getType().getElementType(),
                               mma.getRhs().getType().getElementType(),
                               mma.getAcc().getType().getElementType(),
                               mma.getScope());
    if (!own.atom || own.atom.getScope() == MmaScope::Warpgroup)
      return std::nullopt;
    own.isLhs = mma.getLhs() == tile;
    own.kAlongRows = own.isLhs ? mma.getTransposeLhs() : !mma.getTransposeRhs();
    // Of those that differ, the ones that read rows are served.
    if (!use || !own.kAlongRows)
      use = own;
  }
  return use;
}

/// Whether warps copy the tile past registers: as many pieces of whole rows as
/// threads, any number of times, each of which starts where the chip wants it
/// to. Rows of pages are not the same number of bytes apart.
static bool isCopiedDirectly(LoadOp load, const OperandUse &use,
                             int64_t stages) {
  constexpr int64_t kPieceBytes = 16;
  auto target = TargetAttr::lookup(load);
  TileType type = load.getResult().getType();
  auto source = dyn_cast<MemRefType>(load.getSource().getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!source || source.getRank() != 2 || type.getRank() != 2 ||
      load.getSource().getDefiningOp<PagedOp>() ||
      failed(source.getStridesAndOffset(strides, offset)) ||
      strides.back() != 1 ||
      !copiesDirectly(target, type.getShape(), type.getElementType(), stages,
                      use))
    return false;
  std::optional<WarpRange> warps = getWarps(load);
  int64_t piece =
      kPieceBytes * 8 / type.getElementType().getIntOrFloatBitWidth();
  return warps && source.getDimSize(1) % type.getShape()[1] == 0 &&
         knownRowDivisor(load.getSource()) % piece == 0 &&
         ShapedType::getNumElements(type.getShape()) %
                 (piece * warps->count * target.getLanes()) ==
             0;
}

ChannelType TilePromoteToShared::getChannel(LoadOp load, ArrayRef<MmaOp> users,
                                            int64_t stages) {
  TileType type = load.getResult().getType();
  SmallVector<int64_t, 2> shape = type.getRowsAndColumns();
  if (copiesThroughRegisters(load))
    if (std::optional<OperandUse> use = getUse(load.getResult(), users))
      return isCopiedDirectly(load, *use, stages)
                 ? getDirectChannel(shape, type.getElementType(), stages, *use)
                 : getOperandChannel(shape, type.getElementType(), stages,
                                     *use);
  bool byWarpgroups = llvm::any_of(
      users, [](MmaOp mma) { return mma.getScope() == MmaScope::Warpgroup; });
  // So the copy engine is told to fetch what nothing multiplies.
  bool isFetched = users.empty() && !getRoles(getOperation()).empty();
  // MMAs of warpgroups read what the copy engine writes, which alone is told
  // to fetch a single row.
  int64_t atomColumns = type.getRank() == 1         ? type.getShape()[0]
                        : byWarpgroups || isFetched ? getSwizzleAtom(type)
                                                    : 0;
  return ChannelType::get(&getContext(), shape, type.getElementType(), stages,
                          atomColumns);
}

Value TilePromoteToShared::createChannel(Operation *op, ChannelType type) {
  Operation *outermost = op;
  while (outermost->getParentOp() != getOperation())
    outermost = outermost->getParentOp();
  OpBuilder b(outermost);
  return ChannelOp::create(b, op->getLoc(), type, /*offset=*/IntegerAttr(),
                           /*barriers=*/IntegerAttr());
}

/// Whether the use multiplies a tile, which may lie in shared memory for that.
static bool isOperand(OpOperand &use) {
  auto mma = dyn_cast<MmaOp>(use.getOwner());
  return mma && &use != &mma.getAccMutable();
}

void TilePromoteToShared::promote(LoadOp load) {
  // MMAs multiply it from shared memory; all else reads it from there first.
  SmallVector<MmaOp> users;
  bool asLhs = false;
  for (OpOperand &use : load->getUses()) {
    if (!isOperand(use))
      continue;
    auto mma = cast<MmaOp>(use.getOwner());
    users.push_back(mma);
    asLhs |= mma.getLhs() == load.getResult();
  }
  bool readsAll = users.empty() || (asLhs && load.getReadOnce());
  bool throughRegisters = copiesThroughRegisters(load);
  // Where it would come from registers only to go back to them, each thread
  // loads its own part.
  if (readsAll && throughRegisters && load.getReadOnce()) {
    load.removeStagesAttr();
    load.setReadOnce(false);
    return;
  }
  auto loop = load->getParentOfType<scf::ForOp>();
  auto type = load.getResult().getType();
  // A ring of more slots is of use only where there is a next tile.
  int64_t stages = loop ? *load.getStages() : 1;
  bool isRow = type.getRank() == 1;
  ChannelType channelType = getChannel(load, users, stages);
  Value channel = createChannel(load, channelType);
  OpBuilder b(load);
  Location loc = load.getLoc();
  Value element = numbers.get(b, loc, loop);
  // A count makes another loop, whose block is another.
  b.setInsertionPoint(load);
  if (throughRegisters && !channelType.getSwizzleAtom() &&
      !channelType.getChunk()) {
    auto fetched = cast<LoadOp>(b.clone(*load));
    fetched.removeStagesAttr();
    fetched.setReadOnce(false);
    PutTileOp::create(b, loc, channel, element, fetched.getResult(),
                      /*role=*/StringAttr());
  } else {
    PutOp::create(b, loc, channel, element, load.getSource(),
                  load.getIndices()[0], load.getIndices()[1],
                  /*predicate=*/Value(), /*maps=*/ValueRange(),
                  load.getInBoundsAttr(), load.getRoleAttr(),
                  load.getEvictionAttr());
  }
  // Tiles that arithmetic alone reads are waited for, and take registers, when
  // it begins.
  bool isLate = users.empty() && !isRow && !throughRegisters;
  if (isLate)
    b.setInsertionPoint(firstUserInBlock(load));
  Value shared = GetOp::create(b, loc, channelType.getTileType(), channel,
                               element, /*pending=*/0);
  if (isRow)
    b.setInsertionPoint(firstUserInBlock(load));
  if (readsAll || !llvm::all_of(load->getUses(), isOperand)) {
    Value read = ReadOp::create(b, loc, type, shared);
    load.getResult().replaceUsesWithIf(
        read, [&](OpOperand &use) { return readsAll || !isOperand(use); });
  }
  // A row takes little room, and warps that have met since need not meet for
  // it.
  if (isRow)
    b.setInsertionPoint(load->getBlock()->getTerminator());
  if (readsAll) {
    ReleaseOp::create(b, loc, channel, element);
  } else {
    b.setInsertionPointAfter(lastUserInBlock(load, users));
    ReleaseOp::create(b, loc, channel, element);
    load.getResult().replaceAllUsesWith(shared);
  }
  load.erase();
}

void TilePromoteToShared::promote(HandOverOp handOver) {
  auto isOfAll = [](RoleAttr role) {
    return role.getThreads() == RoleThreads::All;
  };
  Value result = handOver.getResult();
  if (llvm::count_if(getRoles(getOperation()).getAsRange<RoleAttr>(), isOfAll) <
      2) {
    result.replaceAllUsesWith(handOver.getInput());
    return handOver.erase();
  }
  SmallVector<MmaOp> users;
  for (OpOperand &use : result.getUses())
    if (isOperand(use))
      users.push_back(cast<MmaOp>(use.getOwner()));
  TileType type = handOver.getInput().getType();
  SmallVector<int64_t, 2> shape = type.getRowsAndColumns();
  auto loop = handOver->getParentOfType<scf::ForOp>();
  auto channelType =
      ChannelType::get(&getContext(), shape, type.getElementType(),
                       loop ? static_cast<int64_t>(handOver.getStages()) : 1,
                       type.getRank() == 1 ? shape[1] : getSwizzleAtom(type));
  Value channel = createChannel(handOver, channelType);
  OpBuilder b(handOver);
  Location loc = handOver.getLoc();
  Value element = numbers.get(b, loc, loop);
  // A count makes another loop, whose block is another.
  b.setInsertionPoint(handOver);
  PutTileOp::create(b, loc, channel, element, handOver.getInput(),
                    handOver.getRoleAttr());
  // Rows take registers from when they are read on.
  if (type.getRank() == 1)
    b.setInsertionPoint(firstUserInBlock(handOver));
  auto get = GetOp::create(b, loc, channelType.getTileType(), channel, element,
                           /*pending=*/0);
  if (!llvm::all_of(result.getUses(), isOperand)) {
    Value read = ReadOp::create(b, loc, type, get);
    result.replaceUsesWithIf(read,
                             [](OpOperand &use) { return !isOperand(use); });
  }
  if (!users.empty())
    b.setInsertionPointAfter(lastUserInBlock(handOver, users));
  ReleaseOp::create(b, loc, channel, element);
  result.replaceAllUsesWith(get.getResult());
  handOver.erase();
}

Value TilePromoteToShared::createBuffer(TileType type) {
  Block &entry = getOperation().getBody().front();
  OpBuilder b(&entry, entry.begin());
  // Stored as a slot is.
  auto slot =
      ChannelType::get(&getContext(), type.getShape(), type.getElementType(),
                       /*stages=*/1, getSwizzleAtom(type));
  return BufferOp::create(b, getOperation().getLoc(), slot.getTileType(),
                          /*offset=*/IntegerAttr());
}

/// Whether the MMA is done by the end of its block: something else than an MMA
/// reads its result there.
static bool endsInBlock(MmaOp mma) {
  return llvm::any_of(mma->getUsers(), [&](Operation *user) {
    return user->getBlock() == mma->getBlock() &&
           !user->hasTrait<OpTrait::IsTerminator>() && !isa<MmaOp>(user);
  });
}

void TilePromoteToShared::writeOperand(MmaOp mma) {
  mma.setLhsThroughShared(false);
  Value value = mma.getLhs();
  auto type = cast<TileType>(value.getType());
  if (type.isShared())
    return;
  Location loc = mma.getLoc();
  Value buffer = createBuffer(type);
  // Other warps read what these wrote, and wrote what these read. What is
  // issued in front of the MMA runs while they wait for each other.
  bool isShared = mma.getTransposeLhs() || mma.getWarpsN() > 1;
  auto loop = mma->getParentOfType<scf::ForOp>();
  bool takesTurns = isShared && loop && endsInBlock(mma);
  if (takesTurns) {
    // Who is at the barrier of a turn has read what was written in the one
    // before.
    Value other = createBuffer(type);
    OpBuilder b(mma);
    Value number = numbers.get(b, loc, loop);
    b.setInsertionPoint(mma);
    buffer = AlternateOp::create(b, loc, number, buffer, other);
  }
  OpBuilder b(mma);
  if (!isShared && value.getParentBlock() == mma->getBlock())
    b.setInsertionPointAfterValue(value);
  if (isShared && loop && !takesTurns)
    BarrierOp::create(b, loc);
  WriteOp::create(b, loc, value, buffer);
  if (isShared)
    BarrierOp::create(b, loc);
  mma.getLhsMutable().assign(buffer);
}

/// The role that restages, where the kernel has one.
static StringAttr getRestagingRole(gpu::GPUFuncOp kernel) {
  constexpr StringLiteral kName = "restage";
  for (auto role : getRoles(kernel).getAsRange<RoleAttr>())
    if (role.getName() == kName && role.getThreads() == RoleThreads::All)
      return StringAttr::get(kernel.getContext(), kName);
  return {};
}

void TilePromoteToShared::restageOperand(MmaOp mma) {
  auto target = TargetAttr::lookup(mma);
  auto rows = mma.getRhs().getDefiningOp<GetOp>();
  if (!target || !rows)
    return;
  TileType type = mma.getRhs().getType();
  MmaAtomAttr atom = target.findAtom(
      mma.getLhs().getType().getElementType(), type.getElementType(),
      mma.getAcc().getType().getElementType(), MmaScope::Warpgroup);
  if (!atom)
    return;
  bool transposes = atom.readsColumns() && !mma.getTransposeRhs(),
       widens = atom.getRhsType() != type.getElementType(),
       isPacked = mma.getPackedRhs();
  if (!transposes && !widens)
    return;
  // What is widened may be multiplied from both sides of a step.
  SmallVector<MmaOp> users;
  for (OpOperand &use : rows.getResult().getUses())
    if (auto user = dyn_cast<MmaOp>(use.getOwner());
        user == mma || (widens && user && &use == &user.getRhsMutable() &&
                        user.getLhs().getType().getElementType() ==
                            mma.getLhs().getType().getElementType()))
      users.push_back(user);
  Location loc = mma.getLoc();
  SmallVector<int64_t, 2> shape(type.getShape());
  if (transposes)
    std::swap(shape[0], shape[1]);
  if (isPacked)
    shape[1] *= 2;
  auto restaged = TileType::get(shape, atom.getRhsType());
  // Those of a step are written while those of the one before are multiplied.
  constexpr int64_t kStages = 2;
  auto channelType = ChannelType::get(
      &getContext(), restaged.getShape(), restaged.getElementType(),
      rows->getParentOfType<scf::ForOp>() ? kStages : 1,
      getSwizzleAtom(restaged),
      transposes && atom.isPaired() && mma.getLhs().getType().isRegisters());
  Value channel = createChannel(rows, channelType), element = rows.getElement();
  OpBuilder b(rows->getContext());
  b.setInsertionPointAfter(rows);
  auto restage =
      RestageOp::create(b, loc, channel, element, rows.getResult(), transposes,
                        isPacked, getRestagingRole(getOperation()));
  Value get = GetOp::create(b, loc, channelType.getTileType(), channel, element,
                            /*pending=*/0);
  b.setInsertionPointAfter(lastUserInBlock(rows, users));
  ReleaseOp::create(b, loc, channel, element);
  for (MmaOp user : users) {
    user.getRhsMutable().assign(get);
    user.setTransposeRhs(user.getTransposeRhs() || transposes);
    user.setPackedRhs(false);
  }
  if (!llvm::all_of(rows->getUsers(), llvm::IsaPred<RestageOp>))
    return;
  for (auto release :
       llvm::make_early_inc_range(rows->getBlock()->getOps<ReleaseOp>()))
    if (release.getChannel() == rows.getChannel() &&
        release.getElement() == rows.getElement())
      release->moveAfter(restage);
}

/// Whether the rows and columns of a view end where those of its tensor do.
static bool reachesEnds(Value view) {
  auto subview = view.getDefiningOp<memref::SubViewOp>();
  if (!subview)
    return isa<BlockArgument>(view);
  llvm::SmallBitVector dropped = subview.getDroppedDims();
  MemRefType source = subview.getSourceType();
  for (int64_t dim = 0, rank = source.getRank(); dim < rank; ++dim) {
    if (dropped[dim])
      continue;
    OpFoldResult size = subview.getMixedSizes()[dim];
    bool isWhole = !source.isDynamicDim(dim) &&
                   isConstantIntValue(size, source.getDimSize(dim));
    if (auto value = dyn_cast<Value>(size))
      if (auto asked = value.getDefiningOp<memref::DimOp>())
        isWhole = asked.getSource() == subview.getSource() &&
                  asked.getConstantIndex() == dim;
    if (!isWhole || !isConstantIntValue(subview.getMixedOffsets()[dim], 0))
      return false;
  }
  return isa<BlockArgument>(subview.getSource());
}

/// A left operand of MMAs, of the shape of `type`, that `block` gets.
static GetOp findOperand(Block *block, TileType type) {
  for (auto get : block->getOps<GetOp>()) {
    TileType tile = get.getResult().getType();
    if (tile.getShape() == type.getShape() &&
        tile.getElementType() == type.getElementType() &&
        llvm::any_of(get->getUses(), [](OpOperand &use) {
          auto mma = dyn_cast<MmaOp>(use.getOwner());
          return mma && &use == &mma.getLhsMutable();
        }))
      return get;
  }
  return {};
}

LogicalResult TilePromoteToShared::writeOutput(StoreOp store) {
  TileType type = store.getValue().getType();
  StorePath path = store.getPath();
  store.setPath(StorePath::Direct);
  if (type.getRank() != 2 || !reachesEnds(store.getDestination()))
    return success();
  Location loc = store.getLoc();
  Block *block = store->getBlock();
  Value place;
  Operation *release = nullptr;
  if (path == StorePath::OperandSlot) {
    GetOp get = findOperand(block, type);
    for (auto candidate : block->getOps<ReleaseOp>())
      if (get && candidate.getChannel() == get.getChannel() &&
          candidate.getElement() == get.getElement())
        release = candidate;
    if (!release)
      return store.emitOpError()
             << "expects a left-hand operand of an MMA of the type of the "
                "tile in the same block, whose slot it can take";
    place = get.getResult();
  } else {
    place = createBuffer(type);
  }
  OpBuilder b(store);
  auto write = WriteOp::create(b, loc, store.getValue(), place);
  Value stored = StoreAsyncOp::create(
      b, loc, place, store.getDestination(), store.getIndices()[0],
      store.getIndices()[1], store.getAccumulateAttr(), /*map=*/Value(),
      store.getEvictionAttr());
  store.erase();
  // A slot is wanted for the next tile, a buffer not before its next write.
  auto loop = dyn_cast<scf::ForOp>(block->getParentOp());
  if (release || !loop) {
    Operation *last = block->getTerminator();
    b.setInsertionPoint(last);
    WaitReadsOp::create(b, loc, stored);
    if (release)
      release->moveBefore(last);
    return success();
  }
  b.setInsertionPoint(loop);
  Value none = DoneOp::create(b, loc);
  Value before = numbers.addCarried(loop, none,
                                    [&](OpBuilder &, Value) { return stored; });
  // Not between what rounds the tile and its write: a back end packs pairs of
  // what is rounded only where both are in one block.
  auto map = write.getValue().getDefiningOp<MapOp>();
  bool isOwn = map && map->hasOneUse() && map->getBlock() == write->getBlock();
  b.setInsertionPoint(isOwn ? map.getOperation() : write);
  WaitReadsOp::create(b, loc, before);
  b.setInsertionPoint(loop->getBlock()->getTerminator());
  WaitReadsOp::create(b, loc, loop.getResults().back());
  return success();
}

/// What goes through shared memory, in the order of the kernel.
template <typename OpTy>
static SmallVector<OpTy> collect(gpu::GPUFuncOp kernel,
                                 function_ref<bool(OpTy)> isWanted) {
  SmallVector<OpTy> ops;
  kernel.walk([&](OpTy op) {
    if (isWanted(op))
      ops.push_back(op);
  });
  return ops;
}

void TilePromoteToShared::runOnOperation() {
  gpu::GPUFuncOp kernel = getOperation();
  numbers.clear();
  auto isStaged = [](LoadOp load) { return load.getStages().has_value(); };
  for (LoadOp load : collect<LoadOp>(kernel, isStaged))
    splitSides(load);
  SmallVector<LoadOp> loads = collect<LoadOp>(kernel, isStaged);
  SmallVector<MmaOp> multiplies = collect<MmaOp>(
      kernel, [](MmaOp mma) { return mma.getLhsThroughShared(); });
  SmallVector<StoreOp> stores = collect<StoreOp>(kernel, [](StoreOp store) {
    return store.getPath() != StorePath::Direct;
  });
  SmallVector<MmaOp> ofWarpgroups = collect<MmaOp>(
      kernel, [](MmaOp mma) { return mma.getScope() == MmaScope::Warpgroup; });
  bool usesEngine =
      !multiplies.empty() || !stores.empty() || !ofWarpgroups.empty();
  if (usesEngine && !TargetAttr::lookup(kernel)) {
    emitError(kernel.getLoc())
        << "expects a '" << TileDialect::kTargetAttrName
        << "' attribute on the kernel or around it; run attune-attach-target "
           "first";
    return signalPassFailure();
  }
  for (MmaOp mma : multiplies)
    if (mma.getScope() != MmaScope::Warpgroup) {
      mma.emitOpError() << "expects an MMA of a warpgroup where its lhs goes "
                           "through shared memory, but got one of a warp";
      return signalPassFailure();
    }
  for (LoadOp load : loads)
    promote(load);
  for (HandOverOp handOver :
       collect<HandOverOp>(kernel, [](HandOverOp) { return true; }))
    promote(handOver);
  for (MmaOp mma : multiplies)
    writeOperand(mma);
  for (MmaOp mma : ofWarpgroups)
    restageOperand(mma);
  for (StoreOp store : stores)
    if (failed(writeOutput(store)))
      return signalPassFailure();
}
