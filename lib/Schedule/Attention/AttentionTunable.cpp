// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.attention as an op that can be tuned.

#include "AttentionTunable.h"
#include "attune/Dialect/Attn/Transforms/Passes.h"
#include "attune/Schedule/Attention/AttentionModel.h"
#include "attune/Schedule/Attention/Legality.h"
#include "attune/Schedule/Attention/Register.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace attune;
using attn::AttentionOp;
using schedule::AttentionAttr;

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
    rules.checkWorthTrying = [](const KnobReader &read) {
      return checkWorthTrying(AttentionKnobs(read));
    };
    return rules;
  }
  ScheduleAttrInterface selectSchedule(Operation *op,
                                       tile::TargetAttr target) const {
    return attune::selectSchedule(AttentionProblem::get(cast<AttentionOp>(op)),
                                  target);
  }
  std::unique_ptr<CostModel> createCostModel(Operation *op,
                                             tile::TargetAttr target,
                                             const SizeMap &sizes) const {
    return std::make_unique<Model>(cast<AttentionOp>(op), target, sizes);
  }

  std::string describeKind(Operation *op) const {
    return describeAttentionKind(cast<AttentionOp>(op));
  }
  /// By the ratios of lengths and, among equals, of the number of heads in all
  /// batches.
  SmallVector<double> getDistance(Operation *op,
                                  TunableOpInterface other) const {
    SmallVector<int64_t> left = getSizes(op), right = other.getSizes();
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
  SmallVector<int64_t> getSizes(Operation *op) const {
    auto attention = cast<AttentionOp>(op);
    return {attention.getBatch(), attention.getHeadsQ(), attention.getHeadsKV(),
            attention.getSeqQ(), attention.getSeqK()};
  }
  ProblemSizes shrink(Operation *op, const ProblemSizes &sizes) const {
    return shrinkAttention(cast<AttentionOp>(op), sizes);
  }

  /// FLOP by FlashAttention's convention: 2 for each multiply-add, over all
  /// keys, halved under a causal mask. Other masks count with the keys that are
  /// not known to be hidden.
  Work getWork(Operation *op, ArrayRef<int64_t> sizes) const {
    auto attention = cast<AttentionOp>(op);
    auto batch = static_cast<double>(sizes[kBatch]);
    auto heads = static_cast<double>(sizes[kHeads]);
    auto queries = static_cast<double>(sizes[kSeqQ]);
    auto keys = static_cast<double>(sizes[kSeqK]);
    auto rows =
        static_cast<double>(attention.getHeadDimQK() + attention.getHeadDimV());
    bool isCausalAlone = attention.getCausal() && !attention.getWindow() &&
                         attention.getMask().empty();
    SizeMap known;
    for (auto [size, value] :
         llvm::zip_equal(AttentionAttr::getSet().sizes, sizes))
      known[size.name.str()] = value;
    double share = isCausalAlone
                       ? 0.5
                       : AttentionWork::get(attention, known).getSeenShare();
    Work work;
    work.flops = 2 * rows * batch * heads * queries * keys * share;
    work.bytes =
        attention.getElementType().getWidth() / 8.0 * rows * batch *
        (heads * queries + static_cast<double>(sizes[kKVHeads]) * keys);
    if (attention.getLse())
      work.bytes += sizeof(float) * batch * heads * queries;
    return work;
  }

  void describeInputs(Operation *op, InputNotes &notes) const {
    describeAttentionInputs(cast<AttentionOp>(op), notes);
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
    attn::ConvertAttnToLoopsPassOptions loops;
    loops.output = attn::ReferencePrecision::F32;
    loops.precision = run == ReferenceRun::Exact
                          ? attn::ReferencePrecision::F32
                          : attn::ReferencePrecision::Operand;
    pm.addPass(attn::createConvertAttnToLoopsPass(loops));
  }
  std::optional<ResultCheckRule> getCheckRule(Operation *op,
                                              Value value) const {
    auto attention = cast<AttentionOp>(op);
    if (value == attention.getResult())
      return getRoundingRule(attention.getQuery().getType());
    if (value != attention.getLse())
      return std::nullopt;
    return ResultCheckRule{"lse",
                           [](std::vector<float> exact, ArrayRef<float>) {
                             return makeLogSumExpReference(std::move(exact));
                           }};
  }
};
} // namespace

void attune::registerAttentionTunable(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, attn::AttnDialect *) {
    AttentionOp::attachInterface<AttentionTunable>(*context);
  });
}
