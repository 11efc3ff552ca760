// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A libnvidia-ml.so.1 for machines without a GPU, which tells the state of the
// fake driver's only device, at 321 W. FAKE_DRIVER_FAULT names an entry point
// that fails; FAKE_DRIVER_PROCESSES and FAKE_DRIVER_BUSY are what they say, and
// with FAKE_DRIVER_UNSTEADY the clock falls for good.

#include <chrono>
#include <cstdlib>
#include <string>

using Handle = void *;
static char something;

static int getNumber(const char *variable, int fallback) {
  const char *text = std::getenv(variable);
  return text ? std::atoi(text) : fallback;
}

template <typename T> static int give(const char *entry, T *slot, T value) {
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
  using Seconds = std::chrono::duration<double>;
  static const auto start = std::chrono::steady_clock::now();
  double clock = 1755;
  if (std::getenv("FAKE_DRIVER_UNSTEADY"))
    clock /= 1 + Seconds(std::chrono::steady_clock::now() - start).count();
  return kind == 1
             ? give("nvmlDeviceGetClockInfo", mhz, static_cast<unsigned>(clock))
             : 2;
}
int nvmlDeviceGetPowerUsage(Handle, unsigned *milliwatts) {
  return give("nvmlDeviceGetPowerUsage", milliwatts, 321000u);
}
int nvmlDeviceGetEnforcedPowerLimit(Handle, unsigned *milliwatts) {
  return give("nvmlDeviceGetEnforcedPowerLimit", milliwatts, 700000u);
}
int nvmlDeviceGetTemperature(Handle, int sensor, unsigned *celsius) {
  return sensor == 0 ? give("nvmlDeviceGetTemperature", celsius, 54u) : 2;
}
int nvmlDeviceGetTotalEnergyConsumption(Handle,
                                        unsigned long long *millijoules) {
  // Moves ten times a second, as counters of devices do.
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  auto tenths =
      std::chrono::duration_cast<std::chrono::milliseconds>(now).count() / 100;
  return give("nvmlDeviceGetTotalEnergyConsumption", millijoules,
              static_cast<unsigned long long>(tenths) * 32100);
}
int nvmlDeviceGetCurrentClocksEventReasons(Handle, unsigned long long *bits) {
  // By power and, in hardware, by heat; idleness is no reason.
  return give("nvmlDeviceGetCurrentClocksEventReasons", bits, 0x45ULL);
}
int nvmlDeviceGetComputeRunningProcesses_v3(Handle, unsigned *count, void *) {
  int status =
      give("nvmlDeviceGetComputeRunningProcesses_v3", count,
           static_cast<unsigned>(getNumber("FAKE_DRIVER_PROCESSES", 1)));
  return status ? status : 7; // there is no room for them
}
int nvmlDeviceGetUtilizationRates(Handle, unsigned *percent) {
  percent[1] = 0;
  return give("nvmlDeviceGetUtilizationRates", percent,
              static_cast<unsigned>(getNumber("FAKE_DRIVER_BUSY", 0)));
}
}
