// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds schedules against the rules of legality.

#include "attune/Schedule/ForEachTunable.h"
#include "attune/Schedule/Transforms/Passes.h"

namespace attune {
#define GEN_PASS_DEF_ATTUNECHECKSCHEDULEPASS
#include "attune/Schedule/Transforms/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

static LogicalResult check(TunableOpInterface op, tile::TargetAttr target) {
  ScheduleAttrInterface schedule = op.getSchedule();
  if (!schedule)
    return success();
  if (std::optional<Refusal> refusal =
          op.getRules(target).checkLegal(readFrom(schedule.getValues())))
    return op->emitOpError() << refusal->id << ": " << refusal->getMessage();
  return success();
}

namespace {
struct AttuneCheckSchedule
    : attune::impl::AttuneCheckSchedulePassBase<AttuneCheckSchedule> {
  void runOnOperation() override {
    bool isRefused = false;
    for (auto function : getOperation().getOps<func::FuncOp>())
      function.walk(
          [&](Operation *op) { isRefused |= failed(verifySchedule(op)); });
    if (failed(forEachTunable(getOperation(), check)) || isRefused)
      signalPassFailure();
  }
};
} // namespace
