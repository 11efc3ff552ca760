// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives ops the schedules of the ops in tuning specs that are most like them.

#include "attune/Schedule/ForEachTunable.h"
#include "attune/Schedule/Transforms/Passes.h"
#include "attune/Schedule/TuningSpec.h"

namespace attune {
#define GEN_PASS_DEF_ATTUNEAPPLYTUNINGSPECPASS
#include "attune/Schedule/Transforms/Passes.h.inc"
#include "mlir/Dialect/Func/IR/FuncOps.h"
} // namespace attune

using namespace mlir;
using namespace attune;

static void apply(const TuningSpecs &specs, TunableOpInterface op,
                  tile::TargetAttr target) {
  if (op.getSchedule())
    return;
  SmallVector<ScheduleAttrInterface> closest =
      specs.findClosest(op, target.getChip(), /*count=*/1);
  if (!closest.empty())
    op.setSchedule(closest.front());
}

namespace {
struct AttuneApplyTuningSpec
    : attune::impl::AttuneApplyTuningSpecPassBase<AttuneApplyTuningSpec> {
  using AttuneApplyTuningSpecPassBase::AttuneApplyTuningSpecPassBase;

  void runOnOperation() override {
    TuningSpecs known;
    for (const std::string &path : specs)
      if (failed(known.read(path, getOperation().getLoc())))
        return signalPassFailure();
    if (failed(forEachTunable(getOperation(), [&](TunableOpInterface op,
                                                  tile::TargetAttr target) {
          apply(known, op, target);
          return success();
        })))
      signalPassFailure();
  }
};
} // namespace
