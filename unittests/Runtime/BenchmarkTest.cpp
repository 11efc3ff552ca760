// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attune/Runtime/Benchmark.h"
#include "FakeDevice.h"
#include "gtest/gtest.h"

using namespace attune;

/// Times a kernel whose launches take what `device` says.
static Timing time(FakeDevice &device, const BenchmarkOptions &options) {
  auto kernel = llvm::cantFail(device.loadKernel("", "work", 0));
  return llvm::cantFail(benchmark(
      device, [&] { return device.launch(*kernel, {}, {}); }, options));
}

TEST(Benchmark, SummarizesByOrder) {
  Timing odd = summarize({3, 1, 2});
  EXPECT_EQ(odd.median, 2);
  EXPECT_EQ(odd.min, 1);
  EXPECT_EQ(odd.samples, (std::vector<double>{3, 1, 2}));
  EXPECT_EQ(summarize({1, 2, 3, 10}).median, 2.5);
  std::vector<double> many;
  for (int i = 1; i <= 100; ++i)
    many.push_back(i);
  Timing timing = summarize(many);
  EXPECT_EQ(timing.median, 50.5);
  // Order statistics 40 and 61 of 100, from the table of the binomial.
  EXPECT_EQ(timing.low, 40);
  EXPECT_EQ(timing.high, 61);
}

TEST(Benchmark, ExcludesWarmUpsAndFlushes) {
  FakeDevice device;
  device.durations = {100, 100, 51, 52, 53, 54, 55};
  BenchmarkOptions options;
  options.warmUps = 2;
  options.repeats = 5;
  Timing timing = time(device, options);
  EXPECT_EQ(timing.samples, (std::vector<double>{51, 52, 53, 54, 55}));
  EXPECT_EQ(timing.median, 53);
  std::vector<std::string> repeat{"fill", "record", "launch", "record"};
  std::vector<std::string> last(device.queued.end() - 4, device.queued.end());
  EXPECT_EQ(last, repeat);
  EXPECT_TRUE(device.allocations.empty());
}

TEST(Benchmark, SlowWorkIsRepeatedLess) {
  FakeDevice device;
  device.durations = {1000};
  BenchmarkOptions options;
  options.maxSeconds = 2;
  Timing timing = time(device, options);
  EXPECT_EQ(timing.samples.size(), 5u);
}

TEST(Benchmark, WorkThatIsTooSlowIsLaunchedOnlyToWarmUp) {
  FakeDevice device;
  device.durations = {9, 7};
  BenchmarkOptions options;
  options.warmUps = 2;
  options.stopAboveMs = 6.5;
  Timing timing = time(device, options);
  EXPECT_EQ(timing.samples, (std::vector<double>{7}));
  EXPECT_EQ(timing.median, 7);
  EXPECT_EQ(llvm::count(device.queued, "launch"), 2);
  options.stopAboveMs = 7;
  EXPECT_EQ(time(device, options).samples.size(), 30u);
}

TEST(Benchmark, WorkThatWasSlowOnceIsTimed) {
  FakeDevice device;
  device.durations = {6, 9, 6};
  BenchmarkOptions options;
  options.warmUps = 2;
  options.stopAboveMs = 6.5;
  Timing timing = time(device, options);
  EXPECT_EQ(timing.samples.size(), 30u);
  EXPECT_EQ(timing.median, 6);
}

TEST(Benchmark, ScatteredSamplesAreTakenAgainOnce) {
  for (auto [durations, samples] :
       {std::pair(std::vector<double>{50, 50, 54, 54, 60, 60, 60},
                  std::vector<double>{50, 54, 54}),
        std::pair(std::vector<double>{50, 50, 56, 56, 60, 60, 60},
                  std::vector<double>{60, 60, 60}),
        std::pair(std::vector<double>{50, 50, 56, 56, 50, 57, 57, 50, 50, 50},
                  std::vector<double>{50, 57, 57})}) {
    FakeDevice device;
    device.durations = durations;
    BenchmarkOptions options;
    options.warmUps = 1;
    options.repeats = 3;
    Timing timing = time(device, options);
    EXPECT_EQ(timing.samples, samples);
  }
}

TEST(Benchmark, SamplesOfAFallingClockAreTakenAgainOnce) {
  for (auto [clocks, samples] :
       {std::pair(std::vector<int>{1980, 1930, 5000}, std::vector{51.0, 52.0}),
        std::pair(std::vector<int>{1980, 1900, 1900}, std::vector{53.0, 54.0}),
        std::pair(std::vector<int>{1980, 1900, 1800, 9},
                  std::vector{53.0, 54.0})}) {
    FakeDevice device;
    device.durations = {58, 51, 52, 53, 54, 55};
    device.clocks = clocks;
    BenchmarkOptions options;
    options.warmUps = 1;
    options.repeats = 2;
    Timing timing = time(device, options);
    EXPECT_EQ(timing.samples, samples);
  }
}

TEST(Benchmark, PassesErrorsOn) {
  FakeDevice device;
  auto timing =
      benchmark(device, [] { return llvm::createStringError("broken"); }, {});
  ASSERT_FALSE(timing);
  EXPECT_EQ(llvm::toString(timing.takeError()), "broken");
  EXPECT_TRUE(device.allocations.empty());
}
