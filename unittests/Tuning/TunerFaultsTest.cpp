// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every fault at every position, the default schedule included: that candidate
// gets the right status, all others their usual result, and the search its
// valid winner.

#include "Fake.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace attune::tuning;

namespace {
struct Fault {
  const char *stage;
  const char *name;
  Status status;
};
void PrintTo(const Fault &fault, std::ostream *os) {
  *os << fault.stage << ":" << fault.name;
}

struct TunerFault : testing::TestWithParam<Fault> {};
} // namespace

static constexpr int64_t kNumCandidates = 8;

static void checkSearch(const fake::Problem &problem, const Fault &fault,
                        int64_t victim) {
  llvm::Expected<Outcome> outcome = fake::search(problem, fake::makeSettings());
  ASSERT_TRUE(bool(outcome)) << llvm::toString(outcome.takeError());
  ASSERT_EQ(outcome->results.size(), size_t(kNumCandidates));
  for (const Result &result : outcome->results) {
    if (fake::getX(result) == victim) {
      EXPECT_EQ(result.status, fault.status)
          << toString(result.status).str() << ": "
          << result.message.substr(0, 200);
      EXPECT_FALSE(result.isTimed());
      EXPECT_NE(result.message, "");
      continue;
    }
    ASSERT_EQ(result.status, Status::Ok) << result.message;
    EXPECT_EQ(result.getSummary().median,
              fake::getTime(fake::getX(result)) + 1);
  }
  ASSERT_TRUE(outcome->winner.has_value());
  EXPECT_EQ(fake::getX(outcome->results[*outcome->winner]),
            victim == 5 ? 4 : 5);
}

static double search(const fake::Problem &problem) {
  Clock::time_point start = Clock::now();
  llvm::cantFail(fake::search(problem, fake::makeSettings()).takeError());
  return std::chrono::duration<double>(Clock::now() - start).count();
}

TEST_P(TunerFault, CostsThatCandidateOnly) {
  Clock::duration taken{};
  // 0 is the default schedule and comes first, 7 comes last; 5 would have won.
  for (int64_t victim : {0, 3, 5, 7}) {
    SCOPED_TRACE("candidate " + std::to_string(victim));
    fake::Problem problem;
    problem.candidates = kNumCandidates;
    problem.faults[GetParam().stage + (":" + std::to_string(victim))] =
        GetParam().name;
    Clock::time_point start = Clock::now();
    checkSearch(problem, GetParam(), victim);
    taken += Clock::now() - start;
  }
  if (fake::isFull())
    fake::tell(
        llvm::formatv("{0} at {1}: {2:F0} ms more than a search without faults",
                      GetParam().name, GetParam().stage,
                      1e3 * (std::chrono::duration<double>(taken).count() / 4 -
                             search({.candidates = kNumCandidates}))));
}

INSTANTIATE_TEST_SUITE_P(
    All, TunerFault,
    testing::Values(Fault{"compile", "error", Status::CompileError},
                    Fault{"compile", "segv", Status::Crash},
                    Fault{"compile", "abort", Status::Crash},
                    Fault{"compile", "exit-0", Status::Crash},
                    Fault{"compile", "hang", Status::Timeout},
                    Fault{"compile", "garbage", Status::Crash},
                    Fault{"compile", "hog", Status::OutOfMemory},
                    Fault{"compile", "half-an-answer", Status::Crash},
                    Fault{"compile", "close-wire", Status::Crash},
                    Fault{"compile", "hang-with-child", Status::Timeout},
                    Fault{"compile", "no-status", Status::Crash},
                    Fault{"compile", "no-object", Status::Crash},
                    Fault{"measure", "run-error", Status::RunError},
                    Fault{"measure", "sticky", Status::RunError},
                    Fault{"measure", "abort", Status::Crash},
                    Fault{"measure", "wrong-id", Status::Crash},
                    Fault{"measure", "wrong", Status::WrongResult},
                    Fault{"measure", "segv", Status::Crash},
                    Fault{"measure", "exit-0", Status::Crash},
                    Fault{"measure", "hang", Status::Timeout},
                    Fault{"measure", "garbage", Status::Crash},
                    Fault{"measure", "nan", Status::Crash},
                    Fault{"measure", "negative", Status::Crash},
                    Fault{"measure", "no-samples", Status::Crash},
                    Fault{"measure", "flood", Status::Crash},
                    Fault{"measure", "hog", Status::OutOfMemory}),
    [](const auto &info) {
      std::string name = std::string(info.param.stage) + "_" + info.param.name;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST(TunerFaults, AWinnerThatCannotBeProvenIsNone) {
  for (auto [fault, status] :
       {std::pair("wrong", Status::WrongResult),
        std::pair("segv", Status::Crash), std::pair("hang", Status::Timeout),
        std::pair("sticky", Status::RunError),
        std::pair("garbage", Status::Crash)}) {
    fake::TemporaryFolder folder;
    fake::Problem problem;
    problem.faults = {{"prove:5", fault}};
    fake::Settings settings = fake::makeSettings();
    settings.database = folder / "tuning.db";
    llvm::Expected<Outcome> outcome = fake::search(problem, settings);
    ASSERT_TRUE(bool(outcome)) << llvm::toString(outcome.takeError());
    EXPECT_TRUE(fake::getWinner(*outcome) == 4 ||
                fake::getWinner(*outcome) == 6);
    EXPECT_EQ(outcome->results[*outcome->winner].stage, Stage::Proof);
    for (const Result &result : outcome->results)
      EXPECT_EQ(result.status, fake::getX(result) == 5 ? status : Status::Ok)
          << result.message;
    // Neither here nor from the database.
    outcome = fake::search(problem, settings);
    ASSERT_TRUE(bool(outcome));
    EXPECT_NE(fake::getWinner(*outcome), 5);
  }
}

TEST(TunerFaults, NoneThatIsProvenIsNoWinner) {
  fake::Problem problem;
  problem.candidates = 3;
  for (int64_t x = 0; x < 3; ++x)
    problem.faults["prove:" + std::to_string(x)] = "wrong";
  llvm::Expected<Outcome> outcome = fake::search(problem, fake::makeSettings());
  ASSERT_TRUE(bool(outcome));
  EXPECT_FALSE(outcome->winner.has_value());
}

TEST(TunerFaults, AProofThatAllFailEndsTheSearch) {
  fake::Problem problem;
  problem.candidates = 40;
  for (int64_t x = 0; x < 40; ++x)
    problem.faults["prove:" + std::to_string(x)] = "wrong";
  fake::Settings settings = fake::makeSettings();
  settings.options.finalists = 2;
  settings.options.finalRounds = 0;
  settings.options.budgetSeconds = 60;
  llvm::Expected<Outcome> outcome = fake::search(problem, settings);
  ASSERT_TRUE(bool(outcome));
  EXPECT_FALSE(outcome->winner.has_value());
  EXPECT_EQ(outcome->unproven, 8u);
  // Fewer are tried when the time is over.
  settings.options.budgetSeconds = 0.5;
  problem.measureMs = 100;
  outcome = fake::search(problem, settings);
  ASSERT_TRUE(bool(outcome));
  EXPECT_FALSE(outcome->winner.has_value());
  EXPECT_LT(outcome->unproven, 8u);
}

TEST(TunerFaults, ABudgetOfTimeHoldsForCompilation) {
  fake::Problem problem;
  for (int64_t x = 1; x < kNumCandidates; ++x)
    problem.faults["compile:" + std::to_string(x)] = "hang";
  fake::Settings settings = fake::makeSettings();
  settings.device = false;
  settings.limits.requestSeconds = 60;
  settings.options.budgetSeconds = 2;
  llvm::Expected<Outcome> outcome = fake::search(problem, settings);
  ASSERT_TRUE(bool(outcome)) << llvm::toString(outcome.takeError());
  // Nobody waits for what hangs, and the default is there.
  EXPECT_LT(outcome->seconds, 30);
  ASSERT_EQ(outcome->results.size(), 1u);
  EXPECT_EQ(fake::getWinner(*outcome), 0);
  EXPECT_TRUE(outcome->budgetSpent);
}

TEST(TunerFaults, AProofMayTakeLonger) {
  for (double extra : {0.0, 10.0}) {
    fake::Problem problem;
    problem.faults = {{"prove:5", "slow"}};
    fake::Settings settings = fake::makeSettings();
    settings.options.proofExtraSeconds = extra;
    llvm::Expected<Outcome> outcome = fake::search(problem, settings);
    ASSERT_TRUE(bool(outcome));
    EXPECT_EQ(fake::getWinner(*outcome) == 5, extra > 0);
  }
}

TEST(TunerFaults, AGigabyteOfMessagesIsRead) {
  fake::Problem problem;
  problem.faults = {{"measure:3", "gigabyte"}};
  fake::Settings settings = fake::makeSettings();
  settings.limits.requestSeconds = 60;
  llvm::Expected<Outcome> outcome = fake::search(problem, settings);
  ASSERT_TRUE(bool(outcome)) << llvm::toString(outcome.takeError());
  EXPECT_EQ(fake::getWinner(*outcome), 5);
  for (const Result &result : outcome->results)
    if (fake::getX(result) == 3) {
      EXPECT_EQ(result.status, Status::Crash);
      EXPECT_LT(result.message.size(), 20000u);
    } else {
      EXPECT_EQ(result.status, Status::Ok);
    }
}

TEST(TunerFaults, WhatWorkersLeakIsBounded) {
  fake::Problem problem;
  problem.candidates = 16;
  problem.leakedBytes = 32 << 20;
  fake::Settings settings = fake::makeSettings();
  settings.limits.requestsPerWorker = 4;
  llvm::Expected<Outcome> outcome = fake::search(problem, settings);
  ASSERT_TRUE(bool(outcome)) << llvm::toString(outcome.takeError());
  for (const Result &result : outcome->results)
    EXPECT_EQ(result.status, Status::Ok) << result.message;
  // Without that a request fails, or a worker is replaced after it.
  fake::TemporaryFolder folder;
  problem.log = folder / "log";
  settings.limits.requestsPerWorker = 1000;
  outcome = fake::search(problem, settings);
  ASSERT_TRUE(bool(outcome)) << llvm::toString(outcome.takeError());
  EXPECT_GT(fake::readLines(problem.log + ".workers").size(),
            settings.jobs + settings.devices);
}

TEST(TunerFaults, ABrokenDeviceEndsTheSearchWithAMessage) {
  // A worker that cannot compute its reference any more says so at its start.
  fake::Settings settings = fake::makeSettings();
  settings.deviceCommand = {"/bin/false", "false"};
  llvm::Expected<Outcome> outcome = fake::search({}, settings);
  ASSERT_FALSE(bool(outcome));
  EXPECT_NE(llvm::toString(outcome.takeError()).find("cannot start a worker"),
            std::string::npos);
}

TEST(TunerFaults, AllFail) {
  fake::Problem problem;
  problem.candidates = 3;
  for (int i = 0; i < 3; ++i)
    problem.faults["compile:" + std::to_string(i)] = "error";
  llvm::Expected<Outcome> outcome = fake::search(problem, fake::makeSettings());
  ASSERT_TRUE(bool(outcome));
  EXPECT_EQ(outcome->results.size(), 3u);
  EXPECT_FALSE(outcome->winner.has_value());
}

TEST(TunerFaults, AReproducerIsWrittenForEachFailure) {
  fake::TemporaryFolder folder;
  fake::Problem problem;
  problem.faults = {{"compile:1", "error"}, {"measure:2", "wrong"}};
  fake::Settings settings = fake::makeSettings();
  settings.options.reproDir = folder / "repro";
  llvm::Expected<Outcome> outcome = fake::search(problem, settings);
  ASSERT_TRUE(bool(outcome));
  std::map<std::string, std::string> files;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator it(folder / "repro", code), end;
       it != end; it.increment(code)) {
    std::string text;
    for (const std::string &line : fake::readLines(it->path()))
      text += line + "\n";
    files[text.find("compile-error") != std::string::npos ? "compile" : "run"] =
        text;
  }
  ASSERT_EQ(files.size(), 2u);
  EXPECT_NE(files["compile"].find("expects a better program"),
            std::string::npos);
  EXPECT_NE(files["compile"].find("// Reproduce with: attune-opt"),
            std::string::npos);
  EXPECT_NE(files["compile"].find("module {} // x = 1"), std::string::npos);
  EXPECT_NE(files["run"].find("// Reproduce with: attune-run"),
            std::string::npos);
  EXPECT_NE(files["run"].find("module {} // x = 2"), std::string::npos);
}

TEST(TunerFaults, AFullDiskEndsTheSearchWithAMessage) {
  llvm::Expected<Outcome> outcome = [] {
    fake::Settings settings = fake::makeSettings();
    settings.database = "/dev/full";
    return fake::search({}, settings);
  }();
  ASSERT_FALSE(bool(outcome));
  EXPECT_NE(llvm::toString(outcome.takeError()).find("/dev/full"),
            std::string::npos);
}
