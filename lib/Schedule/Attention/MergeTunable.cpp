// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.merge as an op that can be tuned. It reads and writes memory and does
// little else, so that there is not much to choose.

#include "RowsTunable.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Pass/PassManager.h"
#include <cmath>

using namespace mlir;
using namespace attune;
using attn::MergeOp;
using schedule::MergeAttr;

/// The place of the number of queries in the set, behind kBatch and kHeads.
static constexpr size_t kMergeSeqQ = 2;

/// What a dimension of this letter is in the set; nothing for the head size.
static std::optional<size_t> getSizePlace(char dim) {
  switch (dim) {
  case 'b':
    return kBatch;
  case 'h':
    return kHeads;
  case 's':
    return kMergeSeqQ;
  default:
    return std::nullopt;
  }
}

/// Calls `action` with each tensor that the op takes or gives and the letters
/// of its dimensions.
static void forEachTensor(MergeOp op,
                          function_ref<void(Value, StringRef)> action) {
  for (auto [part, lse] : llvm::zip_equal(op.getParts(), op.getLses())) {
    action(part, op.getOrder());
    action(lse, "bhs");
  }
  action(op.getResult(), op.getOrder());
  if (op.getLse())
    action(op.getLse(), "bhs");
}

/// The type with other sizes, `sizes` in the order of the set.
static RankedTensorType resize(Value tensor, StringRef dims,
                               function_ref<int64_t(int64_t, size_t)> change) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(type.getShape());
  for (auto [dim, size] : llvm::zip_equal(dims, shape))
    if (std::optional<size_t> place = getSizePlace(dim))
      size = change(size, *place);
  return RankedTensorType::get(shape, type.getElementType(),
                               type.getEncoding());
}

/// The rule for results in f32, where rounding to the type of the operands says
/// nothing of what a kernel may be off: exponentials of the hardware have
/// relative errors of some 1e-7, and so have exponents that are products.
static Reference makeMergeReference(std::vector<float> values) {
  constexpr double kResolution = 1e-5;
  double largest = 0;
  for (float value : values)
    if (std::isfinite(value))
      largest = std::max(largest, std::fabs(static_cast<double>(value)));
  return {std::move(values), kResolution * largest, {}};
}

namespace {
struct MergeTunable : RowsTunable<MergeTunable, MergeOp, MergeAttr> {
  ScheduleAttrInterface selectSchedule(Operation *op, tile::TargetAttr,
                                       const SizeMap &) const {
    return MergeAttr::getDefault(op->getContext());
  }

  /// Types without sizes; how many parts there are is among them.
  std::string describeKind(Operation *op) const {
    auto merge = cast<MergeOp>(op);
    std::string text;
    llvm::raw_string_ostream os(text);
    os << "attn.merge order(" << merge.getOrder() << ")";
    forEachTensor(merge, [&](Value tensor, StringRef dims) {
      os << " " << resize(tensor, dims, [](int64_t, size_t) {
        return ShapedType::kDynamic;
      });
    });
    return text;
  }
  SmallVector<int64_t> getSizes(Operation *op) const {
    auto merge = cast<MergeOp>(op);
    RankedTensorType type = merge.getPartType();
    return {type.getDimSize(merge.getBatchPos()),
            type.getDimSize(merge.getHeadPos()),
            type.getDimSize(merge.getSeqPos())};
  }
  /// One batch, and few rows, whether these are of queries or of heads.
  ProblemSizes shrink(Operation *op, const ProblemSizes &sizes) const {
    constexpr int64_t kMost[] = {1, 100, 100};
    auto merge = cast<MergeOp>(op);
    ShrunkSizes shrunk(cast<TunableOpInterface>(op), kMost, sizes);
    forEachTensor(merge, [&](Value tensor, StringRef dims) {
      tensor.setType(resize(tensor, dims, [&](int64_t, size_t place) {
        return shrunk.known[place];
      }));
    });
    updateFunctionType(op);
    return std::move(shrunk.named);
  }

  Work getWork(Operation *op, ArrayRef<int64_t> sizes) const {
    auto merge = cast<MergeOp>(op);
    double rows = 1;
    for (int64_t size : sizes)
      rows *= static_cast<double>(size);
    auto columns = static_cast<double>(merge.getHeadDim()),
         parts = static_cast<double>(merge.getParts().size());
    auto getBytes = [](Type type) {
      return getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8.0;
    };
    Work work;
    work.flops = 2 * rows * columns * parts;
    work.bytes = rows * (columns * (parts * getBytes(merge.getPartType()) +
                                    getBytes(merge.getResult().getType())) +
                         sizeof(float) * (parts + (merge.getLse() ? 1 : 0)));
    return work;
  }

  void describeInputs(Operation *op, InputNotes &notes) const {
    auto merge = cast<MergeOp>(op);
    forEachTensor(merge, [&](Value tensor, StringRef dims) {
      for (auto [position, dim] : llvm::enumerate(dims))
        if (std::optional<size_t> place = getSizePlace(dim))
          notes.noteSize(tensor, static_cast<int64_t>(position), *place);
    });
    constexpr double kFar = 64;
    for (Value lse : merge.getLses())
      notes.noteClass(lse, "spread", {kFar});
    // Who has an empty part knows of it from its logarithm alone.
    Value part = merge.getParts().front(), lse = merge.getLses().front();
    auto isInput = [](Value tensor) {
      return isa<BlockArgument>(tensor) && tensor.hasOneUse();
    };
    if (!isInput(part) || !isInput(lse))
      return;
    notes.noteClass(part, "empty", {std::numeric_limits<double>::quiet_NaN()});
    notes.noteClass(lse, "empty",
                    {-std::numeric_limits<double>::infinity(),
                     /*magnitude=*/true});
  }
  ArrayRef<InputClass> getInputClasses(Operation *) const {
    static constexpr InputClass classes[] = {
        {"normal", "numbers of mean 0 and variance 1"},
        {"spread", "logarithms that are far apart"},
        {"empty", "a part of no keys, which holds no numbers"}};
    return classes;
  }
  std::optional<ResultCheckRule> getCheckRule(Operation *op,
                                              Value value) const {
    auto merge = cast<MergeOp>(op);
    if (value == merge.getResult()) {
      Type element = getElementTypeOrSelf(value.getType());
      if (!element.isF32())
        return getRoundingRule(element);
      return ResultCheckRule{"", [](std::vector<float> exact, ArrayRef<float>) {
                               return makeMergeReference(std::move(exact));
                             }};
    }
    if (value != merge.getLse())
      return std::nullopt;
    return getLogSumExpRule();
  }
};
} // namespace

void attune::attachMergeTunable(MLIRContext *context) {
  MergeOp::attachInterface<MergeTunable>(*context);
}
