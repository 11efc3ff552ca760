// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the host side of a compiled module: an interpreter for functions that
// allocate buffers and launch the kernels of gpu.binary ops on a device. Ops on
// tensors that became no kernel are computed on the CPU.

#ifndef ATTUNE_EXECUTION_HOSTPROGRAM_H
#define ATTUNE_EXECUTION_HOSTPROGRAM_H

#include "attune/Dialect/Launch/IR/Launch.h"
#include "attune/Runtime/DeviceTensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include <variant>

namespace attune {

class HostComputation;

/// A value of the program: a buffer on the device, a constant, or a tensor map.
struct Datum {
  std::shared_ptr<DeviceTensor> tensor;
  mlir::Attribute scalar;
  std::optional<TensorMap> map;
};

/// What one run of a function did. Keeps the buffers of the run, those of its
/// arguments included.
class HostRun {
public:
  /// The results of the function.
  llvm::ArrayRef<Datum> getResults() const { return results; }
  /// Queues the kernels of the run once more, on the same buffers. Nothing is
  /// allocated, so that the time of the kernels is all there is to measure, and
  /// of what must be zero again before them: not of workspaces that they leave
  /// as they found them. With `computes`, the CPU computes again what it
  /// computed between them, for which it waits, and what kernels change has its
  /// old value again.
  llvm::Error relaunch(bool computes = false);
  int64_t getNumLaunches() const;

private:
  friend class HostInterpreter;
  friend class HostProgram;
  struct Launch {
    Kernel *kernel;
    LaunchShape shape;
    PackedArguments arguments;
  };

  /// A buffer that becomes zero.
  using Fill = std::shared_ptr<DeviceTensor>;
  using Computation = std::shared_ptr<HostComputation>;
  /// A copy of what kernels change, which its owner keeps.
  struct Copy {
    std::shared_ptr<DeviceTensor> source, target;
  };

  Device *device = nullptr;
  std::vector<std::variant<Launch, Fill, Computation, Copy>> steps;
  std::vector<Datum> results;
  std::vector<std::shared_ptr<DeviceTensor>> buffers;
};

/// The kernels of a module, loaded on a device. Errors are diagnostics at the
/// op that could not be executed.
class HostProgram {
public:
  static mlir::FailureOr<std::unique_ptr<HostProgram>>
  load(mlir::ModuleOp module, Device &device);

  /// Runs a function of the module. The device may still be at work after it.
  mlir::FailureOr<HostRun> run(mlir::func::FuncOp function,
                               llvm::ArrayRef<Datum> arguments);

private:
  friend class HostInterpreter;
  explicit HostProgram(Device &device) : device(device) {}
  /// Loads kernels in LLVM dialect.
  mlir::LogicalResult loadIR(mlir::ModuleOp module);
  llvm::Error load(llvm::StringRef image, llvm::StringRef holder,
                   llvm::StringRef name, launch::ManifestAttr manifest);
  Device &device;
  /// By the name of the gpu.binary or gpu.module and of the kernel in it.
  llvm::StringMap<std::unique_ptr<Kernel>> kernels;
};

/// Whether the CPU computes an op of a host function: it makes tensors, but no
/// kernel does.
bool isComputedOnHost(mlir::Operation *op);

/// The shape of a buffer of a type with static sizes, or with `sizes` for the
/// dynamic ones. Strides come from the layout or the encoding.
mlir::FailureOr<TensorShape>
getTensorShape(mlir::Operation *op, mlir::ShapedType type,
               llvm::ArrayRef<int64_t> dynamicSizes = {});

} // namespace attune

#endif // ATTUNE_EXECUTION_HOSTPROGRAM_H
