// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every parameter has 8 bytes of its own; a driver reads as many of them as the
// kernel declares, and the machines that have these drivers are little-endian.

#include "attune/Runtime/Launch.h"

using namespace attune;

KernelArgument KernelArgument::buffer(DeviceAddress address,
                                      TensorShape shape) {
  KernelArgument argument;
  argument.address = address;
  argument.shape = std::move(shape);
  return argument;
}

KernelArgument KernelArgument::scalar(DataType type, uint64_t bits) {
  KernelArgument argument;
  argument.isScalar = true;
  argument.shape.type = type;
  argument.bits = bits;
  return argument;
}

PackedArguments::PackedArguments(llvm::ArrayRef<KernelArgument> arguments) {
  for (const KernelArgument &argument : arguments) {
    if (argument.isScalar) {
      words.push_back(argument.bits);
      continue;
    }
    words.append({argument.address, argument.address, /*offset=*/0});
    words.append(argument.shape.sizes.begin(), argument.shape.sizes.end());
    words.append(argument.shape.strides.begin(), argument.shape.strides.end());
  }
}

llvm::SmallVector<void *> PackedArguments::getPointers() {
  llvm::SmallVector<void *> pointers;
  for (uint64_t &word : words)
    pointers.push_back(&word);
  return pointers;
}
