// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whatever a worker does, its request completes once, with the right label, and
// the next request finds a worker that works.

#include "Fake.h"
#include "gtest/gtest.h"
#include <csignal>

using namespace attune::tuning;
namespace json = llvm::json;
using Kind = Completion::Kind;

static json::Value makeRequest(int64_t x, llvm::StringRef fault,
                               int64_t sleepMs = 0) {
  fake::Problem problem;
  problem.sleepMs = sleepMs;
  if (!fault.empty())
    problem.faults["compile:" + std::to_string(x)] = fault.str();
  return json::Object{{"problem", fake::makeTask(problem).text},
                      {"schedule", json::Object{{"x", x}}}};
}

static std::vector<Completion> waitFor(WorkerPool &pool, size_t count) {
  std::vector<Completion> all;
  Clock::time_point give_up = Clock::now() + std::chrono::seconds(20);
  while (all.size() < count && Clock::now() < give_up) {
    llvm::Expected<std::vector<Completion>> some =
        WorkerPool::wait({&pool}, std::chrono::milliseconds(100));
    if (!some) {
      ADD_FAILURE() << llvm::toString(some.takeError());
      break;
    }
    std::move(some->begin(), some->end(), std::back_inserter(all));
  }
  EXPECT_EQ(all.size(), count);
  return all;
}

namespace {
struct PoolFault {
  const char *name;
  Kind kind;
  const char *message;
};
void PrintTo(const PoolFault &fault, std::ostream *os) { *os << fault.name; }

struct WorkerFault : testing::TestWithParam<PoolFault> {};
} // namespace

TEST_P(WorkerFault, IsLabelledAndTheNextRequestWorks) {
  WorkerPool pool({fake::getWorkerCommand()}, fake::makeSettings().limits);
  for (int round = 0; round < 2; ++round) {
    pool.submit(round * 2, makeRequest(1, GetParam().name));
    std::vector<Completion> bad = waitFor(pool, 1);
    ASSERT_EQ(bad.size(), 1u);
    EXPECT_EQ(bad[0].id, uint64_t(round * 2));
    EXPECT_EQ(bad[0].kind, GetParam().kind) << bad[0].message;
    EXPECT_NE(bad[0].message.find(GetParam().message), std::string::npos)
        << bad[0].message;
    EXPECT_LE(bad[0].message.size(), 20000u);

    pool.submit(round * 2 + 1, makeRequest(2, ""));
    std::vector<Completion> good = waitFor(pool, 1);
    ASSERT_EQ(good.size(), 1u);
    EXPECT_EQ(good[0].kind, Kind::Answer) << good[0].message;
    EXPECT_EQ(*good[0].answer.getAsObject()->getString("hash"), "hash-2");
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, WorkerFault,
    testing::Values(
        PoolFault{"segv", Kind::Crash, "signal 11"},
        PoolFault{"abort", Kind::Crash, "signal 6"},
        PoolFault{"exit-0", Kind::Crash, "without an answer"},
        PoolFault{"exit-3", Kind::Crash, "code 3"},
        PoolFault{"hang", Kind::Timeout, "limit of 1.0 s"},
        PoolFault{"wait-and-hang", Kind::Timeout, "limit of 1.0 s"},
        PoolFault{"ignore-signals-and-hang", Kind::Timeout, "limit of 1.0 s"},
        PoolFault{"close-wire", Kind::Crash, "killed"},
        PoolFault{"garbage", Kind::Crash, "ceci n'est pas"},
        PoolFault{"half-an-answer", Kind::Crash, "without an answer"},
        PoolFault{"wrong-id", Kind::Crash, "no answer"},
        PoolFault{"nan", Kind::Crash, "no answer"},
        PoolFault{"hog", Kind::OutOfMemory, "limit of 256 MiB"},
        PoolFault{"flood", Kind::Crash, "[...]"}),
    [](const auto &info) {
      std::string name = info.param.name;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST(WorkerPool, StrayPrintsAreNoAnswer) {
  WorkerPool pool({fake::getWorkerCommand()}, fake::makeSettings().limits);
  pool.submit(1, makeRequest(1, "chatter"));
  std::vector<Completion> done = waitFor(pool, 1);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].kind, Kind::Answer);
  EXPECT_TRUE(done[0].answer.getAsObject()->getString("status"));
}

TEST(WorkerPool, WorkersRunSideBySide) {
  WorkerLimits limits = fake::makeSettings().limits;
  limits.requestSeconds = 10;
  WorkerPool pool(std::vector(4, fake::getWorkerCommand()), limits);
  ASSERT_TRUE(bool(pool.startAll()));
  Clock::time_point start = Clock::now();
  for (int id = 0; id < 4; ++id)
    pool.submit(id, makeRequest(id, "", 1000));
  EXPECT_EQ(pool.getIdle(), 0u);
  waitFor(pool, 4);
  // One after the other would take four seconds.
  EXPECT_LT(Clock::now() - start, std::chrono::milliseconds(3800));
}

TEST(WorkerPool, WorkersTakeTurnsWhereOneWouldDo) {
  fake::TemporaryFolder folder;
  fake::Problem problem;
  problem.log = folder / "log";
  WorkerPool pool({3, fake::getWorkerCommand()}, fake::makeSettings().limits);
  for (int id = 0; id < 6; ++id) {
    pool.submit(id, json::Object{{"problem", fake::makeTask(problem).text},
                                 {"schedule", json::Object{{"x", id}}}});
    EXPECT_EQ(waitFor(pool, 1).front().kind, Kind::Answer);
  }
  EXPECT_EQ(fake::readLines(problem.log + ".workers").size(), 3u);
}

TEST(WorkerPool, WaitingForADeviceIsNotTheCandidatesTime) {
  fake::TemporaryFolder folder;
  setenv("TMPDIR", folder.path.c_str(), 1);
  WorkerLimits limits = fake::makeSettings().limits;
  limits.requestSeconds = 1;
  WorkerPool pool({3, fake::getWorkerCommand()}, limits);
  // Each has the device for 0.7 seconds.
  for (int x = 0; x < 3; ++x)
    pool.submit(x, makeRequest(x, "take-turn"));
  bool waited = false;
  std::vector<Completion> all;
  while (all.size() < 3) {
    auto some = llvm::cantFail(
        WorkerPool::wait({&pool}, std::chrono::milliseconds(100)));
    waited |= pool.isWaiting();
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  unsetenv("TMPDIR");
  for (const Completion &completion : all)
    EXPECT_EQ(completion.kind, Kind::Answer) << completion.message;
  EXPECT_TRUE(waited);
  EXPECT_FALSE(pool.isWaiting());
}

TEST(WorkerPool, WatchesMemoryWhereTheKernelDoesNot) {
  WorkerLimits limits = fake::makeSettings().limits;
  limits.limitAllocation = false;
  WorkerPool pool({fake::getWorkerCommand()}, limits);
  pool.submit(1, makeRequest(1, "hog"));
  std::vector<Completion> done = waitFor(pool, 1);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].kind, Kind::OutOfMemory) << done[0].message;
}

TEST(WorkerPool, LargeRequestsAndAnswersPass) {
  WorkerPool pool({fake::getWorkerCommand()}, fake::makeSettings().limits);
  json::Value request = makeRequest(1, "");
  (*request.getAsObject())["padding"] = std::string(4 << 20, 'p');
  pool.submit(1, std::move(request));
  EXPECT_EQ(waitFor(pool, 1).front().kind, Kind::Answer);
}

TEST(WorkerPool, WorkersAreRenewed) {
  WorkerLimits limits = fake::makeSettings().limits;
  limits.requestsPerWorker = 2;
  WorkerPool pool({fake::getWorkerCommand()}, limits);
  for (int id = 0; id < 5; ++id) {
    pool.submit(id, makeRequest(id, ""));
    EXPECT_EQ(waitFor(pool, 1).front().kind, Kind::Answer);
  }
  EXPECT_EQ(pool.getReplaced(), 0u); // on schedule, not for a failure
}

TEST(WorkerPool, ACommandThatCannotStartIsAnError) {
  for (std::vector<std::string> command :
       {std::vector<std::string>{"/nonexistent/tool", "tool"},
        std::vector<std::string>{"/bin/false", "false"}}) {
    WorkerPool pool({command}, fake::makeSettings().limits);
    pool.submit(1, makeRequest(1, ""));
    llvm::Expected<std::vector<Completion>> done =
        WorkerPool::wait({&pool}, std::chrono::seconds(5));
    ASSERT_FALSE(bool(done));
    EXPECT_NE(llvm::toString(done.takeError()).find("cannot start a worker"),
              std::string::npos);
  }
}

static bool isAlive(pid_t pid) {
  // A zombie nobody waited for is dead too.
  std::vector<std::string> lines =
      fake::readLines("/proc/" + std::to_string(pid) + "/stat");
  return !lines.empty() && lines[0].find(") Z") == std::string::npos;
}

/// Children of a process, from the process table.
static std::vector<pid_t> getChildren(pid_t parent) {
  std::vector<pid_t> children;
  std::string path = "/proc/" + std::to_string(parent) + "/task/" +
                     std::to_string(parent) + "/children";
  for (const std::string &line : fake::readLines(path)) {
    llvm::SmallVector<llvm::StringRef> parts;
    llvm::StringRef(line).split(parts, ' ', -1, false);
    for (llvm::StringRef part : parts)
      children.push_back(std::stoi(part.str()));
  }
  return children;
}

TEST(WorkerPool, ATimeoutEndsWhatTheWorkerStartedToo) {
  WorkerPool pool({fake::getWorkerCommand()}, fake::makeSettings().limits);
  pool.submit(1, makeRequest(1, "hang-with-child"));
  std::vector<pid_t> grandchildren;
  for (int attempt = 0; grandchildren.empty() && attempt < 25; ++attempt) {
    ASSERT_TRUE(bool(WorkerPool::wait({&pool}, std::chrono::milliseconds(20))));
    for (pid_t worker : getChildren(getpid()))
      grandchildren = getChildren(worker);
  }
  ASSERT_FALSE(grandchildren.empty());
  EXPECT_EQ(waitFor(pool, 1).front().kind, Kind::Timeout);
  usleep(50000);
  for (pid_t pid : grandchildren)
    EXPECT_FALSE(isAlive(pid));
}
