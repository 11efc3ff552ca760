// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The op's own passes, and the rest by upstream's.

#include "attune/Execution/HostReference.h"
#include "attune/Execution/Reference.h"
#include "attune/Execution/TensorFunction.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace attune;

FailureOr<std::vector<std::vector<float>>>
attune::runReferenceOnHost(func::FuncOp source, ArrayRef<Tensor> inputs,
                           ReferenceRun run) {
  for (Type type : source.getResultTypes())
    if (Type element = getElementTypeOrSelf(type);
        !isa<RankedTensorType>(type) ||
        (!isa<FloatType>(element) && !element.isInteger(8)))
      return source.emitError()
             << "expects tensors of floats or i8 as results, but got " << type;
  OwningOpRef<ModuleOp> module = ModuleOp::create(source.getLoc());
  func::FuncOp function = source.clone();
  module->push_back(function);
  // Sizes are checked where kernels run; here a failure would end the process.
  function.walk([](cf::AssertOp op) { op.erase(); });
  TensorFunction::forgetStrides(*module);
  PassManager pm(source.getContext());
  buildReference(source, pm, run);
  auto refuse = [&] {
    return source.emitError()
           << "expects a function whose reference can be compiled for the CPU";
  };
  if (failed(pm.run(*module)))
    return refuse();
  auto compiled = TensorFunction::compile(*module, source.getName());
  if (failed(compiled))
    return refuse();
  auto results = (*compiled)->call(inputs);
  if (!results)
    return source.emitError() << llvm::toString(results.takeError());
  std::vector<std::vector<float>> values;
  for (const Tensor &result : *results)
    values.push_back(result.toFloats());
  return values;
}
