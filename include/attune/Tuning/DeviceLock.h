// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One tuner at a time on a device: two would spoil each other's times.

#ifndef ATTUNE_TUNING_DEVICELOCK_H
#define ATTUNE_TUNING_DEVICELOCK_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace attune::tuning {

/// Held as long as the object and its process live, however they end.
class DeviceLock {
public:
  DeviceLock() = default;
  DeviceLock(const DeviceLock &) = delete;
  DeviceLock &operator=(const DeviceLock &) = delete;
  ~DeviceLock();

  /// Waits for the lock, and says so on stderr where another process has it.
  llvm::Error acquire(llvm::StringRef kind, int ordinal);

private:
  int fd = -1;
};

} // namespace attune::tuning

#endif // ATTUNE_TUNING_DEVICELOCK_H
