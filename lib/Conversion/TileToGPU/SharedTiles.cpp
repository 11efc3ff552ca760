// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles that lie in swizzle atoms, and threads write or read. What a warpgroup
// writes is read by its MMAs and copies alone, so that its warps meet
// and no others do; what a role puts for others has the barriers of its slot.

#include "KernelContext.h"
#include "SharedMemory.h"
#include "attune/Target/CopyEngine.h"
#include "attune/Target/MatrixUnit.h"
#include "attune/Target/SharedAddress.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;
using tile::LayoutAttr;

namespace {

struct BufferPattern : KernelPattern<tile::BufferOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::BufferOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct AlternatePattern : KernelPattern<tile::AlternateOp> {
  using KernelPattern::KernelPattern;
  LogicalResult matchAndRewrite(tile::AlternateOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    b.replaceOp(op,
                tile::buildChoice(b, op, adaptor.getEven(), adaptor.getOdd()));
    return success();
  }
};

struct WritePattern : KernelPattern<tile::WriteOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::WriteOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

/// What the copy engine has put: sources with swizzle atoms are found by a
/// higher benefit.
struct ReadAtomsPattern : KernelPattern<tile::ReadOp> {
  ReadAtomsPattern(TypeConverter &converter, MLIRContext *mlirContext,
                   const KernelContext &context)
      : KernelPattern(converter, mlirContext, context, /*benefit=*/2) {}
  LogicalResult
  matchAndRewrite(tile::ReadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

/// What a role puts for others: channels with swizzle atoms are found by a
/// higher benefit.
struct PutComputedPattern : KernelPattern<tile::PutTileOp> {
  PutComputedPattern(TypeConverter &converter, MLIRContext *mlirContext,
                     const KernelContext &context)
      : KernelPattern(converter, mlirContext, context, /*benefit=*/2) {}
  LogicalResult
  matchAndRewrite(tile::PutTileOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct RestagePattern : KernelPattern<tile::RestageOp> {
  using KernelPattern::KernelPattern;
  LogicalResult matchAndRewrite(tile::RestageOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override;
};

/// Tokens are nothing that a thread holds: the one that stores waits by the
/// order of its stores.
struct DonePattern : KernelPattern<tile::DoneOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::DoneOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithMultiple(op, {ValueRange()});
    return success();
  }
};

struct WaitStorePattern : KernelPattern<tile::WaitReadsOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::WaitReadsOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

} // namespace

LogicalResult
BufferPattern::matchAndRewrite(tile::BufferOp op, OpAdaptor,
                               ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  tile::TileType type = op.getResult().getType();
  auto space =
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  // Each team has its own.
  Operation *user = tile::findUseInRole(op);
  tile::WarpRange warps = context.getWarps(user ? user : op);
  auto whole = MemRefType::get(
      {warps.teams, type.getShape()[0], type.getShape()[1]},
      type.getElementType(), MemRefLayoutAttrInterface(), space);
  Value memory = createSharedView(b, loc, whole, *op.getOffset());
  Value number = warps.teams > 1 ? teamNumber(b, loc, context, warps)
                                 : constant(b, loc, 0);
  b.replaceOp(op, createSlotView(b, loc, type, memory, number));
  return success();
}

/// `first + second`, where null is 0.
static Value addOptional(OpBuilder &b, Location loc, Value first,
                         Value second) {
  if (!first || !second)
    return first ? first : second;
  return b.createOrFold<arith::AddIOp>(loc, first, second);
}

namespace {
/// Places of elements of the tile in shared memory, for a thread of a warp.
class AtomPlaces {
public:
  AtomPlaces(OpBuilder &b, Location loc, LayoutAttr layout, tile::TileType type,
             const KernelContext &context)
      : b(b), loc(loc), type(type) {
    LayoutAttr ofWarps =
        LayoutAttr::getNormal(b.getContext(), {}, {}, layout.getWarps());
    firstRow = laneCoordinate(b, loc, context, ofWarps, 0);
    Value column = laneCoordinate(b, loc, context, ofWarps, 1);
    if (!column)
      return;
    // Columns of a warp start with an atom, or where several groups share one,
    // or they are rows of the tile in registers, in one.
    int64_t atomColumns = type.getSwizzle().getSwizzleAtom();
    if (!llvm::all_of(ofWarps.getWarps(), [&](const tile::Mode &mode) {
          return mode.dim != 1 || mode.stride % atomColumns == 0;
        })) {
      firstColumn = b.createOrFold<arith::RemUIOp>(
          loc, column, constant(b, loc, atomColumns));
      for (const tile::Mode &mode : ofWarps.getWarps())
        if (mode.dim == 1)
          firstBits |= static_cast<uint64_t>((mode.extent - 1) * mode.stride %
                                             atomColumns);
      column = b.createOrFold<arith::SubIOp>(loc, column, firstColumn);
    }
    ofColumns = b.createOrFold<arith::MulIOp>(
        loc, column, constant(b, loc, type.getShape()[0]));
  }

  /// The element that is `at` from the row and column of a lane, of which these
  /// bits are known that may be set.
  Value locate(Value row, Value column, uint64_t columnBits,
               ArrayRef<int64_t> at) const {
    int64_t atomColumns = type.getSwizzle().getSwizzleAtom();
    SplitIndex position =
        sharedPosition(b, loc, type.getSwizzle(), atomColumns,
                       {addOptional(b, loc, row, firstRow), at[0]},
                       {addOptional(b, loc, column, firstColumn),
                        at[1] % atomColumns, columnBits | firstBits});
    position.dynamic = addOptional(b, loc, position.dynamic, ofColumns);
    position.constant += at[1] / atomColumns * atomColumns * type.getShape()[0];
    return position.materialize(b, loc);
  }

private:
  OpBuilder &b;
  Location loc;
  tile::TileType type;
  Value firstRow, firstColumn, ofColumns;
  /// That the first column in an atom may have set.
  uint64_t firstBits = 0;
};
} // namespace

/// Writes elements of 16 bits, four matrices at a time, of a tile in registers
/// in this layout to one of type `type` in shared memory.
static void writeMatrices(OpBuilder &b, Location loc,
                          const KernelContext &context, LayoutAttr layout,
                          Value value, tile::TileType type, Value buffer) {
  Value words = vector::BitCastOp::create(
      b, loc, VectorType::get(layout.getNumRegisters() / 2, b.getI32Type()),
      value);

  // Four matrices make 16x16 elements: the lanes give their rows, first those
  // of the first eight columns.
  constexpr int64_t kSize = 8, kBoth = 2 * kSize;
  Value lane = laneNumber(b, loc, context);
  AtomPlaces places(b, loc, layout, type, context);
  Value row =
      b.createOrFold<arith::RemUIOp>(loc, lane, constant(b, loc, kBoth));
  Value right = b.createOrFold<arith::MulIOp>(
      loc, b.createOrFold<arith::DivUIOp>(loc, lane, constant(b, loc, kBoth)),
      constant(b, loc, kSize));
  for (int64_t reg = 0; reg < layout.getNumRegisters(); ++reg) {
    SmallVector<int64_t, 2> at = layout.getRegisterCoordinates(reg, 2);
    if (at[0] % kBoth != 0 || at[1] % kBoth != 0)
      continue;
    SmallVector<Value> matrices;
    for (int64_t column : {int64_t(0), kSize})
      for (int64_t down : {int64_t(0), kSize})
        matrices.push_back(vector::ExtractOp::create(
            b, loc, words,
            findRegister(layout, {at[0] + down, at[1] + column}) / 2));
    context.model->getCopyEngine()->writeMatrices(
        b, loc, buffer, places.locate(row, right, /*columnBits=*/kSize, at),
        matrices);
  }
}

/// The same of elements of 8 or 32 bits, of which a thread holds pairs of
/// neighbours.
static void writePairs(OpBuilder &b, Location loc, const KernelContext &context,
                       LayoutAttr layout, Value value, tile::TileType type,
                       Value whole) {
  LayoutAttr ofLanes =
      LayoutAttr::getNormal(b.getContext(), {}, layout.getLanes(), {});
  int64_t atomColumns = type.getSwizzle().getSwizzleAtom();
  AtomPlaces places(b, loc, layout, type, context);
  Value row = laneCoordinate(b, loc, context, ofLanes, 0),
        column = laneCoordinate(b, loc, context, ofLanes, 1);
  Value buffer = flattenBuffer(b, loc, whole);
  constexpr int64_t kPair = 2, kFar = 16;
  unsigned bytes = type.getElementType().getIntOrFloatBitWidth() / 8;
  auto extract = [&](int64_t reg) -> Value {
    return vector::ExtractStridedSliceOp::create(
        b, loc, value, ArrayRef<int64_t>{reg}, ArrayRef<int64_t>{kPair},
        ArrayRef<int64_t>{1});
  };
  auto store = [&](Value pair, Value ofLane, ArrayRef<int64_t> at) {
    // 2 * (lane mod 4), and what is added to it.
    constexpr uint64_t kColumnBits = 6 | kFar;
    vector::StoreOp::create(
        b, loc, pair, buffer, places.locate(row, ofLane, kColumnBits, at),
        /*nontemporal=*/false, llvm::MaybeAlign(kPair * bytes));
  };
  // Half a warp stores at once, four lanes in each of four rows. The swizzle
  // lets neighbouring rows meet in the same banks, so that odd rows store the
  // pair sixteen columns away first. Those of 8 bits meet in the same words.
  Value isOdd = arith::CmpIOp::create(
      b, loc, arith::CmpIPredicate::ne,
      b.createOrFold<arith::AndIOp>(loc, row, constant(b, loc, 1)),
      constant(b, loc, 0));
  Value far = arith::AddIOp::create(b, loc, column, constant(b, loc, kFar)),
        first = arith::SelectOp::create(b, loc, isOdd, far, column),
        second = arith::SelectOp::create(b, loc, isOdd, column, far);
  for (int64_t reg = 0; reg < layout.getNumRegisters(); reg += kPair) {
    SmallVector<int64_t, 2> at = layout.getRegisterCoordinates(reg, 2);
    if (atomColumns <= kFar || bytes == 1) {
      store(extract(reg), column, at);
    } else if (at[1] % (2 * kFar) < kFar) {
      Value left = extract(reg),
            right = extract(findRegister(layout, {at[0], at[1] + kFar}));
      store(arith::SelectOp::create(b, loc, isOdd, right, left), first, at);
      store(arith::SelectOp::create(b, loc, isOdd, left, right), second, at);
    }
  }
}

namespace {
/// Single elements of a tile in swizzle atoms that a warpgroup has the
/// transpose of: neighbours in registers lie in neighbouring rows.
class TransposedPlaces {
public:
  /// `layout` is that of the transpose.
  TransposedPlaces(OpBuilder &b, Location loc, LayoutAttr layout,
                   tile::TileType type, const KernelContext &context)
      : layout(layout.transpose()),
        places(b, loc, this->layout, type, context) {
    LayoutAttr ofLanes =
        LayoutAttr::getNormal(b.getContext(), {}, this->layout.getLanes(), {});
    row = laneCoordinate(b, loc, context, ofLanes, 0);
    column = laneCoordinate(b, loc, context, ofLanes, 1);
  }
  Value locate(int64_t reg) const {
    // lane / 4
    constexpr uint64_t kColumnBits = 7;
    return places.locate(row, column, kColumnBits,
                         layout.getRegisterCoordinates(reg, 2));
  }

private:
  LayoutAttr layout;
  AtomPlaces places;
  Value row, column;
};
} // namespace

/// Writes a tile in registers to one in shared memory that is its transpose.
static void writeTransposed(OpBuilder &b, Location loc,
                            const KernelContext &context, LayoutAttr layout,
                            Value value, tile::TileType type, Value whole) {
  TransposedPlaces places(b, loc, layout, type, context);
  Value buffer = flattenBuffer(b, loc, whole);
  for (int64_t reg = 0; reg < layout.getNumRegisters(); ++reg)
    memref::StoreOp::create(b, loc,
                            vector::ExtractOp::create(b, loc, value, reg),
                            buffer, places.locate(reg));
}

/// Reads elements of 16 bits, four matrices at a time, for a tile in registers
/// in this layout of one of type `type` in shared memory that is its transpose.
static Value readMatrices(OpBuilder &b, Location loc,
                          const KernelContext &context, LayoutAttr layout,
                          tile::TileType type, Value buffer) {
  // 16x16 elements, of whose rows in memory the lanes give half: first those of
  // the first eight rows and columns, then those of the next columns.
  constexpr int64_t kSize = 8, kBoth = 2 * kSize;
  Value lane = laneNumber(b, loc, context);
  AtomPlaces places(b, loc, layout.transpose(), type, context);
  auto divide = [&](int64_t by) {
    return b.createOrFold<arith::DivUIOp>(loc, lane, constant(b, loc, by));
  };
  auto modulo = [&](Value number, int64_t by) {
    return b.createOrFold<arith::RemUIOp>(loc, number, constant(b, loc, by));
  };
  auto times = [&](Value number, int64_t factor) {
    return b.createOrFold<arith::MulIOp>(loc, number, constant(b, loc, factor));
  };
  Value row = b.createOrFold<arith::AddIOp>(loc, modulo(lane, kSize),
                                            times(divide(kBoth), kSize)),
        column = times(modulo(divide(kSize), 2), kSize);
  SmallVector<Value> words(layout.getNumRegisters() / 2);
  for (int64_t reg = 0; reg < layout.getNumRegisters(); ++reg) {
    SmallVector<int64_t, 2> at = layout.getRegisterCoordinates(reg, 2);
    if (at[0] % kBoth != 0 || at[1] % kBoth != 0)
      continue;
    SmallVector<Value, 4> matrices =
        context.model->getCopyEngine()->readTransposed(
            b, loc, buffer,
            places.locate(row, column, /*columnBits=*/kSize, {at[1], at[0]}));
    for (auto [i, word] : llvm::enumerate(matrices)) {
      auto number = static_cast<int64_t>(i);
      words[findRegister(layout, {at[0] + number % 2 * kSize,
                                  at[1] + number / 2 * kSize}) /
            2] = word;
    }
  }
  Value all = vector::FromElementsOp::create(
      b, loc, VectorType::get(words.size(), b.getI32Type()), words);
  return vector::BitCastOp::create(
      b, loc, VectorType::get(layout.getNumRegisters(), type.getElementType()),
      all);
}

/// Reads a tile for the registers of its transpose.
static Value readTransposed(OpBuilder &b, Location loc,
                            const KernelContext &context, tile::TileType from,
                            Value source, tile::TileType to) {
  LayoutAttr layout = to.getRegisterLayout();
  if (to.getElementType().getIntOrFloatBitWidth() == 16)
    return readMatrices(b, loc, context, layout, from, source);
  TransposedPlaces places(b, loc, layout, from, context);
  Value buffer = flattenBuffer(b, loc, source);
  SmallVector<Value> elements;
  for (int64_t reg = 0; reg < layout.getNumRegisters(); ++reg)
    elements.push_back(
        memref::LoadOp::create(b, loc, buffer, places.locate(reg)));
  return vector::FromElementsOp::create(
      b, loc, VectorType::get(elements.size(), to.getElementType()), elements);
}

LogicalResult
ReadAtomsPattern::matchAndRewrite(tile::ReadOp op, OpAdaptor adaptor,
                                  ConversionPatternRewriter &b) const {
  tile::TileType from = op.getSource().getType(), to = op.getResult().getType();
  if (!from.getSwizzle().getSwizzleAtom() ||
      (from.getShape()[0] == 1 && !op.getTransposed()))
    return b.notifyMatchFailure(op, "the source has no rows of swizzle atoms");
  Location loc = op.getLoc();
  if (op.getTransposed()) {
    b.replaceOp(op,
                readTransposed(b, loc, context, from, adaptor.getSource(), to));
    return success();
  }
  LayoutAttr layout = to.getRegisterLayout(),
             ofLanes = LayoutAttr::getNormal(b.getContext(), {},
                                             layout.getLanes(), {});
  AtomPlaces places(b, loc, layout, from, context);
  Value row = laneCoordinate(b, loc, context, ofLanes, 0),
        column = laneCoordinate(b, loc, context, ofLanes, 1),
        buffer = flattenBuffer(b, loc, adaptor.getSource());
  // Pairs of neighbours, as an accumulator has them, at 2 * (lane mod 4).
  constexpr int64_t kPair = 2;
  constexpr uint64_t kColumnBits = 6;
  auto pairType = VectorType::get(kPair, to.getElementType());
  unsigned bytes = to.getElementType().getIntOrFloatBitWidth() / 8;
  SmallVector<Value> elements;
  for (int64_t reg = 0; reg < layout.getNumRegisters(); reg += kPair) {
    Value place = places.locate(row, column, kColumnBits,
                                layout.getRegisterCoordinates(reg, 2));
    Value pair = vector::LoadOp::create(b, loc, pairType, buffer, place,
                                        /*nontemporal=*/false,
                                        llvm::MaybeAlign(kPair * bytes));
    for (int64_t i = 0; i < kPair; ++i)
      elements.push_back(vector::ExtractOp::create(b, loc, pair, i));
  }
  b.replaceOpWithNewOp<vector::FromElementsOp>(
      op, VectorType::get(elements.size(), to.getElementType()), elements);
  return success();
}

/// Writes a tile in registers, in the layout of an accumulator, to one in
/// shared memory.
static void writeTile(OpBuilder &b, Location loc, const KernelContext &context,
                      tile::TileType from, Value value, tile::TileType to,
                      Value buffer) {
  auto *write = from.getElementType().getIntOrFloatBitWidth() == 16
                    ? writeMatrices
                    : writePairs;
  write(b, loc, context, from.getRegisterLayout(), value, to, buffer);
}

/// Where what a write has written is read.
struct Meeting {
  /// The barrier in front of the readers; null where there is none.
  tile::BarrierOp barrier;
  /// Whether no other write stands between: one publishes what those before it
  /// have written, too.
  bool isLastWrite = true;
};

static Meeting findMeeting(tile::WriteOp op) {
  Meeting meeting;
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
    if (auto barrier = dyn_cast<tile::BarrierOp>(next)) {
      meeting.barrier = barrier;
      return meeting;
    }
    if (llvm::any_of(op.getDestination().getUsers(), [&](Operation *user) {
          return user != op && next->isAncestor(user);
        }))
      return meeting;
    meeting.isLastWrite &= !isa<tile::WriteOp>(next);
  }
  return meeting;
}

LogicalResult
WritePattern::matchAndRewrite(tile::WriteOp op, OpAdaptor adaptor,
                              ConversionPatternRewriter &b) const {
  if (op.getTransposed())
    writeTransposed(b, op.getLoc(), context,
                    op.getValue().getType().getRegisterLayout(),
                    adaptor.getValue(), op.getDestination().getType(),
                    adaptor.getDestination());
  else
    writeTile(b, op.getLoc(), context, op.getValue().getType(),
              adaptor.getValue(), op.getDestination().getType(),
              adaptor.getDestination());
  if (Meeting meeting = findMeeting(op); meeting.barrier) {
    // All warps meet where the group would.
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPoint(meeting.barrier);
    if (meeting.isLastWrite)
      context.model->getCopyEngine()->publishWrites(b, op.getLoc());
  } else {
    context.model->getCopyEngine()->publishWrites(b, op.getLoc());
    meetInGroup(b, op.getLoc(), context);
  }
  b.eraseOp(op);
  return success();
}

/// Puts what `write` writes to a slot that is free by then.
static void putIntoSlot(OpBuilder &b, Location loc,
                        const KernelContext &context, const RingSlot &slot,
                        function_ref<void()> write) {
  const Barriers &barriers = *context.model->getBarriers();
  Value before =
      b.createOrFold<arith::XOrIOp>(loc, slot.parity, constant(b, loc, 1));
  barriers.wait(b, loc, slot.empty, before);
  write();
  // Each thread publishes what it has written, and one of a warp says so.
  context.model->getCopyEngine()->publishWrites(b, loc);
  barriers.syncWarp(b, loc);
  Value isFirst =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                            laneNumber(b, loc, context), constant(b, loc, 0));
  auto guard = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/false);
  OpBuilder inner = guard.getThenBodyBuilder();
  barriers.arrive(inner, loc, slot.full);
}

LogicalResult
RestagePattern::matchAndRewrite(tile::RestageOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  RingSlot slot = slotOf(b, loc, op.getChannel(), adaptor.getElement());
  putIntoSlot(b, loc, context, slot, [&] {
    tile::TileType to = op.getChannel().getType().getTileType();
    Value columns =
        createSlotView(b, loc, to, adaptor.getChannel(), slot.number);
    if (op.getTransposed())
      context.model->getMatrixUnit()->transpose(
          b, loc,
          {adaptor.getSource(), columns, op.getSource().getType(), to,
           laneNumber(b, loc, context), warpNumber(b, loc, context),
           context.getWarps(op).count});
    else
      widenRows(b, loc, context,
                {adaptor.getSource(), columns, op.getSource().getType(), to,
                 context.getWarps(op).count, op.getPacked()});
  });
  b.eraseOp(op);
  return success();
}

LogicalResult
PutComputedPattern::matchAndRewrite(tile::PutTileOp op, OpAdaptor adaptor,
                                    ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  tile::ChannelType channel = op.getChannel().getType();
  if (!channel.getSwizzleAtom())
    return b.notifyMatchFailure(op, "the channel has no swizzle atoms");
  RingSlot slot = slotOf(b, loc, op.getChannel(), adaptor.getElement());
  tile::TileType type = op.getValue().getType(), to = channel.getTileType();
  putIntoSlot(b, loc, context, slot, [&] {
    if (to.getShape()[0] == 1)
      writeSlot(b, loc, context, type, adaptor.getValue(), channel,
                adaptor.getChannel(), [&] { return slot.number; });
    else
      writeTile(b, loc, context, type, adaptor.getValue(), to,
                createSlotView(b, loc, to, adaptor.getChannel(), slot.number));
  });
  b.eraseOp(op);
  return success();
}

static bool isWaitOfStore(Operation *op) {
  auto wait = dyn_cast_or_null<tile::WaitReadsOp>(op);
  return wait && isa<tile::TokenType>(wait.getPending().getType());
}

LogicalResult
WaitStorePattern::matchAndRewrite(tile::WaitReadsOp op, OneToNOpAdaptor,
                                  ConversionPatternRewriter &b) const {
  if (!isWaitOfStore(op))
    return b.notifyMatchFailure(op, "it waits for an MMA");
  Location loc = op.getLoc();
  // Each waits for all stores of the group, so that the last of several will
  // do.
  Operation *next = op->getNextNode();
  if (isWaitOfStore(next)) {
    b.eraseOp(op);
    return success();
  }
  if (isOfOneThread(op)) {
    context.model->getCopyEngine()->waitStores(b, loc);
    b.eraseOp(op);
    return success();
  }
  auto guard = scf::IfOp::create(b, loc, isFirstOfGroup(b, loc, context),
                                 /*withElseRegion=*/false);
  OpBuilder inner = guard.getThenBodyBuilder();
  context.model->getCopyEngine()->waitStores(inner, loc);
  // Others learn of it here, but where the kernel ends, or where a slot is
  // released, which the warp that waited has to do as well.
  if (next && !next->hasTrait<OpTrait::IsTerminator>() &&
      !isa<tile::ReleaseOp, tile::SyncWarpOp, tile::WaitClusterOp>(next))
    meetInGroup(b, loc, context);
  b.eraseOp(op);
  return success();
}

void attune::populateSharedTilePatterns(TypeConverter &converter,
                                        RewritePatternSet &patterns,
                                        const KernelContext &context) {
  patterns
      .add<BufferPattern, AlternatePattern, WritePattern, PutComputedPattern,
           ReadAtomsPattern, RestagePattern, DonePattern, WaitStorePattern>(
          converter, patterns.getContext(), context);
}
