// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.attention_grad as an op that can be tuned.

#include "../Attention/AttentionTunable.h"
#include "attune/Dialect/Attn/Transforms/Passes.h"
#include "attune/Schedule/AttentionGrad/Legality.h"
#include "attune/Schedule/AttentionGrad/Register.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace attune;
using attn::AttentionGradOp;
using schedule::AttentionGradAttr;

namespace {
struct AttentionGradTunable
    : TunableOpInterface::ExternalModel<AttentionGradTunable, AttentionGradOp> {
  const KnobSet &getKnobSet(Operation *) const {
    return AttentionGradAttr::getSet();
  }
  ScheduleAttrInterface getSchedule(Operation *op) const {
    return cast<AttentionGradOp>(op).getScheduleAttr();
  }
  void setSchedule(Operation *op, ScheduleAttrInterface schedule) const {
    auto grad = cast<AttentionGradOp>(op);
    if (schedule)
      grad.setScheduleAttr(cast<AttentionGradAttr>(schedule));
    else
      grad.removeScheduleAttr();
  }

  ScheduleRules getRules(Operation *op, tile::TargetAttr target) const {
    ScheduleRules rules;
    rules.checkLegal =
        [problem = AttentionGradProblem::get(cast<AttentionGradOp>(op)),
         target](const KnobReader &read) {
          return checkLegal(problem, AttentionGradKnobs(read), target);
        };
    rules.checkWorthTrying =
        [problem = AttentionGradProblem::get(cast<AttentionGradOp>(op))](
            const KnobReader &read) {
          return checkWorthTrying(problem, AttentionGradKnobs(read));
        };
    return rules;
  }
  ScheduleAttrInterface selectSchedule(Operation *op, tile::TargetAttr target,
                                       const SizeMap &sizes) const {
    return attune::selectSchedule(
        AttentionGradProblem::get(cast<AttentionGradOp>(op), sizes), target);
  }

  std::string describeKind(Operation *op) const {
    return describeAttentionKind(cast<AttentionGradOp>(op));
  }
  SmallVector<double> getDistance(Operation *op,
                                  TunableOpInterface other) const {
    return getAttentionDistance(getSizes(op), other.getSizes());
  }
  SmallVector<int64_t> getSizes(Operation *op) const {
    return getAttentionSizes(cast<AttentionGradOp>(op));
  }
  /// Two tiles of each kernel; so many blocks that every slot of a ring is used
  /// twice.
  ProblemSizes shrink(Operation *op, const ProblemSizes &sizes) const {
    auto grad = cast<AttentionGradOp>(op);
    AttentionGradAttr schedule = grad.getScheduleAttr();
    return shrinkAttention(
        grad,
        {std::max(schedule.getQBlockM(), schedule.getKvBlockM()),
         2 * schedule.getKvStages(),
         std::max(schedule.getQBlockN(), schedule.getKvBlockN()),
         2 * schedule.getQStages()},
        sizes);
  }

  /// FLOP by FlashAttention's convention: five products of matrices, of which
  /// one is computed anew.
  Work getWork(Operation *op, ArrayRef<int64_t> sizes) const {
    auto grad = cast<AttentionGradOp>(op);
    auto batch = static_cast<double>(sizes[kBatch]);
    auto heads = static_cast<double>(sizes[kHeads]);
    SmallVector<int64_t> each = getMeanSizes(grad, sizes);
    auto queries = static_cast<double>(each[kSeqQ]);
    auto keys = static_cast<double>(each[kSeqK]);
    auto sizeQK = static_cast<double>(grad.getHeadDimQK());
    auto sizeV = static_cast<double>(grad.getHeadDimV());
    double share = getCountedShare(grad, each);
    Work work;
    work.flops =
        2 * (3 * sizeQK + 2 * sizeV) * batch * heads * queries * keys * share;
    double bytes = grad.getElementType().getWidth() / 8.0;
    double keyHeads = static_cast<double>(sizes[kKVHeads]);
    // Each tensor and its gradient, and the output beside the latter.
    work.bytes = bytes * batch *
                     (heads * queries * (2 * sizeQK + 2 * sizeV) +
                      keyHeads * keys * (2 * sizeQK + 2 * sizeV)) +
                 sizeof(float) * batch * heads * queries;
    return work;
  }

  void describeInputs(Operation *op, InputNotes &notes) const {
    auto grad = cast<AttentionGradOp>(op);
    describeAttentionInputs(grad, notes);
    // Few weights have most of the sum.
    constexpr double kPeaked = 4;
    notes.noteClass(grad.getQuery(), "peaked", {kPeaked});
    notes.noteClass(grad.getKey(), "peaked", {1});
  }
  SmallVector<std::pair<Value, Value>>
  deriveOperands(Operation *op, OpBuilder &builder) const {
    return deriveAttentionOperands(cast<AttentionGradOp>(op), builder);
  }
  bool givesEqualBits(Operation *op) const {
    auto grad = cast<AttentionGradOp>(op);
    AttentionGradAttr schedule = grad.getScheduleAttr();
    return grad.getWrt().empty() &&
           (!schedule || schedule.getForm() != schedule::GradientForm::Fused);
  }
  ArrayRef<InputClass> getInputClasses(Operation *) const {
    static constexpr InputClass classes[] = {
        {"normal", "numbers of mean 0 and variance 1"},
        {"peaked", "scores that are far apart"}};
    return classes;
  }
  void buildReference(Operation *, OpPassManager &pm, ReferenceRun run) const {
    buildAttentionReference(pm, run);
  }
  std::optional<ResultCheckRule> getCheckRule(Operation *op,
                                              Value value) const {
    auto grad = cast<AttentionGradOp>(op);
    if (value.getDefiningOp() != op)
      return std::nullopt;
    ResultCheckRule rule = getRoundingRule(grad.getQuery().getType());
    rule.label = value == grad.getQueryGrad()   ? "dq"
                 : value == grad.getKeyGrad()   ? "dk"
                 : value == grad.getValueGrad() ? "dv"
                                                : "gradient";
    return rule;
  }
};
} // namespace

void attune::registerAttentionGradTunable(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, attn::AttnDialect *) {
    AttentionGradOp::attachInterface<AttentionGradTunable>(*context);
  });
}
