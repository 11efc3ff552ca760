// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.attention as an op that can be tuned.

#include "AttentionTunable.h"
#include "RowsTunable.h"
#include "attune/Dialect/Attn/Transforms/Passes.h"
#include "attune/Schedule/Attention/AttentionModel.h"
#include "attune/Schedule/Attention/Legality.h"
#include "attune/Schedule/Attention/Register.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace attune;
using attn::AttentionOp;
using schedule::AttentionAttr;

SmallVector<int64_t> attune::getAttentionSizes(attn::AttentionOpInterface op) {
  return {op.getBatch(), op.getHeadsQ(), op.getHeadsKV(), op.getSeqQ(),
          op.getSeqK()};
}

SmallVector<int64_t> attune::fillSizes(ArrayRef<int64_t> sizes,
                                       const SizeMap &likely) {
  SmallVector<int64_t> filled(sizes);
  for (auto [size, info] :
       llvm::zip_equal(filled, AttentionAttr::getSet().sizes)) {
    if (ShapedType::isStatic(size))
      continue;
    auto it = likely.find(info.name.str());
    size = it == likely.end() ? 0 : it->second;
  }
  return filled;
}

int64_t attune::getMeanLength(Value starts, int64_t size, int64_t batches) {
  return starts && batches > 0 ? llvm::divideCeilSigned(size, batches) : size;
}

// Lengths of packed sequences are not known: as if all had one.
SmallVector<int64_t> attune::getMeanSizes(attn::AttentionOpInterface op,
                                          ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> each(sizes);
  each[kSeqQ] = getMeanLength(op.getQueryStarts(), sizes[kSeqQ], sizes[kBatch]);
  each[kSeqK] = getMeanLength(op.getKeyStarts(), sizes[kSeqK], sizes[kBatch]);
  return each;
}

SmallVector<double> attune::getAttentionDistance(ArrayRef<int64_t> left,
                                                 ArrayRef<int64_t> right) {
  auto heads = [](ArrayRef<int64_t> sizes) {
    return ShapedType::isDynamic(sizes[kHeads]) ||
                   ShapedType::isDynamic(sizes[kBatch])
               ? -1
               : sizes[kHeads] * sizes[kBatch];
  };
  return {compareSizes(left[kSeqQ], right[kSeqQ]) +
              compareSizes(left[kSeqK], right[kSeqK]),
          compareSizes(heads(left), heads(right))};
}

double attune::getCountedShare(attn::AttentionOpInterface op,
                               ArrayRef<int64_t> sizes) {
  if (op.getCausalAttr() && !op.getWindowAttr() && !op.hasMask())
    return 0.5;
  return SeenPairs::get(op, sizes[kSeqQ], sizes[kSeqK]).getShare();
}

void attune::buildAttentionReference(OpPassManager &pm, ReferenceRun run) {
  attn::ConvertAttnToLoopsPassOptions loops;
  loops.output = attn::ReferencePrecision::F32;
  loops.precision = run == ReferenceRun::Exact
                        ? attn::ReferencePrecision::F32
                        : attn::ReferencePrecision::Operand;
  pm.addPass(attn::createConvertAttnToLoopsPass(loops));
}

ResultCheckRule attune::getLogSumExpRule(double resolution) {
  return {"lse", [resolution](std::vector<float> exact, ArrayRef<float>) {
            return makeLogSumExpReference(std::move(exact), resolution);
          }};
}

/// The resolution of scores. MMAs of warpgroups cut terms of sums of products
/// of floats of 8 bits 13 bits behind the first one of the sum so far: each
/// term loses half of that bit of half of the whole sum, if all have one sign.
static double getScoreResolution(AttentionOp op) {
  auto isNarrow = [](Value tensor) {
    auto type = dyn_cast<FloatType>(getElementTypeOrSelf(tensor.getType()));
    return type && type.getWidth() == 8;
  };
  return isNarrow(op.getQuery()) && isNarrow(op.getKey())
             ? std::ldexp(static_cast<double>(op.getHeadDimQK()), -15)
             : kLogSumExpResolution;
}

/// Of results of 8 bits, whose reference is divided by their scales, but not
/// rounded: as far off as others may be, and then rounded.
static ResultCheckRule getNarrowRule(AttentionOp op) {
  Type element = op.getResult().getType().getElementType();
  ResultCheckRule wide = getRoundingRule(attn::getRoundedType(op));
  return {"", [element, wide](std::vector<float> exact, ArrayRef<float> bound) {
            Reference before = wide.makeReference(std::move(exact), bound);
            return makeRoundedReference(std::move(before.values), element,
                                        /*term=*/0, before.tolerance);
          }};
}

namespace {
class Model : public CostModel {
public:
  Model(AttentionOp op, tile::TargetAttr target, const SizeMap &sizes)
      : model(AttentionWork::get(op, sizes), target) {}

  double predict(const std::function<int64_t(size_t)> &read,
                 const ReportedUsage *reported) const override {
    return model.predict(AttentionKnobs(read), reported);
  }

private:
  AttentionModel model;
};

struct AttentionTunable
    : TunableOpInterface::ExternalModel<AttentionTunable, AttentionOp> {
  const KnobSet &getKnobSet(Operation *) const {
    return AttentionAttr::getSet();
  }
  ScheduleAttrInterface getSchedule(Operation *op) const {
    return cast<AttentionOp>(op).getScheduleAttr();
  }
  void setSchedule(Operation *op, ScheduleAttrInterface schedule) const {
    cast<AttentionOp>(op).setScheduleAttr(
        cast_if_present<AttentionAttr>(schedule));
  }

  ScheduleRules getRules(Operation *op, tile::TargetAttr target) const {
    ScheduleRules rules;
    rules.checkLegal = [problem = AttentionProblem::get(cast<AttentionOp>(op)),
                        target](const KnobReader &read) {
      return checkLegal(problem, AttentionKnobs(read), target);
    };
    rules.checkWorthTrying = [problem =
                                  AttentionProblem::get(cast<AttentionOp>(op)),
                              target](const KnobReader &read) {
      return checkWorthTrying(problem, AttentionKnobs(read), target);
    };
    return rules;
  }
  ScheduleAttrInterface selectSchedule(Operation *op, tile::TargetAttr target,
                                       const SizeMap &sizes) const {
    return attune::selectSchedule(
        AttentionProblem::get(cast<AttentionOp>(op), sizes), target);
  }
  std::unique_ptr<CostModel> createCostModel(Operation *op,
                                             tile::TargetAttr target,
                                             const SizeMap &sizes) const {
    return std::make_unique<Model>(cast<AttentionOp>(op), target, sizes);
  }

  OwningOpRef<ModuleOp> isolate(Operation *op) const {
    auto attention = cast<AttentionOp>(op);
    // Values that are a part of the keys are read where these lie.
    std::pair<unsigned, unsigned> keyAndValue{
        attention.getKeyMutable().getOperandNumber(),
        attention.getValueMutable().getOperandNumber()};
    return attention.getLatent() ? isolateOp(op, keyAndValue) : isolateOp(op);
  }
  std::string describeKind(Operation *op) const {
    return describeAttentionKind(cast<AttentionOp>(op));
  }
  SmallVector<double> getDistance(Operation *op,
                                  TunableOpInterface other) const {
    return getAttentionDistance(
        getUsualSizes(cast<AttentionOp>(op)),
        getUsualSizes(cast<AttentionOp>(other.getOperation())));
  }
  SmallVector<int64_t> getSizes(Operation *op) const {
    return getAttentionSizes(cast<AttentionOp>(op));
  }
  /// Two tiles of queries; so many blocks of keys that every slot of a ring is
  /// used twice.
  ProblemSizes shrink(Operation *op, const ProblemSizes &sizes) const {
    auto attention = cast<AttentionOp>(op);
    AttentionAttr schedule = attention.getScheduleAttr();
    return shrinkAttention(
        attention,
        {schedule.getBlockM(), 2, schedule.getBlockN(),
         2 * std::max(schedule.getKStages(), schedule.getVStages())},
        sizes);
  }

  /// FLOP by FlashAttention's convention: 2 for each multiply-add.
  Work getWork(Operation *op, ArrayRef<int64_t> sizes) const {
    auto attention = cast<AttentionOp>(op);
    auto batch = static_cast<double>(sizes[kBatch]);
    auto heads = static_cast<double>(sizes[kHeads]);
    SmallVector<int64_t> each = getMeanSizes(attention, sizes);
    auto queries = static_cast<double>(each[kSeqQ]);
    auto keys = static_cast<double>(each[kSeqK]);
    auto rows =
        static_cast<double>(attention.getHeadDimQK() + attention.getHeadDimV());
    double share = getCountedShare(attention, each);
    Work work;
    work.flops = 2 * rows * batch * heads * queries * keys * share;
    auto getBytes = [](Value tensor, bool isPacked = false) {
      return getElementTypeOrSelf(tensor.getType()).getIntOrFloatBitWidth() /
             (isPacked ? 16.0 : 8.0);
    };
    auto columns = static_cast<double>(attention.getHeadDimQK()),
         columnsV = static_cast<double>(attention.getHeadDimV());
    double ofKey =
               getBytes(attention.getKey(), attention.getPackedKey()) * columns,
           ofValue = attention.getLatent()
                         ? 0
                         : getBytes(attention.getValue(),
                                    attention.getPackedValue()) *
                               columnsV;
    work.bytes = batch * (heads * queries *
                              (getBytes(attention.getQuery()) * columns +
                               getBytes(attention.getResult()) * columnsV) +
                          static_cast<double>(sizes[kKVHeads]) * keys *
                              (ofKey + ofValue));
    if (attention.getLse())
      work.bytes += sizeof(float) * batch * heads * queries;
    return work;
  }

  void describeInputs(Operation *op, InputNotes &notes) const {
    auto attention = cast<AttentionOp>(op);
    describeAttentionInputs(attention, notes);
    // With heads of 16 elements or more, scores lie around -160 or below, or
    // have a deviation of 64. The largest element, 6 * 64, is finite in every
    // type.
    constexpr double kFar = 64;
    notes.noteClass(attention.getQuery(), "repelled",
                    {kFar, /*magnitude=*/true});
    notes.noteClass(attention.getQuery(), "spread", {kFar});
    // A key that is the query too stays a key.
    notes.noteClass(attention.getKey(), "repelled", {-1, /*magnitude=*/true});
    notes.noteClass(attention.getKey(), "spread", {1});
  }
  ArrayRef<InputClass> getInputClasses(Operation *) const {
    static constexpr InputClass classes[] = {
        {"normal", "numbers of mean 0 and variance 1"},
        // A maximum that starts from 0, or a key beyond the last one that was
        // read as 0, takes all the weight.
        {"repelled", "scores that are all far below 0"},
        // Exponentials overflow, and the maximum of a row moves far from block
        // to block.
        {"spread", "scores that are far apart"}};
    return classes;
  }
  void buildReference(Operation *, OpPassManager &pm, ReferenceRun run) const {
    buildAttentionReference(pm, run);
  }
  std::optional<ResultCheckRule> getCheckRule(Operation *op,
                                              Value value) const {
    auto attention = cast<AttentionOp>(op);
    if (value == attention.getResult() && attention.getResultScales())
      return getNarrowRule(attention);
    if (value == attention.getResult())
      return getRoundingRule(attn::getRoundedType(attention));
    if (value != attention.getLse())
      return std::nullopt;
    return getLogSumExpRule(getScoreResolution(attention));
  }
};
} // namespace

void attune::registerAttentionTunable(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, attn::AttnDialect *) {
    AttentionOp::attachInterface<AttentionTunable>(*context);
    attachAppendTunable(context);
    attachMergeTunable(context);
    attachQuantizeTunable(context);
  });
}
