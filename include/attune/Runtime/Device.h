// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An accelerator as the runtime needs it: memory, kernels, events. The drivers
// of the vendors are opened at run time; tests bring a device of their own.

#ifndef ATTUNE_RUNTIME_DEVICE_H
#define ATTUNE_RUNTIME_DEVICE_H

#include "attune/Runtime/DataType.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace attune {

/// An address in the device's memory.
using DeviceAddress = uint64_t;

struct DeviceInfo {
  /// As the vendor advertises it.
  std::string name;
  /// As the vendor's tools and --chip spell it.
  std::string chip;
  /// Vendor's version number of the driver.
  int driverVersion = 0;
  int sms = 0;
  int64_t memoryBytes = 0;
  int64_t cacheBytes = 0;
  /// Most shared memory that a workgroup may ask for.
  int64_t sharedBytes = 0;
  /// Highest clock of the SMs; 0 where the driver does not say.
  int clockMHz = 0;
  /// Power that the device keeps below; 0 where the driver does not say.
  int powerLimitWatts = 0;
};

/// Why the clock is below the highest one, as bits.
enum class ThrottleReason : uint32_t {
  PowerCap = 1,
  Thermal = 2,
  /// By the hardware, for heat or power that software did not keep down.
  Slowdown = 4,
  /// By the power supply.
  PowerBrake = 8,
  /// Somebody asked for this clock.
  Setting = 16
};

/// What decides how fast the same kernel is. Empty is what the driver cannot
/// tell.
struct DeviceState {
  /// Clock of the SMs.
  std::optional<int> clockMHz;
  std::optional<int> powerWatts;
  std::optional<int> temperatureCelsius;
  /// Bits of ThrottleReason.
  std::optional<uint32_t> throttleReasons;
  /// Counted since the driver was loaded. The counter moves about ten times a
  /// second.
  std::optional<int64_t> energyMillijoules;
};

/// Who else uses the device. Empty is what the driver cannot tell.
struct DeviceUse {
  /// Processes besides this one that have it open.
  std::optional<int> otherProcesses;
  /// Percent of the last moments, up to a second, in which a kernel ran.
  std::optional<int> busyPercent;
};

/// A function on the device. Holds the module it is in.
class Kernel {
public:
  virtual ~Kernel();
};

/// A point in the device's queue of work.
class Event {
public:
  virtual ~Event();
};

struct LaunchShape {
  std::array<int64_t, 3> grid{1, 1, 1};
  std::array<int64_t, 3> block{1, 1, 1};
  /// Dynamic shared memory.
  int64_t sharedBytes = 0;
  /// Whether it may be started before what the stream has in front of it is
  /// done, for which the kernel waits itself. Devices that cannot do not.
  bool startsEarly = false;
  /// The driver's handle of the stream to queue it on; null for the default.
  void *stream = nullptr;
};

/// Which boxes of a tensor a kernel's copy engine moves at once, and how they
/// lie in shared memory.
struct TensorMapRequest {
  DeviceAddress address = 0;
  DataType type = DataType::F32;
  /// Outermost dimension first; strides and box in elements. The last stride is
  /// 1. What a box reaches beyond the tensor is read as 0 and not written.
  llvm::SmallVector<int64_t, 5> sizes, strides, box;
  /// Bytes of a row of the box within which 16-byte chunks are permuted: 0, 32,
  /// 64 or 128.
  int64_t swizzleBytes = 0;

  /// Fails where no map can say this.
  llvm::Error check() const;
};

/// A tensor map as the kernel takes it, by value.
using TensorMap = std::array<uint64_t, 16>;

/// What a device takes kernels as.
enum class KernelFormat {
  /// A cubin, PTX or an HSACO.
  Binary,
  /// A gpu.module in LLVM dialect, as MLIR bytecode.
  IR,
};

/// Errors say what was attempted and what the driver answered. Work is queued;
/// a fault in a kernel shows in a later call.
class Device {
public:
  virtual ~Device();

  virtual const DeviceInfo &getInfo() const = 0;
  /// The state at this moment.
  virtual DeviceState readState();
  /// Who used it until this moment. Slower than readState().
  virtual DeviceUse readUse();
  virtual KernelFormat getKernelFormat() const { return KernelFormat::Binary; }

  virtual llvm::Expected<DeviceAddress> allocate(int64_t bytes) = 0;
  virtual llvm::Error release(DeviceAddress address) = 0;
  virtual llvm::Error copyToDevice(DeviceAddress target, const void *source,
                                   int64_t bytes) = 0;
  /// Waits for all queued work first.
  virtual llvm::Error copyToHost(void *target, DeviceAddress source,
                                 int64_t bytes) = 0;
  /// On a stream as LaunchShape has it.
  virtual llvm::Error fill(DeviceAddress target, uint8_t byte, int64_t bytes,
                           void *stream = nullptr) = 0;

  /// Loads an image of getKernelFormat() and finds a kernel in it. The kernel
  /// will be launched with at most `sharedBytes` of dynamic shared memory.
  virtual llvm::Expected<std::unique_ptr<Kernel>>
  loadKernel(llvm::StringRef image, llvm::StringRef name,
             int64_t sharedBytes) = 0;
  /// `arguments` point to the values of the kernel's parameters, which are
  /// copied before the call returns.
  virtual llvm::Error launch(Kernel &kernel, const LaunchShape &shape,
                             llvm::ArrayRef<void *> arguments) = 0;
  virtual llvm::Error synchronize() = 0;
  /// Fails where the device has no such maps, or refuses this one.
  virtual llvm::Expected<TensorMap>
  encodeTensorMap(const TensorMapRequest &request);

  virtual llvm::Expected<std::unique_ptr<Event>> createEvent() = 0;
  virtual llvm::Error record(Event &event) = 0;
  /// Milliseconds between two events; waits for the second one.
  virtual llvm::Expected<double> getElapsed(Event &start, Event &stop) = 0;
};

/// Opens a device of NVIDIA's driver, libcuda.so.1.
llvm::Expected<std::unique_ptr<Device>> openCUDADevice(int ordinal);
/// Opens a device of AMD's driver, libamdhip64.so.
llvm::Expected<std::unique_ptr<Device>> openHIPDevice(int ordinal);
/// `kind` is "cuda", "hip", or "auto" for the first of the two that is there.
llvm::Expected<std::unique_ptr<Device>> openDevice(llvm::StringRef kind,
                                                   int ordinal);

} // namespace attune

#endif // ATTUNE_RUNTIME_DEVICE_H
