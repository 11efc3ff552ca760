// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attune/Tuning/Report.h"
#include "Fake.h"
#include "attune/Tuning/Reproducer.h"
#include "gtest/gtest.h"

using namespace attune::tuning;

namespace {
struct ReportTest : testing::Test {
  ReportTest() : space(fake::makeSpace({20})), task(fake::makeTask({})) {
    legal = findLegal(space, [](const Probe &point) -> std::optional<Refusal> {
      return point[0] > 15
                 ? std::optional(Refusal{
                       "too-large",
                       [x = point[0]] { return "x is " + std::to_string(x); }})
                 : std::nullopt;
    });
    for (const Point &point : legal.points) {
      Result &result = outcome.results.emplace_back();
      result.point = point;
      result.stage = Stage::Measure;
      result.score = double(point[0]);
      result.samples = {fake::getTime(point[0])};
    }
    outcome.results[3].status = Status::Crash;
    outcome.results[3].samples.clear();
    outcome.results[3].message = "worker ended by signal 11\nand more";
    outcome.baseline = 0;
    outcome.base = {0};
    outcome.timed = true;
  }

  std::string print(bool verbose = false) {
    std::string text;
    llvm::raw_string_ostream os(text);
    outcome.pickWinner();
    printReport(os, task, space, legal, outcome, verbose);
    return text;
  }

  Space space;
  Task task;
  LegalSpace legal;
  Outcome outcome;
};
} // namespace

static void expectContains(const std::string &text, const char *part) {
  EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in\n"
                                                << text;
}

TEST_F(ReportTest, SaysWhatAPersonAsks) {
  std::string text = print();
  expectContains(text, "16 of 16 legal schedules");
  expectContains(text, "default schedule: rank");
  expectContains(text, "the best is 1.50x as fast");
  expectContains(text, "other schedules: 4 refused by 1 rules (--verbose");
  EXPECT_EQ(text.find("too-large"), std::string::npos);
  expectContains(text,
                 "crash: 1, for example x=3: worker ended by signal 11\n");
  expectContains(text, "shared  schedule, where it is not the default\n");
  expectContains(text, "  x=5\n");
  // The winner comes last, and is told completely.
  EXPECT_TRUE(llvm::StringRef(text).ends_with("\nbest: x=5\n")) << text;
  expectContains(text, "1.0        1.0"); // TFLOP/s and us of the winner
}

TEST_F(ReportTest, TellsSchedulesByWhatIsNotTheDefault) {
  Space three(
      std::vector<Knob>{{"x", 0, {0, 1}}, {"y", 1, {0, 1}}, {"z", 1, {0, 1}}});
  EXPECT_EQ(three.toString(Point{0, 1, 1}, Point{0, 1, 1}), "default");
  EXPECT_EQ(three.toString(Point{1, 1, 0}, Point{0, 1, 1}), "x=1 z=0");
}

TEST_F(ReportTest, SaysMoreWhereThatIsAskedFor) {
  std::string text = print(/*verbose=*/true);
  expectContains(text, "refused, too-large: 4, for example x=16: x is 16");
  expectContains(text, "the default schedule is x=0\n");
  EXPECT_TRUE(llvm::StringRef(text).ends_with("\nbest: x=5\n")) << text;
}

TEST_F(ReportTest, ComparesWithDefaultAndVendor) {
  EXPECT_EQ(print().find("vendor"), std::string::npos);
  outcome.ties.clear();
  task.vendorTime = 2500;
  std::string text = print();
  expectContains(text, "over default over vendor");
  expectContains(text, "       1.50x       2.50x");
  expectContains(text,
                 "vendor: 2.5 us, 0.4 TFLOP/s; the best is 2.50x as fast");
  EXPECT_EQ(*makeReport(task, space, legal, {}, outcome).get("vendor_ns"),
            2500);
}

TEST_F(ReportTest, NeverPrintsATimeThatWasNotMeasured) {
  task.vendorTime = 2500;
  outcome.timed = false;
  for (Result &result : outcome.results)
    result.samples.clear();
  outcome.ranked = true;
  std::string text = print();
  expectContains(text, "rank predicted us numbers");
  expectContains(text, "   2          0.0       -"); // a score of 1 ns
  expectContains(text, "best by model: x=0");
  EXPECT_EQ(text.find("TFLOP/s"), std::string::npos);
  EXPECT_EQ(text.find("vendor"), std::string::npos);
}

TEST_F(ReportTest, SaysWhereNothingRanks) {
  outcome.timed = false;
  for (Result &result : outcome.results) {
    result.samples.clear();
    result.score.reset();
  }
  std::string text = print();
  expectContains(text, "first that is valid, for nothing ranks them: x=0");
  EXPECT_EQ(text.find("model"), std::string::npos);
}

TEST_F(ReportTest, ARefusedDefaultIsExplained) {
  outcome.baseline.reset();
  outcome.baselineRefusal =
      "shared-overflow: needs 300000 bytes, but the chip has 166912";
  expectContains(print(), "default schedule: refused (shared-overflow: needs "
                          "300000 bytes, but the chip has 166912)");
}

TEST_F(ReportTest, JSONHoldsEverything) {
  print();
  llvm::json::Object report = makeReport(task, space, legal, {}, outcome);
  EXPECT_EQ(report.getArray("results")->size(), 16u);
  EXPECT_EQ(report.getInteger("best"), 5);
  EXPECT_EQ(report.getInteger("default"), 0);
  EXPECT_EQ(report.getInteger("legal"), 16);
  EXPECT_EQ(
      report.getObject("refused")->getObject("too-large")->getInteger("count"),
      4);
  const llvm::json::Object *best =
      (*report.getArray("results"))[5].getAsObject();
  EXPECT_EQ(best->getNumber("median_ns"), 1000);
  EXPECT_EQ(best->getObject("schedule")->getInteger("x"), 5);
}

TEST_F(ReportTest, JSONHoldsOrigins) {
  outcome.results[4].origin = {"idea", "mix", {{2}, {7}}};
  // A parent that is not in the report is left out.
  outcome.results[6].origin = {"idea", "mutation", {{99}}};
  print();
  llvm::json::Object report = makeReport(task, space, legal, {}, outcome);
  auto getOrigin = [&](size_t result) {
    return (*report.getArray("results"))[result].getAsObject()->get("origin");
  };
  EXPECT_EQ(*getOrigin(4), llvm::json::Value(llvm::json::Object{
                               {"lineage", "idea"},
                               {"step", "mix"},
                               {"parents", llvm::json::Array{2, 7}}}));
  EXPECT_EQ(getOrigin(6)->getAsObject()->getArray("parents")->size(), 0u);
  EXPECT_EQ(getOrigin(5), nullptr);
}

TEST(Progress, OneLineSaysAll) {
  ProgressState state;
  state.seconds = 75;
  state.done = 34;
  state.total = 450;
  state.counts = {{Status::Ok, 30}, {Status::Crash, 4}};
  state.best = "12.3 us, 312.4 TFLOP/s";
  state.schedule = "x=5";
  EXPECT_EQ(format(state), "[1m15s] 34/450 best 12.3 us, 312.4 TFLOP/s eta "
                           "15m17s ok 30 crash 4 with x=5");
  state.budgetSeconds = 90;
  EXPECT_NE(format(state).find("eta 15s"), std::string::npos);
  state.elsewhere = 3;
  state.waits = true;
  EXPECT_NE(format(state).find(" crash 4 elsewhere 3 waiting for a device that "
                               "another tuner uses with "),
            std::string::npos);
}

TEST(Progress, DurationsAreShort) {
  EXPECT_EQ(formatDuration(0), "0s");
  EXPECT_EQ(formatDuration(64.9), "1m04s");
  EXPECT_EQ(formatDuration(3725), "1h02m");
}

TEST(Progress, PlainLinesComeNowAndThen) {
  std::string text;
  llvm::raw_string_ostream os(text);
  std::unique_ptr<Progress> progress = createPlainProgress(os);
  ProgressState state;
  for (int second = 0; second < 25; ++second) {
    state.seconds = second;
    progress->update(state);
  }
  EXPECT_EQ(llvm::StringRef(text).count('\n'), 2u);
  progress->finish();
  EXPECT_EQ(llvm::StringRef(text).count('\n'), 3u);
  EXPECT_EQ(llvm::StringRef(text).count('\r'), 0u);
}

TEST(Reproducer, QuotesForTheShell) {
  EXPECT_EQ(quoteForShell("--chip=sm_90"), "--chip=sm_90");
  EXPECT_EQ(quoteForShell("a(b{c d})"), "'a(b{c d})'");
  EXPECT_EQ(quoteForShell("it's"), "'it'\\''s'");
  EXPECT_EQ(quoteForShell(""), "''");
}
