// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tuner itself dies, at any moment: no process stays behind, no result that
// was reached is lost, and the next run does at most one of them again.

#include "Fake.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"
#include <dirent.h>
#include <fstream>
#include <sstream>
#include <sys/wait.h>

using namespace attune::tuning;

namespace {
struct Kill : testing::Test {
  pid_t start(int candidates) {
    std::vector<std::string> command = fake::getWorkerCommand();
    std::string program = command[0], count = std::to_string(candidates);
    pid_t pid = fork();
    if (pid == 0) {
      setenv("ATTUNE_TEST_FOLDER", folder.path.c_str(),
             1); // inherited by its workers
      execl(program.c_str(), "fake", "--tuner", database.c_str(), log.c_str(),
            count.c_str(), nullptr);
      _exit(127);
    }
    return pid;
  }

  fake::TemporaryFolder folder;
  std::string database = folder / "tuning.db";
  std::string log = folder / "log";
};
} // namespace

/// Workers of the tuners that were started with this folder.
static std::vector<pid_t> findWorkers(const std::string &folder) {
  std::vector<pid_t> workers;
  DIR *dir = opendir("/proc");
  while (dirent *entry = readdir(dir)) {
    std::string process = "/proc/" + std::string(entry->d_name);
    std::stringstream command, environment;
    command << std::ifstream(process + "/cmdline").rdbuf();
    environment << std::ifstream(process + "/environ").rdbuf();
    if (llvm::StringRef(command.str()).contains("--worker") &&
        llvm::StringRef(environment.str())
            .contains("ATTUNE_TEST_FOLDER=" + folder))
      workers.push_back(atoi(entry->d_name));
  }
  closedir(dir);
  return workers;
}

TEST_F(Kill, NoWorkerOutlivesTheTuner) {
  for (int round = 0; round < 5; ++round) {
    pid_t pid = start(100000);
    for (int wait = 0; findWorkers(folder.path).empty() && wait < 100; ++wait)
      usleep(50000);
    EXPECT_FALSE(findWorkers(folder.path).empty());
    usleep(20000 * round);
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    usleep(500000);
    EXPECT_TRUE(findWorkers(folder.path).empty());
  }
}

TEST_F(Kill, ARestartRepeatsAtMostWhatWasUnderWay) {
  constexpr int kCandidates = 60;
  for (int round = 0; round < 15; ++round) {
    pid_t pid = start(kCandidates);
    usleep(60000 + 9000 * round);
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  int status = -1;
  waitpid(start(kCandidates), &status, 0);
  EXPECT_EQ(status, 0);

  llvm::Expected<std::unique_ptr<Store>> store = Store::openReadOnly(database);
  ASSERT_TRUE(bool(store)) << llvm::toString(store.takeError());
  EXPECT_FALSE(bool((*store)->verify()));
  std::map<std::string, int> rows;
  std::vector<SessionInfo> sessions = *(*store)->getSessions();
  for (const SessionInfo &session : sessions) {
    auto results = (*store)->getResults(session.id);
    for (const auto &[schedule, result] : *results)
      rows[schedule] += result.stage == Stage::Measure;
  }
  // Each candidate was stored once however often the tuner died, ...
  EXPECT_EQ(rows.size(), size_t(kCandidates));
  for (const auto &[schedule, count] : rows)
    EXPECT_EQ(count, 1) << schedule;
  // ... and measured again only where the answer did not arrive before the
  // kill.
  std::map<std::string, int> measured;
  for (const std::string &line : fake::readLines(log))
    if (llvm::StringRef(line).starts_with("measure"))
      ++measured[line];
  size_t repeated = 0;
  for (const auto &[step, count] : measured)
    repeated += count - 1;
  EXPECT_LE(repeated, sessions.size());
}
