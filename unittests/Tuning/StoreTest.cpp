// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StoreFixture.h"
#include "attune/Tuning/Report.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>
#include <sys/wait.h>

using namespace attune;
using namespace attune::tuning;

TEST_F(StoreTest, FindsWhatWasAdded) {
  {
    std::unique_ptr<Store> store = open();
    Result result = makeResult(3);
    result.message = "a 'quoted' message\nwith two lines";
    result.score = 0.1 + 0.2;
    result.resources.registers = 255;
    result.resources.serializedMultiplies = 3;
    result.resources.loopFlopsPerClock = 1400;
    result.resources.loopTerms =
        llvm::json::Object{{"matrix_clocks", 512}, {"warps", 8}};
    add(*store, result);
  }
  std::unique_ptr<Store> store = open();
  llvm::Expected<std::optional<Result>> found =
      store->find(session.key, space, {3});
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->samples, makeResult(3).samples);
  EXPECT_EQ((*found)->message, "a 'quoted' message\nwith two lines");
  EXPECT_EQ((*found)->score, 0.1 + 0.2);
  EXPECT_EQ((*found)->resources.registers, 255);
  EXPECT_EQ((*found)->resources.spillBytes, std::nullopt);
  EXPECT_EQ((*found)->resources.serializedMultiplies, 3);
  EXPECT_EQ((*found)->resources.loopFlopsPerClock, 1400);
  EXPECT_EQ((*found)->resources.loopTerms.getInteger("matrix_clocks"), 512);
  EXPECT_EQ((*found)->stage, Stage::Measure);
  EXPECT_TRUE((*found)->reused);
  llvm::Expected<std::optional<Result>> missing =
      store->find(session.key, space, {4});
  ASSERT_TRUE(bool(missing));
  EXPECT_FALSE(*missing);
}

TEST_F(StoreTest, WhereACandidateCameFromIsKept) {
  std::unique_ptr<Store> store = open();
  add(*store, makeResult(3));
  Result child = makeResult(5);
  child.origin = {"small blocks", "cross", {{3}, {4}}};
  add(*store, child);
  store.reset();
  auto database = Database::open(path, Database::Mode::ReadOnly);
  ASSERT_TRUE(bool(database));
  for (const char *where :
       {"origin IS NULL AND json_extract(schedule, '$.x') = 3",
        "json_extract(origin, '$.lineage') = 'small blocks' AND "
        "json_extract(origin, '$.step') = 'cross' AND "
        "json_extract(origin, '$.parents[1].x') = 4"}) {
    std::string sql =
        std::string("SELECT count(*) FROM measurement WHERE ") + where;
    EXPECT_EQ(llvm::cantFail((*database)->queryInteger(sql.c_str())), 1);
  }
}

TEST_F(StoreTest, EveryFieldOfTheKeyCounts) {
  std::unique_ptr<Store> store = open();
  add(*store, makeResult(3));
  for (std::string StoreKey::*field :
       {&StoreKey::problem, &StoreKey::chip, &StoreKey::device,
        &StoreKey::compiler, &StoreKey::chipState}) {
    StoreKey other = session.key;
    other.*field += "x";
    llvm::Expected<std::optional<Result>> found =
        store->find(other, space, {3});
    ASSERT_TRUE(bool(found));
    EXPECT_FALSE(*found);
  }
  // A knob more is another space, even where its value is the default.
  Space wider({space.getKnobs()[0], {"y", 0, {0, 1}}});
  llvm::Expected<std::optional<Result>> found =
      store->find(session.key, wider, {3, 0});
  ASSERT_TRUE(bool(found));
  EXPECT_FALSE(*found);
}

TEST_F(StoreTest, TheNewestResultCounts) {
  std::unique_ptr<Store> store = open();
  add(*store, makeResult(3));
  Result newer = makeResult(3);
  newer.samples = {42};
  newer.stage = Stage::Final;
  add(*store, newer);
  llvm::Expected<std::optional<Result>> found =
      store->find(session.key, space, {3});
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->samples, (std::vector<double>{42}));
}

TEST_F(StoreTest, FindsEqualBinariesAcrossCompilersButNotDevices) {
  std::unique_ptr<Store> store = open();
  int64_t row = add(*store, makeResult(3));
  StoreKey other = session.key;
  other.compiler = "newer";
  llvm::Expected<std::optional<Result>> found =
      store->findByBinary(other, "hash-3");
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->copiedFrom, row);
  other.device = "another";
  found = store->findByBinary(other, "hash-3");
  ASSERT_TRUE(bool(found));
  EXPECT_FALSE(*found);
}

TEST_F(StoreTest, AnEqualBinaryInAnotherStateIsAnotherMeasurement) {
  std::unique_ptr<Store> store = open();
  add(*store, makeResult(3));
  StoreKey other = session.key;
  other.chipState = "cool";
  llvm::Expected<std::optional<Result>> found =
      store->findByBinary(other, "hash-3");
  ASSERT_TRUE(bool(found));
  EXPECT_FALSE(*found);
}

TEST_F(StoreTest, ConditionsAreKept) {
  std::unique_ptr<Store> store = open();
  Result result = makeResult(3);
  Conditions &given = result.conditions;
  given.clockMHz = 1545;
  given.powerWatts = 699;
  given.temperatureCelsius = 61;
  given.throttleReasons = static_cast<int64_t>(ThrottleReason::PowerCap);
  given.settled = false;
  given.otherProcesses = 2;
  given.energyJoules = 0.25;
  given.meanPowerWatts = 671.5;
  given.energySpanSeconds = 1.0625;
  given.picojoulesPerFlop = 1.175;
  given.baselineNs = 1234.5;
  add(*store, result);
  add(*store, makeResult(4));
  auto found = store->find(session.key, space, {3});
  ASSERT_TRUE(found && *found);
  const Conditions &kept = (*found)->conditions;
  EXPECT_EQ(kept.clockMHz, 1545);
  EXPECT_EQ(kept.powerWatts, 699);
  EXPECT_EQ(kept.temperatureCelsius, 61);
  EXPECT_EQ(kept.throttleReasons, given.throttleReasons);
  EXPECT_EQ(kept.settled, false);
  EXPECT_EQ(kept.otherProcesses, 2);
  EXPECT_EQ(kept.energyJoules, 0.25);
  EXPECT_EQ(kept.meanPowerWatts, 671.5);
  EXPECT_EQ(kept.energySpanSeconds, 1.0625);
  EXPECT_EQ(kept.picojoulesPerFlop, 1.175);
  EXPECT_EQ(kept.baselineNs, 1234.5);
  found = store->find(session.key, space, {4});
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->conditions.settled, std::nullopt);
  EXPECT_EQ((*found)->conditions.throttleReasons, std::nullopt);
  EXPECT_EQ((*found)->conditions.energyJoules, std::nullopt);
}

TEST_F(StoreTest, SessionsCountTheirResults) {
  std::unique_ptr<Store> store = open();
  for (int64_t x = 0; x < 5; ++x)
    add(*store, makeResult(x));
  ASSERT_FALSE(bool(store->endSession(session, "finished")));
  llvm::Expected<std::vector<SessionInfo>> sessions = store->getSessions();
  ASSERT_TRUE(bool(sessions));
  ASSERT_EQ(sessions->size(), 1u);
  EXPECT_EQ((*sessions)[0].results, 5);
  EXPECT_EQ((*sessions)[0].state, "finished");
  EXPECT_EQ(store->getResults(session.id)->size(), 5u);
  EXPECT_FALSE(bool(store->verify()));
}

TEST_F(StoreTest, ASessionRunsAsLongAsItsTuner) {
  auto printed = [&] {
    auto reader = Store::openReadOnly(path);
    std::string text;
    llvm::raw_string_ostream os(text);
    if (!reader)
      ADD_FAILURE() << llvm::toString(reader.takeError());
    else
      EXPECT_FALSE(bool(printStatus(os, **reader)));
    return text;
  };
  {
    std::unique_ptr<Store> store = open();
    store->releaseClaims();
    EXPECT_NE(printed().find(", running\n"), std::string::npos) << printed();
  }
  // What a kill leaves: the row, but no lock.
  EXPECT_NE(printed().find(", killed\n"), std::string::npos) << printed();
  session.id = 0;
  std::unique_ptr<Store> store = open();
  ASSERT_FALSE(bool(store->endSession(session, "finished")));
  EXPECT_NE(printed().find(", finished\n"), std::string::npos) << printed();
}

TEST_F(StoreTest, TheBestViewShowsTheFastestLatestResult) {
  std::unique_ptr<Store> store = open();
  for (int64_t x : {3, 5, 4})
    add(*store, makeResult(x));
  Result broken = makeResult(5); // what was the best is now known to be wrong
  broken.status = Status::WrongResult;
  broken.samples.clear();
  add(*store, broken);
  auto database = Database::open(path, Database::Mode::ReadOnly);
  auto best = (*database)->prepare("SELECT schedule FROM best");
  ASSERT_TRUE(best && *best->step());
  EXPECT_EQ(best->getText(0), R"({"x":4})");
}

TEST_F(StoreTest, TheWinnerIsTheFastestProof) {
  std::unique_ptr<Store> store = open();
  auto findBest = [&](const StoreKey &key, const Space &space) -> int64_t {
    llvm::Expected<std::optional<Result>> best = store->findBest(key, space);
    if (!best)
      ADD_FAILURE() << llvm::toString(best.takeError());
    return best && *best ? (*best)->point[0] : -1;
  };
  auto prove = [&](int64_t x, Status status = Status::Ok) {
    Result result = makeResult(x);
    result.stage = Stage::Proof;
    result.status = status;
    add(*store, result);
  };
  add(*store, makeResult(5)); // only measured
  EXPECT_EQ(findBest(session.key, space), -1);
  prove(8);
  prove(3);
  prove(4, Status::WrongResult);
  EXPECT_EQ(findBest(session.key, space), 3);
  // What is known since counts, ...
  Result broken = makeResult(3);
  broken.status = Status::Crash;
  add(*store, broken);
  EXPECT_EQ(findBest(session.key, space), 8);
  // ... and so does every field of the key, and each knob.
  for (std::string StoreKey::*field :
       {&StoreKey::problem, &StoreKey::chip, &StoreKey::device,
        &StoreKey::compiler, &StoreKey::chipState}) {
    StoreKey other = session.key;
    other.*field += "x";
    EXPECT_EQ(findBest(other, space), -1);
  }
  EXPECT_EQ(
      findBest(session.key, Space({space.getKnobs()[0], {"y", 0, {0, 1}}})),
      -1);
  EXPECT_EQ(findBest(session.key, Space({{"x", 0, {0, 1, 2}}})), -1);
}

/// Adds rows until `all` are there; returns the longest wait in milliseconds.
static double addRows(Store &store, SessionInfo &session, const Space &space,
                      int64_t writer, int64_t writers, int64_t each) {
  double longest = 0;
  for (int64_t i = 0; i < each; ++i) {
    Result result;
    result.point = {i % 100};
    result.stage = Stage::Measure;
    result.samples = {double(1000 + i * writers + writer)};
    auto start = std::chrono::steady_clock::now();
    llvm::Expected<int64_t> row = store.add(session, space, result);
    if (!row)
      _exit(2);
    longest = std::max(longest, std::chrono::duration<double, std::milli>(
                                    std::chrono::steady_clock::now() - start)
                                    .count());
  }
  return longest;
}

static void checkWriters(StoreTest &test, const std::string &path,
                         int64_t writers, int64_t each) {
  std::vector<pid_t> pids;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  for (int64_t writer = 0; writer < writers; ++writer) {
    pid_t pid = fork();
    if (pid == 0) {
      // Creating the file is part of the race.
      llvm::Expected<std::unique_ptr<Store>> store = Store::open(path);
      if (!store || (*store)->addProblem("problem", "p", "text") ||
          (*store)->beginSession(test.session))
        _exit(1);
      double longest =
          addRows(**store, test.session, test.space, writer, writers, each);
      (void)!write(ends[1], &longest, sizeof(longest));
      _exit(0);
    }
    pids.push_back(pid);
  }
  close(ends[1]);
  for (pid_t pid : pids) {
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }
  double longest = 0;
  for (double wait; read(ends[0], &wait, sizeof(wait)) == sizeof(wait);)
    longest = std::max(longest, wait);
  close(ends[0]);
  fake::tell(llvm::formatv("{0} writers of {1} rows each: the longest wait was "
                           "{2:F0} ms",
                           writers, each, longest));
  llvm::Expected<std::unique_ptr<Store>> store = Store::open(path);
  ASSERT_TRUE(bool(store));
  EXPECT_FALSE(bool((*store)->verify()));
  auto sessions = (*store)->getSessions();
  ASSERT_EQ(sessions->size(), size_t(writers));
  for (const SessionInfo &info : *sessions)
    EXPECT_EQ(info.results, each);
  auto database = Database::open(path, Database::Mode::ReadOnly);
  EXPECT_EQ(*(*database)->queryInteger("SELECT count(*) FROM measurement"),
            writers * each);
  EXPECT_EQ(*(*database)->queryInteger(
                "SELECT count(DISTINCT median_ns) FROM measurement"),
            writers * each);
  EXPECT_EQ(
      *(*database)->queryInteger("SELECT min(median_ns) FROM measurement"),
      1000);
}

TEST_F(StoreTest, ManyWritersLoseNothing) {
  for (int64_t writers : {2, 8})
    checkWriters(*this, folder / (std::to_string(writers) + ".db"), writers,
                 fake::choose(400, 4000) / writers);
}

TEST_F(StoreTest, AcknowledgedResultsSurviveAKill) {
  for (int round = 0; round < fake::choose(20, 200); ++round) {
    std::string file = folder / ("kill" + std::to_string(round) + ".db");
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
      llvm::Expected<std::unique_ptr<Store>> store = Store::open(file);
      if (!store || (*store)->addProblem("problem", "p", "text") ||
          (*store)->beginSession(session))
        _exit(1);
      for (int64_t i = 0;; ++i) {
        llvm::Expected<int64_t> row =
            (*store)->add(session, space, makeResult(i % 100));
        if (!row)
          _exit(2);
        (void)!write(ends[1], "x", 1); // the acknowledgement
      }
    }
    close(ends[1]);
    // The kill comes at some moment after the first result, however long a busy
    // machine takes for it.
    char buffer[4096];
    int64_t acknowledged = read(ends[0], buffer, 1);
    ASSERT_EQ(acknowledged, 1);
    usleep(3700 * (round % 20));
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    for (ssize_t count; (count = read(ends[0], buffer, sizeof(buffer))) > 0;)
      acknowledged += count;
    close(ends[0]);
    llvm::Expected<std::unique_ptr<Store>> store = Store::open(file);
    ASSERT_TRUE(bool(store));
    EXPECT_FALSE(bool((*store)->verify()));
    auto sessions = (*store)->getSessions();
    ASSERT_EQ(sessions->size(), 1u);
    EXPECT_GE((*sessions)[0].results, acknowledged);
    EXPECT_LE((*sessions)[0].results, acknowledged + 1);
    EXPECT_EQ((*sessions)[0].state, "running");
  }
}
