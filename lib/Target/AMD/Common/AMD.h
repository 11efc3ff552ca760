// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all AMD families share: everything but the matrix instructions.

#ifndef ATTUNE_LIB_TARGET_AMD_COMMON_AMD_H
#define ATTUNE_LIB_TARGET_AMD_COMMON_AMD_H

#include "attune/Target/TargetModel.h"

namespace attune::amd {

/// The base of all AMD families; they add their matrix instructions.
class AMDTarget : public TargetModel {
public:
  mlir::Value emitAny(mlir::OpBuilder &builder, mlir::Location loc,
                      tile::TargetAttr target,
                      mlir::Value condition) const override;
  mlir::LogicalResult populateGPUToLLVM(
      mlir::LLVMTypeConverter &converter, mlir::RewritePatternSet &patterns,
      mlir::ConversionTarget &conversionTarget, tile::TargetAttr target,
      llvm::function_ref<mlir::InFlightDiagnostic()> emitError) const override;
  /// Sets the workgroup size, and the waves that a SIMD must hold at a time.
  void configureKernel(mlir::LLVM::LLVMFuncOp kernel, tile::TargetAttr target,
                       int64_t threads, int64_t workgroupsPerSm) const override;
  /// Upstream asks a device library, which kernels are not linked with.
  bool knowsGridSize() const override { return false; }
  llvm::StringRef getDeviceScope() const override { return "agent"; }
  /// Translates to AMDGPU assembly and, with LLVM's own assembler and linker,
  /// to an HSACO.
  mlir::FailureOr<Binary>
  serialize(mlir::gpu::GPUModuleOp module, tile::TargetAttr target,
            const BinaryOptions &options) const override;
};

/// Links an AMDGPU object file to a shared object, which is what an HSACO is.
mlir::FailureOr<std::string> linkHSACO(mlir::Operation *op,
                                       llvm::StringRef object);

/// Registers the dialects of AMD kernels, their translation and the target
/// attribute.
void registerDialects(mlir::DialectRegistry &registry);

} // namespace attune::amd

#endif // ATTUNE_LIB_TARGET_AMD_COMMON_AMD_H
