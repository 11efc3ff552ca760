// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AMD's driver, through HIP's module functions.

#include "Driver.h"
#include "llvm/ADT/Twine.h"

using namespace attune;
using llvm::Error;
using llvm::Expected;
using llvm::Twine;
using Handle = DriverTable::Handle;

/// Numbers of hip_runtime_api.h.
static constexpr int kClockRate = 5, kCacheSize = 19, kMaxSharedPerBlock = 74,
                     kComputeUnits = 63;

namespace {
class HIPDevice : public DriverDevice {
public:
  Error open(int ordinal);

private:
  std::string describe(int status) override;
  Error enterThread(Handle &previous) override;
  void leaveThread(Handle previous) override;
  Error allowSharedBytes(Handle, int64_t) override;
  Error readInfo(int device);

  const char *(*getErrorName)(int status) = nullptr;
  const char *(*getErrorString)(int status) = nullptr;
  int (*getDevice)(int *device) = nullptr;
  int (*setDevice)(int device) = nullptr;
  int (*getProperties)(void *properties, int device) = nullptr;
  int number = 0;
};
} // namespace

Error HIPDevice::enterThread(Handle &previous) {
  // Each thread has a device from its start, which may be 0.
  int current = 0;
  if (int status = getDevice(&current))
    return check(status, "ask for the thread's device");
  if (current == number)
    return Error::success();
  previous = reinterpret_cast<Handle>(static_cast<intptr_t>(current) + 1);
  return check(setDevice(number), "use HIP device " + Twine(number));
}

void HIPDevice::leaveThread(Handle previous) {
  if (previous)
    (void)setDevice(static_cast<int>(reinterpret_cast<intptr_t>(previous) - 1));
}

std::string HIPDevice::describe(int status) {
  if (!getErrorName || !getErrorString)
    return ("HIP error " + Twine(status)).str();
  return (Twine(getErrorName(status)) + " (" + Twine(status) + "), " +
          getErrorString(status))
      .str();
}

Error HIPDevice::open(int ordinal) {
  if (auto error = openLibrary("HIP", {"libamdhip64.so", "libamdhip64.so.7",
                                       "libamdhip64.so.6", "libamdhip64.so.5"}))
    return error;
  const Symbol symbols[] = {
      {"hipInit", &driver.init},
      {"hipGetDeviceCount", &driver.getCount},
      {"hipDeviceGetName", &driver.getName},
      {"hipDeviceGetAttribute", &driver.getAttribute},
      {"hipDriverGetVersion", &driver.getDriverVersion},
      {"hipDeviceTotalMem", &driver.getTotalMemory},
      {"hipMalloc", &driver.allocate},
      {"hipFree", &driver.release},
      {"hipMemcpyHtoD", &driver.copyToDevice},
      {"hipMemcpyDtoH", &driver.copyToHost},
      {"hipMemsetD8Async", &driver.fill},
      {"hipModuleLoadData", &driver.loadModule},
      {"hipModuleUnload", &driver.unloadModule},
      {"hipModuleGetFunction", &driver.getFunction},
      {"hipModuleLaunchKernel", &driver.launch},
      {"hipDeviceSynchronize", &driver.synchronize},
      {"hipEventCreateWithFlags", &driver.createEvent},
      {"hipEventRecord", &driver.recordEvent},
      {"hipEventSynchronize", &driver.synchronizeEvent},
      {"hipEventElapsedTime", &driver.getElapsed},
      {"hipEventDestroy", &driver.destroyEvent},
      {"hipGetErrorName", &getErrorName},
      {"hipGetErrorString", &getErrorString},
      {"hipGetDevice", &getDevice},
      {"hipSetDevice", &setDevice},
      {"hipGetDevicePropertiesR0600", &getProperties},
  };
  if (auto error = resolve(symbols))
    return error;
  if (int status = driver.init(0))
    return llvm::createStringError("no HIP device: " + describe(status));
  int count = 0;
  if (int status = driver.getCount(&count))
    return llvm::createStringError("no HIP device: " + describe(status));
  if (ordinal < 0 || ordinal >= count)
    return llvm::createStringError(
        "no HIP device: expects a number below " + Twine(count) +
        ", the number of devices, but got " + Twine(ordinal));
  if (auto error =
          check(setDevice(ordinal), "open HIP device " + Twine(ordinal)))
    return error;
  number = ordinal;
  return readInfo(ordinal);
}

/// The chip's name stands somewhere in a structure whose layout changes with
/// HIP's version: it is the only text in it that starts with "gfx". Features
/// follow after a colon.
static std::string findChipName(llvm::StringRef properties) {
  size_t start = properties.find("gfx");
  if (start == llvm::StringRef::npos)
    return "";
  llvm::StringRef name = properties.drop_front(start);
  return name.take_until([](char c) { return c == '\0' || c == ':'; }).str();
}

Error HIPDevice::readInfo(int device) {
  char name[256] = "";
  // Larger than the structure of any version.
  std::string properties(1 << 16, '\0');
  size_t memory = 0;
  int cache = 0, shared = 0, clock = 0;
  const std::pair<int, const char *> steps[] = {
      {driver.getName(name, sizeof(name), device), "name"},
      {getProperties(properties.data(), device), "properties"},
      {driver.getTotalMemory(&memory, device), "memory size"},
      {driver.getDriverVersion(&info.driverVersion), "driver's version"},
      {driver.getAttribute(&info.sms, kComputeUnits, device), "number of SMs"},
      {driver.getAttribute(&shared, kMaxSharedPerBlock, device),
       "shared memory size"}};
  for (auto [status, what] : steps)
    if (auto error = check(status, Twine("read the ") + what))
      return error;
  if (driver.getAttribute(&cache, kCacheSize, device) == 0)
    info.cacheBytes = cache;
  if (driver.getAttribute(&clock, kClockRate, device) == 0)
    info.clockMHz = clock / 1000;
  info.name = name;
  info.chip = findChipName(properties);
  info.memoryBytes = static_cast<int64_t>(memory);
  info.sharedBytes = shared;
  return Error::success();
}

Error HIPDevice::allowSharedBytes(Handle, int64_t) {
  // All that a workgroup may have is granted unasked.
  return Error::success();
}

Expected<std::unique_ptr<Device>> attune::openHIPDevice(int ordinal) {
  auto device = std::make_unique<HIPDevice>();
  if (auto error = device->open(ordinal))
    return std::move(error);
  return device;
}
