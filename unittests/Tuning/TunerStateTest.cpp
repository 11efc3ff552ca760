// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Searches in a stated state of the device: what is relative to the baseline,
// what is not mixed, what is said, and what wins by time and energy.

#include "Fake.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace attune;
using namespace attune::tuning;

static fake::Settings makeSustained() {
  fake::Settings settings = fake::makeSettings();
  settings.options.state = ChipState::Sustained;
  return settings;
}

/// How many lines of a text have some words.
static size_t countLines(llvm::StringRef text, llvm::StringRef words) {
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n');
  return llvm::count_if(
      lines, [&](llvm::StringRef line) { return line.contains(words); });
}

/// Expects of each result the time that it would have had beside the first
/// measurement of the baseline.
static void expectTimesWithoutDrift(const Outcome &outcome) {
  for (const Result &result : outcome.results)
    EXPECT_NEAR(result.getSummary().median,
                fake::getTime(fake::getX(result)) + 1, 0.01)
        << fake::getX(result);
}

TEST(TunerState, TimesAreRelativeToTheBaseline) {
  fake::Problem problem;
  // The last of the search takes 1.8 times as long as it would have at first.
  problem.drift = 0.1;
  Outcome outcome = fake::mustSearch(problem, makeSustained());
  EXPECT_EQ(outcome.results.size(), 8u);
  EXPECT_EQ(fake::getWinner(outcome), 5);
  expectTimesWithoutDrift(outcome);
  for (const Result &result : outcome.results)
    if (result.stage == Stage::Measure && fake::getX(result) != 0)
      EXPECT_GT(*result.conditions.baselineNs, fake::getTime(0) + 1);
}

TEST(TunerState, ACoolDeviceIsMeasuredAsItIs) {
  fake::Problem problem;
  problem.drift = 0.1;
  fake::Settings settings = fake::makeSettings();
  settings.options.state = ChipState::Cool;
  Outcome outcome = fake::mustSearch(problem, settings);
  for (const Result &result : outcome.results)
    EXPECT_EQ(result.conditions.baselineNs, std::nullopt);
  EXPECT_GT(outcome.results[*outcome.winner].getSummary().median,
            1.5 * fake::getTime(5));
}

TEST(TunerState, StatesAreNotMixed) {
  fake::TemporaryFolder folder;
  fake::Settings settings = makeSustained();
  settings.database = folder / "tuning.db";
  EXPECT_EQ(fake::mustSearch({}, settings).reused, 0u);
  settings.options.state = ChipState::Cool;
  Outcome cool = fake::mustSearch({}, settings);
  EXPECT_EQ(cool.reused + cool.copied, 0u);
  for (const Result &result : cool.results)
    EXPECT_EQ(result.conditions.state, ChipState::Cool);
  settings.options.state = ChipState::Sustained;
  Outcome again = fake::mustSearch({}, settings);
  EXPECT_EQ(again.reused, 8u);
  for (const Result &result : again.results)
    EXPECT_EQ(result.conditions.state, ChipState::Sustained);
}

TEST(TunerState, AStoredBaselineIsCompiledForNewCandidates) {
  fake::TemporaryFolder folder;
  fake::Problem problem;
  problem.log = folder / "log";
  problem.drift = 0.1;
  fake::Settings settings = makeSustained();
  settings.database = folder / "tuning.db";
  settings.options.budgetCandidates = 3;
  fake::mustSearch(problem, settings);
  size_t before = fake::readLines(problem.log).size();
  settings.options.budgetCandidates.reset();
  Outcome outcome = fake::mustSearch(problem, settings);
  EXPECT_EQ(outcome.reused, 3u);
  std::vector<std::string> lines = fake::readLines(problem.log);
  lines.erase(lines.begin(), lines.begin() + before);
  EXPECT_EQ(llvm::count(lines, "compile:0"), 1);
  EXPECT_EQ(fake::getWinner(outcome), 5);
  expectTimesWithoutDrift(outcome);
  // Where nothing is measured, nothing is compiled.
  before += lines.size();
  fake::mustSearch(problem, settings);
  EXPECT_EQ(fake::readLines(problem.log).size(), before);
}

TEST(TunerState, WithoutABaselineTimesAreThoseOfTheDevice) {
  fake::Problem problem;
  problem.faults["measure:0"] = "wrong";
  Outcome outcome = fake::mustSearch(problem, makeSustained());
  EXPECT_EQ(fake::getWinner(outcome), 5);
  for (const Result &result : outcome.results)
    EXPECT_EQ(result.conditions.baselineNs, std::nullopt);
}

TEST(TunerState, FinalistsHaveEnergy) {
  fake::TemporaryFolder folder;
  fake::Settings settings = makeSustained();
  settings.database = folder / "tuning.db";
  for (int run = 0; run < 2; ++run) {
    Outcome outcome = fake::mustSearch({}, settings);
    EXPECT_EQ(fake::getWinner(outcome), 5);
    for (const Result &result : outcome.results) {
      bool wasInFinal = result.wasInFinal();
      EXPECT_EQ(result.conditions.energyJoules.has_value(), wasInFinal);
      if (wasInFinal)
        EXPECT_NEAR(*result.conditions.picojoulesPerFlop,
                    fake::getEnergy(fake::getX(result)) * 10, 1e-9);
    }
  }
}

TEST(TunerState, TheWinnerIsThatOfTheObjective) {
  fake::TemporaryFolder folder;
  fake::Settings settings = makeSustained();
  settings.database = folder / "tuning.db";
  for (const auto &[objective, winner] :
       {std::pair(Objective::Time, 5), std::pair(Objective::Energy, 2),
        std::pair(Objective::EnergyDelay, 3)}) {
    settings.options.objective = objective;
    Outcome outcome = fake::mustSearch({}, settings);
    EXPECT_EQ(fake::getWinner(outcome), winner) << toString(objective).str();
    EXPECT_EQ(outcome.results[*outcome.winner].stage, Stage::Proof);
    // The same from what is stored alone.
    fake::Settings stored = settings;
    stored.options.budgetSeconds = 0;
    EXPECT_EQ(fake::getWinner(fake::mustSearch({}, stored)), winner);
  }
}

TEST(TunerState, WhatSpoilsTimesIsSaidOnce) {
  fake::Problem problem;
  problem.settles = false;
  problem.countsEnergy = false;
  testing::internal::CaptureStderr();
  Outcome outcome = fake::mustSearch(problem, makeSustained());
  std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(countLines(text, "warning: clock and power did not settle"), 1u)
      << text;
  EXPECT_EQ(countLines(text, "warning: the device has no counter of energy"),
            1u)
      << text;
  EXPECT_EQ(fake::getWinner(outcome), 5);
  EXPECT_EQ(outcome.results[*outcome.winner].conditions.settled, false);
}

TEST(TunerState, WithoutEnergyNothingWinsByIt) {
  fake::Problem problem;
  problem.countsEnergy = false;
  fake::Settings settings = makeSustained();
  settings.options.objective = Objective::Energy;
  testing::internal::CaptureStderr();
  Outcome outcome = fake::mustSearch(problem, settings);
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(outcome.winner, std::nullopt);
  EXPECT_EQ(outcome.results.size(), 8u);
}
