// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Workers that own a device each, from the parent's side. The parent itself
// never touches a driver: a candidate may leave the driver of its process in
// any state.

#ifndef ATTUNE_TUNING_DEVICEWORKERS_H
#define ATTUNE_TUNING_DEVICEWORKERS_H

#include "attune/Tuning/MemoryFile.h"
#include "attune/Tuning/WorkerPool.h"

namespace attune::tuning {

struct DeviceIdentity {
  /// As openDevice() takes it, or "host".
  std::string kind;
  std::string name;
  std::string chip;
  int64_t driver = 0;
  int64_t sms = 0;
  int64_t sharedBytes = 0;
  /// Where the driver tells them: devices of one name may be held to others.
  int64_t clockMHz = 0, powerLimitWatts = 0;
  /// Percent of the time in which others use it. As the next no part of the
  /// identity.
  int64_t busyPercent = 0;
  /// Whether it counts the energy that it takes.
  bool hasEnergyCounter = false;

  /// For people.
  std::string describe() const;
  /// What results are stored under: a device that differs in anything above is
  /// another one, but for what others do there.
  std::string getKey() const;
};

/// Asks a short-lived worker what device there is. `kind` is "auto" or a kind.
llvm::Expected<DeviceIdentity> probeDevice(llvm::StringRef executable,
                                           llvm::StringRef kind, int ordinal);

/// The workers for one problem: each makes the inputs and the reference before
/// it takes requests. One for each of `ordinals` on this machine, and one
/// behind each launcher, where the device has to be the same: times of
/// different ones do not compare. Waits for those behind launchers until they
/// are there or `interrupted` is set.
class DeviceWorkers {
public:
  static llvm::Expected<std::unique_ptr<DeviceWorkers>>
  create(llvm::StringRef executable, const DeviceIdentity &device,
         llvm::ArrayRef<int> ordinals, llvm::ArrayRef<std::string> launchers,
         llvm::StringRef problem, WorkerLimits limits,
         const volatile sig_atomic_t &interrupted);

  WorkerPool &getPool() { return *pool; }

private:
  DeviceWorkers() = default;

  std::unique_ptr<MemoryFile> problem;
  std::unique_ptr<WorkerPool> pool;
};

} // namespace attune::tuning

#endif // ATTUNE_TUNING_DEVICEWORKERS_H
