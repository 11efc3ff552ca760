// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks candidates where there is no device: the kernel before it becomes a
// binary, thread by thread on the CPU.

#include "attune/Tuning/HostCheckHandler.h"
#include "attune/Execution/Verifier.h"
#include "attune/InitAllDialects.h"
#include "attune/Pipelines/Pipelines.h"
#include "attune/Simulator/HostDevice.h"
#include "attune/Tuning/CandidateRequest.h"
#include "attune/Tuning/TunableTask.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace attune;
using namespace attune::tuning;
namespace json = llvm::json;

static json::Value check(const DialectRegistry &registry,
                         const json::Value &request) {
  CandidateRequest candidate(registry);
  if (std::string wrong = candidate.read(request); !wrong.empty())
    return candidate.makeFailure(Status::CompileError, wrong);
  ModuleOp module = candidate.getModule();
  func::FuncOp function = *module.getOps<func::FuncOp>().begin();
  ProblemSizes sizes = getIsolatedOp(module).shrink(getSizes(module));
  // Kept as it is: compilation changes the module.
  OwningOpRef<func::FuncOp> source = function.clone();

  PassManager manager(module.getContext());
  CompileOptions options;
  options.chip = candidate.getChip().str();
  options.format = CompileFormat::LLVM;
  buildCompilePipeline(manager, options);
  if (failed(manager.run(module)))
    return candidate.makeFailure(Status::CompileError,
                                 "the pipeline failed without a message");

  auto target = module->getAttrOfType<tile::TargetAttr>(
      tile::TileDialect::kTargetAttrName);
  HostDevice device(*module.getContext(), target, HostOptions());
  Verifier verifier(*source, device, sizes, kInputSeed, ReferencePlace::Host);
  if (failed(verifier.prepare(kNormalInputs)))
    return candidate.makeFailure(Status::Refused, "cannot make the inputs");
  FailureOr<std::string> wrong =
      verifier.verify(module, getInputClasses(*source));
  if (failed(wrong))
    return candidate.makeFailure(Status::RunError, "cannot run the kernel");
  if (!wrong->empty())
    return candidate.makeFailure(Status::WrongResult, *wrong);
  return json::Object{{"status", toString(Status::Ok)}};
}

WorkerHandlers tuning::makeHostCheckHandlers() {
  auto registry = std::make_shared<DialectRegistry>();
  registerAllDialects(*registry);
  WorkerHandlers handlers;
  handlers.handle = [registry](const json::Value &request) {
    return check(*registry, request);
  };
  return handlers;
}
