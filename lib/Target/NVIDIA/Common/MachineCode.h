// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is read in a cubin: instructions that no chip has. ptxas 13.0 writes
// some where it spills in kernels whose roles have registers of their own, and
// launches of them end with CUDA_ERROR_ILLEGAL_INSTRUCTION.

#ifndef ATTUNE_LIB_TARGET_NVIDIA_COMMON_MACHINECODE_H
#define ATTUNE_LIB_TARGET_NVIDIA_COMMON_MACHINECODE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace attune::nvidia {

/// The first access to local memory in `code`, instructions as all chips since
/// Volta have them (16 bytes each), of two or four registers that do not start
/// at a multiple of so many: "STL.64 of R7 at 0x1590". Nothing if there is
/// none.
std::optional<std::string> findMisalignedSpill(llvm::ArrayRef<uint8_t> code);

/// The same in all kernels of a cubin, behind the name of the section; nothing
/// as well where `cubin` is no ELF file.
std::optional<std::string> findMisalignedSpillInCubin(llvm::StringRef cubin);

} // namespace attune::nvidia

#endif // ATTUNE_LIB_TARGET_NVIDIA_COMMON_MACHINECODE_H
