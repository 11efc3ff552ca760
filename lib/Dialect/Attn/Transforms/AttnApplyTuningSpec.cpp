// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives ops the schedules of the ops in tuning specs that are most like them.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Dialect/Attn/Transforms/Passes.h"
#include "attune/Schedule/ForEachAttention.h"
#include "attune/Schedule/TuningSpec.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attune::attn {
#define GEN_PASS_DEF_ATTNAPPLYTUNINGSPECPASS
#include "attune/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attune::attn

using namespace mlir;
using namespace attune;
using namespace attune::attn;

namespace {
struct AttnApplyTuningSpec
    : attune::attn::impl::AttnApplyTuningSpecPassBase<AttnApplyTuningSpec> {
  using AttnApplyTuningSpecPassBase::AttnApplyTuningSpecPassBase;

  void runOnOperation() override;
};
} // namespace

static void apply(const TuningSpecs &specs, AttentionOp op,
                  tile::TargetAttr target) {
  if (op.getScheduleAttr())
    return;
  SmallVector<ScheduleAttr> closest =
      specs.findClosest(op, target.getChip(), /*count=*/1);
  if (!closest.empty())
    op.setScheduleAttr(closest.front());
}

void AttnApplyTuningSpec::runOnOperation() {
  TuningSpecs known;
  for (const std::string &path : specs)
    if (failed(known.read(path, getOperation().getLoc())))
      return signalPassFailure();
  if (failed(attune::forEachAttention(
          getOperation(), [&](AttentionOp op, tile::TargetAttr target) {
            apply(known, op, target);
            return success();
          })))
    signalPassFailure();
}
