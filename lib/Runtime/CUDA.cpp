// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NVIDIA's driver API. Names carry the suffixes that cuda.h adds by macros.

#include "Driver.h"
#include "NVML.h"
#include "attune/Runtime/Tensor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune;
using llvm::Error;
using llvm::Expected;
using llvm::Twine;
using Handle = DriverTable::Handle;

/// Numbers of cuda.h.
static constexpr int kClockRateKHz = 13, kMultiprocessorCount = 16,
                     kL2CacheSize = 38, kCapabilityMajor = 75,
                     kCapabilityMinor = 76, kMaxSharedOptin = 97;
static constexpr int kFunctionMaxDynamicShared = 8;
static constexpr int kJitErrorLog = 5, kJitErrorLogBytes = 6;
/// Unasked, a kernel may use this much shared memory.
static constexpr int64_t kGrantedSharedBytes = 48 * 1024;
static constexpr const char *kEncodeTiledName = "cuTensorMapEncodeTiled";
/// CUtensorMapL2promotion: reads of a map fetch as much at once, a row of the
/// widest box. With 256 bytes, what comes from memory alone comes 8 percent
/// slower (docs/measurements/Decode.md).
static constexpr int kPromote128Bytes = 2;

namespace {
/// CUlaunchAttribute, of the attribute that is set here.
struct LaunchAttribute {
  int id = 6; // CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
  int padding = 0;
  int isAllowed = 1;
  char rest[60] = {};
};

/// CUlaunchConfig
struct LaunchConfig {
  unsigned grid[3], block[3], sharedBytes;
  void *stream;
  LaunchAttribute *attributes;
  unsigned numAttributes;
};

class CUDADevice : public DriverDevice {
public:
  ~CUDADevice() override;
  Error open(int ordinal);
  DeviceState readState() override { return nvml.readState(); }
  DeviceUse readUse() override { return nvml.readUse(); }
  Expected<TensorMap> encodeTensorMap(const TensorMapRequest &request) override;

private:
  std::string describe(int status) override;
  Error enterThread(Handle &previous) override;
  void leaveThread(Handle previous) override;
  Error allowSharedBytes(Handle function, int64_t bytes) override;
  int loadImage(Handle *module, const void *image, std::string &log) override;
  int queue(Handle function, const LaunchShape &shape,
            void **parameters) override;
  Error readInfo(int device);

  int (*getErrorName)(int status, const char **text) = nullptr;
  int (*getErrorString)(int status, const char **text) = nullptr;
  int (*getDevice)(int *device, int ordinal) = nullptr;
  int (*retainContext)(Handle *context, int device) = nullptr;
  int (*releaseContext)(int device) = nullptr;
  int (*getContext)(Handle *context) = nullptr;
  int (*setContext)(Handle context) = nullptr;
  int (*setFunctionAttribute)(Handle function, int attribute,
                              int value) = nullptr;
  int (*loadModuleEx)(Handle *module, const void *image, unsigned count,
                      int *options, void **values) = nullptr;
  int (*getBusId)(char *text, int length, int device) = nullptr;
  int (*encodeTiled)(void *map, int type, uint32_t rank, void *address,
                     const uint64_t *sizes, const uint64_t *strideBytes,
                     const uint32_t *box, const uint32_t *elementStrides,
                     int interleave, int swizzle, int promotion,
                     int fill) = nullptr;
  int (*launchWithAttributes)(const LaunchConfig *config, Handle function,
                              void **parameters, void **extra) = nullptr;
  NVML nvml;
  std::optional<int> retained;
  Handle context = nullptr;
};
} // namespace

CUDADevice::~CUDADevice() {
  if (retained)
    (void)releaseContext(*retained);
}

std::string CUDADevice::describe(int status) {
  const char *name = nullptr, *text = nullptr;
  if (getErrorName)
    (void)getErrorName(status, &name);
  if (getErrorString)
    (void)getErrorString(status, &text);
  return (Twine(name ? name : "CUDA error") + " (" + Twine(status) + ")" +
          (text ? ", " : "") + (text ? text : ""))
      .str();
}

Error CUDADevice::enterThread(Handle &previous) {
  Handle current = nullptr;
  if (int status = getContext(&current))
    return check(status, "ask for the thread's context");
  if (current == context)
    return Error::success();
  previous = current;
  return check(setContext(context), "use the context");
}

void CUDADevice::leaveThread(Handle previous) {
  if (previous)
    (void)setContext(previous);
}

Error CUDADevice::open(int ordinal) {
  if (auto error = openLibrary("CUDA", {"libcuda.so.1"}))
    return error;
  const Symbol symbols[] = {
      {"cuInit", &driver.init},
      {"cuDeviceGetCount", &driver.getCount},
      {"cuDeviceGetName", &driver.getName},
      {"cuDeviceGetAttribute", &driver.getAttribute},
      {"cuDriverGetVersion", &driver.getDriverVersion},
      {"cuDeviceTotalMem_v2", &driver.getTotalMemory},
      {"cuMemAlloc_v2", &driver.allocate},
      {"cuMemFree_v2", &driver.release},
      {"cuMemcpyHtoD_v2", &driver.copyToDevice},
      {"cuMemcpyDtoH_v2", &driver.copyToHost},
      {"cuMemsetD8Async", &driver.fill},
      {"cuModuleLoadData", &driver.loadModule},
      {"cuModuleUnload", &driver.unloadModule},
      {"cuModuleGetFunction", &driver.getFunction},
      {"cuLaunchKernel", &driver.launch},
      {"cuCtxSynchronize", &driver.synchronize},
      {"cuEventCreate", &driver.createEvent},
      {"cuEventRecord", &driver.recordEvent},
      {"cuEventSynchronize", &driver.synchronizeEvent},
      {"cuEventElapsedTime", &driver.getElapsed},
      {"cuEventDestroy_v2", &driver.destroyEvent},
      {"cuGetErrorName", &getErrorName},
      {"cuGetErrorString", &getErrorString},
      {"cuDeviceGet", &getDevice},
      {"cuDevicePrimaryCtxRetain", &retainContext},
      {"cuDevicePrimaryCtxRelease_v2", &releaseContext},
      {"cuCtxGetCurrent", &getContext},
      {"cuCtxSetCurrent", &setContext},
      {"cuFuncSetAttribute", &setFunctionAttribute},
      {"cuModuleLoadDataEx", &loadModuleEx},
      {"cuDeviceGetPCIBusId", &getBusId},
  };
  if (auto error = resolve(symbols))
    return error;
  // Drivers of CUDA 11 have everything else.
  const Symbol later[] = {{kEncodeTiledName, &encodeTiled},
                          {"cuLaunchKernelEx", &launchWithAttributes}};
  for (const Symbol &symbol : later)
    llvm::consumeError(resolve(symbol));
  if (int status = driver.init(0))
    return llvm::createStringError("no CUDA device: " + describe(status));
  int count = 0;
  if (auto error = check(driver.getCount(&count), "count CUDA devices"))
    return error;
  if (ordinal < 0 || ordinal >= count)
    return llvm::createStringError(
        "no CUDA device: expects a number below " + Twine(count) +
        ", the number of devices, but got " + Twine(ordinal));
  int device = 0;
  if (auto error = check(getDevice(&device, ordinal),
                         "open CUDA device " + Twine(ordinal)))
    return error;
  if (auto error = check(retainContext(&context, device),
                         "make a context on CUDA device " + Twine(ordinal)))
    return error;
  retained = device;
  Handle previous = nullptr;
  if (auto error = enterThread(previous))
    return error;
  leaveThread(previous);
  char busId[32] = "";
  if (getBusId(busId, sizeof(busId), device) == 0)
    nvml.open(busId);
  info.powerLimitWatts = nvml.readPowerLimitWatts();
  return readInfo(device);
}

int CUDADevice::queue(Handle function, const LaunchShape &shape,
                      void **parameters) {
  if (!shape.startsEarly || !launchWithAttributes)
    return DriverDevice::queue(function, shape, parameters);
  LaunchAttribute early;
  LaunchConfig config{};
  llvm::copy(shape.grid, config.grid);
  llvm::copy(shape.block, config.block);
  config.sharedBytes = shape.sharedBytes;
  config.stream = shape.stream;
  config.attributes = &early;
  config.numAttributes = 1;
  return launchWithAttributes(&config, function, parameters, /*extra=*/nullptr);
}

Error CUDADevice::readInfo(int device) {
  char name[256] = "";
  size_t memory = 0;
  int major = 0, minor = 0, cache = 0, shared = 0, clock = 0;
  auto attribute = [&](int *value, int number) {
    return driver.getAttribute(value, number, device);
  };
  const std::pair<int, const char *> steps[] = {
      {driver.getName(name, sizeof(name), device), "name"},
      {driver.getTotalMemory(&memory, device), "memory size"},
      {driver.getDriverVersion(&info.driverVersion), "driver's version"},
      {attribute(&major, kCapabilityMajor), "compute capability"},
      {attribute(&minor, kCapabilityMinor), "compute capability"},
      {attribute(&info.sms, kMultiprocessorCount), "number of SMs"},
      {attribute(&cache, kL2CacheSize), "cache size"},
      {attribute(&shared, kMaxSharedOptin), "shared memory size"}};
  for (auto [status, what] : steps)
    if (auto error = check(status, Twine("read the ") + what))
      return error;
  // Newer drivers may stop telling the clock; it is only for information.
  if (driver.getAttribute(&clock, kClockRateKHz, device) == 0)
    info.clockMHz = clock / 1000;
  info.name = name;
  info.chip = ("sm_" + Twine(major) + Twine(minor)).str();
  info.memoryBytes = static_cast<int64_t>(memory);
  info.cacheBytes = cache;
  info.sharedBytes = shared;
  return Error::success();
}

Error CUDADevice::allowSharedBytes(Handle function, int64_t bytes) {
  if (bytes <= kGrantedSharedBytes)
    return Error::success();
  return check(setFunctionAttribute(function, kFunctionMaxDynamicShared,
                                    static_cast<int>(bytes)),
               "allow a kernel " + Twine(bytes) + " bytes of shared memory");
}

int CUDADevice::loadImage(Handle *module, const void *image, std::string &log) {
  // Where the image is PTX, the driver's assembler says what it does not like.
  char text[4096] = "";
  int options[] = {kJitErrorLog, kJitErrorLogBytes};
  void *values[] = {text, reinterpret_cast<void *>(sizeof(text))};
  int status = loadModuleEx(module, image, 2, options, values);
  log = llvm::StringRef(text, strnlen(text, sizeof(text))).trim().str();
  return status;
}

/// CUtensorMapDataType.
static std::optional<int> getMapType(DataType type) {
  switch (type) {
  // Bytes are copied, whatever they mean.
  case DataType::I8:
  case DataType::F8E4M3FN:
  case DataType::F8E5M2:
  case DataType::F8E4M3FNUZ:
  case DataType::F8E5M2FNUZ:
    return 0;
  case DataType::I16:
    return 1;
  case DataType::I32:
    return 2;
  case DataType::F16:
    return 6;
  case DataType::F32:
    return 7;
  case DataType::BF16:
    return 9;
  default:
    return std::nullopt;
  }
}

Expected<TensorMap>
CUDADevice::encodeTensorMap(const TensorMapRequest &request) {
  if (!encodeTiled)
    return makeMissingError(kEncodeTiledName);
  if (auto error = request.check())
    return std::move(error);
  std::optional<int> type = getMapType(request.type);
  if (!type)
    return llvm::createStringError(
        Twine(
            "expects a tensor map of elements of 8, 16 or 32 bits, but got ") +
        getName(request.type));
  // CUtensorMapSwizzle: 0 for none, then 1 for 32 bytes and so on.
  int swizzle = request.swizzleBytes == 0
                    ? 0
                    : static_cast<int>(llvm::Log2_64(request.swizzleBytes)) - 4;
  // The driver counts dimensions from the innermost one, whose stride it does
  // not ask for.
  llvm::SmallVector<uint64_t> sizes(llvm::reverse(request.sizes)), strideBytes;
  llvm::SmallVector<uint32_t> box(llvm::reverse(request.box));
  llvm::SmallVector<uint32_t> elementStrides(box.size(), 1);
  for (int64_t stride : llvm::drop_begin(llvm::reverse(request.strides)))
    strideBytes.push_back(stride * getBytes(request.type));
  // The driver asks for this alignment.
  alignas(64) TensorMap map{};
  int status = encodeTiled(
      &map, *type, sizes.size(), reinterpret_cast<void *>(request.address),
      sizes.data(), strideBytes.data(), box.data(), elementStrides.data(),
      /*interleave=*/0, swizzle, kPromote128Bytes, /*fill=*/0);
  // Launches of compiled host code come by here: nothing is allocated.
  if (status == 0)
    return map;
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "encode a tensor map of "
         << TensorShape::contiguous(request.type, request.sizes).str()
         << " with the strides ";
  llvm::interleave(request.strides, stream, "x");
  stream << ", a box of ";
  llvm::interleave(request.box, stream, "x");
  stream << " and a swizzle of " << request.swizzleBytes << " bytes";
  return check(status, text);
}

Expected<std::unique_ptr<Device>> attune::openCUDADevice(int ordinal) {
  auto device = std::make_unique<CUDADevice>();
  if (auto error = device->open(ordinal))
    return std::move(error);
  return device;
}
