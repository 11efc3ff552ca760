// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles that are computed and go through shared memory. What a warpgroup
// writes is read by its MMAs and copies alone, so that its warps meet
// and no others do.

#include "KernelContext.h"
#include "SharedMemory.h"
#include "attune/Target/CopyEngine.h"
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

private:
  /// Elements of 16 bits, four matrices at a time.
  void writeMatrices(ConversionPatternRewriter &rewriter, tile::WriteOp op,
                     OpAdaptor adaptor) const;
  /// Elements of 32 bits, of which a thread holds pairs of neighbours.
  void writePairs(ConversionPatternRewriter &rewriter, tile::WriteOp op,
                  OpAdaptor adaptor) const;
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
/// Places of elements of the tile that is written, for a thread of a warp.
class WrittenPlaces {
public:
  WrittenPlaces(OpBuilder &b, tile::WriteOp op, const KernelContext &context)
      : b(b), loc(op.getLoc()), type(op.getDestination().getType()) {
    LayoutAttr ofWarps = LayoutAttr::getNormal(
        b.getContext(), {}, {},
        op.getValue().getType().getRegisterLayout().getWarps());
    firstRow = laneCoordinate(b, loc, context, ofWarps, 0);
    // Columns of a warp start with an atom.
    if (Value column = laneCoordinate(b, loc, context, ofWarps, 1))
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
                       {column, at[1] % atomColumns, columnBits});
    position.dynamic = addOptional(b, loc, position.dynamic, ofColumns);
    position.constant += at[1] / atomColumns * atomColumns * type.getShape()[0];
    return position.materialize(b, loc);
  }

private:
  OpBuilder &b;
  Location loc;
  tile::TileType type;
  Value firstRow, ofColumns;
};
} // namespace

void WritePattern::writeMatrices(ConversionPatternRewriter &b, tile::WriteOp op,
                                 OpAdaptor adaptor) const {
  Location loc = op.getLoc();
  LayoutAttr layout = op.getValue().getType().getRegisterLayout();
  Value words = vector::BitCastOp::create(
      b, loc, VectorType::get(layout.getNumRegisters() / 2, b.getI32Type()),
      adaptor.getValue());

  // Four matrices make 16x16 elements: the lanes give their rows, first those
  // of the first eight columns.
  constexpr int64_t kSize = 8, kBoth = 2 * kSize;
  Value lane = laneNumber(b, loc, context);
  WrittenPlaces places(b, op, context);
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
        b, loc, adaptor.getDestination(),
        places.locate(row, right, /*columnBits=*/kSize, at), matrices);
  }
}

void WritePattern::writePairs(ConversionPatternRewriter &b, tile::WriteOp op,
                              OpAdaptor adaptor) const {
  Location loc = op.getLoc();
  LayoutAttr layout = op.getValue().getType().getRegisterLayout(),
             ofLanes = LayoutAttr::getNormal(b.getContext(), {},
                                             layout.getLanes(), {});
  int64_t atomColumns =
      op.getDestination().getType().getSwizzle().getSwizzleAtom();
  WrittenPlaces places(b, op, context);
  Value row = laneCoordinate(b, loc, context, ofLanes, 0),
        column = laneCoordinate(b, loc, context, ofLanes, 1);
  Value buffer = flattenBuffer(b, loc, adaptor.getDestination());
  constexpr int64_t kPair = 2, kFar = 16;
  auto extract = [&](int64_t reg) -> Value {
    return vector::ExtractStridedSliceOp::create(
        b, loc, adaptor.getValue(), ArrayRef<int64_t>{reg},
        ArrayRef<int64_t>{kPair}, ArrayRef<int64_t>{1});
  };
  auto store = [&](Value pair, Value ofLane, ArrayRef<int64_t> at) {
    // 2 * (lane mod 4), and what is added to it.
    constexpr uint64_t kColumnBits = 6 | kFar;
    vector::StoreOp::create(
        b, loc, pair, buffer, places.locate(row, ofLane, kColumnBits, at),
        /*nontemporal=*/false, llvm::MaybeAlign(kPair * sizeof(float)));
  };
  // Half a warp stores at once, four lanes in each of four rows. The swizzle
  // lets neighbouring rows meet in the same banks, so that odd rows store the
  // pair sixteen columns away first.
  Value isOdd = arith::CmpIOp::create(
      b, loc, arith::CmpIPredicate::ne,
      b.createOrFold<arith::AndIOp>(loc, row, constant(b, loc, 1)),
      constant(b, loc, 0));
  Value far = arith::AddIOp::create(b, loc, column, constant(b, loc, kFar)),
        first = arith::SelectOp::create(b, loc, isOdd, far, column),
        second = arith::SelectOp::create(b, loc, isOdd, column, far);
  for (int64_t reg = 0; reg < layout.getNumRegisters(); reg += kPair) {
    SmallVector<int64_t, 2> at = layout.getRegisterCoordinates(reg, 2);
    if (atomColumns <= kFar) {
      store(extract(reg), column, at);
    } else if (at[1] % (2 * kFar) < kFar) {
      Value left = extract(reg),
            right = extract(findRegister(layout, {at[0], at[1] + kFar}));
      store(arith::SelectOp::create(b, loc, isOdd, right, left), first, at);
      store(arith::SelectOp::create(b, loc, isOdd, left, right), second, at);
    }
  }
}

LogicalResult
WritePattern::matchAndRewrite(tile::WriteOp op, OpAdaptor adaptor,
                              ConversionPatternRewriter &b) const {
  if (op.getValue().getType().getElementType().getIntOrFloatBitWidth() == 32)
    writePairs(b, op, adaptor);
  else
    writeMatrices(b, op, adaptor);
  context.model->getCopyEngine()->publishWrites(b, op.getLoc());
  // All warps meet where the group would.
  if (!isa_and_nonnull<tile::BarrierOp>(op->getNextNode()))
    meetInGroup(b, op.getLoc(), context);
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
  patterns.add<BufferPattern, AlternatePattern, WritePattern, DonePattern,
               WaitStorePattern>(converter, patterns.getContext(), context);
}
