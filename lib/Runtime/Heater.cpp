// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Work is queued in batches of some milliseconds. While the host looks at the
// device after one of them, the next is running, so that the chip never idles.

#include "attune/Runtime/Heater.h"
#include "llvm/ADT/STLExtras.h"
#include <chrono>
#include <cmath>
#include <deque>
#include <thread>

using namespace attune;
using llvm::Error;
using llvm::Expected;

/// How long a batch should take, and how many launches it has at most.
static constexpr double kBatchSeconds = 0.01;
static constexpr int64_t kMostLaunches = 4096;
/// Batches that are queued at a time.
static constexpr size_t kBatches = 2;
/// A counter of energy that has not moved for so long does not.
static constexpr double kCounterSeconds = 0.5;

static double readHostClock() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int attune::readBusyPercent(Device &device) {
  // Utilization is that of up to a second.
  constexpr std::chrono::milliseconds pause(1200);
  int busy = device.readUse().busyPercent.value_or(0);
  if (busy == 0)
    return 0;
  std::this_thread::sleep_for(pause);
  return device.readUse().busyPercent.value_or(0);
}

Heater::Heater(Device &device, HeaterOptions given)
    : device(device), options(std::move(given)) {
  if (!options.now)
    options.now = readHostClock;
}

Error Heater::burn(Work work, llvm::function_ref<bool(const Done &)> isEnough) {
  struct Batch {
    std::unique_ptr<Event> end;
    int64_t launches;
  };
  auto mark = [&]() -> Expected<std::unique_ptr<Event>> {
    auto event = device.createEvent();
    if (event)
      if (auto error = device.record(**event))
        return std::move(error);
    return event;
  };
  auto begin = mark();
  if (!begin)
    return begin.takeError();
  double started = options.now(), completed = started;
  std::deque<Batch> queue;
  int64_t size = 1, launches = 0;
  while (true) {
    while (queue.size() < kBatches) {
      for (int64_t i = 0; i < size; ++i)
        if (auto error = work())
          return error;
      auto end = mark();
      if (!end)
        return end.takeError();
      queue.push_back({std::move(*end), size});
    }
    // Waits for the end of the batch.
    auto elapsed = device.getElapsed(**begin, *queue.front().end);
    if (!elapsed)
      return elapsed.takeError();
    launches += queue.front().launches;
    queue.pop_front();
    double now = options.now();
    lastWork = now;
    if (isEnough({now - started, launches}))
      return Error::success();
    if (now - std::exchange(completed, now) < kBatchSeconds / 2)
      size = std::min(2 * size, kMostLaunches);
  }
}

Error Heater::run(Work work, double seconds) {
  return burn(work, [&](const Done &done) { return done.seconds >= seconds; });
}

namespace {
/// What the device said at some moments of work.
struct Reading {
  double seconds;
  DeviceState state;
};
} // namespace

/// Whether the means of a reading over two spans differ by at most a share.
/// Nothing where it is not told in one of them.
static std::optional<bool> isAlike(llvm::ArrayRef<Reading> older,
                                   llvm::ArrayRef<Reading> newer,
                                   std::optional<int> DeviceState::*member,
                                   double share) {
  auto getMean =
      [&](llvm::ArrayRef<Reading> readings) -> std::optional<double> {
    double sum = 0, count = 0;
    for (const Reading &reading : readings) {
      if (!(reading.state.*member))
        continue;
      sum += *(reading.state.*member);
      ++count;
    }
    return count > 0 ? std::optional(sum / count) : std::nullopt;
  };
  std::optional<double> before = getMean(older), after = getMean(newer);
  if (!before || !after)
    return std::nullopt;
  return std::abs(*after - *before) <= share * *after;
}

/// Whether clock and power have settled over the last `window` seconds; nothing
/// where neither is told.
static std::optional<bool> haveSettled(llvm::ArrayRef<Reading> readings,
                                       double window,
                                       const HeaterOptions &options) {
  double last = readings.back().seconds;
  auto findFrom = [&](double seconds) {
    return llvm::find_if(readings,
                         [=](const Reading &reading) {
                           return reading.seconds >= last - seconds;
                         }) -
           readings.begin();
  };
  size_t first = findFrom(window), middle = findFrom(window / 2);
  auto older = readings.slice(first, middle - first),
       newer = readings.drop_front(middle);
  std::optional<bool> clock = isAlike(older, newer, &DeviceState::clockMHz,
                                      options.settledClock),
                      power = isAlike(older, newer, &DeviceState::powerWatts,
                                      options.settledPower);
  if (!clock && !power)
    return std::nullopt;
  return clock.value_or(true) && power.value_or(true);
}

Expected<std::optional<bool>> Heater::heat(Work work) {
  double idle = lastWork ? options.now() - *lastWork : options.coldSeconds;
  // What moves slowly shows only in a long window.
  double least = std::clamp(
      idle, isUnsettled ? options.windowSeconds : options.leastSeconds,
      options.coldSeconds);
  double most = isUnsettled ? options.coldSeconds : options.mostSeconds;
  std::vector<Reading> readings;
  std::optional<bool> settled;
  bool isTold = false;
  auto isEnough = [&](const Done &done) {
    readings.push_back({done.seconds, device.readState()});
    const DeviceState &state = readings.back().state;
    isTold |= state.clockMHz || state.powerWatts;
    if (done.seconds < least)
      return false;
    // Long launches give few readings: two for each half.
    double batch = done.seconds / static_cast<double>(readings.size());
    double window = std::max(std::min(least, options.windowSeconds), 4 * batch);
    settled = haveSettled(readings, window, options);
    return settled.value_or(!isTold) || done.seconds >= most;
  };
  if (auto error = burn(work, isEnough))
    return std::move(error);
  if (isTold)
    settled = settled.value_or(false);
  isUnsettled = settled == false;
  return settled;
}

Error Heater::countEnergy(Work work, double seconds, Conditions &conditions) {
  std::optional<int64_t> counter = device.readState().energyMillijoules;
  if (!counter)
    return Error::success();
  struct Step {
    Done done;
    int64_t millijoules;
  };
  std::optional<Step> first, last;
  double moved = 0;
  auto isEnough = [&](const Done &done) {
    std::optional<int64_t> now = device.readState().energyMillijoules;
    bool hasMoved = now && *now > *counter;
    if (!hasMoved)
      return done.seconds - moved > kCounterSeconds;
    counter = now;
    moved = done.seconds;
    if (!first) {
      first = {done, *now};
      return false;
    }
    last = {done, *now};
    return done.seconds - first->done.seconds >= seconds;
  };
  if (auto error = burn(work, isEnough))
    return error;
  if (!first || !last || last->done.seconds - first->done.seconds < seconds)
    return Error::success();
  double joules =
      static_cast<double>(last->millijoules - first->millijoules) / 1000;
  double span = last->done.seconds - first->done.seconds;
  conditions.energyJoules =
      joules / static_cast<double>(last->done.launches - first->done.launches);
  conditions.meanPowerWatts = joules / span;
  conditions.energySpanSeconds = span;
  return Error::success();
}
