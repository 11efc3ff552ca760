// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one place that reads libnvidia-ml.so.1. Numbers are those of nvml.h.

#include "NVML.h"
#include "llvm/Support/DynamicLibrary.h"
#include <algorithm>

using namespace attune;

/// The clock of the SMs, and the sensor that all devices have.
static constexpr int kClockSM = 1, kTemperatureGPU = 0;
static constexpr unsigned kMilliwatts = 1000;
static constexpr int kInsufficientSize = 7;

/// nvmlClocksEventReasons: bits on the left are those on the right. That the
/// device is idle (1) is no reason of a busy one.
static constexpr std::pair<unsigned long long, ThrottleReason> kThrottleBits[] =
    {{0x2, ThrottleReason::Setting},     {0x4, ThrottleReason::PowerCap},
     {0x8, ThrottleReason::Slowdown},    {0x10, ThrottleReason::Setting},
     {0x20, ThrottleReason::Thermal},    {0x40, ThrottleReason::Thermal},
     {0x80, ThrottleReason::PowerBrake}, {0x100, ThrottleReason::Setting}};

void NVML::open(const char *busId) {
  auto library =
      llvm::sys::DynamicLibrary::getPermanentLibrary("libnvidia-ml.so.1");
  if (!library.isValid())
    return;
  auto find = [&](auto &entry, const char *name) {
    entry = reinterpret_cast<std::decay_t<decltype(entry)>>(
        library.getAddressOfSymbol(name));
    return entry != nullptr;
  };
  int (*init)() = nullptr;
  int (*getHandle)(const char *, Handle *) = nullptr;
  if (!find(init, "nvmlInit_v2") ||
      !find(getHandle, "nvmlDeviceGetHandleByPciBusId_v2") || init() != 0 ||
      getHandle(busId, &device) != 0)
    return;
  find(getClock, "nvmlDeviceGetClockInfo");
  find(getPower, "nvmlDeviceGetPowerUsage");
  find(getPowerLimit, "nvmlDeviceGetEnforcedPowerLimit");
  find(getTemperature, "nvmlDeviceGetTemperature");
  find(getEnergy, "nvmlDeviceGetTotalEnergyConsumption");
  // The name before drivers of CUDA 12.
  if (!find(getReasons, "nvmlDeviceGetCurrentClocksEventReasons"))
    find(getReasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  find(getProcesses, "nvmlDeviceGetComputeRunningProcesses_v3");
  find(getUtilization, "nvmlDeviceGetUtilizationRates");
}

DeviceState NVML::readState() const {
  DeviceState state;
  unsigned value = 0;
  unsigned long long wide = 0;
  if (getClock && getClock(device, kClockSM, &value) == 0)
    state.clockMHz = static_cast<int>(value);
  if (getPower && getPower(device, &value) == 0)
    state.powerWatts = static_cast<int>(value / kMilliwatts);
  if (getTemperature && getTemperature(device, kTemperatureGPU, &value) == 0)
    state.temperatureCelsius = static_cast<int>(value);
  if (getEnergy && getEnergy(device, &wide) == 0)
    state.energyMillijoules = static_cast<int64_t>(wide);
  if (getReasons && getReasons(device, &wide) == 0) {
    state.throttleReasons = 0;
    for (auto [bit, reason] : kThrottleBits)
      if (wide & bit)
        *state.throttleReasons |= static_cast<uint32_t>(reason);
  }
  return state;
}

DeviceUse NVML::readUse() const {
  DeviceUse use;
  // Without room for any the answer is how many there are. This one has a
  // context; ids of processes are not compared, for a container has its own.
  unsigned count = 0;
  int status = getProcesses ? getProcesses(device, &count, nullptr) : -1;
  if (status == 0 || status == kInsufficientSize)
    use.otherProcesses = std::max(static_cast<int>(count) - 1, 0);
  Utilization utilization{};
  if (getUtilization && getUtilization(device, &utilization) == 0)
    use.busyPercent = static_cast<int>(utilization.gpuPercent);
  return use;
}

int NVML::readPowerLimitWatts() const {
  unsigned limit = 0;
  return getPowerLimit && getPowerLimit(device, &limit) == 0
             ? static_cast<int>(limit / kMilliwatts)
             : 0;
}
