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

/// That the chip has a part of its own, which the op asks for.
llvm::LogicalResult checkPart(mlir::Operation *op, const KernelContext &context,
                              const void *part, llvm::StringRef what);
llvm::LogicalResult checkBarriers(mlir::Operation *op,
                                  const KernelContext &context);

/// Of `checkKernel`, what warps must be that have programs of their own.
llvm::LogicalResult checkRoles(tile::SpecializeOp op,
                               const KernelContext &context);
llvm::LogicalResult checkPingPong(mlir::Operation *op, uint64_t groups,
                                  const KernelContext &context);
llvm::LogicalResult checkScheduler(mlir::Operation *op, mlir::Value scheduler,
                                   const KernelContext &context);
llvm::LogicalResult checkBarrier(tile::BarrierOp op,
                                 const KernelContext &context);
/// That tile-allocate-shared has been there.
llvm::LogicalResult checkPlace(mlir::Operation *op,
                               std::optional<int64_t> offset);
llvm::LogicalResult checkOrdered(tile::OrderedOp op);
llvm::LogicalResult checkJoin(tile::JoinOp op, const KernelContext &context);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_TILETOGPU_KERNELCHECKS_H
