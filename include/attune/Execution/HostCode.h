// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions in LLVM dialect as machine code for the CPU: compiled in one
// process, run in another. Nothing here knows what they compute.

#ifndef ATTUNE_EXECUTION_HOSTCODE_H
#define ATTUNE_EXECUTION_HOSTCODE_H

#include "attune/Runtime/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <memory>

namespace attune {

/// A value that a function takes or returns.
struct HostValue {
  enum class Kind { Tensor, MemRef, Scalar } kind;
  /// Rank 0 for a scalar.
  TensorShape shape;
  /// Whether the elements are of type `index`.
  bool isIndex = false;
};

/// What a function takes and returns, as it was before it was lowered.
struct HostSignature {
  std::vector<HostValue> arguments, results;

  /// Fails, with an error at the function, for types that no caller can make
  /// up: anything but tensors and memrefs of static sizes and scalars.
  static mlir::FailureOr<HostSignature> get(mlir::func::FuncOp function);
};

/// Asks for the interface by which compileForHost() calls a function, which
/// must be done before the function is lowered.
void requestHostInterface(mlir::func::FuncOp function);

/// Machine code of a function of a module in LLVM dialect, as an object file.
struct HostObject {
  std::string bytes;
  /// Whether results are written to further arguments, as
  /// buffer-results-to-out-params has it.
  bool resultsAreArguments = false;
};

/// Compiles for the CPU that this runs on, at O3. The module is changed.
llvm::Expected<HostObject> compileForHost(mlir::ModuleOp module,
                                          llvm::StringRef function);

/// Machine code in this process.
class HostCode {
public:
  /// What the code calls is looked for in `libraries`, and then in this
  /// process.
  static llvm::Expected<std::unique_ptr<HostCode>>
  load(const HostObject &object, llvm::ArrayRef<std::string> libraries);
  ~HostCode();

  bool areResultsArguments() const { return resultsAreArguments; }
  /// Each argument is a pointer to the value that the function takes.
  void call(void **arguments) const { entry(arguments); }

private:
  HostCode() = default;

  struct Jit;
  std::unique_ptr<Jit> jit;
  void (*entry)(void **) = nullptr;
  bool resultsAreArguments = false;
};

/// Calls of a function on buffers of its own, with guards around them. What the
/// function allocates and does not free is freed after each call.
class HostCall {
public:
  HostCall(const HostSignature &signature, const HostCode &code);
  ~HostCall();

  /// Fills the arguments; those that are results are poisoned. With `poison`,
  /// memory that the function allocates is as well.
  void setInputs(llvm::ArrayRef<Tensor> inputs, bool poison);
  /// Calls the function.
  void run();
  /// What the function returned and what is in its memrefs, after run(). Fails
  /// where it wrote outside of its arguments, or returned another shape.
  llvm::Expected<std::vector<Tensor>> readResults();
  /// Frees what the last run() left.
  void release();

private:
  struct Buffer;

  const HostSignature &signature;
  const HostCode &code;
  std::vector<std::unique_ptr<Buffer>> buffers;
  /// A descriptor for each tensor and memref, and the value of each scalar.
  std::vector<std::vector<uint64_t>> values;
  /// Where the function puts what it returns.
  std::vector<uint64_t> returned;
  std::vector<void *> pointers;
  std::vector<void *> arguments;
};

} // namespace attune

#endif // ATTUNE_EXECUTION_HOSTCODE_H
