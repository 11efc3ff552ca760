// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One child process from the parent's side: starting it, moving bytes, and
// making sure that it ends. Knows nothing of what is in a request.

#ifndef ATTUNE_TUNING_WORKERPROCESS_H
#define ATTUNE_TUNING_WORKERPROCESS_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <chrono>
#include <memory>
#include <poll.h>
#include <string>
#include <sys/types.h>
#include <vector>

namespace attune::tuning {

using Clock = std::chrono::steady_clock;

class WorkerProcess {
public:
  /// Starts `command` (the file to execute, then its argv from argv[0] on) with
  /// the wire on its descriptors. With `memoryBytes`, the
  /// kernel refuses the child private memory beyond that (0: no limit; a driver
  /// that reserves address space needs the parent's watch instead).
  static llvm::Expected<std::unique_ptr<WorkerProcess>>
  start(llvm::ArrayRef<std::string> command, uint64_t memoryBytes);
  /// Kills the worker's whole process group and waits for the worker.
  ~WorkerProcess();

  /// Queues a message.
  void send(llvm::json::Object message);

  /// What to wait for on this worker.
  void addPollEntries(std::vector<pollfd> &entries) const;
  /// Reads and writes what is possible without blocking.
  void transfer();
  /// The next whole line from the worker.
  std::optional<std::string> takeLine();
  /// The worker closed its end, by ending or otherwise.
  bool isClosed() const { return closed; }
  /// Bytes of a line that does not end.
  size_t getPendingBytes() const { return received.size(); }

  /// Kills the group, waits, and says how the worker ended: "exited with code
  /// 3". A launcher is asked to end first, and given time to end what it
  /// started.
  std::string end();

  /// Bytes of memory in use now, or 0 when unknown.
  uint64_t getResidentBytes() const;
  /// Most memory that the worker ever used; known after end().
  uint64_t getPeakBytes() const { return peakBytes; }
  /// The last part of what the worker printed.
  std::string getOutput() const;
  pid_t getPid() const { return pid; }

private:
  WorkerProcess() = default;
  void closeAll();

  pid_t pid = -1;
  int requestFd = -1;
  int answerFd = -1;
  int outputFd = -1;
  std::string toSend;
  std::string received;
  std::string output;
  bool outputCut = false;
  bool closed = false;
  bool isLauncher = false;
  uint64_t peakBytes = 0;
};

} // namespace attune::tuning

#endif // ATTUNE_TUNING_WORKERPROCESS_H
