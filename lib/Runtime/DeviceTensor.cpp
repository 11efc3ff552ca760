// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Poison is written before a kernel runs and looked for after it.

#include "attune/Runtime/DeviceTensor.h"
#include <cstring>

using namespace attune;
using llvm::Error;
using llvm::Expected;

Expected<std::unique_ptr<DeviceTensor>>
DeviceTensor::create(Device &device, TensorShape shape) {
  if (auto error = shape.check())
    return std::move(error);
  Expected<DeviceAddress> base =
      device.allocate(shape.getSpanBytes() + 2 * kGuardBytes);
  if (!base)
    return base.takeError();
  std::unique_ptr<DeviceTensor> tensor(
      new DeviceTensor(device, std::move(shape), *base));
  if (auto error = tensor->poison())
    return std::move(error);
  return tensor;
}

/// The bytes of a tensor, with poison between its elements.
static std::vector<char> poisonGaps(const Tensor &tensor) {
  std::vector<char> bytes(tensor.bytes.size(),
                          static_cast<char>(DeviceTensor::kPoison));
  int64_t width = getBytes(tensor.shape.type);
  tensor.shape.forEachOffset([&](int64_t offset) {
    std::memcpy(&bytes[offset * width], &tensor.bytes[offset * width], width);
  });
  return bytes;
}

Error DeviceTensor::write(const Tensor &source) {
  if (shape.getSpan() != shape.getNumElements()) {
    std::vector<char> bytes = poisonGaps(source);
    return device.copyToDevice(getAddress(), bytes.data(),
                               static_cast<int64_t>(bytes.size()));
  }
  return device.copyToDevice(getAddress(), source.bytes.data(),
                             static_cast<int64_t>(source.bytes.size()));
}

Expected<std::unique_ptr<DeviceTensor>>
DeviceTensor::create(Device &device, const Tensor &source) {
  auto tensor = create(device, source.shape);
  if (!tensor)
    return tensor;
  if (auto error = (*tensor)->write(source))
    return std::move(error);
  return tensor;
}

std::shared_ptr<DeviceTensor>
DeviceTensor::reshape(std::shared_ptr<DeviceTensor> tensor,
                      llvm::ArrayRef<int64_t> sizes) {
  auto shape = TensorShape::contiguous(tensor->shape.type, sizes);
  assert(tensor->shape.isContiguous() &&
         shape.getNumElements() == tensor->shape.getNumElements() &&
         "expects as many elements without gaps");
  std::shared_ptr<DeviceTensor> view(
      new DeviceTensor(tensor->device, std::move(shape), tensor->base));
  view->owner = std::move(tensor);
  return view;
}

DeviceTensor::~DeviceTensor() {
  if (!owner)
    llvm::consumeError(device.release(base));
}

Error DeviceTensor::assign(DeviceTensor &source) {
  assert(shape.sizes == source.shape.sizes &&
         shape.strides == source.shape.strides && "expects the same shape");
  auto tensor = source.read();
  if (!tensor)
    return tensor.takeError();
  return write(*tensor);
}

Error DeviceTensor::fill(uint8_t byte) {
  // Drivers refuse to fill nothing.
  if (shape.getSpanBytes() == 0)
    return Error::success();
  return device.fill(getAddress(), byte, shape.getSpanBytes());
}

Error DeviceTensor::poison() {
  return device.fill(base, kPoison, getTotalBytes());
}

/// The first byte that is not poison; -1 if there is none.
static int64_t findTouched(llvm::ArrayRef<char> bytes) {
  for (auto [position, byte] : llvm::enumerate(bytes))
    if (static_cast<uint8_t>(byte) != DeviceTensor::kPoison)
      return static_cast<int64_t>(position);
  return -1;
}

Expected<Tensor> DeviceTensor::read() {
  std::vector<char> guard(kGuardBytes);
  if (auto error = device.copyToHost(guard.data(), base, kGuardBytes))
    return std::move(error);
  if (findTouched(guard) >= 0)
    return llvm::createStringError("a kernel wrote before the start of " +
                                   shape.str());
  if (auto error = device.copyToHost(
          guard.data(), getAddress() + shape.getSpanBytes(), kGuardBytes))
    return std::move(error);
  if (int64_t position = findTouched(guard); position >= 0)
    return llvm::createStringError("a kernel wrote " + llvm::Twine(position) +
                                   " bytes after the end of " + shape.str());
  Tensor tensor(shape);
  if (!tensor.bytes.empty())
    if (auto error = device.copyToHost(tensor.bytes.data(), getAddress(),
                                       shape.getSpanBytes()))
      return std::move(error);
  if (shape.getSpan() == shape.getNumElements())
    return tensor;
  // Blank the elements: what remains are the gaps.
  std::vector<char> gaps = tensor.bytes;
  int64_t width = getBytes(shape.type);
  shape.forEachOffset([&](int64_t offset) {
    std::memset(&gaps[offset * width], kPoison, width);
  });
  if (findTouched(gaps) >= 0)
    return llvm::createStringError(
        "a kernel wrote between the elements of the strided tensor " +
        shape.str());
  return tensor;
}
