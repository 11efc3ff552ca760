// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops between kernels that the CPU computes.

#ifndef ATTUNE_EXECUTION_HOSTCOMPUTATION_H
#define ATTUNE_EXECUTION_HOSTCOMPUTATION_H

#include "attune/Execution/HostProgram.h"
#include "attune/Execution/TensorFunction.h"

namespace attune {

/// An op of a run that makes tensors of others.
class HostComputation {
public:
  /// Compiles an op that TensorFunction supports. `inputs` are the values of
  /// TensorFunction::getInputs(op).
  static mlir::FailureOr<std::unique_ptr<HostComputation>>
  create(mlir::Operation *op, std::vector<Datum> inputs, Device &device);

  /// Reads the inputs, once the kernels before it are through, and writes the
  /// results; the first time to buffers that it allocates.
  llvm::Error run();
  llvm::ArrayRef<std::shared_ptr<DeviceTensor>> getResults() const {
    return results;
  }

private:
  HostComputation(std::unique_ptr<TensorFunction> function,
                  std::vector<Datum> inputs, Device &device)
      : function(std::move(function)), inputs(std::move(inputs)),
        device(device) {}

  std::unique_ptr<TensorFunction> function;
  std::vector<Datum> inputs;
  Device &device;
  std::vector<std::shared_ptr<DeviceTensor>> results;
};

/// A tensor of these elements.
Tensor toTensor(TensorShape shape, mlir::DenseElementsAttr elements);

} // namespace attune

#endif // ATTUNE_EXECUTION_HOSTCOMPUTATION_H
