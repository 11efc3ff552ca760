// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attune/Tuning/Statistics.h"
#include "gtest/gtest.h"
#include <random>

using namespace attune::tuning;

TEST(Statistics, MedianOfOddAndEvenCounts) {
  EXPECT_EQ(summarize({3, 1, 2}).median, 2);
  EXPECT_EQ(summarize({4, 1, 2, 3}).median, 2.5);
  EXPECT_EQ(summarize({7}).median, 7);
}

TEST(Statistics, FewSamplesGiveTheExtremes) {
  Summary summary = summarize({5, 1, 2, 3, 4});
  EXPECT_EQ(summary.low, 1);
  EXPECT_EQ(summary.high, 5);
}

TEST(Statistics, IntervalIsThatOfTheBinomial) {
  // The table of any statistics book: for 20 samples, ranks 6 and 15.
  std::vector<double> samples;
  for (int i = 1; i <= 20; ++i)
    samples.push_back(i);
  Summary summary = summarize(samples);
  EXPECT_EQ(summary.low, 6);
  EXPECT_EQ(summary.high, 15);
}

TEST(Statistics, IntervalCoversTheMedianAsPromised) {
  std::mt19937 generator(1);
  std::exponential_distribution<double> distribution(
      1); // a long tail, median ln 2
  int covered = 0, trials = 2000;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> samples(25);
    for (double &sample : samples)
      sample = distribution(generator);
    Summary summary = summarize(samples);
    covered += summary.low <= std::log(2.0) && std::log(2.0) <= summary.high;
  }
  EXPECT_GE(covered, trials * 0.94);
}

TEST(Statistics, OutliersDoNotMoveTheMedian) {
  std::vector<double> samples(21, 100.0);
  samples[0] = samples[1] = 1e9;
  Summary summary = summarize(samples);
  EXPECT_EQ(summary.median, 100);
  EXPECT_EQ(summary.high, 100);
}

TEST(Statistics, ManySamplesDoNotUnderflow) {
  std::vector<double> samples;
  for (int i = 0; i < 5000; ++i)
    samples.push_back(i);
  Summary summary = summarize(samples);
  EXPECT_GT(summary.low, 2400);
  EXPECT_LT(summary.high, 2600);
}

TEST(Statistics, OverlapIsSymmetric) {
  Summary a{1, 0, 2}, b{2, 2, 3}, c{5, 4, 6};
  EXPECT_TRUE(a.overlaps(b) && b.overlaps(a));
  EXPECT_FALSE(a.overlaps(c) || c.overlaps(a));
}
