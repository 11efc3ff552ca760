// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A libcuda.so.1 for machines without a GPU: memory is that of the host, and a
// launch checks its parameters and computes nothing. So outputs stay poisoned,
// and whoever calls them right does not verify. A tensor map is the text of
// what was asked for. FAKE_DRIVER_FAULT names an entry point that fails;
// FAKE_DRIVER_DEVICES and FAKE_DRIVER_VERSION are what they say. With
// FAKE_DRIVER_TRACE, what works on memory or streams is told on standard error.

#include "FakeDriver.h"
#include <cstdint>
#include <cstring>
#include <sstream>

using Handle = void *;
static char something;
/// The context of each thread, without which nothing is loaded or launched.
/// Of devices. What is loaded is known by the one that it was loaded in.
static char contexts[16];
static thread_local Handle current;
static constexpr int kInvalidContext = 201, kInvalidHandle = 400;

/// CUDA_KERNEL_NODE_PARAMS, as CUDA 11 has it.
struct NodeParams {
  Handle function;
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  void **parameters, **extra;
};
static NodeParams captured;

extern "C" {
int cuInit(unsigned) { return answer("cuInit"); }
int cuDeviceGetCount(int *count) {
  return give("cuDeviceGetCount", count, getNumber("FAKE_DRIVER_DEVICES", 1));
}
int cuDeviceGet(int *device, int ordinal) {
  return give("cuDeviceGet", device, ordinal);
}
int cuDeviceGetName(char *name, int length, int) {
  std::snprintf(name, length, "Fake GPU");
  return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int) {
  switch (attribute) {
  case 13: // clock in kHz
    return give("clock", value, 1000000);
  case 16: // multiprocessors
    return give("sms", value, 2);
  case 38: // cache
    return give("cache", value, 1024);
  case 75: // capability, major
    return give("major", value, 9);
  case 76: // capability, minor
    return give("minor", value, 0);
  case 97: // shared memory
    return give("shared", value, 232448);
  }
  return 1;
}
int cuDriverGetVersion(int *version) {
  return give("cuDriverGetVersion", version,
              getNumber("FAKE_DRIVER_VERSION", 13000));
}
int cuDeviceTotalMem_v2(size_t *bytes, int) {
  return give("cuDeviceTotalMem", bytes, size_t(1) << 30);
}
int cuDeviceGetPCIBusId(char *text, int length, int) {
  std::snprintf(text, length, "0000:01:00.0");
  return 0;
}
int cuDevicePrimaryCtxRetain(Handle *context, int device) {
  return give<Handle>("cuDevicePrimaryCtxRetain", context, &contexts[device]);
}
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxGetCurrent(Handle *context) {
  *context = current;
  return 0;
}
int cuCtxSetCurrent(Handle context) {
  current = context;
  return 0;
}
int cuCtxSynchronize() { return work("cuCtxSynchronize"); }
int cuMemAlloc_v2(uint64_t *address, size_t bytes) {
  *address = reinterpret_cast<uint64_t>(std::malloc(bytes));
  return work("cuMemAlloc");
}
int cuMemFree_v2(uint64_t address) {
  std::free(reinterpret_cast<void *>(address));
  return 0;
}
int cuMemcpyHtoD_v2(uint64_t target, const void *source, size_t bytes) {
  std::memcpy(reinterpret_cast<void *>(target), source, bytes);
  return work("cuMemcpyHtoD");
}
int cuMemcpyDtoH_v2(void *target, uint64_t source, size_t bytes) {
  std::memcpy(target, reinterpret_cast<void *>(source), bytes);
  return work("cuMemcpyDtoH");
}
int cuMemsetD8Async(uint64_t target, unsigned char byte, size_t bytes, Handle) {
  std::memset(reinterpret_cast<void *>(target), byte, bytes);
  return work("cuMemsetD8Async");
}
int cuModuleLoadData(Handle *module, const void *) {
  if (!current)
    return kInvalidContext;
  return give<Handle>("cuModuleLoadData", module, current);
}
int cuModuleLoadDataEx(Handle *module, const void *image, unsigned, int *,
                       void **) {
  if (!current)
    return kInvalidContext;
  // A cubin or PTX.
  bool known = !std::memcmp(image,
                            "\x7f"
                            "ELF",
                            4) ||
               std::strstr(static_cast<const char *>(image), ".version");
  *module = current;
  return known ? answer("cuModuleLoadDataEx") : 200;
}
int cuModuleUnload(Handle) { return 0; }
int cuModuleGetFunction(Handle *function, Handle module, const char *) {
  return give<Handle>("cuModuleGetFunction", function, module);
}
int cuFuncSetAttribute(Handle, int, int) {
  return answer("cuFuncSetAttribute");
}
int cuLaunchKernel(Handle function, unsigned gridX, unsigned gridY,
                   unsigned gridZ, unsigned blockX, unsigned blockY,
                   unsigned blockZ, unsigned sharedBytes, Handle stream,
                   void **parameters, void **) {
  if (!current)
    return kInvalidContext;
  if (function != current)
    return kInvalidHandle;
  if (!parameters || !*parameters)
    return 1;
  captured = {function, gridX,  gridY,       gridZ,      blockX,
              blockY,   blockZ, sharedBytes, parameters, nullptr};
  std::ostringstream text;
  text << " grid " << gridX << "," << gridY << "," << gridZ << " block "
       << blockX << "," << blockY << "," << blockZ << " shared " << sharedBytes
       << " stream " << reinterpret_cast<uintptr_t>(stream) << " first "
       << *static_cast<uint64_t *>(*parameters);
  return work("cuLaunchKernel", text.str());
}
struct LaunchConfig {
  unsigned grid[3], block[3], sharedBytes;
  Handle stream;
  const int *attributes;
  unsigned numAttributes;
};
int cuLaunchKernelEx(const LaunchConfig *config, Handle function,
                     void **parameters, void **extra) {
  // Of attributes of 72 bytes: the number, a gap, the value.
  const int *attribute = config->attributes;
  if (config->numAttributes != 1 || attribute[0] != 6 || attribute[2] != 1)
    return 1;
  work("cuLaunchKernelEx");
  auto [x, y, z] = config->grid;
  auto [width, height, depth] = config->block;
  return cuLaunchKernel(function, x, y, z, width, height, depth,
                        config->sharedBytes, config->stream, parameters, extra);
}
// A graph is the last launch, whose parameters are not copied.
int cuStreamCreate(Handle *stream, unsigned) {
  return give<Handle>("cuStreamCreate", stream, &something);
}
int cuStreamSynchronize(Handle) { return 0; }
int cuStreamBeginCapture_v2(Handle, int) {
  return answer("cuStreamBeginCapture");
}
// All streams are captured, for the graph of this number, or none is.
int cuStreamGetCaptureInfo_v2(Handle, int *status, unsigned long long *number,
                              void *, void *, void *) {
  *number = getNumber("FAKE_DRIVER_CAPTURE", 0);
  return give("cuStreamGetCaptureInfo", status, *number ? 1 : 0);
}
int cuStreamEndCapture(Handle, Handle *graph) {
  return give<Handle>("cuStreamEndCapture", graph, &something);
}
int cuGraphGetNodes(Handle, Handle *nodes, size_t *count) {
  *count = 1;
  return give<Handle>("cuGraphGetNodes", nodes, &something);
}
int cuGraphKernelNodeGetParams(Handle, NodeParams *params) {
  return give("cuGraphKernelNodeGetParams", params, captured);
}
int cuGraphInstantiateWithFlags(Handle *executable, Handle,
                                unsigned long long) {
  return give<Handle>("cuGraphInstantiate", executable, &something);
}
int cuGraphLaunch(Handle, Handle) { return answer("cuGraphLaunch"); }
int cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *,
                           const uint64_t *sizes, const uint64_t *strideBytes,
                           const uint32_t *box, const uint32_t *elementStrides,
                           int interleave, int swizzle, int promotion,
                           int fill) {
  if (reinterpret_cast<uintptr_t>(map) % 64 != 0)
    return 1;
  std::ostringstream text;
  auto list = [&](const char *name, auto values, uint32_t count) {
    text << name;
    for (uint32_t i = 0; i < count; ++i)
      text << (i == 0 ? " " : ",") << values[i];
    text << "; ";
  };
  list("sizes", sizes, rank);
  list("bytes", strideBytes, rank - 1);
  list("box", box, rank);
  list("steps", elementStrides, rank);
  int numbers[] = {type, interleave, swizzle, promotion, fill};
  list("enums", numbers, 5);
  std::snprintf(static_cast<char *>(map), 128, "%s", text.str().c_str());
  return work("cuTensorMapEncodeTiled", " " + text.str());
}
int cuEventCreate(Handle *event, unsigned) {
  return give<Handle>("cuEventCreate", event, &something);
}
int cuEventRecord(Handle, Handle) { return 0; }
int cuEventSynchronize(Handle) { return 0; }
int cuEventElapsedTime(float *milliseconds, Handle, Handle) {
  return give("cuEventElapsedTime", milliseconds, 2.0f);
}
int cuEventDestroy_v2(Handle) { return 0; }
int cuGetErrorName(int status, const char **text) {
  *text = status == 719 ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_OTHER";
  return 0;
}
int cuGetErrorString(int, const char **text) {
  *text = "so says the fake driver";
  return 0;
}
}
