// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments of a kernel, expanded as MLIR expands memrefs: a buffer becomes
// allocated pointer, aligned pointer, offset, sizes and strides.

#ifndef ATTUNE_RUNTIME_LAUNCH_H
#define ATTUNE_RUNTIME_LAUNCH_H

#include "attune/Runtime/Device.h"
#include "attune/Runtime/Tensor.h"

namespace attune {

/// A buffer on the device, or a scalar.
struct KernelArgument {
  static KernelArgument buffer(DeviceAddress address, TensorShape shape);
  /// `bits` hold the value in its own width.
  static KernelArgument scalar(DataType type, uint64_t bits);

  bool isScalar = false;
  TensorShape shape;
  DeviceAddress address = 0;
  uint64_t bits = 0;
};

/// The parameters of one launch, in memory as drivers want them.
class PackedArguments {
public:
  explicit PackedArguments(llvm::ArrayRef<KernelArgument> arguments);

  /// Pointers to the parameters, valid as long as this object stays in place.
  llvm::SmallVector<void *> getPointers();
  llvm::ArrayRef<uint64_t> getWords() const { return words; }

private:
  llvm::SmallVector<uint64_t> words;
};

} // namespace attune

#endif // ATTUNE_RUNTIME_LAUNCH_H
