// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NVIDIA's assembler: where it is, how it is called, what its report says.

#ifndef ATTUNE_LIB_TARGET_NVIDIA_COMMON_PTXAS_H
#define ATTUNE_LIB_TARGET_NVIDIA_COMMON_PTXAS_H

#include "attune/Target/Binary.h"
#include "llvm/ADT/StringRef.h"

namespace attune::nvidia {

/// The path of ptxas: `requested` where that is not empty, else the first one
/// in PATH and in bin/ below CUDA_HOME, CUDA_PATH and CUDA_ROOT. Empty if none.
std::string findPtxas(llvm::StringRef requested);

/// Reads the output of `ptxas -v`. Of several kernels, the largest numbers.
KernelResources parsePtxasReport(llvm::StringRef report);

} // namespace attune::nvidia

#endif // ATTUNE_LIB_TARGET_NVIDIA_COMMON_PTXAS_H
