// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What CUDA and HIP have in common.

#include "Driver.h"
#include "llvm/ADT/ScopeExit.h"
#include <string>

using namespace attune;
using llvm::Error;
using llvm::Expected;
using llvm::Twine;

Kernel::~Kernel() = default;
Event::~Event() = default;
Device::~Device() = default;

DeviceState Device::readState() { return {}; }
DeviceUse Device::readUse() { return {}; }
llvm::Expected<TensorMap> Device::encodeTensorMap(const TensorMapRequest &) {
  return llvm::createStringError("expects a device with tensor maps, but '" +
                                 getInfo().name + "' has none");
}

namespace {
struct DriverKernel : Kernel {
  explicit DriverKernel(const DriverTable &driver) : driver(driver) {}
  ~DriverKernel() override {
    if (module)
      (void)driver.unloadModule(module);
  }

  // A copy: kernels may outlive their device.
  DriverTable driver;
  DriverTable::Handle module = nullptr;
  DriverTable::Handle function = nullptr;
  std::string name;
};

struct DriverEvent : Event {
  explicit DriverEvent(const DriverTable &driver) : driver(driver) {}
  ~DriverEvent() override {
    if (event)
      (void)driver.destroyEvent(event);
  }

  DriverTable driver;
  DriverTable::Handle event = nullptr;
};
} // namespace

Error DriverDevice::openLibrary(llvm::StringRef what,
                                llvm::ArrayRef<const char *> names) {
  std::string firstReason;
  for (const char *name : names) {
    std::string reason;
    library = llvm::sys::DynamicLibrary::getPermanentLibrary(name, &reason);
    if (library.isValid())
      return Error::success();
    if (firstReason.empty())
      firstReason = reason;
  }
  return llvm::createStringError("no " + what + " device: " + firstReason);
}

Error DriverDevice::makeMissingError(const char *name) {
  return llvm::createStringError(Twine("expects a driver with the function '") +
                                 name + "', but it has none: it is too old");
}

Error DriverDevice::resolve(llvm::ArrayRef<Symbol> symbols) {
  for (const Symbol &symbol : symbols) {
    void *address = library.getAddressOfSymbol(symbol.name);
    if (!address)
      return makeMissingError(symbol.name);
    *static_cast<void **>(symbol.slot) = address;
  }
  return Error::success();
}

Error DriverDevice::check(int status, const Twine &attempt) {
  if (status == 0)
    return Error::success();
  return llvm::createStringError("failed to " + attempt + ": " +
                                 describe(status));
}

Expected<DeviceAddress> DriverDevice::allocate(int64_t bytes) {
  DeviceAddress address = 0;
  // Drivers refuse 0 bytes, but an empty tensor needs an address too.
  size_t request = std::max<int64_t>(bytes, 1);
  if (auto error = check(driver.allocate(&address, request),
                         "allocate " + Twine(bytes) + " bytes on the device"))
    return std::move(error);
  return address;
}

Error DriverDevice::release(DeviceAddress address) {
  return check(driver.release(address), "free memory on the device");
}

Error DriverDevice::copyToDevice(DeviceAddress target, const void *source,
                                 int64_t bytes) {
  if (bytes == 0)
    return Error::success();
  return check(driver.copyToDevice(target, source, bytes),
               "copy " + Twine(bytes) + " bytes to the device");
}

Error DriverDevice::copyToHost(void *target, DeviceAddress source,
                               int64_t bytes) {
  if (auto error = synchronize())
    return error;
  if (bytes == 0)
    return Error::success();
  return check(driver.copyToHost(target, source, bytes),
               "copy " + Twine(bytes) + " bytes from the device");
}

Error DriverDevice::fill(DeviceAddress target, uint8_t byte, int64_t bytes,
                         void *stream) {
  if (bytes == 0)
    return Error::success();
  return check(driver.fill(target, byte, bytes, stream),
               "fill " + Twine(bytes) + " bytes on the device");
}

int DriverDevice::loadImage(DriverTable::Handle *module, const void *image,
                            std::string &) {
  return driver.loadModule(module, image);
}

Expected<std::unique_ptr<Kernel>>
DriverDevice::loadKernel(llvm::StringRef image, llvm::StringRef name,
                         int64_t sharedBytes) {
  DriverTable::Handle previous = nullptr;
  if (auto error = enterThread(previous))
    return std::move(error);
  llvm::scope_exit left([&] { leaveThread(previous); });
  auto kernel = std::make_unique<DriverKernel>(driver);
  kernel->name = name.str();
  // PTX is text: the driver looks for its terminating zero.
  std::string terminated = image.str();
  std::string log;
  int status = loadImage(&kernel->module, terminated.c_str(), log);
  if (auto error = check(status, "load the module of kernel '" + name + "'" +
                                     (log.empty() ? "" : " (" + log + ")")))
    return std::move(error);
  if (auto error = check(driver.getFunction(&kernel->function, kernel->module,
                                            kernel->name.c_str()),
                         "find kernel '" + name + "' in its module"))
    return std::move(error);
  if (sharedBytes > info.sharedBytes)
    return llvm::createStringError("kernel '" + name + "' expects " +
                                   Twine(sharedBytes) +
                                   " bytes of shared memory, but " + info.name +
                                   " has " + Twine(info.sharedBytes));
  if (auto error = allowSharedBytes(kernel->function, sharedBytes))
    return std::move(error);
  return kernel;
}

Error DriverDevice::launch(Kernel &kernel, const LaunchShape &shape,
                           llvm::ArrayRef<void *> arguments) {
  auto &loaded = static_cast<DriverKernel &>(kernel);
  for (auto extents : {shape.grid, shape.block})
    for (int64_t extent : extents)
      if (extent < 1 || extent > INT32_MAX)
        return llvm::createStringError(
            "kernel '" + loaded.name +
            "' expects a grid and a block of 1 to 2147483647, but got " +
            Twine(extent));
  DriverTable::Handle previous = nullptr;
  if (auto error = enterThread(previous))
    return error;
  llvm::scope_exit left([&] { leaveThread(previous); });
  auto *parameters = const_cast<void **>(arguments.data());
  return check(queue(loaded.function, shape, parameters),
               "launch kernel '" + Twine(loaded.name) + "'");
}

int DriverDevice::queue(DriverTable::Handle function, const LaunchShape &shape,
                        void **parameters) {
  return driver.launch(function, shape.grid[0], shape.grid[1], shape.grid[2],
                       shape.block[0], shape.block[1], shape.block[2],
                       shape.sharedBytes, shape.stream, parameters,
                       /*extra=*/nullptr);
}

Error DriverDevice::synchronize() {
  return check(driver.synchronize(), "wait for the device");
}

Expected<std::unique_ptr<Event>> DriverDevice::createEvent() {
  auto event = std::make_unique<DriverEvent>(driver);
  if (auto error = check(driver.createEvent(&event->event, /*flags=*/0),
                         "create an event"))
    return std::move(error);
  return event;
}

Error DriverDevice::record(Event &event) {
  return check(driver.recordEvent(static_cast<DriverEvent &>(event).event,
                                  /*stream=*/nullptr),
               "record an event");
}

Expected<double> DriverDevice::getElapsed(Event &start, Event &stop) {
  auto &last = static_cast<DriverEvent &>(stop);
  if (auto error =
          check(driver.synchronizeEvent(last.event), "wait for an event"))
    return std::move(error);
  float milliseconds = 0;
  if (auto error =
          check(driver.getElapsed(&milliseconds,
                                  static_cast<DriverEvent &>(start).event,
                                  last.event),
                "read the time between two events"))
    return std::move(error);
  return milliseconds;
}

Expected<std::unique_ptr<Device>> attune::openDevice(llvm::StringRef kind,
                                                     int ordinal) {
  if (kind == "cuda")
    return openCUDADevice(ordinal);
  if (kind == "hip")
    return openHIPDevice(ordinal);
  if (kind != "auto")
    return llvm::createStringError(
        "expects a device of kind auto, cuda or hip, but got '" + kind + "'");
  auto cuda = openCUDADevice(ordinal);
  if (cuda)
    return cuda;
  auto hip = openHIPDevice(ordinal);
  if (hip) {
    llvm::consumeError(cuda.takeError());
    return hip;
  }
  return llvm::joinErrors(cuda.takeError(), hip.takeError());
}
