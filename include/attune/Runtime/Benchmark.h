// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times work on a device so that the numbers can be believed.

#ifndef ATTUNE_RUNTIME_BENCHMARK_H
#define ATTUNE_RUNTIME_BENCHMARK_H

#include "attune/Runtime/Heater.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <limits>
#include <vector>

namespace attune {

struct BenchmarkOptions {
  /// Launches that are not timed.
  int64_t warmUps = 5;
  int64_t repeats = 30;
  /// Fewer repeats where they would take longer, but never less than 5.
  double maxSeconds = 5;
  /// Empties the device's cache before each timed launch.
  bool flushCache = true;
  /// Where all warm-ups took longer, the least of their times is the only
  /// sample. One of them may have waited for a host that was busy.
  double stopAboveMs = std::numeric_limits<double>::infinity();
  /// Where the SMs' clock fell by more than this share while samples were
  /// taken, they are dropped and taken again, once.
  double maxClockDrop = 0.03;
  /// The same where their median is above the least by more than this share of
  /// it: work takes the same time each time unless others are in its way.
  double maxSpread = 0.1;
  /// Brings the device to a sustained state first, and keeps it there while
  /// samples are taken. Null: the device is measured cool.
  Heater *heater = nullptr;
  /// With a heater: queues other work, whose launches take turns with those
  /// that are timed. Null for none.
  llvm::function_ref<llvm::Error()> baseline = nullptr;
  /// With a heater: counts energy over so many seconds, or not at all with 0.
  double energySeconds = 0;
};

/// Long enough for counters of energy, which move about ten times a second.
inline constexpr double kEnergySeconds = 1;

struct Timing {
  /// Milliseconds of each repeat, in the order in which they were taken.
  std::vector<double> samples;
  double median = 0;
  double min = 0;
  /// 95 % confidence interval of the median.
  double low = 0;
  double high = 0;
  /// What the device was like when the first repeat was queued, and after the
  /// last one.
  Conditions conditions;
};

/// Median, smallest value and confidence interval, which comes from order
/// statistics: nothing is assumed about the distribution.
Timing summarize(std::vector<double> samples);

/// Times `launch`, which queues the work to be timed. Only what it queues is
/// between the events; emptying the cache is not. Of work that is dropped
/// because it is slow (`stopAboveMs`) the conditions are not known.
llvm::Expected<Timing> benchmark(Device &device,
                                 llvm::function_ref<llvm::Error()> launch,
                                 const BenchmarkOptions &options);

} // namespace attune

#endif // ATTUNE_RUNTIME_BENCHMARK_H
