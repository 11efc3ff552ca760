// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors on a device, between guard bands. Reads beyond an input meet NaN;
// writes beyond an output are found when it is read back.

#ifndef ATTUNE_RUNTIME_DEVICETENSOR_H
#define ATTUNE_RUNTIME_DEVICETENSOR_H

#include "attune/Runtime/Launch.h"
#include <memory>

namespace attune {

class DeviceTensor {
public:
  /// A tensor whose elements, gaps and guard bands are all poison, which is NaN
  /// for every float type.
  static llvm::Expected<std::unique_ptr<DeviceTensor>>
  create(Device &device, TensorShape shape);
  /// A copy of `tensor`.
  static llvm::Expected<std::unique_ptr<DeviceTensor>>
  create(Device &device, const Tensor &tensor);
  /// The same elements in another shape without gaps, of as many of them.
  static std::shared_ptr<DeviceTensor>
  reshape(std::shared_ptr<DeviceTensor> tensor, llvm::ArrayRef<int64_t> sizes);
  ~DeviceTensor();

  const TensorShape &getShape() const { return shape; }
  DeviceAddress getAddress() const { return base + kGuardBytes; }
  KernelArgument getArgument() const {
    return KernelArgument::buffer(getAddress(), shape);
  }

  /// Copies a tensor of the same shape, through the CPU.
  llvm::Error assign(DeviceTensor &source);
  /// Sets every byte between the guard bands.
  llvm::Error fill(uint8_t byte);
  /// Makes everything poison again.
  llvm::Error poison();
  /// Reads the tensor; an error if a guard band or a gap between elements is no
  /// longer poison.
  llvm::Expected<Tensor> read();

  /// Every byte of poison.
  static constexpr uint8_t kPoison = 0xff;
  /// Bytes before and after a tensor; a multiple of every alignment that
  /// kernels expect.
  static constexpr int64_t kGuardBytes = 4096;

private:
  DeviceTensor(Device &device, TensorShape shape, DeviceAddress base)
      : device(device), shape(std::move(shape)), base(base) {}
  /// Copies the elements of a tensor of the same shape, and poison between
  /// them.
  llvm::Error write(const Tensor &source);
  int64_t getTotalBytes() const {
    return shape.getSpanBytes() + 2 * kGuardBytes;
  }

  Device &device;
  TensorShape shape;
  DeviceAddress base;
  /// Whose memory it is, if that is another one's.
  std::shared_ptr<DeviceTensor> owner;
};

} // namespace attune

#endif // ATTUNE_RUNTIME_DEVICETENSOR_H
