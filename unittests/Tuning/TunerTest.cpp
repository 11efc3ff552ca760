// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a search measures, reuses and decides.

#include "Fake.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace attune::tuning;

/// Seconds that a search may take beyond its budget on a busy machine. Without
/// the budget it would take at least twice as long.
constexpr double kSlack = 3;

static size_t countSteps(const std::string &log, llvm::StringRef kind) {
  return llvm::count_if(fake::readLines(log), [&](const std::string &line) {
    return llvm::StringRef(line).starts_with(kind);
  });
}

TEST(Tuner, FindsTheFastest) {
  for (const char *strategy : {"grid", "random"}) {
    fake::Settings settings = fake::makeSettings();
    settings.strategy = strategy;
    Outcome outcome = fake::mustSearch({}, settings);
    EXPECT_EQ(outcome.results.size(), 8u);
    EXPECT_EQ(fake::getWinner(outcome), 5);
    ASSERT_TRUE(outcome.baseline.has_value());
    EXPECT_EQ(fake::getX(outcome.results[*outcome.baseline]), 0);
    EXPECT_FALSE(outcome.budgetSpent);
    EXPECT_TRUE(outcome.ties.empty());
  }
}

TEST(Tuner, TheBestAreMeasuredAgainInTurn) {
  fake::TemporaryFolder folder;
  fake::Problem problem;
  problem.log = folder / "log";
  fake::Settings settings = fake::makeSettings();
  settings.options.finalists = 3;
  settings.options.finalRounds = 4;
  Outcome outcome = fake::mustSearch(problem, settings);
  std::vector<std::string> lines = fake::readLines(problem.log);
  // The first round is of twice as many, and the winner is proven.
  ASSERT_EQ(lines.size(), 8u + 8u + 6 + 3 * 3 + 1);
  EXPECT_EQ(lines.back(), "prove:5");
  lines.pop_back();
  std::vector<std::string> first(lines.end() - 15, lines.end() - 9);
  EXPECT_EQ(std::set<std::string>(first.begin(), first.end()).size(), 6u);
  std::vector<std::string> final(lines.end() - 9, lines.end());
  for (int round = 1; round < 3; ++round)
    EXPECT_TRUE(std::equal(final.begin(), final.begin() + 3,
                           final.begin() + 3 * round));
  EXPECT_EQ(llvm::count_if(outcome.results,
                           [](const Result &r) { return r.wasInFinal(); }),
            3);
  EXPECT_EQ(outcome.results[*outcome.winner].stage, Stage::Proof);
  EXPECT_EQ(outcome.results[*outcome.winner].samples.size(), 4 * 9u);
}

TEST(Tuner, AFinalistThatFailsCannotWin) {
  fake::Problem problem;
  problem.faults["measure:5"] = "wrong-later";
  Outcome outcome = fake::mustSearch(problem, fake::makeSettings());
  EXPECT_TRUE(fake::getWinner(outcome) == 4 || fake::getWinner(outcome) == 6)
      << fake::getWinner(outcome);
}

/// The status of a candidate after a search of 8 whose resources are as given.
static Status getStatus(int64_t x, int64_t spilledBytes, int64_t serialized) {
  fake::Problem problem;
  problem.spilledBytes = spilledBytes;
  problem.serialized = serialized;
  fake::Settings settings = fake::makeSettings();
  settings.jobs = 1;
  Outcome outcome = fake::mustSearch(problem, settings);
  EXPECT_EQ(fake::getWinner(outcome), 5);
  for (const Result &result : outcome.results)
    if (fake::getX(result) == x)
      return result.status;
  ADD_FAILURE() << "expects a result of " << x;
  return Status::Ok;
}

TEST(Tuner, WhatSpillsMuchOrSerializesIsNotTimed) {
  EXPECT_EQ(getStatus(7, 512, 0), Status::Ok);
  EXPECT_EQ(getStatus(7, 513, 0), Status::Refused);
  EXPECT_EQ(getStatus(6, 0, 0), Status::Ok);
  EXPECT_EQ(getStatus(6, 0, 1), Status::Refused);
}

TEST(Tuner, TheLimitOfSpillsIsAnOption) {
  fake::Problem problem;
  fake::Settings settings = fake::makeSettings();
  settings.jobs = 1;
  fake::TemporaryFolder folder;
  settings.database = folder / "results.db";
  // What one limit refused is measured under a larger one, and what was
  // measured is refused under a smaller one.
  for (auto [limit, status] :
       {std::pair(63, Status::Refused), std::pair(64, Status::Ok),
        std::pair(63, Status::Refused)}) {
    settings.options.mostSpilledBytes = limit;
    for (const Result &result : fake::mustSearch(problem, settings).results)
      if (fake::getX(result) == 7)
        EXPECT_EQ(result.status, status) << limit;
  }
}

TEST(Tuner, WhatTheAssemblerSerializedIsNotCompiledAgain) {
  fake::TemporaryFolder folder;
  fake::Problem problem;
  problem.log = folder / "log";
  // It spills as well, by less than the limit.
  problem.serialized = 1;
  fake::Settings settings = fake::makeSettings();
  settings.jobs = 1;
  settings.database = folder / "results.db";
  fake::mustSearch(problem, settings);
  size_t steps = fake::readLines(problem.log).size();
  Outcome second = fake::mustSearch(problem, settings);
  EXPECT_EQ(fake::readLines(problem.log).size(), steps);
  for (const Result &result : second.results)
    if (fake::getX(result) == 6)
      EXPECT_EQ(result.status, Status::Refused);
}

TEST(Tuner, WhatSpillsIsTimedWhereThereIsNothingElse) {
  fake::Problem problem;
  problem.spilledBytes = 4000;
  for (int64_t x = 0; x < 7; ++x)
    problem.faults["compile:" + std::to_string(x)] = "error";
  EXPECT_EQ(fake::getWinner(fake::mustSearch(problem, fake::makeSettings())),
            7);
}

TEST(Tuner, OverlappingIntervalsAreATie) {
  fake::Problem problem;
  problem.candidates = 12;
  Outcome outcome = fake::mustSearch(problem, fake::makeSettings());
  EXPECT_TRUE(outcome.ties.empty());
  outcome.ties.clear();
  for (Result &result : outcome.results)
    if (fake::getX(result) == 4 && result.isTimed())
      result.samples = outcome.results[*outcome.winner].samples;
  outcome.pickWinner();
  ASSERT_EQ(outcome.ties.size(), 1u);
}

TEST(Tuner, StoredResultsAreNotMeasuredAgain) {
  fake::TemporaryFolder folder;
  fake::Problem problem;
  problem.log = folder / "log";
  problem.faults = {{"compile:1", "error"}, {"measure:2", "hang"}};
  fake::Settings settings = fake::makeSettings();
  settings.database = folder / "tuning.db";
  Outcome first = fake::mustSearch(problem, settings);
  size_t steps = fake::readLines(problem.log).size();
  Outcome second = fake::mustSearch(problem, settings);
  EXPECT_EQ(fake::readLines(problem.log).size(), steps);
  EXPECT_EQ(second.reused, 8u);
  EXPECT_EQ(fake::getWinner(second), fake::getWinner(first));
  for (const Result &result : second.results)
    EXPECT_EQ(result.status, fake::getX(result) == 1   ? Status::CompileError
                             : fake::getX(result) == 2 ? Status::Timeout
                                                       : Status::Ok);
  settings.options.retune = true;
  Outcome third = fake::mustSearch(problem, settings);
  EXPECT_EQ(third.reused, 0u);
  EXPECT_GT(fake::readLines(problem.log).size(), steps);
}

TEST(Tuner, EqualBinariesAreTimedOnce) {
  fake::TemporaryFolder folder;
  fake::Problem problem;
  problem.candidates = 12;
  problem.sameBinary = 3;
  problem.log = folder / "log";
  fake::Settings settings = fake::makeSettings();
  settings.options.finalists = 0;
  Outcome outcome = fake::mustSearch(problem, settings);
  EXPECT_EQ(countSteps(problem.log, "compile"), 12u);
  EXPECT_EQ(countSteps(problem.log, "measure"), 4u);
  EXPECT_EQ(outcome.copied, 8u);
  EXPECT_EQ(outcome.results.size(), 12u);
  for (const Result &result : outcome.results)
    EXPECT_TRUE(result.isTimed());
}

TEST(Tuner, ABudgetOfCandidatesIsKept) {
  fake::Settings settings = fake::makeSettings();
  settings.options.budgetCandidates = 3;
  Outcome outcome = fake::mustSearch({}, settings);
  EXPECT_EQ(outcome.results.size(), 3u);
  EXPECT_TRUE(outcome.budgetSpent);
  EXPECT_TRUE(outcome.winner.has_value());
}

TEST(Tuner, WithoutABudgetNothingIsTried) {
  for (bool hasDevice : {true, false}) {
    fake::Settings settings = fake::makeSettings();
    settings.device = hasDevice;
    settings.check = !hasDevice;
    settings.options.budgetCandidates = 0;
    EXPECT_TRUE(fake::mustSearch({}, settings).results.empty());
    settings.options.budgetCandidates.reset();
    settings.options.budgetSeconds = 0;
    EXPECT_TRUE(fake::mustSearch({}, settings).results.empty());
  }
}

TEST(Tuner, AShortBudgetHasTheDefault) {
  fake::Settings settings = fake::makeSettings();
  // It is over before anything else can be asked for.
  settings.options.budgetSeconds = 1e-12;
  Outcome outcome = fake::mustSearch({}, settings);
  ASSERT_EQ(outcome.results.size(), 1u);
  EXPECT_EQ(fake::getWinner(outcome), 0);
}

TEST(Tuner, ABudgetOfTimeHoldsForChecks) {
  fake::Problem problem;
  problem.candidates = 1000;
  problem.sleepMs = 20;
  problem.faults = {{"check:0", "hang"}};
  fake::Settings settings = fake::makeSettings();
  settings.device = false;
  settings.check = true;
  settings.limits.requestSeconds = 60;
  settings.options.budgetSeconds = 2;
  Outcome outcome = fake::mustSearch(problem, settings);
  EXPECT_LT(outcome.seconds, 2 + kSlack);
  ASSERT_TRUE(outcome.winner.has_value());
  EXPECT_EQ(outcome.results[*outcome.winner].stage, Stage::Compile);
}

TEST(Tuner, SeedsComeBeforeTheStrategy) {
  fake::Settings settings = fake::makeSettings();
  settings.options.budgetCandidates = 4;
  // One that is not legal, one that is named twice, and the default.
  settings.seeds = {{99}, {6}, {6}, {0}, {4}};
  Outcome outcome = fake::mustSearch({}, settings);
  std::set<int64_t> tried;
  for (const Result &result : outcome.results)
    tried.insert(fake::getX(result));
  EXPECT_EQ(tried, (std::set<int64_t>{0, 1, 4, 6}));
  EXPECT_EQ(fake::getWinner(outcome), 4);
}

TEST(Tuner, ABudgetOfTimeIsKept) {
  fake::Problem problem;
  problem.candidates = 1000;
  problem.sleepMs = 20;
  fake::Settings settings = fake::makeSettings();
  settings.options.budgetSeconds = 1;
  settings.options.finalists = 0;
  Outcome outcome = fake::mustSearch(problem, settings);
  EXPECT_LT(outcome.seconds, 2 + kSlack);
  EXPECT_GT(outcome.results.size(), 5u);
  EXPECT_TRUE(outcome.budgetSpent);
  EXPECT_TRUE(outcome.winner.has_value());
}

TEST(Tuner, TheFinalIsPartOfTheBudget) {
  fake::Problem problem;
  problem.candidates = 1000;
  problem.sleepMs = 20;
  fake::Settings settings = fake::makeSettings();
  settings.options.budgetSeconds = 2;
  settings.options.finalists = 4;
  settings.options.finalRounds = 8;
  Outcome outcome = fake::mustSearch(problem, settings);
  EXPECT_LT(outcome.seconds, 2 + kSlack);
  EXPECT_TRUE(outcome.budgetSpent);
  ASSERT_TRUE(outcome.winner.has_value());
  EXPECT_EQ(outcome.results[*outcome.winner].stage, Stage::Proof);
  EXPECT_GT(outcome.results[*outcome.winner].samples.size(), 9u);
}

TEST(Tuner, WithoutTimeForARoundTheSearchDecides) {
  // Two are compiled after 300 ms, and timed at once until 600 ms: in turn that
  // would take 600 of the 400 that are left, or of fewer on a busy machine.
  fake::Problem problem;
  problem.candidates = 1000;
  problem.sleepMs = 300;
  fake::Settings settings = fake::makeSettings();
  settings.devices = 2;
  settings.options.budgetSeconds = 1;
  settings.options.finalists = 1000;
  Outcome outcome = fake::mustSearch(problem, settings);
  EXPECT_LT(outcome.seconds, 2 + kSlack);
  ASSERT_TRUE(outcome.winner.has_value());
  EXPECT_EQ(outcome.results[*outcome.winner].stage, Stage::Proof);
  EXPECT_EQ(outcome.results[*outcome.winner].samples.size(), 9u);
}

static size_t countUntimed(const Outcome &outcome) {
  return llvm::count_if(outcome.results, [](const Result &result) {
    return result.status == Status::Ok && !result.isTimed();
  });
}

TEST(Tuner, WhatWasCompiledIsKeptAndMeasuredLater) {
  fake::TemporaryFolder folder;
  fake::Problem problem;
  problem.candidates = 100;
  problem.sleepMs = 50;
  fake::Settings settings = fake::makeSettings();
  settings.database = folder / "tuning.db";
  settings.options.budgetSeconds = 1;
  settings.options.finalists = 0;
  Outcome first = fake::mustSearch(problem, settings);
  size_t untimed = countUntimed(first);
  EXPECT_GT(untimed, 0u);
  for (const Result &result : first.results) {
    EXPECT_EQ(result.stage == Stage::Compile, !result.isTimed());
    EXPECT_TRUE(result.resources.registers.has_value());
    EXPECT_FALSE(result.binaryHash.empty());
  }
  {
    auto store = Store::openReadOnly(settings.database);
    ASSERT_TRUE(bool(store));
    // And the winner's proof.
    EXPECT_EQ((*(*store)->getSessions())[0].results,
              int64_t(first.results.size() + 1));
  }
  problem.sleepMs = 0;
  settings.options.budgetSeconds.reset();
  Outcome second = fake::mustSearch(problem, settings);
  EXPECT_EQ(second.results.size(), 100u);
  EXPECT_EQ(second.reused, first.results.size() - untimed);
  EXPECT_EQ(countUntimed(second), 0u);
}

TEST(Tuner, AStoredWinnerNeedsNoDevice) {
  fake::TemporaryFolder folder;
  fake::Problem problem;
  problem.candidates = 20;
  problem.log = folder / "log";
  fake::Settings settings = fake::makeSettings();
  settings.database = folder / "tuning.db";
  EXPECT_EQ(fake::getWinner(fake::mustSearch(problem, settings)), 5);
  size_t lines = fake::readLines(problem.log).size();
  // No time, and no worker that could measure.
  for (auto spend :
       {+[](TunerOptions &options) { options.budgetSeconds = 0; },
        +[](TunerOptions &options) { options.budgetCandidates = 0; }}) {
    fake::Settings lookup = settings;
    lookup.deviceCommand = {"/bin/false", "false"};
    spend(lookup.options);
    Outcome outcome = fake::mustSearch(problem, lookup);
    EXPECT_EQ(fake::getWinner(outcome), 5);
    EXPECT_EQ(outcome.results.size(), 2u); // and the default schedule
    EXPECT_EQ(outcome.reused, 2u);
  }
  EXPECT_EQ(fake::readLines(problem.log).size(), lines);
  // Not where all is to be measured again.
  settings.options.budgetCandidates = 0;
  settings.options.retune = true;
  EXPECT_TRUE(fake::mustSearch(problem, settings).results.empty());
}

TEST(Tuner, ALaterSearchMayFindABetterWinner) {
  fake::TemporaryFolder folder;
  fake::Problem problem;
  problem.candidates = 20;
  fake::Settings settings = fake::makeSettings();
  settings.database = folder / "tuning.db";
  settings.options.budgetCandidates = 4;
  EXPECT_EQ(fake::getWinner(fake::mustSearch(problem, settings)), 3);
  settings.options.budgetCandidates.reset();
  Outcome outcome = fake::mustSearch(problem, settings);
  EXPECT_EQ(fake::getWinner(outcome), 5);
  EXPECT_EQ(outcome.reused, 4u);
  // A worse one is no reason to forget it.
  settings.options.budgetCandidates = 2;
  EXPECT_EQ(fake::getWinner(fake::mustSearch(problem, settings)), 5);
}

TEST(Tuner, ABudgetThatEndsInAMeasurementEndsAfterIt) {
  fake::Problem problem;
  problem.candidates = 100;
  problem.measureMs = 600;
  fake::Settings settings = fake::makeSettings();
  settings.options.budgetSeconds = 0.9;
  Outcome outcome = fake::mustSearch(problem, settings);
  EXPECT_TRUE(outcome.budgetSpent);
  EXPECT_TRUE(outcome.winner.has_value());
  EXPECT_LT(outcome.seconds, 0.9 + 0.6 + kSlack);
}

TEST(Tuner, TheDriverTakesLittleOfARun) {
  // A candidate takes a device as long as one of a large problem does.
  fake::Problem problem;
  problem.candidates = fake::choose(10, 100);
  problem.measureMs = 100;
  fake::Settings settings = fake::makeSettings();
  settings.options.finalists = 0;
  Outcome outcome = fake::mustSearch(problem, settings);
  double share = outcome.seconds / (problem.candidates * 0.1) - 1;
  fake::tell(llvm::formatv("the driver takes {0:F1} % of a run of candidates "
                           "that take 100 ms",
                           100 * share));
  if (fake::isFull())
    EXPECT_LT(share, 0.05);
}

TEST(Tuner, TheStateOfTheDeviceIsStored) {
  fake::TemporaryFolder folder;
  fake::Settings settings = fake::makeSettings();
  settings.database = folder / "tuning.db";
  for (int run = 0; run < 2; ++run)
    for (const Result &result : fake::mustSearch({}, settings).results)
      EXPECT_EQ(std::tuple(*result.conditions.clockMHz,
                           *result.conditions.powerWatts,
                           *result.conditions.temperatureCelsius),
                std::tuple(1000 + fake::getX(result), 300 + fake::getX(result),
                           40 + fake::getX(result)));
}

TEST(Tuner, ItIsKnownWhenACandidateWasWhere) {
  fake::TemporaryFolder folder;
  fake::Problem problem;
  problem.sleepMs = 20;
  fake::Settings settings = fake::makeSettings();
  settings.database = folder / "tuning.db";
  Outcome outcome = fake::mustSearch(problem, settings);
  for (const Result &result : outcome.results) {
    ASSERT_TRUE(result.compiled && result.measured);
    EXPECT_GE(result.compiled->begin, 0);
    EXPECT_GE(result.compiled->end, result.compiled->begin + 0.02);
    EXPECT_GE(result.measured->begin, result.compiled->end);
    EXPECT_GE(result.measured->end, result.measured->begin + 0.02);
    EXPECT_LE(result.measured->end, outcome.seconds);
  }
  for (const Result &result : fake::mustSearch(problem, settings).results)
    EXPECT_FALSE(result.compiled || result.measured);
}

TEST(Tuner, WithoutADeviceNothingIsTimed) {
  fake::TemporaryFolder folder;
  fake::Problem problem;
  problem.log = folder / "log";
  fake::Settings settings = fake::makeSettings();
  settings.device = false;
  Outcome outcome = fake::mustSearch(problem, settings);
  EXPECT_EQ(countSteps(problem.log, "measure"), 0u);
  EXPECT_EQ(outcome.results.size(), 8u);
  EXPECT_FALSE(outcome.timed);
  ASSERT_TRUE(outcome.winner.has_value());
  // 7 spills; the model must not like it.
  EXPECT_EQ(fake::getX(outcome.results[outcome.rank().back()]), 7);
  for (const Result &result : outcome.results)
    EXPECT_FALSE(result.isTimed());
}

TEST(Tuner, WithoutADeviceTheNumbersOfTheBestAreChecked) {
  fake::TemporaryFolder folder;
  fake::Problem problem;
  problem.log = folder / "log";
  fake::Settings settings = fake::makeSettings();
  settings.database = folder / "tuning.db";
  settings.device = false;
  settings.check = true;
  settings.options.finalists = 2;
  // All but 7 have one score; the point decides.
  problem.faults = {{"check:0", "wrong"}, {"check:1", "segv"}};
  Outcome outcome = fake::mustSearch(problem, settings);
  EXPECT_EQ(fake::getWinner(outcome), 2);
  EXPECT_EQ(countSteps(problem.log, "check"), 4u);
  EXPECT_EQ(llvm::count_if(outcome.results,
                           [](const Result &result) {
                             return result.status == Status::WrongResult ||
                                    result.status == Status::Crash;
                           }),
            2);
  // What was checked is stored.
  Outcome again = fake::mustSearch(problem, settings);
  EXPECT_EQ(fake::getWinner(again), 2);
  EXPECT_EQ(countSteps(problem.log, "check"), 4u);
}

TEST(Tuner, RankingChangesTheOrderAndNothingElse) {
  fake::Settings settings = fake::makeSettings();
  Outcome with = fake::mustSearch({}, settings);
  settings.rank = false;
  Outcome without = fake::mustSearch({}, settings);
  EXPECT_EQ(with.results.size(), without.results.size());
  EXPECT_EQ(fake::getWinner(with), fake::getWinner(without));
  EXPECT_FALSE(without.results[0].score.has_value());
}

TEST(Tuner, ADefaultThatIsNotLegalIsNotTried) {
  fake::Settings settings = fake::makeSettings();
  settings.legality = [](const Probe &point) -> std::optional<Refusal> {
    return point[0] < 2
               ? std::optional(Refusal{"small", [] { return "too small"; }})
               : std::nullopt;
  };
  Outcome outcome = fake::mustSearch({}, settings);
  EXPECT_EQ(outcome.results.size(), 6u);
  EXPECT_FALSE(outcome.baseline.has_value());
  EXPECT_EQ(fake::getWinner(outcome), 5);
}

TEST(Tuner, ASpaceWithoutLegalPoints) {
  fake::Settings settings = fake::makeSettings();
  settings.legality = [](const Probe &) {
    return Refusal{"no", [] { return "never"; }};
  };
  Outcome outcome = fake::mustSearch({}, settings);
  EXPECT_TRUE(outcome.results.empty());
  EXPECT_FALSE(outcome.winner.has_value());
}

TEST(Tuner, OneCandidate) {
  fake::Problem problem;
  problem.candidates = 1;
  EXPECT_EQ(fake::getWinner(fake::mustSearch(problem, fake::makeSettings())),
            0);
}

static volatile sig_atomic_t interruptedFlag = 0;

TEST(Tuner, AnInterruptKeepsWhatIsDone) {
  fake::TemporaryFolder folder;
  fake::Problem problem;
  problem.candidates = 1000;
  problem.sleepMs = 20;
  problem.log = folder / "log";
  fake::Settings settings = fake::makeSettings();
  settings.database = folder / "tuning.db";
  settings.interrupted = &interruptedFlag;
  interruptedFlag = 0;
  signal(SIGALRM, [](int) { interruptedFlag = 1; });
  ualarm(900000, 0);
  Outcome outcome = fake::mustSearch(problem, settings);
  EXPECT_TRUE(outcome.interrupted);
  EXPECT_LT(outcome.seconds, 2 + kSlack);
  ASSERT_GT(outcome.results.size(), 1u);
  llvm::Expected<std::unique_ptr<Store>> store =
      Store::openReadOnly(settings.database);
  ASSERT_TRUE(bool(store));
  EXPECT_EQ((*(*store)->getSessions())[0].results,
            int64_t(outcome.results.size()));
  EXPECT_EQ((*(*store)->getSessions())[0].state, "interrupted");
}
