// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fork, exec and three pipes. The child gets its own process group and a signal
// at the parent's death; whatever it does, end() leaves no process behind.

#include "attune/Tuning/WorkerProcess.h"
#include "attune/Tuning/RemoteWorker.h"
#include "attune/Tuning/Worker.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace attune::tuning;
namespace json = llvm::json;

/// How long a launcher may take to end what it started.
static constexpr std::chrono::seconds kLauncherSeconds(5);
/// How much of a worker's output is kept.
static constexpr size_t kOutputBytes = 16 << 10;

namespace {
struct Pipe {
  int readEnd = -1;
  int writeEnd = -1;
  ~Pipe() {
    for (int fd : {readEnd, writeEnd})
      if (fd >= 0)
        close(fd);
  }
  bool open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
      return false;
    readEnd = ends[0];
    writeEnd = ends[1];
    return true;
  }
  static int release(int &fd) { return std::exchange(fd, -1); }
};
} // namespace

/// Whether this build reserves terabytes that it does not use, which
/// RLIMIT_DATA would refuse: then only the memory in use is watched.
#if __has_feature(address_sanitizer)
static constexpr bool kHasShadowMemory = true;
#else
static constexpr bool kHasShadowMemory = false;
#endif

static llvm::Error makeErrnoError(const llvm::Twine &what) {
  return llvm::createStringError(what + ": " + llvm::sys::StrError());
}

/// Runs in the child between fork and exec, where only async-signal-safe calls
/// are allowed.
[[noreturn]] static void becomeWorker(char *const *argv, const Pipe &request,
                                      const Pipe &answer, const Pipe &output,
                                      int deathSignal, pid_t parent,
                                      uint64_t memoryBytes) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, deathSignal);
  if (getppid() != parent) // the parent died before the signal was armed
    _exit(1);

  // The ends may already have the numbers that they are to get: park them above
  // first.
  int requestFd = fcntl(request.readEnd, F_DUPFD, 10);
  int answerFd = fcntl(answer.writeEnd, F_DUPFD, 10);
  int outputFd = fcntl(output.writeEnd, F_DUPFD, 10);
  int nullFd = open("/dev/null", O_RDONLY);
  if (dup2(nullFd, 0) < 0 || dup2(outputFd, 1) < 0 || dup2(outputFd, 2) < 0 ||
      dup2(requestFd, kWorkerRequestFd) < 0 ||
      dup2(answerFd, kWorkerAnswerFd) < 0)
    _exit(1);
  close(requestFd);
  close(answerFd);
  close(outputFd);

  struct rlimit noCore = {0, 0};
  setrlimit(RLIMIT_CORE, &noCore);
  if (memoryBytes && !kHasShadowMemory) {
    // RLIMIT_DATA counts private writable memory. RLIMIT_AS would also count
    // the mapped libraries, whose size says nothing about the candidate.
    struct rlimit limit = {memoryBytes, memoryBytes};
    setrlimit(RLIMIT_DATA, &limit);
  }
  // Where the machine runs out of memory, a worker goes before the tuner does.
  if (int fd = open("/proc/self/oom_score_adj", O_WRONLY); fd >= 0) {
    (void)!write(fd, "1000", 4);
    close(fd);
  }
  signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGXFSZ, SIG_DFL);
  execv(argv[0], argv + 1);
  _exit(127);
}

llvm::Expected<std::unique_ptr<WorkerProcess>>
WorkerProcess::start(llvm::ArrayRef<std::string> command,
                     uint64_t memoryBytes) {
  Pipe request, answer, output;
  if (!request.open() || !answer.open() || !output.open())
    return makeErrnoError("cannot make a pipe for a worker");

  std::vector<char *> argv;
  for (const std::string &argument : command)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);

  // A launcher that is killed at once leaves on the other machine what it
  // started there.
  bool isLauncher = isRemoteCommand(command);
  int deathSignal = isLauncher ? SIGTERM : SIGRTMIN;
  pid_t parent = getpid();
  pid_t pid = fork();
  if (pid < 0)
    return makeErrnoError("cannot start a worker");
  if (pid == 0)
    becomeWorker(argv.data(), request, answer, output, deathSignal, parent,
                 memoryBytes);
  setpgid(pid,
          pid); // also here: a kill of the group may come before the child runs

  std::unique_ptr<WorkerProcess> worker(new WorkerProcess);
  worker->pid = pid;
  worker->isLauncher = isLauncher;
  worker->requestFd = Pipe::release(request.writeEnd);
  worker->answerFd = Pipe::release(answer.readEnd);
  worker->outputFd = Pipe::release(output.readEnd);
  for (int fd : {worker->requestFd, worker->answerFd, worker->outputFd})
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  return worker;
}

WorkerProcess::~WorkerProcess() { end(); }

void WorkerProcess::closeAll() {
  for (int *fd : {&requestFd, &answerFd, &outputFd})
    if (*fd >= 0)
      close(std::exchange(*fd, -1));
}

void WorkerProcess::send(json::Object message) {
  llvm::raw_string_ostream(toSend) << json::Value(std::move(message)) << "\n";
  transfer();
}

void WorkerProcess::addPollEntries(std::vector<pollfd> &entries) const {
  if (!closed)
    entries.push_back({answerFd, POLLIN, 0});
  if (outputFd >= 0)
    entries.push_back({outputFd, POLLIN, 0});
  if (!toSend.empty() && requestFd >= 0)
    entries.push_back({requestFd, POLLOUT, 0});
}

void WorkerProcess::transfer() {
  while (!toSend.empty() && requestFd >= 0) {
    ssize_t count = write(requestFd, toSend.data(), toSend.size());
    if (count < 0) {
      // A worker that no longer reads shows on the answer side.
      if (errno != EAGAIN && errno != EINTR)
        toSend.clear();
      break;
    }
    toSend.erase(0, count);
  }

  // A bounded number of reads: a worker that never stops writing must not keep
  // the parent from looking at its clock.
  char chunk[1 << 16];
  for (int round = 0; round < 16 && !closed && answerFd >= 0; ++round) {
    ssize_t count = read(answerFd, chunk, sizeof(chunk));
    if (count > 0)
      received.append(chunk, count);
    else if (count == 0 || (errno != EAGAIN && errno != EINTR))
      closed = true;
    else
      break;
  }
  for (int round = 0; round < 16 && outputFd >= 0; ++round) {
    ssize_t count = read(outputFd, chunk, sizeof(chunk));
    if (count > 0) {
      output.append(chunk, count);
      if (output.size() > kOutputBytes) {
        output.erase(0, output.size() - kOutputBytes);
        outputCut = true;
      }
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
      close(std::exchange(outputFd, -1));
    } else {
      break;
    }
  }
}

std::optional<std::string> WorkerProcess::takeLine() {
  size_t end = received.find('\n');
  if (end == std::string::npos)
    return std::nullopt;
  std::string line = received.substr(0, end);
  received.erase(0, end + 1);
  return line;
}

std::string WorkerProcess::end() {
  if (pid < 0)
    return "";
  // A worker that closed its end is about to exit: let it, so that its own exit
  // code or signal is what gets reported.
  int status = 0;
  struct rusage usage = {};
  pid_t ended = 0;
  for (int wait = 0; closed && ended == 0 && wait < 100; ++wait) {
    ended = wait4(pid, &status, WNOHANG, &usage);
    if (ended == 0)
      usleep(2000);
  }
  bool killed = ended == 0;
  if (isLauncher && killed) {
    kill(pid, SIGTERM);
    auto until = std::chrono::steady_clock::now() + kLauncherSeconds;
    while (ended == 0 && std::chrono::steady_clock::now() < until) {
      usleep(2000);
      ended = wait4(pid, &status, WNOHANG, &usage);
    }
  }
  kill(-pid, SIGKILL);
  if (ended == 0)
    kill(pid, SIGKILL);
  while (ended == 0 || (ended < 0 && errno == EINTR))
    ended = wait4(pid, &status, 0, &usage);
  transfer(); // the last words
  closeAll();
  closed = true;
  pid = -1;
  peakBytes = uint64_t(usage.ru_maxrss) << 10;
  if (killed)
    return "was killed";
  if (WIFSIGNALED(status))
    return llvm::formatv("ended by signal {0} ({1})", WTERMSIG(status),
                         strsignal(WTERMSIG(status)));
  if (WEXITSTATUS(status) == 127)
    return "could not be started";
  return llvm::formatv("exited with code {0}", WEXITSTATUS(status));
}

uint64_t WorkerProcess::getResidentBytes() const {
  if (pid < 0)
    return 0;
  std::string path = llvm::formatv("/proc/{0}/statm", pid);
  FILE *file = fopen(path.c_str(), "re");
  if (!file)
    return 0;
  unsigned long total = 0, resident = 0;
  int fields = fscanf(file, "%lu %lu", &total, &resident);
  fclose(file);
  return fields == 2 ? uint64_t(resident) * sysconf(_SC_PAGESIZE) : 0;
}

std::string WorkerProcess::getOutput() const {
  return (outputCut ? "[...]" : "") + output;
}
