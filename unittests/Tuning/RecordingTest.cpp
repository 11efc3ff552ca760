// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attune/Tuning/Recording.h"
#include "StoreFixture.h"
#include <fstream>

using namespace attune::tuning;

namespace {
/// A space of x from 0 to 99, of which those below 50 are legal now.
struct RecordingTest : StoreTest {
  RecordingTest()
      : legality([](const Probe &point) -> std::optional<Refusal> {
          if (point[0] < 50)
            return std::nullopt;
          return Refusal{"large", [] { return "expects less than 50"; }};
        }) {}

  llvm::Expected<Recording> read(const std::string &file,
                                 llvm::StringRef key = "problem") {
    return readRecording(file, space, legality, key);
  }
  std::string write(const std::string &text) {
    std::string file = folder / "report.json";
    std::ofstream(file) << text;
    return file;
  }
  std::string getError(const std::string &file,
                       llvm::StringRef key = "problem") {
    llvm::Expected<Recording> recording = read(file, key);
    return recording ? "" : llvm::toString(recording.takeError());
  }

  Legality legality;
};
} // namespace

TEST_F(RecordingTest, AReportIsReadInItsOrder) {
  llvm::Expected<Recording> recording = read(write(
      R"({"problems": [{"key": "other", "results": []},
          {"key": "problem", "results": [
            {"schedule": {"x": 7}, "status": "ok"}, {"schedule": {"x": 3}},
            {"schedule": {"x": 60}}, {"schedule": {"x": 7}},
            {"schedule": {"x": 1000}}, {"schedule": {"x": 1, "y": 2}},
            {"schedule": {}}]}]})"));
  ASSERT_TRUE(bool(recording)) << llvm::toString(recording.takeError());
  // Without a value it is the default's.
  EXPECT_EQ(recording->points, (std::vector<Point>{{7}, {3}, {0}}));
  EXPECT_EQ(recording->lost,
            (std::vector<std::string>{
                "x=60: large: expects less than 50",
                "x=1000: expects knobs of the space with values of their "
                "domains",
                "x=1 y=2: expects knobs of the space with values of their "
                "domains"}));
}

TEST_F(RecordingTest, ADatabaseHasTheLastSearch) {
  std::unique_ptr<Store> store = open();
  add(*store, makeResult(1));
  session.id = 0;
  session.results = 0;
  ASSERT_FALSE(bool(store->beginSession(session)));
  for (int64_t x : {9, 2, 9, 77})
    add(*store, makeResult(x));
  // One that found everything stored.
  session.id = 0;
  session.results = 0;
  ASSERT_FALSE(bool(store->beginSession(session)));
  llvm::Expected<Recording> recording = read(path);
  ASSERT_TRUE(bool(recording)) << llvm::toString(recording.takeError());
  EXPECT_EQ(recording->points, (std::vector<Point>{{9}, {2}}));
  EXPECT_EQ(recording->lost.size(), 1u);
  EXPECT_EQ(getError(path, "another"),
            "expects a search of the problem with the key another in '" + path +
                "', but there is none");
}

TEST_F(RecordingTest, ADatabaseHasTheProblem) {
  std::unique_ptr<Store> store = open();
  llvm::Expected<std::optional<std::string>> text = readProblem(path);
  ASSERT_TRUE(bool(text)) << llvm::toString(text.takeError());
  EXPECT_EQ(*text, "text of the problem");
  EXPECT_EQ(llvm::cantFail(readProblem(write("{}"))), std::nullopt);
  EXPECT_EQ(llvm::cantFail(readProblem(folder / "none")), std::nullopt);
  std::string empty = folder / "empty.db";
  ASSERT_TRUE(bool(Store::open(empty)));
  EXPECT_EQ(llvm::toString(readProblem(empty).takeError()),
            "expects a search in '" + empty + "', but there is none");
}

TEST_F(RecordingTest, WhatIsNoRecordIsAnError) {
  auto expect = [&](const std::string &text, llvm::StringRef part) {
    std::string error = getError(write(text));
    EXPECT_NE(error.find(part), std::string::npos) << error;
  };
  EXPECT_NE(getError(folder / "none").find("cannot read '"), std::string::npos);
  expect("x", "expects a JSON report or a database in '");
  expect("[]", "expects 'problems' in '");
  expect(R"({"problems": [3]})", "expects a search of the problem with the key "
                                 "problem in '");
  expect(R"({"problems": [{"key": "problem"}]})",
         "expects results of each problem in '");
  expect(R"({"problems": [{"key": "problem", "results": [{}]}]})",
         "expects a schedule of each result in '");
  expect(R"({"problems": [{"key": "problem", "results":
             [{"schedule": {"x": 60}}]}]})",
         "but there is none; x=60: large: expects less than 50");
}
