// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A search whose devices execute candidates and time none.

#include "Fake.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace attune::tuning;

static fake::Settings makeExecuting() {
  fake::Settings settings = fake::makeSettings();
  settings.options.execute = true;
  settings.rank = false;
  settings.devices = 3;
  return settings;
}

static size_t countExecuted(const std::string &log) {
  return llvm::count_if(fake::readLines(log), [](const std::string &line) {
    return llvm::StringRef(line).starts_with("measure");
  });
}

static size_t count(const Outcome &outcome, Status status) {
  return llvm::count_if(outcome.results, [&](const Result &result) {
    return result.status == status && result.stage == Stage::Measure;
  });
}

TEST(TunerExecute, EqualBinariesAreExecutedOnceAtTheSameTimeToo) {
  fake::TemporaryFolder folder;
  fake::Problem problem;
  problem.candidates = 24;
  problem.sameBinary = 8;
  problem.sleepMs = 20;
  problem.log = folder / "log";
  Outcome outcome = fake::mustSearch(problem, makeExecuting());
  EXPECT_EQ(count(outcome, Status::Ok), 24u);
  EXPECT_EQ(outcome.countBinaries(), 3u);
  EXPECT_EQ(outcome.copied, 21u);
  EXPECT_EQ(countExecuted(problem.log), 3u);
}

TEST(TunerExecute, NothingIsTimedAndNothingIsBest) {
  fake::Problem problem;
  problem.faults = {{"measure:3", "no-samples"}};
  Outcome outcome = fake::mustSearch(problem, makeExecuting());
  EXPECT_EQ(count(outcome, Status::Ok), 8u);
  EXPECT_TRUE(outcome.executed);
  EXPECT_FALSE(outcome.timed);
  EXPECT_FALSE(outcome.winner.has_value());
}

TEST(TunerExecute, AFaultIsThatOfAllEqualBinaries) {
  fake::Problem problem;
  problem.sameBinary = 4;
  problem.faults = {{"measure:4", "wrong"}, {"compile:6", "error"}};
  fake::Settings settings = makeExecuting();
  settings.jobs = 1; // or another one could be the first
  Outcome outcome = fake::mustSearch(problem, settings);
  EXPECT_EQ(count(outcome, Status::Ok), 4u);
  EXPECT_EQ(count(outcome, Status::WrongResult), 3u);
  EXPECT_EQ(outcome.results.size(), 8u);
}

TEST(TunerExecute, OnlyWhatWasExecutedIsStored) {
  fake::TemporaryFolder folder;
  fake::Problem problem;
  problem.candidates = 40;
  problem.sleepMs = 20;
  problem.log = folder / "log";
  fake::Settings settings = makeExecuting();
  settings.database = folder / "tuning.db";
  settings.options.budgetSeconds = 0.3;
  Outcome first = fake::mustSearch(problem, settings);
  EXPECT_EQ(first.results.size(), count(first, Status::Ok));
  EXPECT_TRUE(first.budgetSpent);
  settings.options.budgetSeconds = std::nullopt;
  Outcome second = fake::mustSearch(problem, settings);
  EXPECT_EQ(second.reused, first.results.size());
  EXPECT_EQ(count(second, Status::Ok), 40u);
  EXPECT_EQ(countExecuted(problem.log), 40u);
}
