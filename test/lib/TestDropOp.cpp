// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// test-drop-op plants a fault that works at any stage: one op is missing.

#include "TestPasses.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace {
struct TestDropOp : PassWrapper<TestDropOp, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestDropOp)

  TestDropOp() = default;
  TestDropOp(const TestDropOp &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "test-drop-op"; }
  StringRef getDescription() const override {
    return "Replaces an op by its last operand of the same type";
  }

  void runOnOperation() override {
    SmallVector<Operation *> places;
    getOperation()->walk([&](Operation *op) {
      if (op->getName().getStringRef() == name)
        places.push_back(op);
    });
    if (number >= places.size()) {
      emitError(getOperation()->getLoc())
          << "expects more than " << number << " ops '" << name
          << "', but there are " << places.size();
      return signalPassFailure();
    }
    Operation *op = places[number];
    for (Value result : op->getResults())
      for (Value operand : op->getOperands())
        if (operand.getType() == result.getType())
          result.replaceAllUsesWith(operand);
    if (op->use_empty())
      return op->erase();
    op->emitError() << "expects an operand of the type of the result";
    signalPassFailure();
  }

  Option<std::string> name{*this, "op", llvm::cl::desc("Name of the op.")};
  Option<unsigned> number{*this, "number",
                          llvm::cl::desc("Which of those of that name."),
                          llvm::cl::init(0)};
};
} // namespace

void attune::test::registerTestDropOpPass() { PassRegistration<TestDropOp>(); }
