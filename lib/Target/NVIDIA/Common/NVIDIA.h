// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all NVIDIA families share: the way from gpu to NVVM and to PTX and
// cubin.

#ifndef ATTUNE_LIB_TARGET_NVIDIA_COMMON_NVIDIA_H
#define ATTUNE_LIB_TARGET_NVIDIA_COMMON_NVIDIA_H

#include "attune/Target/Binary.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir {
namespace LLVM {
class LLVMFuncOp;
} // namespace LLVM
class ConversionTarget;
class LLVMTypeConverter;
class RewritePatternSet;
} // namespace mlir

namespace attune::nvidia {

/// The intrinsic of the upper half of a product of words, which serialize()
/// makes one instruction with the lower half.
constexpr llvm::StringLiteral kMultiplyHigh = "llvm.nvvm.mulhi.ui";

/// The number in the name of a chip; 0 where there is none.
unsigned getCapability(llvm::StringRef chip);

/// Adds the patterns that take gpu, nvgpu and math ops to NVVM, and marks what
/// stays legal.
void populateGPUToNVVM(mlir::LLVMTypeConverter &converter,
                       mlir::RewritePatternSet &patterns,
                       mlir::ConversionTarget &target);

/// Adds the pattern that widens floats of 8 bits, where the chip has an
/// instruction for it.
void populateFloat8Conversions(mlir::LLVMTypeConverter &converter,
                               mlir::RewritePatternSet &patterns,
                               llvm::StringRef chip);

/// Adds the pattern that makes floats of 16 bits of integers of 8.
void populateInteger8Conversions(mlir::LLVMTypeConverter &converter,
                                 mlir::RewritePatternSet &patterns);

/// Adds the patterns that make inline assembly of the wgmma dialect.
void populateWGMMAToLLVM(mlir::RewritePatternSet &patterns);

/// Sets the launch bounds of a kernel.
void configureKernel(mlir::LLVM::LLVMFuncOp kernel, int64_t threads,
                     int64_t workgroupsPerSm);

/// Has a kernel take a tensor map by value, where it cannot be copied: copies
/// of 128 bytes in local memory are none that the copy engine reads.
void configureParameter(mlir::LLVM::LLVMFuncOp kernel, unsigned parameter,
                        mlir::Type argument);

/// Translates a gpu.module in LLVM dialect to PTX and, where ptxas is found, to
/// a cubin with the assembler's report. Emits a diagnostic on failure.
mlir::FailureOr<Binary> serialize(mlir::gpu::GPUModuleOp module,
                                  llvm::StringRef chip,
                                  const BinaryOptions &options);

/// The assembler that serialize() would run, and which file that is now.
std::string getToolchain(const BinaryOptions &options);

/// Registers NVVM, the wgmma dialect next to it, NVVM's translation and its
/// target attribute.
void registerDialects(mlir::DialectRegistry &registry);

} // namespace attune::nvidia

#endif // ATTUNE_LIB_TARGET_NVIDIA_COMMON_NVIDIA_H
