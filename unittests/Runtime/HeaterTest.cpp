// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a chip is like when its work is timed, on a device whose clocks, power
// and energy are functions of its own time.

#include "FakeDevice.h"
#include "attune/Runtime/Benchmark.h"
#include "gtest/gtest.h"

using namespace attune;

namespace {
/// Launches of a millisecond, on the device's own clock.
struct HeaterTest : testing::Test {
  HeaterTest() : kernel(llvm::cantFail(device.loadKernel("", "work", 0))) {}

  Heater makeHeater() {
    HeaterOptions options;
    options.now = [this] { return device.getTime() / 1e3; };
    return Heater(device, options);
  }
  llvm::Error launch() { return device.launch(*kernel, {}, {}); }
  /// Seconds that heating takes, and what it says.
  std::pair<double, std::optional<bool>> heat(Heater &heater) {
    double before = device.getTime();
    auto settled = llvm::cantFail(heater.heat([&] { return launch(); }));
    return {(device.getTime() - before) / 1e3, settled};
  }

  FakeDevice device;
  std::unique_ptr<Kernel> kernel;
};

DeviceState makeState(int clockMHz, int powerWatts) {
  DeviceState state;
  state.clockMHz = clockMHz;
  state.powerWatts = powerWatts;
  return state;
}
} // namespace

TEST_F(HeaterTest, WaitsUntilClocksHaveSettled) {
  // Falls for three seconds.
  device.tell = [](double ms) {
    return makeState(1980 - static_cast<int>(std::min(ms, 3000.0) / 6), 600);
  };
  Heater heater = makeHeater();
  auto [seconds, settled] = heat(heater);
  EXPECT_EQ(settled, true);
  EXPECT_GT(seconds, 2.5);
  EXPECT_LT(seconds, 4);
}

TEST_F(HeaterTest, WaitsUntilPowerHasSettled) {
  device.tell = [](double ms) {
    return makeState(1755, 100 + static_cast<int>(std::min(ms, 2000.0) / 4));
  };
  Heater heater = makeHeater();
  auto [seconds, settled] = heat(heater);
  EXPECT_EQ(settled, true);
  EXPECT_GT(seconds, 1.8);
  EXPECT_LT(seconds, 3);
}

TEST_F(HeaterTest, ClocksThatDitherHaveSettled) {
  device.tell = [](double ms) {
    return makeState(1755 + (static_cast<int>(ms / 10) % 2 ? 45 : -45), 690);
  };
  Heater heater = makeHeater();
  auto [seconds, settled] = heat(heater);
  EXPECT_EQ(settled, true);
  EXPECT_LT(seconds, 1.2);
}

TEST_F(HeaterTest, ClocksThatNeverSettleAreWaitedForOnce) {
  device.tell = [](double ms) {
    return makeState(1980 - static_cast<int>(ms / 8), 600);
  };
  Heater heater = makeHeater();
  auto [seconds, settled] = heat(heater);
  EXPECT_EQ(settled, false);
  EXPECT_NEAR(seconds, 5, 0.2);
  auto [again, still] = heat(heater);
  EXPECT_EQ(still, false);
  EXPECT_LT(again, 1.2);
}

TEST_F(HeaterTest, RunsAsLongAsTheChipIdled) {
  device.tell = [](double) { return makeState(1755, 690); };
  Heater heater = makeHeater();
  EXPECT_NEAR(heat(heater).first, 1, 0.2);
  EXPECT_NEAR(heat(heater).first, 0.1, 0.1);
  device.idle(600);
  EXPECT_NEAR(heat(heater).first, 0.6, 0.1);
  device.idle(60000);
  EXPECT_NEAR(heat(heater).first, 1, 0.2);
}

TEST_F(HeaterTest, WithoutClocksItRunsForASecond) {
  Heater heater = makeHeater();
  auto [seconds, settled] = heat(heater);
  EXPECT_EQ(settled, std::nullopt);
  EXPECT_NEAR(seconds, 1, 0.2);
}

TEST_F(HeaterTest, LongLaunchesSettleToo) {
  device.durations = {700};
  device.tell = [](double) { return makeState(1755, 690); };
  Heater heater = makeHeater();
  auto [seconds, settled] = heat(heater);
  EXPECT_EQ(settled, true);
  EXPECT_LT(seconds, 6);
}

TEST_F(HeaterTest, CountsEnergyBetweenSteps) {
  // 500 W, told every 100 ms.
  device.tell = [](double ms) {
    DeviceState state;
    state.energyMillijoules = static_cast<int64_t>(ms / 100) * 50000;
    return state;
  };
  Heater heater = makeHeater();
  Conditions conditions;
  EXPECT_FALSE(
      bool(heater.countEnergy([&] { return launch(); }, 1, conditions)));
  ASSERT_TRUE(conditions.energyJoules.has_value());
  EXPECT_NEAR(*conditions.energyJoules, 0.5, 0.02);
  EXPECT_NEAR(*conditions.meanPowerWatts, 500, 20);
  EXPECT_GE(*conditions.energySpanSeconds, 1);
}

TEST_F(HeaterTest, ACounterThatStandsStillCountsNothing) {
  for (bool isThere : {false, true}) {
    device.tell = [=](double) {
      DeviceState state;
      if (isThere)
        state.energyMillijoules = 7;
      return state;
    };
    Heater heater = makeHeater();
    Conditions conditions;
    double before = device.getTime();
    EXPECT_FALSE(
        bool(heater.countEnergy([&] { return launch(); }, 1, conditions)));
    EXPECT_EQ(conditions.energyJoules, std::nullopt);
    EXPECT_LT(device.getTime() - before, 1000);
  }
}

TEST_F(HeaterTest, FaultsOfTheWorkArePassedOn) {
  Heater heater = makeHeater();
  auto settled = heater.heat([] { return llvm::createStringError("broken"); });
  ASSERT_FALSE(settled);
  EXPECT_EQ(llvm::toString(settled.takeError()), "broken");
}

TEST_F(HeaterTest, WorkTakesTurnsWithTheBaseline) {
  device.tell = [](double) { return makeState(1755, 690); };
  Heater heater = makeHeater();
  std::string order;
  device.kernels["baseline"] = [&](auto &&...) { order += 'b'; };
  device.kernels["work"] = [&](auto &&...) { order += 'w'; };
  kernel = llvm::cantFail(device.loadKernel("", "work", 0));
  auto slow = llvm::cantFail(device.loadKernel("", "baseline", 0));
  auto launchSlow = [&]() -> llvm::Error {
    if (auto error = device.launch(*slow, {}, {}))
      return error;
    return device.launch(*slow, {}, {});
  };
  BenchmarkOptions options;
  options.heater = &heater;
  options.baseline = launchSlow;
  options.repeats = 7;
  Timing timing =
      llvm::cantFail(benchmark(device, [&] { return launch(); }, options));
  EXPECT_EQ(timing.samples.size(), 7u);
  EXPECT_EQ(timing.median, 1);
  EXPECT_EQ(timing.conditions.baselineNs, 2e6);
  EXPECT_EQ(timing.conditions.state, ChipState::Sustained);
  EXPECT_EQ(timing.conditions.settled, true);
  EXPECT_EQ(timing.conditions.clockMHz, 1755);
  // Warm-ups and heat, and two turns of each.
  size_t changes = 0;
  for (size_t i = 1; i < order.size(); ++i)
    changes += order[i] != order[i - 1];
  EXPECT_EQ(order.front(), 'w');
  EXPECT_EQ(order.back(), 'w');
  EXPECT_EQ(changes, 4u);
}

TEST_F(HeaterTest, WorkThatHasJustEndedIsNoWorkOfOthers) {
  device.use.busyPercent = 80;
  EXPECT_EQ(readBusyPercent(device), 80);
  device.laterUse = DeviceUse();
  device.laterUse->busyPercent = 0;
  EXPECT_EQ(readBusyPercent(device), 0);
  device.laterUse.reset();
  device.use = {};
  EXPECT_EQ(readBusyPercent(device), 0);
}

TEST_F(HeaterTest, ACoolChipIsNotHeated) {
  device.tell = [](double) { return makeState(1755, 690); };
  device.use.otherProcesses = 2;
  BenchmarkOptions options;
  Timing timing =
      llvm::cantFail(benchmark(device, [&] { return launch(); }, options));
  EXPECT_LT(device.getTime(), 100);
  EXPECT_EQ(timing.conditions.state, ChipState::Cool);
  EXPECT_EQ(timing.conditions.settled, std::nullopt);
  EXPECT_EQ(timing.conditions.otherProcesses, 2);
}

/// Conditions after a way through JSON.
static Conditions reread(const Conditions &conditions) {
  llvm::json::Object object;
  addTo(object, conditions);
  Conditions read;
  EXPECT_EQ(readFrom(object, read), "");
  return read;
}

TEST(Conditions, GoThroughJSON) {
  Conditions conditions;
  conditions.state = ChipState::Sustained;
  conditions.clockMHz = 1545;
  conditions.throttleReasons = static_cast<int64_t>(ThrottleReason::PowerCap) |
                               static_cast<int64_t>(ThrottleReason::Setting);
  conditions.settled = false;
  conditions.energyJoules = 0.25;
  Conditions read = reread(conditions);
  EXPECT_EQ(read.state, ChipState::Sustained);
  EXPECT_EQ(read.clockMHz, 1545);
  EXPECT_EQ(read.throttleReasons, conditions.throttleReasons);
  EXPECT_EQ(read.settled, false);
  EXPECT_EQ(read.energyJoules, 0.25);
  EXPECT_EQ(read.powerWatts, std::nullopt);
  EXPECT_EQ(describeThrottling(*read.throttleReasons),
            "power-cap,clock-setting");
  EXPECT_EQ(parseThrottling(""), 0);
  EXPECT_EQ(parseThrottling("power-cap,none"), std::nullopt);
}

TEST(Conditions, WhatCannotBeIsRefused) {
  for (auto [name, value] :
       std::initializer_list<std::pair<const char *, llvm::json::Value>>{
           {"chip_state", "warm"},
           {"baseline_ns", 0},
           {"energy_j", -1},
           {"throttle_reasons", llvm::json::Array{"mood"}}}) {
    Conditions read;
    EXPECT_NE(readFrom(llvm::json::Object{{name, value}}, read), "") << name;
  }
}

TEST(Conditions, MergesEnergyBySpans) {
  Conditions first, second;
  first.energyJoules = 1;
  first.meanPowerWatts = 600;
  first.energySpanSeconds = 1;
  first.clockMHz = 1500;
  second.energyJoules = 2;
  second.meanPowerWatts = 660;
  second.energySpanSeconds = 2;
  second.clockMHz = 1400;
  second.settled = true;
  Conditions merged;
  merged.merge(first);
  merged.merge(second);
  EXPECT_NEAR(*merged.energyJoules, 5.0 / 3, 1e-9);
  EXPECT_NEAR(*merged.meanPowerWatts, 640, 1e-9);
  EXPECT_EQ(merged.energySpanSeconds, 3);
  EXPECT_EQ(merged.clockMHz, 1400);
  EXPECT_EQ(merged.settled, true);
  merged.settled = false;
  merged.merge(second);
  EXPECT_EQ(merged.settled, false);
}

/// The ids of warnings.
static std::vector<std::string> getIds(const Conditions &conditions,
                                       bool wantsEnergy) {
  std::vector<std::string> ids;
  for (const ConditionsWarning &warning : getWarnings(conditions, wantsEnergy))
    ids.push_back(warning.id.str());
  return ids;
}

TEST(Conditions, WarnsOfWhatSpoilsTimes) {
  Conditions good;
  good.state = ChipState::Sustained;
  good.settled = true;
  good.otherProcesses = 0;
  using Ids = std::vector<std::string>;
  EXPECT_EQ(getIds(good, false), Ids());
  EXPECT_EQ(getIds(good, true), Ids{"no-energy"});
  Conditions bad = good;
  bad.settled = false;
  bad.otherProcesses = 1;
  EXPECT_EQ(getIds(bad, false), (Ids{"unsettled", "other-processes"}));
  bad = good;
  bad.settled.reset();
  EXPECT_EQ(getIds(bad, false), Ids{"no-clock"});
  bad.state = ChipState::Cool;
  EXPECT_EQ(getIds(bad, true), Ids());
}
