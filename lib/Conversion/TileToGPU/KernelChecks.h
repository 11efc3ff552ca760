// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel must be for the patterns of convert-tile-to-gpu.

#ifndef ATTUNE_LIB_CONVERSION_TILETOGPU_KERNELCHECKS_H
#define ATTUNE_LIB_CONVERSION_TILETOGPU_KERNELCHECKS_H

#include "KernelContext.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace attune {

/// Reports what the patterns cannot convert: tiles without layouts, what the
/// target has no warpgroups or no copy engine for, tiles in swizzle atoms that
/// are not multiplied by groups.
llvm::LogicalResult checkKernel(mlir::gpu::GPUFuncOp kernel,
                                const KernelContext &context);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_TILETOGPU_KERNELCHECKS_H
