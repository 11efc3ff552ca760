// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps a chip at work, so that what is timed runs at the clocks of sustained
// work, and counts the energy of such work.

#ifndef ATTUNE_RUNTIME_HEATER_H
#define ATTUNE_RUNTIME_HEATER_H

#include "attune/Runtime/Conditions.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <functional>

namespace attune {

struct HeaterOptions {
  /// Work runs for as long as the chip idled before, in seconds, but at least
  /// for the first of these, and no longer than the second for clocks that have
  /// settled.
  double leastSeconds = 0.1;
  double coldSeconds = 1;
  /// Where clock or power still move, this is the end of it.
  double mostSeconds = 5;
  /// Clock and power have settled when their means over the two halves of the
  /// last moments of work differ by no more than these shares.
  double settledClock = 0.01, settledPower = 0.03;
  /// How long these moments are at most.
  double windowSeconds = 0.5;
  /// Seconds on a clock of the host.
  std::function<double()> now;
};

/// Percent of the last moments in which a device was busy, to be asked before
/// it is given any work: 0 where the driver does not tell. Work that has just
/// ended is no work of others, so where there was some the answer comes after a
/// second look, more than a second later.
int readBusyPercent(Device &device);

/// Lives as long as the device is measured: it knows how long that idled.
class Heater {
public:
  /// Queues work once.
  using Work = llvm::function_ref<llvm::Error()>;

  explicit Heater(Device &device, HeaterOptions options = {});

  /// Runs work without pause until clock and power have settled, or for as long
  /// as the options say. True where they have, nothing where the driver tells
  /// neither. When it returns work is still queued.
  llvm::Expected<std::optional<bool>> heat(Work work);

  /// Runs work without pause for a time.
  llvm::Error run(Work work, double seconds);

  /// Runs work without pause for at least `seconds`, from one step of the
  /// device's counter of energy to another, and sets the energy, the mean power
  /// and the span in `conditions`. Leaves them absent where there is no counter
  /// that moves. Counters are read from a second on to a few percent; over less
  /// they were seen wrong by up to a third.
  llvm::Error countEnergy(Work work, double seconds, Conditions &conditions);

  /// The device has worked until now.
  void noteWork() { lastWork = options.now(); }

private:
  /// What has been completed since work began.
  struct Done {
    double seconds;
    int64_t launches;
  };
  /// Runs batches without pause until `isEnough` after one of them.
  llvm::Error burn(Work work, llvm::function_ref<bool(const Done &)> isEnough);

  Device &device;
  HeaterOptions options;
  std::optional<double> lastWork;
  /// Clocks that did not settle last time are not waited for as long again.
  bool isUnsettled = false;
};

} // namespace attune

#endif // ATTUNE_RUNTIME_HEATER_H
