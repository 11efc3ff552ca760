// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each repeat stands between two events of its own. All of them are queued
// before the first one is waited for, so that the device never idles.

#include "attune/Runtime/Benchmark.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include <cmath>

using namespace attune;
using llvm::Error;
using llvm::Expected;

Timing attune::summarize(std::vector<double> samples) {
  Timing timing;
  timing.samples = samples;
  if (samples.empty())
    return timing;
  llvm::sort(samples);
  auto count = static_cast<int64_t>(samples.size());
  timing.min = samples.front();
  timing.median = (samples[(count - 1) / 2] + samples[count / 2]) / 2;
  // The number of samples below the true median is binomial with p = 1/2.
  double halfWidth = 1.96 * std::sqrt(static_cast<double>(count)) / 2;
  double middle = static_cast<double>(count) / 2;
  auto at = [&](double position) {
    return samples[std::clamp<int64_t>(std::llround(position), 0, count - 1)];
  };
  timing.low = at(std::floor(middle - halfWidth) - 1);
  timing.high = at(std::ceil(middle + halfWidth));
  return timing;
}

namespace {
struct EventPair {
  std::unique_ptr<Event> start, stop;
};
} // namespace

/// Records an event, the work, and another event.
static Expected<EventPair> timeOnce(Device &device,
                                    llvm::function_ref<Error()> launch) {
  EventPair pair;
  for (std::unique_ptr<Event> *event : {&pair.start, &pair.stop}) {
    auto created = device.createEvent();
    if (!created)
      return created.takeError();
    *event = std::move(*created);
  }
  if (auto error = device.record(*pair.start))
    return std::move(error);
  if (auto error = launch())
    return std::move(error);
  if (auto error = device.record(*pair.stop))
    return std::move(error);
  return pair;
}

namespace {
/// What is emptied out of the cache before each sample.
struct Flush {
  DeviceAddress buffer = 0;
  int64_t bytes = 0;
};

/// Times in milliseconds, and the device when the first was queued and after
/// the last.
struct Samples {
  std::vector<double> times;
  DeviceState before, after;
};
} // namespace

static Expected<Samples> takeSamples(Device &device,
                                     llvm::function_ref<Error()> launch,
                                     int64_t repeats, const Flush &flush) {
  Samples samples;
  samples.before = device.readState();
  std::vector<EventPair> pairs;
  for (int64_t i = 0; i < repeats; ++i) {
    if (flush.bytes > 0)
      if (auto error =
              device.fill(flush.buffer, static_cast<uint8_t>(i), flush.bytes))
        return std::move(error);
    auto pair = timeOnce(device, launch);
    if (!pair)
      return pair.takeError();
    pairs.push_back(std::move(*pair));
  }
  for (const EventPair &pair : pairs) {
    auto elapsed = device.getElapsed(*pair.start, *pair.stop);
    if (!elapsed)
      return elapsed.takeError();
    samples.times.push_back(*elapsed);
  }
  samples.after = device.readState();
  return samples;
}

/// Whether something else than the work had a part in its times.
static bool wasDisturbed(const Samples &samples,
                         const BenchmarkOptions &options) {
  std::optional<int> before = samples.before.clockMHz;
  std::optional<int> after = samples.after.clockMHz;
  bool clockFell =
      before && after && *after < (1 - options.maxClockDrop) * *before;
  Timing timing = summarize(samples.times);
  return clockFell || timing.median > (1 + options.maxSpread) * timing.min;
}

/// Once more where they were disturbed.
static Expected<Samples> takeQuietSamples(Device &device,
                                          llvm::function_ref<Error()> launch,
                                          int64_t repeats, const Flush &flush,
                                          const BenchmarkOptions &options) {
  auto samples = takeSamples(device, launch, repeats, flush);
  if (samples && wasDisturbed(*samples, options))
    samples = takeSamples(device, launch, repeats, flush);
  return samples;
}

/// How often the baseline and the work take turns, and how long each runs
/// without being timed before it is: the clock follows what draws the power.
static constexpr int64_t kTurns = 2;
static constexpr double kTurnSeconds = 0.05;

static Expected<Timing> benchmarkSustained(Device &device,
                                           llvm::function_ref<Error()> launch,
                                           int64_t repeats, const Flush &flush,
                                           const BenchmarkOptions &options) {
  Conditions conditions;
  conditions.state = ChipState::Sustained;
  auto settled = options.heater->heat(launch);
  if (!settled)
    return settled.takeError();
  conditions.settled = *settled;
  if (options.energySeconds > 0)
    if (auto error = options.heater->countEnergy(launch, options.energySeconds,
                                                 conditions))
      return std::move(error);

  std::vector<double> times, baselines;
  for (int64_t turn = 0; turn < kTurns; ++turn) {
    int64_t count = (repeats + kTurns - 1 - turn) / kTurns;
    if (count == 0)
      continue;
    if (options.baseline) {
      if (auto error = options.heater->run(options.baseline, kTurnSeconds))
        return std::move(error);
      auto samples =
          takeQuietSamples(device, options.baseline, count, flush, options);
      if (!samples)
        return samples.takeError();
      llvm::append_range(baselines, samples->times);
    }
    // Without a baseline it has not stopped.
    if (options.baseline || turn > 0)
      if (auto error = options.heater->run(launch, kTurnSeconds))
        return std::move(error);
    auto samples = takeQuietSamples(device, launch, count, flush, options);
    if (!samples)
      return samples.takeError();
    llvm::append_range(times, samples->times);
    conditions.see(samples->before);
    conditions.see(samples->after);
  }
  options.heater->noteWork();
  Timing timing = summarize(std::move(times));
  timing.conditions = conditions;
  constexpr double nsPerMs = 1e6;
  if (!baselines.empty())
    timing.conditions.baselineNs =
        summarize(std::move(baselines)).median * nsPerMs;
  return timing;
}

static Expected<Timing> benchmarkCool(Device &device,
                                      llvm::function_ref<Error()> launch,
                                      int64_t repeats, const Flush &flush,
                                      const BenchmarkOptions &options) {
  auto samples = takeQuietSamples(device, launch, repeats, flush, options);
  if (!samples)
    return samples.takeError();
  Timing timing = summarize(std::move(samples->times));
  timing.conditions.state = ChipState::Cool;
  timing.conditions.see(samples->before);
  timing.conditions.see(samples->after);
  return timing;
}

Expected<Timing> attune::benchmark(Device &device,
                                   llvm::function_ref<Error()> launch,
                                   const BenchmarkOptions &options) {
  // Twice the cache, so that no replacement policy keeps a part of it.
  Flush flush;
  flush.bytes = options.flushCache ? 2 * device.getInfo().cacheBytes : 0;
  if (flush.bytes > 0) {
    Expected<DeviceAddress> buffer = device.allocate(flush.bytes);
    if (!buffer)
      return buffer.takeError();
    flush.buffer = *buffer;
  }
  llvm::scope_exit release([&] {
    if (flush.bytes > 0)
      llvm::consumeError(device.release(flush.buffer));
  });

  double probe = std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < std::max<int64_t>(options.warmUps, 1); ++i) {
    auto pair = timeOnce(device, launch);
    if (!pair)
      return pair.takeError();
    auto elapsed = device.getElapsed(*pair->start, *pair->stop);
    if (!elapsed)
      return elapsed.takeError();
    probe = std::min(probe, *elapsed);
    if (*elapsed * static_cast<double>(i + 1) > options.maxSeconds * 1e3)
      break;
  }
  if (probe > options.stopAboveMs)
    return summarize({probe});
  constexpr int64_t fewest = 5;
  int64_t repeats = options.repeats;
  if (probe > 0)
    repeats = std::clamp<int64_t>(
        static_cast<int64_t>(options.maxSeconds * 1e3 / probe),
        std::min(fewest, repeats), repeats);

  Expected<Timing> timing =
      (options.heater ? benchmarkSustained
                      : benchmarkCool)(device, launch, repeats, flush, options);
  if (timing)
    timing->conditions.otherProcesses = device.readUse().otherProcesses;
  return timing;
}
