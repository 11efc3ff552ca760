// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tuner itself dies, at any moment: no process stays behind, no result that
// was acknowledged is lost, and the next run does at most one of them again.

#include "Fake.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <dirent.h>
#include <fstream>
#include <random>
#include <sstream>
#include <sys/wait.h>

using namespace attune::tuning;

namespace {
struct Kill : testing::Test {
  /// Starts a tuner; with `write`, one that dies in the middle of that write to
  /// its database.
  pid_t start(int candidates, const std::string &problem = "fake-problem",
              int write = 0) {
    std::vector<std::string> command = fake::getWorkerCommand();
    std::string program = command[0], count = std::to_string(candidates);
    pid_t pid = fork();
    if (pid == 0) {
      // Inherited by its workers.
      setenv("ATTUNE_TEST_FOLDER", folder.path.c_str(), 1);
      if (write)
        setenv("ATTUNE_TEST_DIE_AT_WRITE", std::to_string(write).c_str(), 1);
      execl(program.c_str(), "fake", "--tuner", database.c_str(), log.c_str(),
            count.c_str(), problem.c_str(), nullptr);
      _exit(127);
    }
    return pid;
  }

  static int wait(pid_t pid) {
    int status = -1;
    waitpid(pid, &status, 0);
    return status;
  }

  /// Workers of the tuners that were started with this folder, or of one.
  std::vector<pid_t> findWorkers(pid_t parent = 0) const;
  /// What a kill left behind: whole, and all that was acknowledged.
  void checkStore();
  /// Rows of each schedule in the stages that a test is interested in.
  std::map<std::string, int> countRows(Stage stage);
  /// How often a device was asked for something twice.
  size_t countRepeated() const;

  fake::TemporaryFolder folder;
  std::string database = folder / "tuning.db";
  std::string log = folder / "log";
  size_t sessions = 0;
};
} // namespace

std::vector<pid_t> Kill::findWorkers(pid_t parent) const {
  std::vector<pid_t> workers;
  DIR *dir = opendir("/proc");
  while (dirent *entry = readdir(dir)) {
    std::string process = "/proc/" + std::string(entry->d_name);
    std::stringstream command, environment, stat;
    command << std::ifstream(process + "/cmdline").rdbuf();
    if (!llvm::StringRef(command.str()).contains("--worker"))
      continue;
    environment << std::ifstream(process + "/environ").rdbuf();
    stat << std::ifstream(process + "/stat").rdbuf();
    // "<pid> (<name>) <state> <parent> ..."
    std::string text = stat.str();
    pid_t of = text.empty() ? 0 : atoi(&text[text.rfind(')') + 4]);
    if (llvm::StringRef(environment.str())
            .contains("ATTUNE_TEST_FOLDER=" + folder.path) &&
        (!parent || of == parent))
      workers.push_back(atoi(entry->d_name));
  }
  closedir(dir);
  return workers;
}

void Kill::checkStore() {
  uint64_t acknowledged = 0;
  std::ifstream(log + ".done", std::ios::binary)
      .read(reinterpret_cast<char *>(&acknowledged), sizeof(acknowledged));
  llvm::Expected<std::unique_ptr<Store>> store = Store::open(database);
  ASSERT_TRUE(bool(store)) << llvm::toString(store.takeError());
  llvm::Error damage = (*store)->verify();
  EXPECT_FALSE(bool(damage)) << llvm::toString(std::move(damage));
  llvm::StringSet<> schedules;
  llvm::Expected<std::vector<SessionInfo>> all = (*store)->getSessions();
  ASSERT_TRUE(bool(all));
  sessions = all->size();
  for (const SessionInfo &session : *all) {
    auto results = (*store)->getResults(session.id);
    ASSERT_TRUE(bool(results));
    for (const auto &[schedule, result] : *results)
      schedules.insert(schedule);
  }
  EXPECT_GE(schedules.size(), acknowledged);
}

std::map<std::string, int> Kill::countRows(Stage stage) {
  std::map<std::string, int> rows;
  llvm::Expected<std::unique_ptr<Store>> store = Store::openReadOnly(database);
  if (!store) {
    ADD_FAILURE() << llvm::toString(store.takeError());
    return rows;
  }
  std::vector<SessionInfo> all = *(*store)->getSessions();
  for (const SessionInfo &session : all) {
    auto results = (*store)->getResults(session.id);
    for (const auto &[schedule, result] : *results)
      rows[schedule] += result.stage == stage;
  }
  return rows;
}

size_t Kill::countRepeated() const {
  std::map<std::string, int> measured;
  for (const std::string &line : fake::readLines(log))
    if (llvm::StringRef(line).starts_with("measure"))
      ++measured[line];
  size_t repeated = 0;
  for (const auto &[step, count] : measured)
    repeated += count - 1;
  return repeated;
}

TEST_F(Kill, NoWorkerOutlivesTheTuner) {
  for (int round = 0; round < 5; ++round) {
    pid_t pid = start(100000);
    for (int wait = 0; findWorkers().empty() && wait < 100; ++wait)
      usleep(50000);
    EXPECT_FALSE(findWorkers().empty());
    usleep(20000 * round);
    kill(pid, SIGKILL);
    wait(pid);
    usleep(500000);
    EXPECT_TRUE(findWorkers().empty());
  }
}

TEST_F(Kill, ARestartRepeatsAtMostWhatWasUnderWay) {
  // More than any tuner has time for before it is killed.
  const int candidates = fake::choose(800, 6000);
  const int kills = fake::choose(10, 200), commits = fake::choose(5, 50),
            signals = fake::choose(2, 20);
  std::mt19937 random(1);
  int died = 0;
  for (int round = 0; round < kills; ++round) {
    pid_t pid = start(candidates);
    usleep(60000 + random() % 150000);
    kill(pid, SIGKILL);
    died += WIFSIGNALED(wait(pid));
    checkStore();
  }
  EXPECT_GT(died, 0);
  // In the middle of writes, most of which are of commits.
  int cut = 0;
  for (int round = 0; round < commits; ++round) {
    cut +=
        WIFSIGNALED(wait(start(candidates, "fake-problem", 1 + random() % 60)));
    checkStore();
  }
  EXPECT_GT(cut, 0);
  // An end in order, from outside.
  for (int number : {SIGTERM, SIGINT})
    for (int round = 0; round < signals; ++round) {
      pid_t pid = start(candidates);
      usleep(60000 + random() % 60000);
      kill(pid, number);
      int status = wait(pid);
      // It may have come before the tuner could take it, or after the end.
      EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 130 ||
                  WEXITSTATUS(status) == 0)
          << status;
      checkStore();
    }
  EXPECT_EQ(wait(start(candidates)), 0);
  checkStore();

  // Each candidate was stored once however often the tuner died, ...
  std::map<std::string, int> rows = countRows(Stage::Measure);
  EXPECT_EQ(rows.size(), size_t(candidates));
  for (const auto &[schedule, count] : rows)
    EXPECT_EQ(count, 1) << schedule;
  // ... and measured again only where the answer did not arrive before the
  // kill.
  EXPECT_LE(countRepeated(), sessions);
  usleep(500000);
  EXPECT_TRUE(findWorkers().empty());
  fake::tell(llvm::formatv("{0} kills, {1} in a write, {2} signals: {3} of "
                           "{4} candidates measured twice, no result lost",
                           died, cut, 2 * signals, countRepeated(),
                           candidates));
}

TEST_F(Kill, WorkersDieAndTheSearchGoesOn) {
  const int kills = fake::choose(15, 200), candidates = kills * 100;
  pid_t pid = start(candidates);
  std::mt19937 random(2);
  int killed = 0;
  while (killed < kills && waitpid(pid, nullptr, WNOHANG) == 0) {
    usleep(20000 + random() % 10000);
    // Only those that have answered once: that none starts ends a search.
    std::vector<std::string> served = fake::readLines(log + ".workers");
    std::vector<pid_t> workers = findWorkers(pid);
    llvm::erase_if(workers, [&](pid_t worker) {
      return !llvm::is_contained(served, std::to_string(worker));
    });
    if (!workers.empty())
      killed += kill(workers[random() % workers.size()], SIGKILL) == 0;
  }
  EXPECT_EQ(killed, kills);
  EXPECT_EQ(wait(pid), 0);
  checkStore();
  EXPECT_EQ(countRows(Stage::Measure).size(), size_t(candidates));
  usleep(500000);
  EXPECT_TRUE(findWorkers().empty());
  fake::tell(llvm::formatv("{0} workers killed", killed));
}

TEST_F(Kill, TunersOfOneProblemShareItsCandidates) {
  for (int tuners : {2, 8}) {
    const int candidates = fake::choose(200, 4000);
    const std::string problem = llvm::formatv("shared by {0}", tuners);
    std::vector<pid_t> pids;
    for (int tuner = 0; tuner < tuners; ++tuner)
      pids.push_back(start(candidates, problem));
    // What the first has under way is not lost with it.
    bool killed = tuners > 2;
    if (killed) {
      usleep(150000);
      kill(pids.front(), SIGKILL);
    }
    for (pid_t pid : pids)
      EXPECT_TRUE(wait(pid) == 0 || (killed && pid == pids.front()));
    auto store = llvm::cantFail(Store::openReadOnly(database));
    EXPECT_FALSE(bool(store->verify()));
    llvm::StringSet<> seen;
    int busy = 0;
    std::vector<SessionInfo> all = llvm::cantFail(store->getSessions());
    for (const SessionInfo &session : all) {
      if (session.key.problem != problem)
        continue;
      auto results = llvm::cantFail(store->getResults(session.id));
      busy += !results.empty();
      for (const auto &[schedule, result] : results)
        if (result.stage == Stage::Measure)
          EXPECT_TRUE(seen.insert(schedule).second) << schedule;
    }
    EXPECT_EQ(seen.size(), size_t(candidates));
    EXPECT_GE(busy, 2);
  }
}

TEST_F(Kill, TunersShareADatabase) {
  for (int tuners : {2, 8}) {
    const int candidates = fake::choose(80, 4000) / tuners;
    std::vector<pid_t> pids;
    for (int tuner = 0; tuner < tuners; ++tuner)
      pids.push_back(start(candidates,
                           llvm::formatv("problem {0} of {1}", tuner, tuners)));
    for (pid_t pid : pids)
      EXPECT_EQ(wait(pid), 0);
    llvm::Expected<std::unique_ptr<Store>> store =
        Store::openReadOnly(database);
    ASSERT_TRUE(bool(store));
    EXPECT_FALSE(bool((*store)->verify()));
    llvm::StringSet<> seen;
    double best = 1e9;
    int rows = 0;
    std::vector<SessionInfo> all = *(*store)->getSessions();
    for (const SessionInfo &session : all) {
      if (!llvm::StringRef(session.key.problem)
               .ends_with(llvm::formatv("of {0}", tuners).str()))
        continue;
      auto results = (*store)->getResults(session.id);
      for (const auto &[schedule, result] : *results) {
        rows += result.stage == Stage::Measure;
        if (result.stage == Stage::Measure)
          EXPECT_TRUE(seen.insert(session.key.problem + schedule).second);
        best = std::min(best, result.getSummary().median);
      }
    }
    EXPECT_EQ(rows, candidates * tuners);
    EXPECT_EQ(best, fake::getTime(5) + 1);
  }
}
