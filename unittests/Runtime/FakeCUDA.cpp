// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entry points of cuda.h. Those that no test asks anything of succeed and do
// nothing.

#include "FakeCUDA.h"

FakeEncoding fakeEncoding;

#define SUCCEED(NAME)                                                          \
  extern "C" int NAME() { return 0; }

SUCCEED(cuInit)
SUCCEED(cuDeviceGetName)
SUCCEED(cuDeviceGetAttribute)
SUCCEED(cuDriverGetVersion)
SUCCEED(cuDeviceTotalMem_v2)
SUCCEED(cuMemAlloc_v2)
SUCCEED(cuMemFree_v2)
SUCCEED(cuMemcpyHtoD_v2)
SUCCEED(cuMemcpyDtoH_v2)
SUCCEED(cuMemsetD8Async)
SUCCEED(cuModuleLoadData)
SUCCEED(cuModuleUnload)
SUCCEED(cuModuleGetFunction)
SUCCEED(cuLaunchKernel)
SUCCEED(cuCtxSynchronize)
SUCCEED(cuEventCreate)
SUCCEED(cuEventRecord)
SUCCEED(cuEventSynchronize)
SUCCEED(cuEventElapsedTime)
SUCCEED(cuEventDestroy_v2)
SUCCEED(cuGetErrorString)
SUCCEED(cuDeviceGet)
SUCCEED(cuDevicePrimaryCtxRetain)
SUCCEED(cuDevicePrimaryCtxRelease_v2)
SUCCEED(cuCtxSetCurrent)
SUCCEED(cuFuncSetAttribute)
SUCCEED(cuModuleLoadDataEx)

// What NVML is asked with.
extern "C" int cuDeviceGetPCIBusId() { return 1; }

extern "C" int cuDeviceGetCount(int *count) {
  *count = 1;
  return 0;
}

extern "C" int cuGetErrorName(int, const char **text) {
  *text = "CUDA_ERROR_INVALID_VALUE";
  return 0;
}

extern "C" int
cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *address,
                       const uint64_t *sizes, const uint64_t *strideBytes,
                       const uint32_t *box, const uint32_t *elementStrides,
                       int interleave, int swizzle, int promotion, int fill) {
  fakeEncoding.map = reinterpret_cast<uintptr_t>(map);
  fakeEncoding.address = reinterpret_cast<uintptr_t>(address);
  fakeEncoding.type = type;
  fakeEncoding.sizes.assign(sizes, sizes + rank);
  fakeEncoding.strideBytes.assign(strideBytes, strideBytes + rank - 1);
  fakeEncoding.box.assign(box, box + rank);
  fakeEncoding.elementStrides.assign(elementStrides, elementStrides + rank);
  fakeEncoding.interleave = interleave;
  fakeEncoding.swizzle = swizzle;
  fakeEncoding.promotion = promotion;
  fakeEncoding.fill = fill;
  static_cast<uint64_t *>(map)[15] = 42;
  return fakeEncoding.status;
}
