// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference on the CPU, for those who do not trust what a device computes.

#ifndef ATTUNE_EXECUTION_HOSTREFERENCE_H
#define ATTUNE_EXECUTION_HOSTREFERENCE_H

#include "attune/Runtime/Tensor.h"
#include "attune/Schedule/TunableOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attune {

/// The results of `source`, computed on the CPU in one thread. Floating-point
/// results are f32. An input of rank 0 is a scalar.
mlir::FailureOr<std::vector<std::vector<float>>>
runReferenceOnHost(mlir::func::FuncOp source, llvm::ArrayRef<Tensor> inputs,
                   ReferenceRun run);

} // namespace attune

#endif // ATTUNE_EXECUTION_HOSTREFERENCE_H
