// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments of a kernel, expanded as MLIR expands memrefs: a buffer becomes
// allocated pointer, aligned pointer, offset, sizes and strides. A tensor map
// is one parameter of 128 bytes.

#ifndef ATTUNE_RUNTIME_LAUNCH_H
#define ATTUNE_RUNTIME_LAUNCH_H

#include "attune/Runtime/Device.h"
#include "attune/Runtime/Tensor.h"
#include <vector>

namespace attune {

/// A buffer on the device, a scalar or a tensor map.
struct KernelArgument {
  enum class Kind { Buffer, Scalar, TensorMap };

  static KernelArgument buffer(DeviceAddress address, TensorShape shape);
  /// `bits` hold the value in its own width.
  static KernelArgument scalar(DataType type, uint64_t bits);
  static KernelArgument tensorMap(const TensorMap &map);

  Kind kind = Kind::Buffer;
  TensorShape shape;
  DeviceAddress address = 0;
  uint64_t bits = 0;
  TensorMap map{};
};

/// Has `device` encode a map of `buffer`, of whose dimensions `box` has the
/// size in elements, outermost first. `swizzleBytes` is that of
/// TensorMapRequest.
llvm::Expected<TensorMap> encodeTensorMap(Device &device,
                                          const KernelArgument &buffer,
                                          llvm::ArrayRef<int64_t> box,
                                          int64_t swizzleBytes);

/// The parameters of one launch, in memory as drivers want them.
class PackedArguments {
public:
  explicit PackedArguments(llvm::ArrayRef<KernelArgument> arguments);

  /// Those of one argument. A buffer's first two are its address.
  static size_t countParameters(const KernelArgument &argument) {
    return argument.kind == KernelArgument::Kind::Buffer
               ? 3 + argument.shape.sizes.size() + argument.shape.strides.size()
               : 1;
  }

  /// Pointers to the parameters, valid as long as this object stays in place.
  llvm::SmallVector<void *> getPointers();
  /// All parameters, and the gaps before tensor maps.
  llvm::ArrayRef<uint64_t> getWords() const {
    return {lines.empty() ? nullptr : lines.front().words, numWords};
  }

private:
  static constexpr size_t kLineWords = 8;
  /// As tensor maps are aligned.
  struct alignas(64) Line {
    uint64_t words[kLineWords];
  };
  std::vector<Line> lines;
  size_t numWords = 0;
  /// The word with which each parameter starts.
  llvm::SmallVector<size_t> starts;
};

} // namespace attune

#endif // ATTUNE_RUNTIME_LAUNCH_H
