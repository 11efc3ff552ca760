// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The test program is also its own worker, and a tuner that tests can kill.

#include "Fake.h"
#include "gtest/gtest.h"
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

using namespace attune::tuning;

/// Calls of the database left before the one that is cut in half by a kill.
static int writesLeft = 0;

static bool isLastWrite() { return --writesLeft == 0; }

static ssize_t dieInWrite(int fd, const void *data, size_t size) {
  if (!isLastWrite())
    return write(fd, data, size);
  (void)!write(fd, data, size / 2);
  return kill(getpid(), SIGKILL);
}

static ssize_t dieInWriteAt(int fd, const void *data, size_t size,
                            off_t offset) {
  if (!isLastWrite())
    return pwrite(fd, data, size, offset);
  (void)!pwrite(fd, data, size / 2, offset);
  return kill(getpid(), SIGKILL);
}

/// A power cut in the middle of the n-th write to the database's files.
static void dieAtWrite(int number) {
  writesLeft = number;
  sqlite3_initialize();
  sqlite3_vfs *vfs = sqlite3_vfs_find(nullptr);
  // Which of them is called depends on how SQLite was built.
  vfs->xSetSystemCall(vfs, "write",
                      reinterpret_cast<sqlite3_syscall_ptr>(dieInWrite));
  for (const char *name : {"pwrite", "pwrite64"})
    vfs->xSetSystemCall(vfs, name,
                        reinterpret_cast<sqlite3_syscall_ptr>(dieInWriteAt));
}

namespace {
/// Writes down how many results were acknowledged so far.
class AcknowledgedResults : public Progress {
public:
  explicit AcknowledgedResults(const char *path)
      : fd(open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {}
  void update(const ProgressState &state) override {
    uint64_t done = state.done;
    (void)!pwrite(fd, &done, sizeof(done), 0);
  }
  void note(llvm::StringRef) override {}
  void finish() override {}

private:
  int fd;
};
} // namespace

static volatile sig_atomic_t interrupted = 0;

/// `--tuner <database> <log> <candidates> <problem>`: a search to be
/// interrupted from outside. The number of results that it has acknowledged is
/// in `<log>.done`.
static int runTuner(char **argv) {
  fake::Problem problem;
  problem.log = argv[3];
  problem.candidates = atoi(argv[4]);
  problem.name = argv[5];
  fake::Settings settings = fake::makeSettings();
  settings.database = argv[2];
  // A final that is killed is repeated as a whole, however far it came.
  settings.options.finalRounds = 0;
  settings.interrupted = &interrupted;
  AcknowledgedResults progress((problem.log + ".done").c_str());
  settings.progress = &progress;
  // As attune-tune does.
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupted = 1; };
  for (int number : {SIGINT, SIGTERM})
    sigaction(number, &action, nullptr);
  if (const char *write = getenv("ATTUNE_TEST_DIE_AT_WRITE"))
    dieAtWrite(atoi(write));
  llvm::Expected<Outcome> outcome = fake::search(problem, settings);
  if (!outcome) {
    llvm::errs() << llvm::toString(outcome.takeError()) << "\n";
    return 1;
  }
  return outcome->interrupted ? 130 : 0;
}

int main(int argc, char **argv) {
  signal(SIGPIPE, SIG_IGN);
  if (argc == 2 && llvm::StringRef(argv[1]) == "--worker")
    return fake::serve(/*checks=*/false);
  if (argc == 2 && llvm::StringRef(argv[1]) == "--noisy")
    return fake::serveNoisy();
  if (argc == 2 && llvm::StringRef(argv[1]) == "--checker")
    return fake::serve(/*checks=*/true);
  if (argc == 6 && llvm::StringRef(argv[1]) == "--tuner")
    return runTuner(argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
