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

static Expected<Timing> takeSamples(Device &device,
                                    llvm::function_ref<Error()> launch,
                                    int64_t repeats, DeviceAddress flush,
                                    int64_t flushBytes) {
  DeviceState before = device.readState();
  std::vector<EventPair> pairs;
  for (int64_t i = 0; i < repeats; ++i) {
    if (flushBytes > 0)
      if (auto error = device.fill(flush, static_cast<uint8_t>(i), flushBytes))
        return std::move(error);
    auto pair = timeOnce(device, launch);
    if (!pair)
      return pair.takeError();
    pairs.push_back(std::move(*pair));
  }
  std::vector<double> samples;
  for (const EventPair &pair : pairs) {
    auto elapsed = device.getElapsed(*pair.start, *pair.stop);
    if (!elapsed)
      return elapsed.takeError();
    samples.push_back(*elapsed);
  }
  Timing timing = summarize(std::move(samples));
  timing.before = before;
  timing.after = device.readState();
  return timing;
}

/// Whether something else than the work had a part in its times.
static bool wasDisturbed(const Timing &timing,
                         const BenchmarkOptions &options) {
  std::optional<int> before = timing.before.clockMHz;
  std::optional<int> after = timing.after.clockMHz;
  bool clockFell =
      before && after && *after < (1 - options.maxClockDrop) * *before;
  return clockFell || timing.median > (1 + options.maxSpread) * timing.min;
}

Expected<Timing> attune::benchmark(Device &device,
                                   llvm::function_ref<Error()> launch,
                                   const BenchmarkOptions &options) {
  // Twice the cache, so that no replacement policy keeps a part of it.
  int64_t flushBytes = options.flushCache ? 2 * device.getInfo().cacheBytes : 0;
  DeviceAddress flush = 0;
  if (flushBytes > 0) {
    Expected<DeviceAddress> buffer = device.allocate(flushBytes);
    if (!buffer)
      return buffer.takeError();
    flush = *buffer;
  }
  llvm::scope_exit release([&] {
    if (flushBytes > 0)
      llvm::consumeError(device.release(flush));
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

  auto timing = takeSamples(device, launch, repeats, flush, flushBytes);
  if (timing && wasDisturbed(*timing, options))
    timing = takeSamples(device, launch, repeats, flush, flushBytes);
  return timing;
}
