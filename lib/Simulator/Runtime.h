// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that converted kernels call, a list for each family. Their
// names and immediates are those that lib/Conversion/KernelToHost writes;
// operands and results are described in attune/Simulator/HostThread.h.

#ifndef ATTUNE_LIB_SIMULATOR_RUNTIME_H
#define ATTUNE_LIB_SIMULATOR_RUNTIME_H

#include "Workgroup.h"

namespace attune {

llvm::ArrayRef<HostFunction> getCommonHostFunctions();
llvm::ArrayRef<HostFunction> getNVVMHostFunctions();
llvm::ArrayRef<HostFunction> getMBarrierHostFunctions();
llvm::ArrayRef<HostFunction> getWarpgroupHostFunctions();
llvm::ArrayRef<HostFunction> getROCDLHostFunctions();

inline Thread &asThread(HostThread *context) {
  auto &thread = static_cast<Thread &>(*context);
  thread.beginOperands();
  return thread;
}

/// An entry of a list.
template <typename Function>
HostFunction hostFunction(const char *name, Function *function) {
  return {name, reinterpret_cast<void *>(function)};
}

/// The value of an operand's element, and how many bytes it has.
double loadOperand(HostElementType type, const char *bits);
uint32_t getOperandBytes(HostElementType type);
/// Rounds to the nearest number; NaN for what is beyond the largest one.
void storeOperand(HostElementType type, float value, uint8_t *bits);

} // namespace attune

#endif // ATTUNE_LIB_SIMULATOR_RUNTIME_H
