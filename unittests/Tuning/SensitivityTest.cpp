// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attune/Tuning/Sensitivity.h"
#include "gtest/gtest.h"

using namespace attune::tuning;

namespace {
struct SensitivityTest : testing::Test {
  SensitivityTest()
      : space({{"rows", 1, {1, 2, 3}},
               {"order", 0, {0, 1}, {"up", "down"}},
               {"fixed", 7, {7, 8}}}) {
    outcome.timed = true;
  }

  void add(Point point, std::vector<double> samples) {
    Result &result = outcome.results.emplace_back();
    result.point = std::move(point);
    result.stage = Stage::Measure;
    result.samples = std::move(samples);
    if (result.samples.empty())
      result.status = Status::WrongResult;
  }

  Space space;
  Outcome outcome;
};
} // namespace

TEST_F(SensitivityTest, ComparesTheBestOfEachValue) {
  add({1, 0, 7}, {125});
  add({2, 0, 7}, {100});
  add({2, 1, 7}, {110});
  add({1, 1, 7}, {200});
  add({3, 1, 7}, {}); // nothing is known of 3,
  add({1, 0, 8}, {}); // and nothing of 8
  outcome.pickWinner();
  std::vector<KnobEffect> effects = getSensitivity(space, outcome);
  ASSERT_EQ(effects.size(), 2u);
  EXPECT_EQ(effects[0].knob, 0u);
  EXPECT_DOUBLE_EQ(effects[0].getWorst(), 1.25);
  EXPECT_TRUE(effects[0].matters());
  EXPECT_EQ(describe(space, outcome, effects[0]),
            "2 is best; 1 is 25.0 % slower (2 candidates)");
  EXPECT_EQ(describe(space, outcome, effects[1]),
            "up is best; down is 10.0 % slower (2 candidates)");
}

TEST_F(SensitivityTest, ClaimsNothingWithinTheNoise) {
  add({1, 0, 7}, {100, 101, 106});
  add({2, 0, 7}, {104, 105, 106});
  add({3, 0, 7}, {107, 108, 109});
  outcome.pickWinner();
  std::vector<KnobEffect> effects = getSensitivity(space, outcome);
  ASSERT_EQ(effects.size(), 1u);
  EXPECT_EQ(describe(space, outcome, effects[0]),
            "1 is best; 2 is no slower beyond the noise (1 candidate), 3 is "
            "6.9 % slower (1 candidate)");
  outcome.results.pop_back();
  EXPECT_FALSE(getSensitivity(space, outcome)[0].matters());
}

// Times of the final decide, whatever was measured in a faster minute.
TEST_F(SensitivityTest, TheWinnersValueIsBest) {
  add({1, 0, 7}, {100});
  outcome.results.back().stage = Stage::Final;
  add({2, 0, 7}, {99});
  outcome.pickWinner();
  std::vector<KnobEffect> effects = getSensitivity(space, outcome);
  ASSERT_EQ(effects.size(), 1u);
  EXPECT_FALSE(effects[0].matters());
  EXPECT_EQ(effects[0].values[0].value, 1);
}

TEST_F(SensitivityTest, SaysWhatAModelThinks) {
  outcome.timed = false;
  add({1, 0, 7}, {1});
  add({2, 0, 7}, {1});
  for (Result &result : outcome.results)
    result.samples.clear();
  EXPECT_TRUE(getSensitivity(space, outcome).empty()); // no winner
  outcome.pickWinner();
  EXPECT_TRUE(getSensitivity(space, outcome).empty()); // no model
  outcome.results[0].score = 10;
  outcome.results[1].score = 11;
  outcome.pickWinner();
  std::vector<KnobEffect> effects = getSensitivity(space, outcome);
  ASSERT_EQ(effects.size(), 1u);
  EXPECT_EQ(describe(space, outcome, effects[0]),
            "1 is best by model; 2 is 10.0 % slower (1 candidate)");
}
