// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-set-schedule: puts #attn.schedule on every attention op. The options
// come from Knobs.td, one per tunable; a value outside its domain is reported
// at each op that would have got it.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Dialect/Attn/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"

namespace attune::attn {
#define GEN_PASS_DEF_ATTNSETSCHEDULEPASS
#include "attune/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attune::attn

using namespace mlir;
using namespace attune::attn;

namespace {
struct AttnSetSchedule
    : attune::attn::impl::AttnSetSchedulePassBase<AttnSetSchedule> {
  using AttnSetSchedulePassBase::AttnSetSchedulePassBase;

  void runOnOperation() override {
    SmallVector<int64_t> values = {ATTUNE_KNOB_MEMBERS};
    WalkResult walk = getOperation().walk([&](AttentionOp op) {
      auto schedule = ScheduleAttr::fromValues([&] { return op.emitError(); },
                                               &getContext(), values);
      if (!schedule)
        return WalkResult::interrupt();
      op.setScheduleAttr(schedule);
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
