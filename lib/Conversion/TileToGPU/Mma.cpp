// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.mma: unrolls an MMA into the target's matrix instructions. Operands
// in shared memory are read one k-step at a time, next to their use, so that a
// lane never holds more than a step of them.

#include "KernelContext.h"
#include "attune/Dialect/Tile/IR/Widening.h"
#include "attune/Target/MatrixUnit.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attune;
using tile::LayoutAttr;

namespace {

/// `OpTy` is tile.mma or tile.mma_async.
template <typename OpTy> struct MmaPattern : KernelPattern<OpTy> {
  using KernelPattern<OpTy>::KernelPattern;
  LogicalResult
  matchAndRewrite(OpTy op, typename OpTy::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
  Value multiplyByWarps(ConversionPatternRewriter &rewriter, OpTy op,
                        typename OpTy::Adaptor adaptor) const;
  Value issueByWarpgroups(ConversionPatternRewriter &rewriter, OpTy op,
                          typename OpTy::Adaptor adaptor) const;
};

struct WaitPattern : KernelPattern<tile::WaitOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::WaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct WaitReadsPattern : KernelPattern<tile::WaitReadsOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::WaitReadsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

} // namespace

static Value slice(OpBuilder &b, Location loc, Value vector, int64_t first,
                   int64_t count) {
  if (cast<VectorType>(vector.getType()).getNumElements() == count)
    return vector;
  return vector::ExtractStridedSliceOp::create(
      b, loc, vector, ArrayRef<int64_t>{first}, ArrayRef<int64_t>{count},
      ArrayRef<int64_t>{1});
}

/// The `count` tiles of single instructions that are one k-step of an operand,
/// as they are stored: the first at place `first` of its registers and the
/// others each `apart` from the one before, or as `read` finds them in shared
/// memory.
static SmallVector<Value> readStored(OpBuilder &b, Location loc,
                                     const KernelContext &context,
                                     const SharedRead &read, int64_t count,
                                     int64_t first, int64_t apart) {
  Value held = read.buffer;
  if (isa<MemRefType>(held.getType())) {
    held = readShared(b, loc, context, read);
    first = 0;
    apart = 1;
  }
  int64_t size = read.layout.getNumRegisters() / count;
  SmallVector<Value> tiles;
  for (int64_t i = 0; i < count; ++i)
    tiles.push_back(slice(b, loc, held, (first + i * apart) * size, size));
  return tiles;
}

/// Tiles in the elements that instructions multiply, unless they have more bits
/// by now.
static void widenAll(OpBuilder &b, Location loc, MutableArrayRef<Value> tiles,
                     Type element) {
  for (Value &tile : tiles)
    if (tile::canWiden(getElementTypeOrSelf(tile), element))
      tile = tile::widen(b, loc, tile, element);
}

/// What a k-step of stored tiles is multiplied as: the tiles of all columns,
/// of another k-step of the left each. `unpack` gives a part of bytes that hold
/// two, of which the lower ones come first.
static SmallVector<SmallVector<Value>, 2>
takeApart(ArrayRef<Value> stored, bool packsK, bool packsN,
          function_ref<Value(Value bytes, bool upper)> unpack) {
  if (!packsK && !packsN)
    return {SmallVector<Value>(stored)};
  SmallVector<Value> lower, upper;
  for (Value tile : stored) {
    lower.push_back(unpack(tile, /*upper=*/false));
    upper.push_back(unpack(tile, /*upper=*/true));
  }
  if (packsK)
    return {lower, upper};
  llvm::append_range(lower, upper);
  return {lower};
}

/// The elements of all parts, one part behind the other.
static Value join(OpBuilder &b, Location loc, ArrayRef<Value> parts,
                  VectorType type) {
  SmallVector<Value> elements;
  for (Value part : parts)
    for (int64_t i = 0; i < cast<VectorType>(part.getType()).getNumElements();
         ++i)
      elements.push_back(vector::ExtractOp::create(b, loc, part, i));
  return vector::FromElementsOp::create(b, loc, type, elements);
}

/// Where this warp's rows or columns start, of `count` parts of `extent`: the
/// part is its number over `after`, round and round. None if there is one part.
static Value getStart(OpBuilder &b, Location loc, const KernelContext &context,
                      int64_t after, int64_t count, int64_t numWarps,
                      int64_t extent) {
  if (count == 1)
    return {};
  Value number = warpNumber(b, loc, context);
  if (after > 1)
    number =
        b.createOrFold<arith::DivUIOp>(loc, number, constant(b, loc, after));
  else if (numWarps > count)
    number =
        b.createOrFold<arith::RemUIOp>(loc, number, constant(b, loc, count));
  return arith::MulIOp::create(b, loc, number, constant(b, loc, extent));
}

/// One k-step of an operand: all rows of a warp of the left, all columns of the
/// right.
static SharedRead getStep(Value operand, tile::TileType type, LayoutAttr layout,
                          bool transposed, Value lane) {
  return SharedRead{operand,
                    type.getSwizzle(),
                    transposed ? layout.transpose() : layout,
                    Value(),
                    0,
                    0,
                    lane};
}

template <typename OpTy>
Value MmaPattern<OpTy>::multiplyByWarps(ConversionPatternRewriter &rewriter,
                                        OpTy op,
                                        typename OpTy::Adaptor adaptor) const {
  const KernelContext &context = this->context;
  Location loc = op.getLoc();
  tile::MmaAtomAttr atom = op.getAtomAttr();
  tile::TileType lhsType = op.getLhs().getType(),
                 rhsType = op.getRhs().getType(),
                 accType =
                     tile::PendingType::getOf(op.getAcc().getType()).getTile();
  // Warps are assigned to rows first, then to columns, then to replicas.
  int64_t numWarps = accType.getRegisterLayout().getNumWarps(),
          alongN = op.getWarpsN(),
          alongM = numWarps / static_cast<int64_t>(alongN * op.getReplicas());
  int64_t rowsPerWarp = accType.getShape()[0] / alongM,
          columnsPerWarp = accType.getShape()[1] / alongN;
  int64_t mSteps = rowsPerWarp / atom.getM(),
          nSteps = columnsPerWarp / atom.getN(),
          kSteps =
              lhsType.getShape()[op.getTransposeLhs() ? 0 : 1] / atom.getK();
  // Of packed bytes, half as many hold all.
  bool packsK = op.getPackedRhs() && op.getTransposeRhs(),
       packsN = op.getPackedRhs() && !op.getTransposeRhs();
  int64_t kStored = packsK ? kSteps / 2 : kSteps,
          nStored = packsN ? nSteps / 2 : nSteps;
  int64_t accSize = atom.getAcc().getNumRegisters();

  SmallVector<Value> acc;
  for (int64_t i = 0; i < mSteps * nSteps; ++i)
    acc.push_back(slice(rewriter, loc, adaptor.getAcc(), i * accSize, accSize));

  Value lane = laneNumber(rewriter, loc, context);
  SharedRead left =
      getStep(adaptor.getLhs(), lhsType,
              atom.getLhs().withRegisterModes({{mSteps, 0, atom.getM()}}),
              op.getTransposeLhs(), lane);
  SharedRead right =
      getStep(adaptor.getRhs(), rhsType,
              atom.getRhs().withRegisterModes({{nStored, 1, atom.getN()}}),
              op.getTransposeRhs(), lane);
  if (lhsType.isShared())
    (op.getTransposeLhs() ? left.column : left.row) =
        getStart(rewriter, loc, context, 1, alongM, numWarps, rowsPerWarp);
  if (rhsType.isShared())
    (op.getTransposeRhs() ? right.row : right.column) = getStart(
        rewriter, loc, context, alongM, alongN, numWarps, columnsPerWarp);
  ArrayRef<int64_t> exponents = op.getUnitExponents();
  auto unpack = [&](Value bytes, bool upper) -> Value {
    if (exponents.empty())
      return tile::unpack(rewriter, loc, bytes, upper);
    return context.model->emitNaturals(rewriter, loc, bytes, upper,
                                       exponents[upper ? 1 : 0],
                                       atom.getLhsType());
  };
  auto [from, to] = op.getTermRange();
  int64_t kEnd = packsK ? kStored : to / atom.getK();
  for (int64_t k = from / atom.getK(); k < kEnd; ++k) {
    (op.getTransposeRhs() ? right.columnOffset : right.rowOffset) =
        k * atom.getK();
    SmallVector<Value> stored =
        readStored(rewriter, loc, context, right, nStored, k * nStored, 1);
    for (auto [part, rhs] :
         llvm::enumerate(takeApart(stored, packsK, packsN, unpack))) {
      int64_t step = k + static_cast<int64_t>(part) * kStored;
      (op.getTransposeLhs() ? left.rowOffset : left.columnOffset) =
          step * atom.getK();
      SmallVector<Value> lhs =
          readStored(rewriter, loc, context, left, mSteps, step, kSteps);
      widenAll(rewriter, loc, lhs, atom.getLhsType());
      widenAll(rewriter, loc, rhs, atom.getRhsType());
      for (int64_t i = 0; i < mSteps * nSteps; ++i)
        acc[i] = context.model->emitMma(rewriter, loc, atom, lhs[i / nSteps],
                                        rhs[i % nSteps], acc[i]);
    }
  }
  return join(rewriter, loc, acc, laneVectorType(accType));
}

static bool isZero(Value tile) {
  auto fill = tile.getDefiningOp<tile::FillOp>();
  return fill && matchPattern(fill.getValue(), m_AnyZeroFloat());
}

template <typename OpTy>
Value MmaPattern<OpTy>::issueByWarpgroups(
    ConversionPatternRewriter &rewriter, OpTy op,
    typename OpTy::Adaptor adaptor) const {
  tile::MmaAtomAttr atom = op.getAtomAttr();
  WarpgroupMma mma;
  mma.atom = atom;
  mma.lhs = adaptor.getLhs();
  mma.rhs = adaptor.getRhs();
  mma.lhsTile = op.getLhs().getType();
  mma.rhsTile = op.getRhs().getType();
  mma.transposeLhs = op.getTransposeLhs();
  mma.transposeRhs = op.getTransposeRhs();
  mma.acc = adaptor.getAcc();
  std::tie(mma.firstTerm, mma.endTerm) = op.getTermRange();
  mma.startsAtZero = isZero(op.getAcc());
  mma.groupsN = op.getWarpsN();
  mma.computesPlaces = op->hasAttr(kComputesPlacesAttrName);
  int64_t groups = this->context.getWarps(op).count / atom.getWarps();
  mma.groupsM = groups / mma.groupsN / op.getReplicas();
  bool readsPart =
      (op.getLhs().getType().isShared() && mma.groupsM > 1) || mma.groupsN > 1;
  if (readsPart)
    mma.group = groupNumber(rewriter, op.getLoc(), this->context, groups);
  if (readsPart && op.getReplicas() > 1)
    mma.group = rewriter.createOrFold<arith::RemUIOp>(
        op.getLoc(), mma.group, constant(rewriter, op.getLoc(), mma.groupsM));
  return this->context.model->getMatrixUnit()->issue(rewriter, op.getLoc(),
                                                     mma);
}

/// Atoms of a warp.
template <typename OpTy> static int64_t countAtoms(OpTy op) {
  tile::MmaAtomAttr atom = op.getAtomAttr();
  tile::TileType acc =
      tile::PendingType::getOf(op.getAcc().getType()).getTile();
  auto [from, to] = op.getTermRange();
  return acc.getRegisterLayout().getNumRegisters() /
         atom.getAcc().getNumRegisters() * ((to - from) / atom.getK());
}

template <typename OpTy>
LogicalResult
MmaPattern<OpTy>::matchAndRewrite(OpTy op, typename OpTy::Adaptor adaptor,
                                  ConversionPatternRewriter &rewriter) const {
  if (op.getAtomAttr().getWarps() == 1) {
    bool isRaised = op->hasAttr(tile::TileDialect::kRaisePriorityAttrName);
    if (isRaised)
      this->context.model->emitPriority(rewriter, op.getLoc(), true);
    Value result = multiplyByWarps(rewriter, op, adaptor);
    if (isRaised)
      this->context.model->emitPriority(rewriter, op.getLoc(), false);
    if (op->hasAttr(tile::TileDialect::kIssueGroupsAttrName))
      this->context.model->emitIssueGroups(rewriter, op.getLoc(),
                                           op.getAtomAttr(), countAtoms(op));
    rewriter.replaceOp(op, result);
    return success();
  }
  Value result = issueByWarpgroups(rewriter, op, adaptor);
  if (std::is_same_v<OpTy, tile::MmaOp>)
    result = this->context.model->getMatrixUnit()->wait(rewriter, op.getLoc(),
                                                        result, /*later=*/0);
  rewriter.replaceOp(op, result);
  return success();
}

LogicalResult
WaitPattern::matchAndRewrite(tile::WaitOp op, OpAdaptor adaptor,
                             ConversionPatternRewriter &rewriter) const {
  Value result = adaptor.getPending();
  // MMAs of a warp were done at once.
  if (auto later = context.laterMmas.find(op); later != context.laterMmas.end())
    result = context.model->getMatrixUnit()->wait(rewriter, op.getLoc(), result,
                                                  later->second);
  rewriter.replaceOp(op, result);
  return success();
}

LogicalResult
WaitReadsPattern::matchAndRewrite(tile::WaitReadsOp op, OpAdaptor,
                                  ConversionPatternRewriter &b) const {
  if (!isa<tile::PendingType>(op.getPending().getType()))
    return b.notifyMatchFailure(op, "it waits for a store");
  if (auto later = context.laterMmas.find(op); later != context.laterMmas.end())
    context.model->getMatrixUnit()->waitReads(b, op.getLoc(), later->second);
  b.eraseOp(op);
  return success();
}

void attune::populateMmaPatterns(TypeConverter &converter,
                                 RewritePatternSet &patterns,
                                 const KernelContext &context) {
  patterns.add<MmaPattern<tile::MmaOp>, MmaPattern<tile::MmaAsyncOp>,
               WaitPattern, WaitReadsPattern>(converter, patterns.getContext(),
                                              context);
}
