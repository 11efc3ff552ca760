// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launcher takes no other descriptors along than the standard ones, and its
// end may be all that the far side hears of the tuner's.

#include "attune/Tuning/RemoteWorker.h"
#include "attune/Tuning/Worker.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <poll.h>
#include <thread>
#include <unistd.h>

using namespace attune::tuning;

/// A problem beyond this is garbage.
static constexpr size_t kMaxProblemBytes = 256u << 20;
/// Starts launchers, and no other workers.
static constexpr const char *kShell = "/bin/bash";

std::vector<std::string> attune::tuning::makeRemoteCommand(
    llvm::StringRef launcher, llvm::StringRef executable,
    llvm::ArrayRef<std::string> arguments, const MemoryFile &problem,
    size_t problemBytes) {
  // The shell becomes the launcher, so that its end is seen at once; the
  // problem and then the requests are fed to it by a process beside it. Neither
  // keeps the other's end of the wire open.
  std::string script = "exec " + launcher.str() + " \"$@\" < <({ echo " +
                       std::to_string(problemBytes) + "; cat " +
                       problem.getPath() +
                       "; exec cat <&3; } 4>&-) >&4 3<&- 4>&-";
  std::vector<std::string> command = {kShell, "bash", "-c",
                                      script, "bash", executable.str()};
  // The executable with all tools is told which one it is.
  if (llvm::sys::path::filename(executable) != "attune-tune")
    command.push_back("attune-tune");
  command.push_back("--standard-streams");
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

bool attune::tuning::isRemoteCommand(llvm::ArrayRef<std::string> command) {
  return command.front() == kShell;
}

/// Reads no byte too many: what follows belongs to the wire.
static bool readBytes(char *bytes, size_t count) {
  while (count) {
    ssize_t got = read(kWorkerRequestFd, bytes, count);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    bytes += got;
    count -= got;
  }
  return true;
}

static llvm::Expected<std::unique_ptr<MemoryFile>> receiveProblem() {
  std::string digits;
  for (char next; readBytes(&next, 1) && next != '\n' && digits.size() < 20;)
    digits.push_back(next);
  size_t size;
  if (llvm::StringRef(digits).getAsInteger(10, size) || size > kMaxProblemBytes)
    return llvm::createStringError(
        "expects the size of a problem on the standard input, but got '" +
        digits + "'");
  std::string text(size, '\0');
  if (!readBytes(text.data(), size))
    return llvm::createStringError("the problem on the standard input ends "
                                   "before it is whole");
  return MemoryFile::create(text);
}

/// A candidate may hang, and then nobody reads the wire.
static void endWithReader() {
  std::thread([] {
    struct pollfd answers = {kWorkerAnswerFd, 0, 0};
    while (poll(&answers, 1, -1) < 0 && errno == EINTR) {
    }
    std::this_thread::sleep_for(std::chrono::seconds(1));
    _exit(1);
  }).detach();
}

llvm::Expected<std::unique_ptr<MemoryFile>>
attune::tuning::takeStandardStreams() {
  int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (dup2(STDIN_FILENO, kWorkerRequestFd) < 0 ||
      dup2(STDOUT_FILENO, kWorkerAnswerFd) < 0 ||
      dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || dup2(null, STDIN_FILENO) < 0)
    return llvm::createStringError("expects standard streams");
  if (null > kWorkerAnswerFd)
    close(null);
  auto problem = receiveProblem();
  if (problem)
    endWithReader();
  return problem;
}
