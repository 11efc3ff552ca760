// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An instrumentation that clones.

#include "PassRecorder.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Pass/PassInstrumentation.h"

using namespace mlir;
using namespace attune::bisect;

namespace {
/// Adaptors, which hold nested pipelines, have no name in pipelines; what they
/// do is seen at the passes in them.
class PassRecorder : public PassInstrumentation {
public:
  PassRecorder(ModuleOp module, PassRecord &record)
      : module(module), record(record) {}

  void runBeforePass(Pass *pass, Operation *op) override {
    if (!pass->getArgument().empty())
      before.emplace(op);
  }
  void runAfterPass(Pass *pass, Operation *op) override {
    if (pass->getArgument().empty())
      return;
    PassStep &step =
        record.steps.emplace_back(PassStep{pass->getArgument().str(), {}});
    if (*before != OperationFingerPrint(op))
      step.module = module.clone();
  }
  void runAfterPassFailed(Pass *pass, Operation *) override {
    // The innermost is the first to say so.
    if (record.failed.empty())
      record.failed = pass->getArgument().str();
  }

private:
  ModuleOp module;
  PassRecord &record;
  /// Of the op that the pass at hand runs on.
  std::optional<OperationFingerPrint> before;
};
} // namespace

PassRecord attune::bisect::runAndRecord(PassManager &pm, ModuleOp module) {
  PassRecord record;
  pm.addInstrumentation(std::make_unique<PassRecorder>(module, record));
  if (succeeded(pm.run(module)))
    record.failed.clear();
  else if (record.failed.empty())
    record.failed = "the pipeline";
  return record;
}
