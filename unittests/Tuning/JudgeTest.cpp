// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attune/Tuning/Judge.h"
#include "gtest/gtest.h"

using namespace attune::tuning;

namespace {
/// Schedules numbered from 0, with a prediction and a time each.
std::vector<Judged>
makeSchedules(llvm::ArrayRef<std::pair<double, double>> values) {
  std::vector<Judged> schedules;
  for (auto [predicted, time] : values) {
    Judged judged;
    judged.result.point = {static_cast<int64_t>(schedules.size())};
    judged.result.samples = {time};
    judged.predicted = predicted;
    judged.predictedCompiled = time;
    schedules.push_back(std::move(judged));
  }
  return schedules;
}

Space makeSpace(size_t size) {
  Knob knob{"x", 0, {}};
  for (size_t i = 0; i < size; ++i)
    knob.domain.push_back(static_cast<int64_t>(i));
  return Space({knob});
}
} // namespace

TEST(Judge, OrderAndErrorAreThoseOfTheValues) {
  Judgement right = judge(makeSchedules({{1, 2}, {2, 4}, {3, 6}}));
  EXPECT_EQ(right.count, 3u);
  EXPECT_DOUBLE_EQ(right.correlation, 1);
  EXPECT_DOUBLE_EQ(right.correlationCompiled, 1);
  EXPECT_DOUBLE_EQ(right.error, 0.5);
  EXPECT_DOUBLE_EQ(right.errorCompiled, 0);
  EXPECT_DOUBLE_EQ(judge(makeSchedules({{3, 1}, {2, 2}, {1, 3}})).correlation,
                   -1);
  // Ranks 0.5, 0.5, 2 against 0, 1, 2.
  EXPECT_NEAR(judge(makeSchedules({{1, 1}, {1, 2}, {2, 3}})).correlation, 0.866,
              1e-3);
  EXPECT_DOUBLE_EQ(judge(makeSchedules({{1, 1}, {1, 2}})).correlation, 0);
  EXPECT_DOUBLE_EQ(judge(makeSchedules({{2, 1}})).correlation, 0);
}

TEST(Judge, RegretIsOfTheBestInAShare) {
  std::vector<std::pair<double, double>> values;
  for (int i = 0; i < 100; ++i)
    values.emplace_back(i, 10);
  values[0].second = 20;
  values[3].second = 11;
  values[2].second = 12;
  values[1].second = 15;
  values[4].second = 16;
  for (int i = 5; i < 9; ++i)
    values[i].second = 30;
  Judgement found = judge(makeSchedules(values));
  EXPECT_DOUBLE_EQ(found.regret[0], 1);
  EXPECT_NEAR(found.regret[1], 0.1, 1e-9);
  EXPECT_DOUBLE_EQ(found.regret[2], 0);
}

TEST(Judge, AStrategyIsJudgedByWhatItFinds) {
  // In the model's order: 20, 15, 10.1, 10.25, and 56 that are slow.
  std::vector<std::pair<double, double>> values = {
      {4, 10.25}, {3, 10.1}, {2, 15}, {1, 20}};
  for (int i = 0; i < 55; ++i)
    values.emplace_back(10 + i, 40);
  values.emplace_back(100, 10);
  std::vector<Judged> schedules = makeSchedules(values);
  Space space = makeSpace(60);
  StrategyJudgement grid = judgeStrategy("grid", space, schedules, 1);
  EXPECT_DOUBLE_EQ(grid.regret[0], 1); // 1, 3 and 6 candidates
  EXPECT_NEAR(grid.regret[1], 0.01, 1e-9);
  EXPECT_NEAR(grid.regret[2], 0.01, 1e-9);
  EXPECT_NEAR(grid.regret[3], 0.01, 1e-9);
  EXPECT_EQ(grid.tried[0], 3);
  EXPECT_EQ(grid.tried[1], 3);
  EXPECT_DOUBLE_EQ(grid.shapes, 0.1);
  // The best is the last.
  EXPECT_DOUBLE_EQ(grid.fastest, 2. / 3);
  // As it was recorded.
  StrategyJudgement replay = judgeStrategy("replay", space, schedules, 1);
  EXPECT_NEAR(replay.regret[0], 0.025, 1e-9);
  EXPECT_EQ(replay.tried[0], 1);
  EXPECT_EQ(replay.tried[1], 2);
  // On average over searches.
  StrategyJudgement random = judgeStrategy("random", space, schedules, 20);
  EXPECT_GT(random.tried[1], 5);
  EXPECT_LT(random.tried[1], 50);
}
