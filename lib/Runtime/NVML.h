// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What NVIDIA's management library says of a device. It tells and decides
// nothing: whatever is missing is absent.

#ifndef ATTUNE_LIB_RUNTIME_NVML_H
#define ATTUNE_LIB_RUNTIME_NVML_H

#include "attune/Runtime/Device.h"

namespace attune {

class NVML {
public:
  /// Finds the device with a PCI bus id. Where that fails nothing is told.
  void open(const char *busId);

  DeviceState readState() const;
  DeviceUse readUse() const;
  /// 0 where it is not told.
  int readPowerLimitWatts() const;

private:
  using Handle = void *;
  /// nvmlUtilization_t.
  struct Utilization {
    unsigned gpuPercent, memoryPercent;
  };

  Handle device = nullptr;
  /// Null where it is missing.
  int (*getClock)(Handle device, int kind, unsigned *mhz) = nullptr;
  int (*getPower)(Handle device, unsigned *milliwatts) = nullptr;
  int (*getPowerLimit)(Handle device, unsigned *milliwatts) = nullptr;
  int (*getTemperature)(Handle device, int sensor, unsigned *celsius) = nullptr;
  int (*getEnergy)(Handle device, unsigned long long *millijoules) = nullptr;
  int (*getReasons)(Handle device, unsigned long long *bits) = nullptr;
  int (*getProcesses)(Handle device, unsigned *count, void *infos) = nullptr;
  int (*getUtilization)(Handle device, Utilization *use) = nullptr;
};

} // namespace attune

#endif // ATTUNE_LIB_RUNTIME_NVML_H
