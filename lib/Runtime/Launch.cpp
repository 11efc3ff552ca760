// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every parameter but a tensor map has 8 bytes of its own; a driver reads as
// many of them as the kernel declares, and the machines that have these drivers
// are little-endian.

#include "attune/Runtime/Launch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

using namespace attune;
using llvm::Twine;

KernelArgument KernelArgument::buffer(DeviceAddress address,
                                      TensorShape shape) {
  KernelArgument argument;
  argument.address = address;
  argument.shape = std::move(shape);
  return argument;
}

KernelArgument KernelArgument::scalar(DataType type, uint64_t bits) {
  KernelArgument argument;
  argument.kind = Kind::Scalar;
  argument.shape.type = type;
  argument.bits = bits;
  return argument;
}

KernelArgument KernelArgument::tensorMap(const TensorMap &map) {
  KernelArgument argument;
  argument.kind = Kind::TensorMap;
  argument.map = map;
  return argument;
}

/// What copy engines allow.
static constexpr int64_t kMostInBox = 256;

llvm::Expected<TensorMap> attune::encodeTensorMap(Device &device,
                                                  const KernelArgument &buffer,
                                                  llvm::ArrayRef<int64_t> box,
                                                  int64_t swizzleBytes) {
  const TensorShape &shape = buffer.shape;
  if (box.size() != shape.sizes.size())
    return llvm::createStringError(
        "expects a box with as many dimensions as the tensor, " +
        Twine(shape.sizes.size()) + ", but got " + Twine(box.size()));
  if (!shape.strides.empty() && shape.strides.back() != 1)
    return llvm::createStringError(
        "expects a last stride of 1 for a tensor map, but got " +
        Twine(shape.strides.back()));
  for (int64_t size : box)
    if (size < 1 || size > kMostInBox)
      return llvm::createStringError(
          "expects a box of 1 to " + Twine(kMostInBox) +
          " elements in each dimension, but got " + Twine(size));
  TensorMapRequest request;
  request.address = buffer.address;
  request.type = shape.type;
  // Drivers refuse a map of nothing, but a kernel takes one even where it finds
  // nothing to do.
  for (int64_t size : shape.sizes)
    request.sizes.push_back(std::max<int64_t>(size, 1));
  request.strides.assign(shape.strides.begin(), shape.strides.end());
  request.box.assign(box.begin(), box.end());
  request.swizzleBytes = swizzleBytes;
  return device.encodeTensorMap(request);
}

PackedArguments::PackedArguments(llvm::ArrayRef<KernelArgument> arguments) {
  llvm::SmallVector<uint64_t> words;
  auto add = [&](llvm::ArrayRef<uint64_t> parameter) {
    starts.push_back(words.size());
    words.append(parameter.begin(), parameter.end());
  };
  for (const KernelArgument &argument : arguments) {
    switch (argument.kind) {
    case KernelArgument::Kind::Scalar:
      add(argument.bits);
      break;
    case KernelArgument::Kind::TensorMap:
      words.resize(llvm::alignTo<kLineWords>(words.size()));
      add(argument.map);
      break;
    case KernelArgument::Kind::Buffer:
      for (uint64_t word : {argument.address, argument.address,
                            /*offset=*/uint64_t(0)})
        add(word);
      for (llvm::ArrayRef<int64_t> extents :
           {llvm::ArrayRef(argument.shape.sizes),
            llvm::ArrayRef(argument.shape.strides)})
        for (int64_t extent : extents)
          add(static_cast<uint64_t>(extent));
      break;
    }
  }
  numWords = words.size();
  lines.resize(llvm::divideCeil(numWords, kLineWords));
  for (auto [index, word] : llvm::enumerate(words))
    lines[index / kLineWords].words[index % kLineWords] = word;
}

llvm::SmallVector<void *> PackedArguments::getPointers() {
  llvm::SmallVector<void *> pointers;
  for (size_t start : starts)
    pointers.push_back(&lines[start / kLineWords].words[start % kLineWords]);
  return pointers;
}
