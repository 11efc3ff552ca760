// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The way from ROCDL to AMDGPU assembly and HSACO, for all AMD families.

#ifndef ATTUNE_LIB_TARGET_AMD_COMMON_SERIALIZE_H
#define ATTUNE_LIB_TARGET_AMD_COMMON_SERIALIZE_H

#include "attune/Target/Binary.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace attune::amd {

/// Translates a gpu.module in LLVM dialect to AMDGPU assembly and, with LLVM's
/// own assembler and linker, to an HSACO. `features` are those of LLVM's back
/// end, such as "+wavefrontsize64". Emits a diagnostic on failure.
mlir::FailureOr<Binary> serialize(mlir::gpu::GPUModuleOp module,
                                  llvm::StringRef chip,
                                  llvm::StringRef features,
                                  const BinaryOptions &options);

/// Links an AMDGPU object file to a shared object, which is what an HSACO is.
mlir::FailureOr<std::string> linkHSACO(mlir::Operation *op,
                                       llvm::StringRef object);

/// Registers ROCDL, its translation and its target attribute.
void registerDialects(mlir::DialectRegistry &registry);

} // namespace attune::amd

#endif // ATTUNE_LIB_TARGET_AMD_COMMON_SERIALIZE_H
