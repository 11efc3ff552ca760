// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code may run in several threads, so there is a lock.

#include "HostHeap.h"
#include "llvm/ADT/DenseSet.h"
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>

using namespace attune;

namespace {
struct Heap {
  std::mutex mutex;
  llvm::DenseSet<void *> given;
  bool poison = false;

  void *note(void *memory, size_t size) {
    std::lock_guard<std::mutex> lock(mutex);
    if (memory && poison)
      std::memset(memory, kPoisonByte, size);
    if (memory)
      given.insert(memory);
    return memory;
  }
};

/// As MLIR lowers it: a descriptor of a memref of any rank.
struct UnrankedMemRef {
  int64_t rank;
  void *descriptor;
};

struct StridedBytes {
  char *data;
  const int64_t *sizes, *strides;

  StridedBytes(const UnrankedMemRef &memref, int64_t width) {
    auto *words = static_cast<int64_t *>(memref.descriptor);
    data = reinterpret_cast<char *>(words[1]) + words[2] * width;
    sizes = words + 3;
    strides = sizes + memref.rank;
  }
};
} // namespace

static Heap &getHeap() {
  static Heap heap;
  return heap;
}

static void *allocate(size_t size) {
  return getHeap().note(std::malloc(size), size);
}

static void *allocateAligned(size_t alignment, size_t size) {
  return getHeap().note(std::aligned_alloc(alignment, size), size);
}

static void deallocate(void *memory) {
  {
    std::lock_guard<std::mutex> lock(getHeap().mutex);
    getHeap().given.erase(memory);
  }
  std::free(memory);
}

static void copyElements(int64_t width, int64_t rank, const int64_t *sizes,
                         char *source, const int64_t *sourceStrides,
                         char *target, const int64_t *targetStrides) {
  if (rank == 0) {
    std::memcpy(target, source, width);
    return;
  }
  if (rank == 1 && *sourceStrides == 1 && *targetStrides == 1) {
    std::memcpy(target, source, width * *sizes);
    return;
  }
  for (int64_t i = 0; i < *sizes; ++i)
    copyElements(width, rank - 1, sizes + 1,
                 source + i * *sourceStrides * width, sourceStrides + 1,
                 target + i * *targetStrides * width, targetStrides + 1);
}

/// What memref.copy becomes where strides are not known.
static void copyMemRef(int64_t width, UnrankedMemRef *source,
                       UnrankedMemRef *target) {
  StridedBytes from(*source, width), to(*target, width);
  copyElements(width, source->rank, from.sizes, from.data, from.strides,
               to.data, to.strides);
}

HostSymbols attune::getHostHeapSymbols() {
  return {{"malloc", reinterpret_cast<void *>(&allocate)},
          {"aligned_alloc", reinterpret_cast<void *>(&allocateAligned)},
          {"free", reinterpret_cast<void *>(&deallocate)}};
}

HostSymbols attune::getHostRuntimeSymbols() {
  HostSymbols symbols = getHostFloatSymbols();
  symbols.emplace_back("memrefCopy", reinterpret_cast<void *>(&copyMemRef));
  return symbols;
}

void attune::setHostHeapPoison(bool poison) { getHeap().poison = poison; }

void attune::releaseHostHeap() {
  std::lock_guard<std::mutex> lock(getHeap().mutex);
  for (void *memory : getHeap().given)
    std::free(memory);
  getHeap().given.clear();
}
