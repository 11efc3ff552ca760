// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.append as an op that can be tuned.

#include "RowsTunable.h"
#include "attune/Schedule/Attention/AppendPieces.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace attune;
using attn::AppendOp;
using schedule::AppendAttr;

namespace {
/// The places of sizes in the set.
enum AppendSize : size_t { kTokens, kAppendHeads, kPages };

/// A dimension that is a size of the set.
struct SizedDim {
  Value tensor;
  int64_t dim;
  size_t size;
};
} // namespace

SmallVector<AppendPiece, 3> attune::getAppendPieces(AppendOp op) {
  int64_t pairs = op.getRotatedPairs(), rotated = 2 * pairs,
          headDim = op.getHeadDim();
  SmallVector<AppendPiece, 3> pieces;
  // Those that share bytes, and those that are rotated with each other, have
  // their columns in the same places.
  if (op.getPacked()) {
    int64_t width =
        std::gcd(headDim / 2, op.getInterleaved() ? rotated : pairs);
    for (int64_t first = 0; first < headDim; first += width)
      pieces.push_back({first, width});
    return pieces;
  }
  if (op.getInterleaved())
    pieces.push_back({0, rotated});
  else if (rotated)
    pieces = {{0, pairs}, {pairs, pairs}};
  if (rotated < headDim)
    pieces.push_back({rotated, headDim - rotated});
  return pieces;
}

int64_t attune::getWidestPiece(AppendOp op) {
  int64_t width = 0;
  for (const AppendPiece &piece : getAppendPieces(op))
    width = std::max(width, piece.width);
  return width;
}

static SmallVector<SizedDim> getSizedDims(AppendOp op) {
  SmallVector<SizedDim> dims{{op.getRows(), 0, kTokens},
                             {op.getRows(), 1, kAppendHeads},
                             {op.getSlots(), 0, kTokens}};
  if (op.getPositions())
    dims.push_back({op.getPositions(), 0, kTokens});
  for (Value given : {Value(op.getScales()), Value(op.getZeros())})
    if (given && cast<RankedTensorType>(given.getType()).getDimSize(2) != 1)
      dims.push_back({given, 2, kAppendHeads});
  for (OpOperand &pool : op.getDpsInitsMutable())
    for (Value tensor : {pool.get(), Value(op.getTiedOpResult(&pool))}) {
      dims.push_back({tensor, 0, kPages});
      dims.push_back({tensor, 2, kAppendHeads});
    }
  return dims;
}

static RankedTensorType resize(RankedTensorType type, int64_t dim,
                               int64_t size) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  return RankedTensorType::get(shape, type.getElementType(),
                               type.getEncoding());
}

namespace {
struct AppendTunable : RowsTunable<AppendTunable, AppendOp, AppendAttr> {
  /// As many warps as the heads of a token keep busy with 16 bytes a lane.
  ScheduleAttrInterface selectSchedule(Operation *op, tile::TargetAttr target,
                                       const SizeMap &sizes) const {
    constexpr int64_t kBytesOfLane = 16, kMostWarps = 8;
    auto append = cast<AppendOp>(op);
    RankedTensorType rows = append.getRowsType();
    SmallVector<int64_t> values(AppendAttr::getSet().getDefaults());
    int64_t heads = rows.getDimSize(1);
    if (ShapedType::isDynamic(heads)) {
      auto known = sizes.find("heads");
      if (known == sizes.end())
        return AppendAttr::get(op->getContext(), values);
      heads = known->second;
    }
    int64_t bytes = static_cast<int64_t>(
                        llvm::PowerOf2Ceil(getWidestPiece(append))) *
                    rows.getElementTypeBitWidth() / 8,
            ofWarp = target.getLanes() * kBytesOfLane,
            perWarp = std::max<int64_t>(ofWarp / bytes, 1);
    int64_t &warps = values.front();
    for (warps = 1; warps < kMostWarps && warps * perWarp < heads;)
      warps *= 2;
    return AppendAttr::get(op->getContext(), values);
  }

  std::string describeKind(Operation *op) const {
    auto append = cast<AppendOp>(op);
    DenseMap<Value, RankedTensorType> known;
    for (const SizedDim &sized : getSizedDims(append)) {
      auto [it, isNew] = known.try_emplace(
          sized.tensor, cast<RankedTensorType>(sized.tensor.getType()));
      it->second = resize(it->second, sized.dim, ShapedType::kDynamic);
    }
    std::string text;
    llvm::raw_string_ostream os(text);
    os << "attn.append" << (append.getInterleaved() ? " interleaved" : "")
       << (append.getPacked() ? " packed" : "");
    for (Value operand : append->getOperands()) {
      auto it = known.find(operand);
      if (it == known.end())
        os << " " << operand.getType();
      else
        os << " " << it->second;
    }
    os << (append.getScales() ? " scales" : "")
       << (append.getRowScales() ? " row_scales" : "")
       << (append.getZeros() ? " zeros" : "")
       << (append.getRowZeros() ? " row_zeros" : "");
    return text;
  }
  SmallVector<int64_t> getSizes(Operation *op) const {
    auto append = cast<AppendOp>(op);
    return {append.getRowsType().getDimSize(0),
            append.getRowsType().getDimSize(1),
            append.getPoolType().getDimSize(0)};
  }
  /// A few tokens and heads, and pages enough for these.
  ProblemSizes shrink(Operation *op, const ProblemSizes &sizes) const {
    constexpr int64_t kMost[] = {50, 20, 64};
    ShrunkSizes shrunk(cast<TunableOpInterface>(op), kMost, sizes);
    for (const SizedDim &sized : getSizedDims(cast<AppendOp>(op))) {
      auto type = cast<RankedTensorType>(sized.tensor.getType());
      Value tensor = sized.tensor;
      tensor.setType(resize(type, sized.dim, shrunk.known[sized.size]));
    }
    updateFunctionType(op);
    return std::move(shrunk.named);
  }

  Work getWork(Operation *op, ArrayRef<int64_t> sizes) const {
    auto append = cast<AppendOp>(op);
    auto tokens = static_cast<double>(sizes[kTokens]),
         rows = tokens * static_cast<double>(sizes[kAppendHeads]),
         columns = static_cast<double>(append.getHeadDim()),
         pairs = static_cast<double>(append.getRotatedPairs());
    auto getBytes = [](Value tensor) {
      return getElementTypeOrSelf(tensor).getIntOrFloatBitWidth() / 8.0;
    };
    Work work;
    // Six of each pair, and of each element that is quantized two.
    work.flops = 6 * rows * pairs;
    double stored = append.getPacked() ? 0.5 : getBytes(append.getPool());
    work.bytes = rows * columns * (getBytes(append.getRows()) + stored) +
                 tokens * getBytes(append.getSlots());
    if (append.getCos())
      work.bytes += tokens * (getBytes(append.getPositions()) +
                              2 * pairs * getBytes(append.getCos()));
    if (append.getScales() || append.getRowScales())
      work.flops += 2 * rows * columns;
    for (Value written : {append.getRowScales(), append.getRowZeros()})
      if (written)
        work.bytes += rows * sizeof(float);
    return work;
  }

  void describeInputs(Operation *op, InputNotes &notes) const {
    auto append = cast<AppendOp>(op);
    for (const SizedDim &sized : getSizedDims(append))
      notes.noteSize(sized.tensor, sized.dim, sized.size);
    IntegerUse slots;
    slots.kind = IntegerUse::Kind::Slot;
    slots.tensor = append.getPool();
    notes.noteIntegers(append.getSlots(), slots);
    if (append.getPositions()) {
      IntegerUse positions;
      positions.kind = IntegerUse::Kind::Index;
      positions.tensor = append.getCos();
      notes.noteIntegers(append.getPositions(), positions);
    }
    // What was there before, and stays where no row comes.
    if (append.getPoolType().getElementType().isInteger()) {
      IntegerUse element;
      element.kind = append.getPacked() ? IntegerUse::Kind::Packed
                                        : IntegerUse::Kind::Element;
      notes.noteIntegers(append.getPool(), element);
    }
    noteUnusualRows(notes, append.getRows(),
                    append.getScales() || append.getRowScales());
  }
  ArrayRef<InputClass> getInputClasses(Operation *) const {
    static constexpr InputClass classes[] = {
        {"normal", "numbers of mean 0 and variance 1"},
        {"large", "ten thousand times these, where they are quantized"},
        {"zero", "zeros alone"},
        {"infinite", "infinities alone"},
        {"nan", "NaN alone"}};
    return classes;
  }
  std::optional<ResultCheckRule> getCheckRule(Operation *op,
                                              Value value) const {
    auto append = cast<AppendOp>(op);
    bool isSum = append.getCos() != nullptr, isPacked = append.getPacked(),
         hasZeros = append.getZeros() || append.getRowZeros();
    if (value == append.getNewPool()) {
      Type element = append.getPoolType().getElementType();
      ResultCheckRule rule{
          "", [element, isSum, hasZeros, isPacked](std::vector<float> exact,
                                                   ArrayRef<float>) {
            double term =
                hasZeros ? attn::getLargestNumber(element, isPacked) : 0;
            for (float number : exact)
              if (isSum && std::isfinite(number))
                term = std::max<double>(term, std::fabs(number));
            return makeRoundedReference(std::move(exact), element, term);
          }};
      if (append.getPacked())
        rule.packedDim = 3;
      return rule;
    }
    if (value && value == append.getNewZeros())
      return getZerosRule(op->getContext());
    if (!value || value != append.getNewScales())
      return std::nullopt;
    return ResultCheckRule{
        "scales", [isSum](std::vector<float> exact, ArrayRef<float>) {
          return makeScalesReference(std::move(exact), isSum);
        }};
  }
};
} // namespace

void attune::attachAppendTunable(MLIRContext *context) {
  AppendOp::attachInterface<AppendTunable>(*context);
}
