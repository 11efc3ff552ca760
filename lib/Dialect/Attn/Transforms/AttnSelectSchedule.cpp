// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Picks a legal schedule where none is given.

#include "attune/Dialect/Attn/Transforms/Passes.h"
#include "attune/Schedule/Legality.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace attune::attn {
#define GEN_PASS_DEF_ATTNSELECTSCHEDULEPASS
#include "attune/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attune::attn

using namespace mlir;
using namespace attune::attn;
using attune::tile::TargetAttr;
using attune::tile::TileDialect;

namespace {

struct AttnSelectSchedule
    : attune::attn::impl::AttnSelectSchedulePassBase<AttnSelectSchedule> {
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
      if (op.getScheduleAttr())
        continue;
      attune::ScheduleProblem problem = attune::ScheduleProblem::get(op);
      if (std::optional<ScheduleAttr> schedule =
              attune::selectSchedule(problem, target)) {
        op.setScheduleAttr(*schedule);
        continue;
      }
      std::optional<attune::Refusal> refusal = attune::checkSchedule(
          problem, ScheduleAttr::getDefault(&getContext()), target);
      op.emitOpError() << refusal->id << ": " << refusal->message;
      return signalPassFailure();
    }
  }
};

} // namespace
