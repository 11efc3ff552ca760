// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StoreFixture.h"
#include <sys/wait.h>

using namespace attune::tuning;

TEST_F(StoreTest, FindsWhatWasAdded) {
  {
    std::unique_ptr<Store> store = open();
    Result result = makeResult(3);
    result.message = "a 'quoted' message\nwith two lines";
    result.score = 0.1 + 0.2;
    result.resources.registers = 255;
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
  EXPECT_EQ((*found)->stage, Stage::Measure);
  EXPECT_TRUE((*found)->reused);
  llvm::Expected<std::optional<Result>> missing =
      store->find(session.key, space, {4});
  ASSERT_TRUE(bool(missing));
  EXPECT_FALSE(*missing);
}

TEST_F(StoreTest, EveryFieldOfTheKeyCounts) {
  std::unique_ptr<Store> store = open();
  add(*store, makeResult(3));
  for (std::string StoreKey::*field :
       {&StoreKey::problem, &StoreKey::chip, &StoreKey::device,
        &StoreKey::compiler}) {
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

TEST_F(StoreTest, FourWritersLoseNothing) {
  constexpr int kWriters = 4, kEach = 100;
  std::vector<pid_t> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    pid_t pid = fork();
    if (pid == 0) {
      // Creating the file is part of the race.
      llvm::Expected<std::unique_ptr<Store>> store = Store::open(path);
      if (!store || (*store)->addProblem("problem", "p", "text") ||
          (*store)->beginSession(session))
        _exit(1);
      for (int64_t i = 0; i < kEach; ++i) {
        Result result = makeResult(i);
        result.samples = {double(1000 + i * kWriters + writer)};
        llvm::Expected<int64_t> row = (*store)->add(session, space, result);
        if (!row)
          _exit(2);
      }
      _exit(0);
    }
    writers.push_back(pid);
  }
  for (pid_t pid : writers) {
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }
  llvm::Expected<std::unique_ptr<Store>> store = Store::open(path);
  ASSERT_TRUE(bool(store));
  EXPECT_FALSE(bool((*store)->verify()));
  auto sessions = (*store)->getSessions();
  ASSERT_EQ(sessions->size(), size_t(kWriters));
  for (const SessionInfo &info : *sessions)
    EXPECT_EQ(info.results, kEach);
  auto database = Database::open(path, Database::Mode::ReadOnly);
  EXPECT_EQ(*(*database)->queryInteger("SELECT count(*) FROM measurement"),
            kWriters * kEach);
  EXPECT_EQ(
      *(*database)->queryInteger("SELECT min(median_ns) FROM measurement"),
      1000);
}

TEST_F(StoreTest, AcknowledgedResultsSurviveAKill) {
  for (int round = 0; round < 20; ++round) {
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
    usleep(3700 * round);
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
