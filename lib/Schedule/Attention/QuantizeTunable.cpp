// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.quantize as an op that can be tuned.

#include "RowsTunable.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace attune;
using attn::QuantizeOp;
using schedule::QuantizeAttr;

/// The dimensions of the input that are sizes of the set, in its order.
static std::array<int64_t, 3> getPlaces(QuantizeOp op) {
  return {op.getBatchPos(), op.getHeadPos(), op.getSeqPos()};
}

/// The type with other sizes, `sizes` in the order of the set.
static RankedTensorType resize(QuantizeOp op, RankedTensorType type,
                               ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> shape(type.getShape());
  for (auto [place, size] : llvm::zip_equal(getPlaces(op), sizes))
    shape[place] = size;
  return RankedTensorType::get(shape, type.getElementType(),
                               type.getEncoding());
}

namespace {
struct QuantizeTunable
    : RowsTunable<QuantizeTunable, QuantizeOp, QuantizeAttr> {
  /// Rows that share a scale are read once if all threads have registers for
  /// them.
  ScheduleAttrInterface selectSchedule(Operation *op, tile::TargetAttr target,
                                       const SizeMap &) const {
    constexpr int64_t kElementsOfLane = 64, kMostWarps = 16;
    auto quantize = cast<QuantizeOp>(op);
    SmallVector<int64_t> values(QuantizeAttr::getSet().getDefaults());
    int64_t &warps = values.front(), rows = quantize.getBlockRows(),
            perWarp = target.getLanes() * kElementsOfLane;
    auto columns =
        static_cast<int64_t>(llvm::PowerOf2Ceil(quantize.getHeadDim()));
    if (rows != 1)
      while (warps < kMostWarps &&
             (ShapedType::isDynamic(rows) || rows * columns > warps * perWarp))
        warps *= 2;
    return QuantizeAttr::get(op->getContext(), values);
  }

  std::string describeKind(Operation *op) const {
    auto quantize = cast<QuantizeOp>(op);
    std::array<int64_t, 3> dynamic;
    dynamic.fill(ShapedType::kDynamic);
    std::string text;
    llvm::raw_string_ostream os(text);
    os << "attn.quantize order(" << quantize.getOrder() << ") rows "
       << quantize.getBlockRows() << (quantize.getSmooth() ? " smooth" : "")
       << (quantize.getRotate() ? " rotate" : "")
       << (quantize.getPacked() ? " packed" : "")
       << (quantize.getZeros() ? " zeros " : " ")
       << resize(quantize, quantize.getInputType(), dynamic) << " "
       << resize(quantize, quantize.getQuantized().getType(), dynamic);
    return text;
  }
  SmallVector<int64_t> getSizes(Operation *op) const {
    auto quantize = cast<QuantizeOp>(op);
    SmallVector<int64_t> sizes;
    for (int64_t place : getPlaces(quantize))
      sizes.push_back(quantize.getInputType().getDimSize(place));
    return sizes;
  }
  /// One batch and few heads, with some tiles of rows each and a part of one.
  ProblemSizes shrink(Operation *op, const ProblemSizes &sizes) const {
    auto quantize = cast<QuantizeOp>(op);
    int64_t block = quantize.getBlockRows();
    const int64_t most[] = {
        1, 2, ShapedType::isDynamic(block) ? 300 : 2 * block + 100};
    ShrunkSizes shrunk(cast<TunableOpInterface>(op), most, sizes);
    SmallVector<int64_t> &reducedSizes = shrunk.known;
    auto change = [&](Value tensor, ArrayRef<int64_t> wanted) {
      tensor.setType(
          resize(quantize, cast<RankedTensorType>(tensor.getType()), wanted));
    };
    int64_t rows = reducedSizes.back(),
            scales =
                quantize.getScales().getType().getDimSize(quantize.getSeqPos());
    change(quantize.getInput(), reducedSizes);
    change(quantize.getQuantized(), reducedSizes);
    if (ShapedType::isStatic(scales) && scales != 1)
      scales = llvm::divideCeilSigned(rows, block);
    reducedSizes.back() = scales;
    change(quantize.getScales(), reducedSizes);
    if (quantize.getZeros())
      change(quantize.getZeros(), reducedSizes);
    updateFunctionType(op);
    return std::move(shrunk.named);
  }

  Work getWork(Operation *op, ArrayRef<int64_t> sizes) const {
    auto quantize = cast<QuantizeOp>(op);
    double heads =
               static_cast<double>(sizes[0]) * static_cast<double>(sizes[1]),
           rows = heads * static_cast<double>(sizes[2]);
    auto columns = static_cast<double>(quantize.getHeadDim());
    int64_t block = quantize.getBlockRows();
    double scales = ShapedType::isDynamic(block)
                        ? heads
                        : heads * static_cast<double>(
                                      llvm::divideCeilSigned(sizes[2], block));
    double inputBytes = quantize.getInputType().getElementTypeBitWidth() / 8.0;
    Work work;
    work.flops = 2 * rows * columns;
    double quantizedBytes = quantize.getPacked() ? 0.5 : 1;
    work.bytes = rows * columns * (inputBytes + quantizedBytes) +
                 sizeof(float) * (quantize.getZeros() ? 2 : 1) * scales;
    return work;
  }

  void describeInputs(Operation *op, InputNotes &notes) const {
    auto quantize = cast<QuantizeOp>(op);
    for (auto [size, place] : llvm::enumerate(getPlaces(quantize)))
      for (Value tensor : {quantize.getInput(), quantize.getQuantized()})
        notes.noteSize(tensor, place, size);
    noteUnusualRows(notes, quantize.getInput(), /*isQuantized=*/true);
  }
  ArrayRef<InputClass> getInputClasses(Operation *) const {
    static constexpr InputClass classes[] = {
        {"normal", "numbers of mean 0 and variance 1"},
        {"large", "ten thousand times these"},
        {"zero", "zeros alone"},
        {"infinite", "infinities alone"},
        {"nan", "NaN alone"}};
    return classes;
  }
  std::optional<ResultCheckRule> getCheckRule(Operation *op,
                                              Value value) const {
    auto quantize = cast<QuantizeOp>(op);
    bool isSum = quantize.getRotate() || quantize.getSmooth();
    if (value == quantize.getQuantized()) {
      Type element = quantize.getQuantized().getType().getElementType();
      double term = isSum || quantize.getZeros()
                        ? attn::getLargestNumber(element, quantize.getPacked())
                        : 0;
      ResultCheckRule rule{
          "", [element, term](std::vector<float> exact, ArrayRef<float>) {
            return makeRoundedReference(std::move(exact), element, term);
          }};
      if (quantize.getPacked())
        rule.packedDim = quantize.getHeadDimPos();
      return rule;
    }
    if (value && value == quantize.getZeros())
      return getZerosRule(op->getContext());
    if (value != quantize.getScales())
      return std::nullopt;
    return ResultCheckRule{
        "scales", [isSum](std::vector<float> exact, ArrayRef<float>) {
          return makeScalesReference(std::move(exact), isSum);
        }};
  }
};
} // namespace

void attune::attachQuantizeTunable(MLIRContext *context) {
  QuantizeOp::attachInterface<QuantizeTunable>(*context);
}
