// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel compiled for the CPU.

#ifndef ATTUNE_LIB_SIMULATOR_HOSTKERNEL_H
#define ATTUNE_LIB_SIMULATOR_HOSTKERNEL_H

#include "attune/Runtime/Manifest.h"
#include "attune/Simulator/HostDevice.h"
#include "attune/Simulator/HostThread.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

namespace attune {

struct HostKernel : Kernel {
  /// What went wrong in MLIR is a diagnostic at the op.
  static llvm::Expected<std::unique_ptr<HostKernel>>
  load(mlir::MLIRContext &context, llvm::StringRef image, llvm::StringRef name,
       const HostOptions &options);

  std::string name;
  /// As it would go to the chip's back end.
  mlir::OwningOpRef<mlir::ModuleOp> holder;
  mlir::gpu::GPUModuleOp module;
  /// Its ops by the numbers of sites.
  std::vector<mlir::Operation *> sites;
  /// Absent where the kernel does not say what its arguments are.
  std::optional<Manifest> manifest;
  /// Threads whose work each thread does, by the manifest.
  int64_t threadsInOne = 1;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  void (*function)(HostThread *) = nullptr;
  size_t numParameters = 0;
  /// Numbers of the parameters that are tensor maps.
  llvm::SmallVector<size_t> tensorMaps;
  uint32_t staticSharedBytes = 0;
  /// Workgroups of a cluster, along x.
  uint32_t clusterSize = 1;
  bool flushDenormals = false;
};

} // namespace attune

#endif // ATTUNE_LIB_SIMULATOR_HOSTKERNEL_H
