// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every fault at every position, the default schedule included: that candidate
// gets the right status, all others their usual result, and the search its
// valid winner.

#include "Fake.h"
#include "llvm/Support/FileSystem.h"
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

static constexpr int64_t kCandidates = 8;

static void checkSearch(const fake::Problem &problem, const Fault &fault,
                        int64_t victim) {
  llvm::Expected<Outcome> outcome = fake::search(problem, fake::makeSettings());
  ASSERT_TRUE(bool(outcome)) << llvm::toString(outcome.takeError());
  ASSERT_EQ(outcome->results.size(), size_t(kCandidates));
  for (const Result &result : outcome->results) {
    if (fake::getX(result) == victim) {
      EXPECT_EQ(result.status, fault.status)
          << toString(result.status).str() << ": " << result.message;
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

TEST_P(TunerFault, CostsThatCandidateOnly) {
  // 0 is the default schedule and comes first, 7 comes last; 5 would have won.
  for (int64_t victim : {0, 3, 5, 7}) {
    SCOPED_TRACE("candidate " + std::to_string(victim));
    fake::Problem problem;
    problem.candidates = kCandidates;
    problem.faults[GetParam().stage + (":" + std::to_string(victim))] =
        GetParam().name;
    checkSearch(problem, GetParam(), victim);
  }
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
                    Fault{"compile", "no-status", Status::Crash},
                    Fault{"compile", "no-object", Status::Crash},
                    Fault{"measure", "run-error", Status::RunError},
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
