// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fit-block-m: where attention has fewer queries than a block of the default
// schedule has rows, as in decoding, takes a smaller block and fewer warps.
// What has a schedule keeps it.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Schedule/TunableOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

namespace {
struct FitBlockM : PassWrapper<FitBlockM, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FitBlockM)

  StringRef getArgument() const override { return "fit-block-m"; }
  StringRef getDescription() const override {
    return "Gives attention of few queries a block of few rows";
  }

  void runOnOperation() override {
    getOperation().walk([](attune::attn::AttentionOp op) {
      // The tunables of attention are known through an interface, which the
      // host has attached to the op.
      auto tunable = cast<attune::TunableOpInterface>(op.getOperation());
      const attune::KnobSet &set = tunable.getKnobSet();
      SmallVector<int64_t> values = set.getDefaults();
      int64_t &blockM = values[*set.findKnob("block-m")];
      int64_t &numWarps = values[*set.findKnob("num-warps")];
      int64_t rowsPerWarp = blockM / numWarps;
      int64_t queries = op.getSeqQ();
      if (op.getScheduleAttr() || ShapedType::isDynamic(queries) ||
          queries >= blockM)
        return;
      blockM = std::max<int64_t>(llvm::PowerOf2Ceil(queries), rowsPerWarp);
      numWarps = blockM / rowsPerWarp;
      auto emitError = [&] { return op.emitError(); };
      tunable.setSchedule(set.getAttr(emitError, op.getContext(), values));
    });
  }
};
} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "FitBlockM", LLVM_VERSION_STRING,
          [] { PassRegistration<FitBlockM>(); }};
}
