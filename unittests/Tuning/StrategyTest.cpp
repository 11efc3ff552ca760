// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attune/Tuning/Strategy.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"
#include <set>

using namespace attune::tuning;

namespace {
struct StrategyTest : testing::Test {
  StrategyTest() : space({{"x", 0, {0}}}), points(100, Point{0}) {}

  std::vector<size_t> drain(llvm::StringRef name, uint64_t seed,
                            size_t step = 7) {
    std::unique_ptr<Strategy> strategy =
        createStrategy(name, {space, points, seed});
    std::vector<size_t> all;
    while (true) {
      std::vector<size_t> some = strategy->ask(step);
      if (some.empty())
        return all;
      EXPECT_LE(some.size(), step);
      all.insert(all.end(), some.begin(), some.end());
    }
  }

  Space space;
  std::vector<Point> points;
};
} // namespace

TEST_F(StrategyTest, EachGivesEveryCandidateOnce) {
  for (llvm::StringRef name : getStrategyNames()) {
    std::vector<size_t> all = drain(name, 1);
    EXPECT_EQ(all.size(), points.size()) << name.str();
    EXPECT_EQ(std::set<size_t>(all.begin(), all.end()).size(), points.size())
        << name.str();
  }
}

TEST_F(StrategyTest, EachIsDeterministicForASeedAndAnyBatch) {
  for (llvm::StringRef name : getStrategyNames()) {
    EXPECT_EQ(drain(name, 5, 1), drain(name, 5, 1)) << name.str();
    EXPECT_EQ(drain(name, 5, 1), drain(name, 5, 33)) << name.str();
  }
}

TEST_F(StrategyTest, GridKeepsTheOrder) {
  std::vector<size_t> all = drain("grid", 1);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
}

TEST_F(StrategyTest, RandomDependsOnTheSeed) {
  EXPECT_NE(drain("random", 1), drain("random", 2));
  // A seed means the same search on every machine and in every release.
  std::vector<size_t> all = drain("random", 1);
  all.resize(3);
  EXPECT_EQ(all, (std::vector<size_t>{65, 52, 64}));
}

TEST_F(StrategyTest, RandomIsSpreadOut) {
  // The mean place of the first half of the candidates among 1000 seeds.
  std::vector<double> sum(points.size());
  for (uint64_t seed = 0; seed < 1000; ++seed)
    for (auto [place, candidate] : llvm::enumerate(drain("random", seed, 100)))
      sum[candidate] += double(place) / 1000;
  for (double mean : sum)
    EXPECT_NEAR(mean, 49.5, 5); // five standard deviations are 4.6
}

TEST_F(StrategyTest, UnknownNameIsNull) {
  EXPECT_EQ(createStrategy("oracle", {space, points, 1}), nullptr);
}
