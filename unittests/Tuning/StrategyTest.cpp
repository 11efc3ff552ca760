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

namespace {
/// Blocks and rings in the order of a model that takes rings for nothing.
struct GuidedStrategyTest : testing::Test {
  GuidedStrategyTest()
      : space({{"block-m", 0, {0, 1, 2, 3}},
               {"k-stages", 0, {0, 1, 2, 3}},
               {"v-stages", 0, {0, 1, 2, 3}}}) {
    for (uint64_t i = 0; i < space.size(); ++i)
      points.push_back(space.at(i));
  }

  Result measure(size_t candidate, double time) {
    Result result;
    result.point = points[candidate];
    result.samples = {time};
    result.score = 1;
    return result;
  }

  Space space;
  std::vector<Point> points;
};
} // namespace

TEST_F(GuidedStrategyTest, ShapesComeBeforeNeighbours) {
  auto strategy = createStrategy("guided", {space, points, 1});
  std::set<int64_t> shapes;
  std::vector<Point> asked;
  for (size_t candidate : strategy->ask(6)) {
    shapes.insert(points[candidate][0]);
    asked.push_back(points[candidate]);
  }
  EXPECT_EQ(shapes.size(), 4u);
  // Those that are not the first of a shape differ from all in two knobs.
  EXPECT_TRUE(llvm::is_contained(asked, Point({0, 1, 1})));
}

TEST_F(GuidedStrategyTest, WhatIsFastGetsNeighbours) {
  auto strategy = createStrategy("guided", {space, points, 1});
  std::vector<size_t> first = strategy->ask(2);
  ASSERT_EQ(points[first[0]], Point({0, 0, 0}));
  strategy->tell(first[0], measure(first[0], 1));
  std::vector<size_t> next = strategy->ask(3);
  size_t neighbours = llvm::count_if(next, [&](size_t candidate) {
    const Point &point = points[candidate];
    return (point[0] != 0) + (point[1] != 0) + (point[2] != 0) == 1 &&
           point[0] == 0;
  });
  EXPECT_EQ(neighbours, 1u);
}

TEST_F(GuidedStrategyTest, PriorityLearnsWhatAShapeTakes) {
  auto strategy = createStrategy("guided", {space, points, 1});
  size_t slow = 0, other = space.size() - 1;
  Result compiled = measure(slow, 1);
  EXPECT_EQ(strategy->getPriority(slow, compiled),
            strategy->getPriority(other, compiled));
  strategy->tell(slow, measure(slow, 4));
  strategy->tell(other, measure(other, 1));
  // Another of the slow shape, and one of a shape that was not tried.
  EXPECT_GT(strategy->getPriority(1, compiled),
            strategy->getPriority(20, compiled));
  EXPECT_GT(strategy->getPriority(20, compiled),
            strategy->getPriority(other - 1, compiled));
}

TEST_F(StrategyTest, UnknownNameIsNull) {
  EXPECT_EQ(createStrategy("oracle", {space, points, 1}), nullptr);
}
