// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says whether a compiled problem is right, for several classes of inputs and
// after many launches. Serves the workers of the tuner.

#ifndef ATTUNE_EXECUTION_VERIFIER_H
#define ATTUNE_EXECUTION_VERIFIER_H

#include "attune/Execution/Runner.h"

namespace attune {

class Verifier {
public:
  /// As Runner::create(); inputs and references of a class are made when they
  /// are needed first.
  Verifier(mlir::func::FuncOp source, Device &device, ProblemSizes sizes,
           uint64_t seed, ReferencePlace place)
      : source(source), device(device), sizes(std::move(sizes)), seed(seed),
        place(place), references(std::make_shared<CompiledReferences>(
                          source, device.getInfo().chip)) {}

  /// Makes the inputs of some classes, and their references.
  mlir::LogicalResult prepare(llvm::ArrayRef<llvm::StringRef> classes);

  /// What is wrong with the results of `compiled` for the inputs of one of the
  /// classes; empty where nothing is. Fails where it cannot be run, and where
  /// it wrote to its arguments: then none of this object can be used any more.
  mlir::FailureOr<std::string> verify(mlir::ModuleOp compiled,
                                      llvm::ArrayRef<llvm::StringRef> classes);

  /// The same for all classes, and `launches` launches more, which must leave
  /// the same bits each time.
  mlir::FailureOr<std::string> prove(mlir::ModuleOp compiled,
                                     unsigned launches);

  /// Times the kernels on normal inputs, as Runner::time().
  mlir::FailureOr<Timing> time(mlir::ModuleOp compiled,
                               const BenchmarkOptions &options,
                               mlir::ModuleOp baseline = {});

private:
  /// The runner of a class; null after an error.
  Runner *getRunner(llvm::StringRef inputClass);

  mlir::func::FuncOp source;
  Device &device;
  ProblemSizes sizes;
  uint64_t seed;
  ReferencePlace place;
  std::shared_ptr<CompiledReferences> references;
  std::map<std::string, std::unique_ptr<Runner>> runners;
};

} // namespace attune

#endif // ATTUNE_EXECUTION_VERIFIER_H
