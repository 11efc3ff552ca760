// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds schedules against the rules of legality.

#include "attune/Dialect/Attn/Transforms/Passes.h"
#include "attune/Schedule/Legality.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace attune::attn {
#define GEN_PASS_DEF_ATTNCHECKSCHEDULEPASS
#include "attune/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attune::attn

using namespace mlir;
using namespace attune::attn;
using attune::tile::TargetAttr;
using attune::tile::TileDialect;

namespace {

struct AttnCheckSchedule
    : attune::attn::impl::AttnCheckSchedulePassBase<AttnCheckSchedule> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<AttentionOp> ops;
    for (auto function : module.getOps<func::FuncOp>())
      function.walk([&](AttentionOp op) { ops.push_back(op); });
    if (ops.empty())
      return;
    auto target =
        module->getAttrOfType<TargetAttr>(TileDialect::kTargetAttrName);
    if (!target) {
      emitError(module.getLoc())
          << "expects a '" << TileDialect::kTargetAttrName
          << "' attribute on the module; run attune-attach-target first";
      return signalPassFailure();
    }
    for (AttentionOp op : ops) {
      ScheduleAttr schedule = op.getScheduleAttr();
      if (!schedule)
        continue;
      if (std::optional<attune::Refusal> refusal = attune::checkSchedule(
              attune::ScheduleProblem::get(op), schedule, target)) {
        op.emitOpError() << refusal->id << ": " << refusal->message;
        signalPassFailure();
      }
    }
  }
};

} // namespace
