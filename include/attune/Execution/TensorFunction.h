// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions on tensors that the CPU computes: upstream's bufferization, loops
// and LLVM, in a JIT.

#ifndef ATTUNE_EXECUTION_TENSORFUNCTION_H
#define ATTUNE_EXECUTION_TENSORFUNCTION_H

#include "attune/Runtime/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <memory>

namespace mlir {
class ExecutionEngine;
} // namespace mlir

namespace attune {

class TensorFunction {
public:
  /// Compiles a function of the module, which is changed. Where there is no
  /// way to loops, fails with what upstream's passes say of it. The types have
  /// no `#attn.strided`.
  static mlir::FailureOr<std::unique_ptr<TensorFunction>>
  compile(mlir::ModuleOp module, llvm::StringRef function);
  /// Compiles an op alone, as a function of getInputs(op).
  static mlir::FailureOr<std::unique_ptr<TensorFunction>>
  compile(mlir::Operation *op);
  ~TensorFunction();

  /// Leaves `#attn.strided` out of all types: call() packs.
  static void forgetStrides(mlir::ModuleOp module);
  /// Whether compile() takes the op: it makes a tensor of tensors and scalars,
  /// and it and what is in its regions are of upstream's dialects that have
  /// neither memory nor kernels.
  static bool isSupported(mlir::Operation *op);
  /// What the op reads: its operands, and values that its regions use.
  static llvm::SmallVector<mlir::Value> getInputs(mlir::Operation *op);

  /// Computes the results, without gaps, in one thread. An input of rank 0 is
  /// the value of a scalar where the function takes one.
  llvm::Expected<std::vector<Tensor>> call(llvm::ArrayRef<Tensor> inputs) const;

private:
  TensorFunction() = default;

  std::string name;
  std::unique_ptr<mlir::ExecutionEngine> engine;
  /// Whether each argument is a tensor.
  llvm::SmallVector<bool> isTensor;
  /// The types and ranks of the results.
  llvm::SmallVector<std::pair<DataType, int64_t>> results;
};

} // namespace attune

#endif // ATTUNE_EXECUTION_TENSORFUNCTION_H
