// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every parameter but a tensor map has 8 bytes of its own; a driver reads as
// many of them as the kernel declares, and the machines that have these drivers
// are little-endian.

#include "attune/Runtime/Launch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

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
