// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A libnvidia-ml.so.1 for machines without a GPU, which tells the state of the
// fake driver's only device. FAKE_DRIVER_FAULT names an entry point that fails.

#include <cstdlib>
#include <string>

using Handle = void *;
static char something;

static int give(const char *entry, unsigned *slot, unsigned value) {
  *slot = value;
  const char *fault = std::getenv("FAKE_DRIVER_FAULT");
  return fault && std::string(fault) == entry ? 999 : 0;
}

extern "C" {
int nvmlInit_v2() { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char *busId, Handle *device) {
  *device = &something;
  return std::string(busId) == "0000:01:00.0" ? 0 : 2;
}
int nvmlDeviceGetClockInfo(Handle, int kind, unsigned *mhz) {
  return kind == 1 ? give("nvmlDeviceGetClockInfo", mhz, 1755) : 2;
}
int nvmlDeviceGetPowerUsage(Handle, unsigned *milliwatts) {
  return give("nvmlDeviceGetPowerUsage", milliwatts, 321000);
}
int nvmlDeviceGetEnforcedPowerLimit(Handle, unsigned *milliwatts) {
  return give("nvmlDeviceGetEnforcedPowerLimit", milliwatts, 700000);
}
int nvmlDeviceGetTemperature(Handle, int sensor, unsigned *celsius) {
  return sensor == 0 ? give("nvmlDeviceGetTemperature", celsius, 54) : 2;
}
}
