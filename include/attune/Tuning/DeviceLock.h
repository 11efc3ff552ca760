// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One worker at a time on a device: two would spoil each other's times.

#ifndef ATTUNE_TUNING_DEVICELOCK_H
#define ATTUNE_TUNING_DEVICELOCK_H

#include "attune/Tuning/Worker.h"
#include "llvm/ADT/StringRef.h"
#include <memory>

namespace attune::tuning {

/// Shared by all tuners of a machine. A worker takes it for as long as it
/// answers one request, so that several tuners take turns.
class DeviceLock {
public:
  static llvm::Expected<std::unique_ptr<DeviceLock>> open(llvm::StringRef kind,
                                                          int ordinal);
  ~DeviceLock();
  DeviceLock(const DeviceLock &) = delete;
  DeviceLock &operator=(const DeviceLock &) = delete;

  /// While it lives, and its process does, the device is this process's.
  class Turn {
  public:
    explicit Turn(DeviceLock *lock) : lock(lock) {}
    Turn(Turn &&other) : lock(std::exchange(other.lock, nullptr)) {}
    ~Turn();

  private:
    DeviceLock *lock;
  };
  /// Waits for its turn, and tells the parent of the worker where another
  /// process has it.
  llvm::Expected<Turn> take();

private:
  DeviceLock(int fd, std::string path) : fd(fd), path(std::move(path)) {}
  int fd;
  std::string path;
};

/// Handlers that have a device to themselves while they start, and for each
/// request.
WorkerHandlers takeTurns(WorkerHandlers handlers, std::string kind,
                         int ordinal);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_DEVICELOCK_H
