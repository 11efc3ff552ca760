// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds schedules against the rules of legality.

#include "attune/Dialect/Attn/Transforms/Passes.h"
#include "attune/Schedule/ForEachAttention.h"
#include "attune/Schedule/Legality.h"

namespace attune::attn {
#define GEN_PASS_DEF_ATTNCHECKSCHEDULEPASS
#include "attune/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attune::attn

using namespace mlir;
using namespace attune::attn;
using attune::tile::TargetAttr;

static LogicalResult checkSchedule(AttentionOp op, TargetAttr target) {
  ScheduleAttr schedule = op.getScheduleAttr();
  if (!schedule)
    return success();
  if (std::optional<attune::Refusal> refusal = attune::checkSchedule(
          attune::ScheduleProblem::get(op), schedule, target))
    return op.emitOpError() << refusal->id << ": " << refusal->getMessage();
  return success();
}

namespace {

struct AttnCheckSchedule
    : attune::attn::impl::AttnCheckSchedulePassBase<AttnCheckSchedule> {
  void runOnOperation() override {
    if (failed(attune::forEachAttention(getOperation(), checkSchedule)))
      signalPassFailure();
  }
};

} // namespace
