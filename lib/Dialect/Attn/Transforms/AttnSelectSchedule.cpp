// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Picks a legal schedule where none is given.

#include "attune/Dialect/Attn/Transforms/Passes.h"
#include "attune/Schedule/ForEachAttention.h"
#include "attune/Schedule/Legality.h"

namespace attune::attn {
#define GEN_PASS_DEF_ATTNSELECTSCHEDULEPASS
#include "attune/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attune::attn

using namespace mlir;
using namespace attune::attn;
using attune::tile::TargetAttr;

static LogicalResult selectSchedule(AttentionOp op, TargetAttr target) {
  if (op.getScheduleAttr())
    return success();
  attune::ScheduleProblem problem = attune::ScheduleProblem::get(op);
  if (std::optional<ScheduleAttr> schedule =
          attune::selectSchedule(problem, target)) {
    op.setScheduleAttr(*schedule);
    return success();
  }
  std::optional<attune::Refusal> refusal = attune::checkSchedule(
      problem, ScheduleAttr::getDefault(op.getContext()), target);
  return op.emitOpError() << refusal->id << ": " << refusal->getMessage();
}

namespace {

struct AttnSelectSchedule
    : attune::attn::impl::AttnSelectSchedulePassBase<AttnSelectSchedule> {
  void runOnOperation() override {
    if (failed(attune::forEachAttention(getOperation(), selectSchedule)))
      signalPassFailure();
  }
};

} // namespace
