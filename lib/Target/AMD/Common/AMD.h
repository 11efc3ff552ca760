// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all AMD families share: the way from gpu to ROCDL, and launch bounds.

#ifndef ATTUNE_LIB_TARGET_AMD_COMMON_AMD_H
#define ATTUNE_LIB_TARGET_AMD_COMMON_AMD_H

#include "attune/Dialect/Tile/IR/Tile.h"

namespace mlir {
namespace LLVM {
class LLVMFuncOp;
} // namespace LLVM
class ConversionTarget;
class LLVMTypeConverter;
class RewritePatternSet;
} // namespace mlir

namespace attune::amd {

/// Adds the patterns that take gpu, amdgpu and math ops to ROCDL, and marks
/// what stays legal.
void populateGPUToROCDL(mlir::LLVMTypeConverter &converter,
                        mlir::RewritePatternSet &patterns,
                        mlir::ConversionTarget &conversionTarget,
                        tile::TargetAttr target);

/// Sets the workgroup size of a kernel and the waves that a SIMD must hold at a
/// time.
void configureKernel(mlir::LLVM::LLVMFuncOp kernel, int64_t threads,
                     int64_t wavesPerSIMD);

} // namespace attune::amd

#endif // ATTUNE_LIB_TARGET_AMD_COMMON_AMD_H
