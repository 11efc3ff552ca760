// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts a channel between a load from global memory and the MMAs
// that use it, and a buffer in shared memory between what is computed and the
// multiply or the store that takes it.

#include "ElementNumbers.h"
#include "StoresThroughShared.h"
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
  /// The channel of a tile that `users` multiply, stored as `type`.
  ChannelType getChannel(LoadOp load, TileType type, ArrayRef<MmaOp> users,
                         int64_t stages);
  /// Whether the copy engine is told to fetch a tile that `users` multiply,
  /// though it is none of them.
  bool isFetched(ArrayRef<MmaOp> users) {
    return users.empty() && !getRoles(getOperation()).empty();
  }
  /// Lets an MMA read its left-hand operand in shared memory, where it is
  /// written at `b`, to two places by turns if a turn's number is given.
  void writeOperand(MmaOp mma, Value number, OpBuilder &b);
  /// The same for all that are to read theirs there.
  void writeOperands(ArrayRef<MmaOp> multiplies);
  /// Multiplies a right operand as warpgroups read it: columns that were rows
  /// of a channel, or in more bits.
  void restageOperand(MmaOp mma);
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
      isa_and_present<PagedOp, FlattenedOp>(load.getSource().getDefiningOp()) ||
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

ChannelType TilePromoteToShared::getChannel(LoadOp load, TileType type,
                                            ArrayRef<MmaOp> users,
                                            int64_t stages) {
  SmallVector<int64_t, 2> shape = type.getRowsAndColumns();
  if (copiesThroughRegisters(load))
    if (std::optional<OperandUse> use = getUse(load.getResult(), users))
      return isCopiedDirectly(load, *use, stages)
                 ? getDirectChannel(shape, type.getElementType(), stages, *use)
                 : getOperandChannel(shape, type.getElementType(), stages,
                                     *use);
  bool byWarpgroups = llvm::any_of(
      users, [](MmaOp mma) { return mma.getScope() == MmaScope::Warpgroup; });
  // MMAs of warpgroups read what the copy engine writes, which alone is told
  // to fetch a single row.
  int64_t atomColumns = type.getRank() == 1 ? type.getShape()[0]
                        : byWarpgroups || isFetched(users)
                            ? getSwizzleAtom(getOperation(), type)
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
  // Tiles that arithmetic alone reads are waited for, and take registers, when
  // it begins. The copy engine copies their rows as they lie in memory.
  bool isLate = users.empty() && !isRow && !throughRegisters;
  Value untransposed =
      isLate && isFetched(users) ? getUntransposed(load.getSource()) : Value();
  ChannelType channelType =
      getChannel(load, untransposed ? transpose(type) : type, users, stages);
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
    unsigned row = untransposed ? 1 : 0;
    PutOp::create(b, loc, channel, element,
                  untransposed ? untransposed : load.getSource(),
                  load.getIndices()[row], load.getIndices()[1 - row],
                  /*predicate=*/Value(), /*maps=*/ValueRange(),
                  load.getInBoundsAttr(), load.getRoleAttr(),
                  load.getEvictionAttr());
  }
  if (isLate)
    b.setInsertionPoint(firstUserInBlock(load));
  Value shared = GetOp::create(b, loc, channelType.getTileType(), channel,
                               element, /*pending=*/0);
  if (isRow)
    b.setInsertionPoint(firstUserInBlock(load));
  if (readsAll || !llvm::all_of(load->getUses(), isOperand)) {
    Value read = ReadOp::create(b, loc, type, shared,
                                /*transposed=*/untransposed != nullptr);
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
  auto channelType = ChannelType::get(
      &getContext(), shape, type.getElementType(),
      loop ? static_cast<int64_t>(handOver.getStages()) : 1,
      type.getRank() == 1 ? shape[1] : getSwizzleAtom(getOperation(), type));
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

/// Whether the MMA is done by the end of its block: something else than an MMA
/// reads its result there.
static bool endsInBlock(MmaOp mma) {
  return llvm::any_of(mma->getUsers(), [&](Operation *user) {
    return user->getBlock() == mma->getBlock() &&
           !user->hasTrait<OpTrait::IsTerminator>() && !isa<MmaOp>(user);
  });
}

void TilePromoteToShared::writeOperand(MmaOp mma, Value number, OpBuilder &b) {
  Value value = mma.getLhs();
  Location loc = mma.getLoc();
  auto type = cast<TileType>(value.getType());
  Value buffer = createBuffer(getOperation(), type);
  if (number) {
    Value other = createBuffer(getOperation(), type);
    buffer = AlternateOp::create(b, loc, number, buffer, other);
  }
  WriteOp::create(b, loc, value, buffer);
  mma.getLhsMutable().assign(buffer);
}

/// Whether each iteration begins with an MMA that it waits for, in front of
/// what it writes, and MMAs stay in their order.
static bool beginsWithMma(scf::ForOp loop) {
  auto mmas = loop.getBody()->getOps<MmaOp>();
  return loop->hasAttr(TileDialect::kDeferWaitsAttrName) && !mmas.empty() &&
         endsInBlock(*mmas.begin());
}

/// Whether the value is there in front of the op.
static bool isBefore(Value value, Operation *op) {
  Operation *producer = value.getDefiningOp();
  return !producer || producer->getBlock() != op->getBlock() ||
         producer->isBeforeInBlock(op);
}

/// Where all of the left-hand operands are there, in front of `first`: MMAs
/// that are issued between, and read others, run while these are written.
static Operation *findPlace(ArrayRef<MmaOp> mmas, Operation *first) {
  Operation *last = &first->getBlock()->front();
  for (MmaOp mma : mmas)
    if (Operation *producer = mma.getLhs().getDefiningOp();
        producer && producer->getBlock() == first->getBlock() &&
        last->isBeforeInBlock(producer))
      last = producer;
  return last->isBeforeInBlock(first) ? last->getNextNode() : first;
}

void TilePromoteToShared::writeOperands(ArrayRef<MmaOp> multiplies) {
  SmallVector<MmaOp> left;
  for (MmaOp mma : multiplies) {
    mma.setLhsThroughShared(false);
    if (!cast<TileType>(mma.getLhs().getType()).isShared())
      left.push_back(mma);
  }
  auto isShared = [](MmaOp mma) {
    return mma.getTransposeLhs() || mma.getWarpsN() > 1;
  };
  while (!left.empty()) {
    MmaOp first = left.front();
    Value value = first.getLhs();
    Location loc = first.getLoc();
    OpBuilder b(first);
    if (!isShared(first)) {
      left.erase(left.begin());
      if (value.getParentBlock() == first->getBlock())
        b.setInsertionPointAfterValue(value);
      writeOperand(first, /*number=*/Value(), b);
      continue;
    }
    // Other warps read what these wrote, and wrote what these read. They meet
    // once for all that is there. What is issued in front runs while they wait
    // for each other.
    auto isTogether = [&](MmaOp mma) {
      return mma->getBlock() == first->getBlock() && isShared(mma) &&
             isBefore(mma.getLhs(), first);
    };
    SmallVector<MmaOp> together;
    llvm::copy_if(left, std::back_inserter(together), isTogether);
    llvm::erase_if(left, isTogether);
    auto loop = first->getParentOfType<scf::ForOp>();
    Value number;
    if (loop && (llvm::any_of(together, endsInBlock) || beginsWithMma(loop))) {
      // Who is at the barrier of a turn has read what was written in the one
      // before: MMAs are done in the order in which they are issued.
      Operation *place = findPlace(together, first);
      b.setInsertionPoint(place);
      number = numbers.get(b, loc, loop);
      // A count makes another loop, whose block is another.
      b.setInsertionPoint(place);
    } else if (loop) {
      BarrierOp::create(b, loc);
    }
    llvm::SmallDenseMap<Value, Value> written;
    OpBuilder atFirst(first);
    for (MmaOp mma : together) {
      Value operand = mma.getLhs();
      if (Value buffer = written.lookup(operand)) {
        mma.getLhsMutable().assign(buffer);
        continue;
      }
      writeOperand(mma, number, b);
      written[operand] = mma.getLhs();
    }
    BarrierOp::create(atFirst, loc);
  }
}

/// The role that restages, where the kernel has one.
static StringAttr getRestagingRole(gpu::GPUFuncOp kernel) {
  RoleAttr role = findRole(getRoles(kernel), "restage", RoleThreads::All);
  return role ? StringAttr::get(kernel.getContext(), role.getName())
              : StringAttr();
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
      getSwizzleAtom(getOperation(), restaged),
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
  writeOperands(multiplies);
  for (MmaOp mma : ofWarpgroups)
    restageOperand(mma);
  StoresThroughShared throughShared(kernel, numbers);
  for (StoreOp store : stores)
    if (failed(throughShared.lower(store)))
      return signalPassFailure();
}
