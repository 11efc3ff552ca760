// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes up what a function is called with, and takes apart what it returns.

#include "HostHeap.h"
#include "attune/Execution/HostCode.h"
#include "attune/Runtime/Launch.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstdlib>
#include <cstring>

using namespace attune;

/// Bytes before and after a buffer that nobody may write. They keep it aligned.
static constexpr size_t kGuardBytes = 4096;
static constexpr unsigned char kGuardByte = 0xa5;

struct HostCall::Buffer {
  explicit Buffer(const TensorShape &shape)
      : bytes(shape.getSpanBytes()),
        memory(static_cast<unsigned char *>(
            std::aligned_alloc(kGuardBytes, llvm::alignTo(bytes, kGuardBytes) +
                                                2 * kGuardBytes))) {
    std::memset(memory, kGuardByte, kGuardBytes);
    std::memset(data() + bytes, kGuardByte, getTailBytes());
  }
  ~Buffer() { std::free(memory); }

  unsigned char *data() { return memory + kGuardBytes; }
  size_t getTailBytes() const {
    return llvm::alignTo(bytes, kGuardBytes) - bytes + kGuardBytes;
  }
  bool isIntact() {
    auto isGuard = [](unsigned char byte) { return byte == kGuardByte; };
    return std::all_of(memory, data(), isGuard) &&
           std::all_of(data() + bytes, data() + bytes + getTailBytes(),
                       isGuard);
  }

  size_t bytes;
  unsigned char *memory;
};

/// How a value lies in what a function returns: a descriptor or a scalar.
static size_t getWordCount(const HostValue &value) {
  return 3 + 2 * value.shape.sizes.size();
}

HostCall::HostCall(const HostSignature &signature, const HostCode &code)
    : signature(signature), code(code) {
  auto addBuffer = [&](const HostValue &value) {
    if (value.kind == HostValue::Kind::Scalar) {
      values.push_back({0});
      return;
    }
    buffers.push_back(std::make_unique<Buffer>(value.shape));
    PackedArguments packed(KernelArgument::buffer(
        reinterpret_cast<DeviceAddress>(buffers.back()->data()), value.shape));
    values.push_back(packed.getWords().vec());
  };
  std::vector<HostValue> taken = signature.arguments;
  if (code.areResultsArguments())
    llvm::append_range(taken, signature.results);
  for (const HostValue &value : taken)
    addBuffer(value);

  // Results come first where they are memrefs or several, as behind a pointer
  // to a structure, and last where one scalar is returned.
  size_t words = 0;
  for (const HostValue &value : signature.results)
    words += getWordCount(value);
  returned.resize(words);
  bool returnsScalar = signature.results.size() == 1 &&
                       signature.results[0].kind == HostValue::Kind::Scalar;
  bool returnsStruct = !signature.results.empty() && !returnsScalar &&
                       !code.areResultsArguments();
  // Pointers into the list are kept: it may not move.
  pointers.reserve(values.size() + 1);
  if (returnsStruct) {
    pointers.push_back(returned.data());
    arguments.push_back(&pointers.back());
  }
  for (auto [value, words] : llvm::zip_equal(taken, values)) {
    if (value.kind == HostValue::Kind::Scalar) {
      arguments.push_back(words.data());
      continue;
    }
    pointers.push_back(words.data());
    arguments.push_back(&pointers.back());
  }
  if (returnsScalar)
    arguments.push_back(returned.data());
}

HostCall::~HostCall() { release(); }

void HostCall::setInputs(llvm::ArrayRef<Tensor> inputs, bool poison) {
  size_t buffer = 0;
  for (auto [i, value] : llvm::enumerate(signature.arguments)) {
    auto *target = value.kind == HostValue::Kind::Scalar
                       ? reinterpret_cast<unsigned char *>(values[i].data())
                       : buffers[buffer++]->data();
    llvm::copy(inputs[i].bytes, target);
  }
  for (; buffer != buffers.size(); ++buffer)
    std::memset(buffers[buffer]->data(), kPoisonByte, buffers[buffer]->bytes);
  // Of a function without results there is no memory to fill.
  if (!returned.empty())
    std::memset(returned.data(), kPoisonByte,
                returned.size() * sizeof(uint64_t));
  setHostHeapPoison(poison);
}

void HostCall::run() { code.call(arguments.data()); }

void HostCall::release() { releaseHostHeap(); }

/// The elements at `data`, without gaps.
static Tensor gather(const TensorShape &shape, const char *data) {
  Tensor tensor(TensorShape::contiguous(shape.type, shape.sizes));
  int64_t width = getBytes(shape.type), target = 0;
  shape.forEachOffset([&](int64_t offset) {
    std::memcpy(&tensor.bytes[target], data + offset * width, width);
    target += width;
  });
  return tensor;
}

llvm::Expected<std::vector<Tensor>> HostCall::readResults() {
  for (auto [i, buffer] : llvm::enumerate(buffers))
    if (!buffer->isIntact())
      return llvm::createStringError(
          llvm::formatv("wrote outside of buffer {0}", i).str());
  std::vector<Tensor> read;
  size_t buffer = 0;
  for (const HostValue &value : signature.arguments) {
    if (value.kind == HostValue::Kind::Scalar)
      continue;
    if (value.kind == HostValue::Kind::MemRef)
      read.push_back(gather(value.shape,
                            reinterpret_cast<char *>(buffers[buffer]->data())));
    ++buffer;
  }
  const char *next = reinterpret_cast<const char *>(returned.data());
  for (const HostValue &value : signature.results) {
    if (value.kind == HostValue::Kind::Scalar) {
      // Aligned by its width, in a structure as on its own.
      next = reinterpret_cast<const char *>(llvm::alignTo(
          reinterpret_cast<uintptr_t>(next), getBytes(value.shape.type)));
      read.push_back(gather(value.shape, next));
      next += getBytes(value.shape.type);
      continue;
    }
    if (code.areResultsArguments()) {
      read.push_back(gather(
          value.shape, reinterpret_cast<char *>(buffers[buffer++]->data())));
      continue;
    }
    next = reinterpret_cast<const char *>(
        llvm::alignTo(reinterpret_cast<uintptr_t>(next), sizeof(uint64_t)));
    auto *words = reinterpret_cast<const int64_t *>(next);
    size_t rank = value.shape.sizes.size();
    TensorShape shape = value.shape;
    shape.strides.assign(words + 3 + rank, words + 3 + 2 * rank);
    if (llvm::ArrayRef(words + 3, rank) != llvm::ArrayRef(value.shape.sizes))
      return llvm::createStringError("returned another shape than " +
                                     value.shape.str());
    read.push_back(gather(shape, reinterpret_cast<const char *>(words[1]) +
                                     words[2] * getBytes(shape.type)));
    next += getWordCount(value) * sizeof(uint64_t);
  }
  return read;
}
