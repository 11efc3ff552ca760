// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A libcuda.so.1 without a GPU. It is found in place of the driver's, for it is
// loaded before, and remembers what it was asked.

#ifndef ATTUNE_UNITTESTS_RUNTIME_FAKECUDA_H
#define ATTUNE_UNITTESTS_RUNTIME_FAKECUDA_H

#include <cstdint>
#include <vector>

/// The arguments of cuTensorMapEncodeTiled, and the answer.
struct FakeEncoding {
  uintptr_t map = 0, address = 0;
  int type = -1;
  std::vector<uint64_t> sizes, strideBytes;
  std::vector<uint32_t> box, elementStrides;
  int interleave = -1, swizzle = -1, promotion = -1, fill = -1;

  int status = 0;
};

extern FakeEncoding fakeEncoding;

#endif // ATTUNE_UNITTESTS_RUNTIME_FAKECUDA_H
