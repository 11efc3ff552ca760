// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifies and times compiled modules of one function on one device, with one
// set of inputs. Serves attune-run and the workers of the tuner.

#ifndef ATTUNE_EXECUTION_RUNNER_H
#define ATTUNE_EXECUTION_RUNNER_H

#include "attune/Execution/HostProgram.h"
#include "attune/Execution/Problem.h"
#include "attune/Execution/Reference.h"
#include "attune/Runtime/Benchmark.h"
#include "attune/Runtime/Verify.h"
#include <map>

namespace attune {

/// How one result of the function compared.
struct ResultCheck {
  /// "result 0", or "result 1 (lse)".
  std::string name;
  Comparison comparison;

  /// For people: where and by how much it is wrong.
  std::string explain() const;
};

/// What a result of the function is held against.
struct ResultReference {
  /// As in ResultCheck.
  std::string name;
  Reference reference;
  /// As in ResultCheckRule.
  std::optional<int64_t> packedDim;
};

/// Where the reference is computed.
enum class ReferencePlace { Device, Host };

/// Files with the values of arguments, by the number of the argument.
using InputFiles = std::map<unsigned, std::string>;

class Runner {
public:
  /// `source` is the function as the user wrote it; it must outlive the runner.
  /// Arguments without a file get random values, or what
  /// TunableOpInterface::deriveOperands() makes of the others. `compiled` are
  /// references for the device, if other runners have them as well. Errors are
  /// diagnostics at `source`.
  static mlir::FailureOr<std::unique_ptr<Runner>>
  create(mlir::func::FuncOp source, Device &device, const ProblemSizes &sizes,
         uint64_t seed, ReferencePlace place = ReferencePlace::Device,
         InputFiles files = {}, llvm::StringRef inputClass = kNormalInputs,
         std::shared_ptr<CompiledReferences> compiled = nullptr);

  const Problem &getProblem() const { return problem; }

  /// Allows results to be as far from the reference as this, in place of what
  /// the rule of attune/Runtime/Verify.h allows. To be called first.
  void setTolerance(double newTolerance) { tolerance = newTolerance; }

  /// Computes the reference, once. verify() does so by itself
  /// where it was not done before.
  mlir::LogicalResult computeReference();

  /// Runs the function of the same name in `compiled` on poisoned buffers and
  /// compares its results to the reference. On the host executor the kernels
  /// may be at any stage; a function that still holds tunable ops is computed
  /// as the reference is. Writes outside of a result are an error, wrong
  /// results are not.
  mlir::FailureOr<std::vector<ResultCheck>> verify(mlir::ModuleOp compiled);

  /// Launches the kernels `launches` times on poisoned results and says how
  /// many times these were, bit by bit, not those that verify() compared last.
  mlir::FailureOr<unsigned> countUnequal(mlir::ModuleOp compiled,
                                         unsigned launches);

  /// Fails where a kernel wrote to an argument: what runs after it would be
  /// wrong for no fault of its own.
  llvm::Error checkInputs();

  /// The arguments, and the results that verify() compared last.
  mlir::FailureOr<std::vector<Tensor>> makeArguments();
  llvm::ArrayRef<Tensor> getResults() const { return results; }

  /// Times the kernels of the function of the same name in `compiled`, in turn
  /// with those in `baseline` if there is one and the device is heated.
  mlir::FailureOr<Timing> time(mlir::ModuleOp compiled,
                               BenchmarkOptions options,
                               mlir::ModuleOp baseline = {});

private:
  Runner(mlir::func::FuncOp source, Device &device, uint64_t seed,
         ReferencePlace place, InputFiles files, llvm::StringRef inputClass,
         std::shared_ptr<CompiledReferences> compiled)
      : source(source), device(device), seed(seed), place(place),
        files(std::move(files)), inputClass(inputClass.str()),
        compiledReferences(std::move(compiled)) {}

  mlir::LogicalResult makeInputs();
  /// Replaces arguments that others determine by what these make of them,
  /// computed where the reference is.
  mlir::LogicalResult deriveArguments();
  /// Fails where the arguments are larger than this machine's memory, before
  /// any is made.
  mlir::LogicalResult checkMemory();
  mlir::FailureOr<std::vector<std::vector<float>>>
  runReference(mlir::func::FuncOp function, CompiledReferences &compiled,
               ReferenceRun run);
  mlir::FailureOr<std::vector<Tensor>> runAndRead(mlir::ModuleOp compiled);
  mlir::FailureOr<std::vector<Tensor>> runOnTensors(mlir::ModuleOp module);
  mlir::FailureOr<HostRun> runFunction(mlir::ModuleOp compiled,
                                       HostProgram &program);
  mlir::FailureOr<std::vector<Tensor>> read(const HostRun &run);
  /// A function that ran once, and what its kernels need to run again.
  struct Started {
    /// What the host executor runs where `compiled` is of an earlier stage.
    mlir::OwningOpRef<mlir::ModuleOp> lowered;
    std::unique_ptr<HostProgram> program;
    HostRun run;
  };
  mlir::FailureOr<Started> start(mlir::ModuleOp compiled);

  mlir::func::FuncOp source;
  Device &device;
  uint64_t seed;
  ReferencePlace place;
  InputFiles files;
  std::string inputClass;
  std::shared_ptr<CompiledReferences> compiledReferences;
  std::optional<double> tolerance;
  Problem problem;
  std::vector<Datum> inputs;
  /// Arguments that others determine, by number, as they are to stay: what the
  /// device has may be overwritten.
  std::map<unsigned, Tensor> derived;
  std::vector<Tensor> results;
  /// One for each result.
  std::vector<ResultReference> references;
};

/// The functions of `module` as the user wrote them: those kept in a nested
/// module where the module is compiled, else those of the module itself.
llvm::SmallVector<mlir::func::FuncOp> getSourceFunctions(mlir::ModuleOp module);

/// Whether the module holds compiled kernels.
bool isCompiled(mlir::ModuleOp module);

} // namespace attune

#endif // ATTUNE_EXECUTION_RUNNER_H
