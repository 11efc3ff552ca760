// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One runner for each class of inputs.

#include "attune/Execution/Verifier.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attune;

Runner *Verifier::getRunner(StringRef inputClass) {
  std::unique_ptr<Runner> &runner = runners[inputClass.str()];
  if (!runner) {
    auto created = Runner::create(source, device, sizes, seed, place,
                                  /*files=*/{}, inputClass, references);
    if (succeeded(created))
      runner = std::move(*created);
  }
  return runner.get();
}

LogicalResult Verifier::prepare(ArrayRef<StringRef> classes) {
  for (StringRef inputClass : classes) {
    Runner *runner = getRunner(inputClass);
    if (!runner || failed(runner->computeReference()))
      return failure();
  }
  return success();
}

FailureOr<std::string> Verifier::verify(ModuleOp compiled,
                                        ArrayRef<StringRef> classes) {
  for (StringRef inputClass : classes) {
    Runner *runner = getRunner(inputClass);
    if (!runner)
      return failure();
    FailureOr<std::vector<ResultCheck>> checks = runner->verify(compiled);
    if (failed(checks))
      return failure();
    for (const ResultCheck &check : *checks) {
      if (check.comparison.passed)
        continue;
      if (auto error = runner->checkInputs())
        return source.emitError() << llvm::toString(std::move(error));
      std::string message = check.explain();
      if (inputClass != kNormalInputs)
        message += llvm::formatv(" with --input-class={0}", inputClass);
      return message;
    }
  }
  return std::string();
}

FailureOr<std::string> Verifier::prove(ModuleOp compiled, unsigned launches) {
  FailureOr<std::string> wrong = verify(compiled, getInputClasses(source));
  if (failed(wrong) || !wrong->empty())
    return wrong;
  Runner *runner = getRunner(kNormalInputs);
  FailureOr<unsigned> unequal = runner->countUnequal(compiled, launches);
  if (failed(unequal))
    return failure();
  if (*unequal == 0)
    return std::string();
  if (auto error = runner->checkInputs())
    return source.emitError() << llvm::toString(std::move(error));
  return llvm::formatv("expects the same bits in {0} launches, but {1} of them "
                       "left others with --equal-launches={0}",
                       launches, *unequal)
      .str();
}

FailureOr<Timing> Verifier::time(ModuleOp compiled,
                                 const BenchmarkOptions &options,
                                 ModuleOp baseline) {
  Runner *runner = getRunner(kNormalInputs);
  if (!runner)
    return failure();
  return runner->time(compiled, options, baseline);
}
