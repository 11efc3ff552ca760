// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Worker processes of one kind. A request has exactly one completion, whatever
// the worker does: answer, crash, hang, exit without an answer, write garbage,
// or eat memory. A worker that did anything but answer is replaced.

#ifndef ATTUNE_TUNING_WORKERPOOL_H
#define ATTUNE_TUNING_WORKERPOOL_H

#include "attune/Tuning/WorkerProcess.h"
#include <csignal>
#include <list>

namespace attune::tuning {

struct WorkerLimits {
  double requestSeconds = 60;
  double startSeconds = 60;
  /// 0: no limit.
  uint64_t memoryBytes = 0;
  /// Let the kernel enforce `memoryBytes` as well. Off for a worker whose
  /// driver reserves far more address space than it uses.
  bool limitAllocation = true;
  /// A worker is replaced after this many requests, so that what it leaks is
  /// bounded.
  unsigned requestsPerWorker = 200;
};

struct Completion {
  enum class Kind { Answer, Timeout, Crash, OutOfMemory };
  uint64_t id;
  Kind kind;
  /// Of kind Answer only.
  llvm::json::Value answer = nullptr;
  /// What happened, with the end of what the worker printed.
  std::string message;
};

class WorkerPool {
public:
  /// One worker for each command.
  WorkerPool(std::vector<std::vector<std::string>> commands,
             WorkerLimits limits);
  ~WorkerPool();

  size_t size() const { return slots.size(); }
  /// Workers without a request.
  size_t getIdle() const;
  size_t getBusy() const { return size() - getIdle(); }
  /// Whether a worker waits for something that another process has.
  bool isWaiting() const;

  /// Gives a request to the idle worker that had none for longest, and so many
  /// seconds more than others have. Ids are the caller's.
  void submit(uint64_t id, llvm::json::Value request, double extraSeconds = 0);

  /// Waits until something completes, a signal arrives, or `timeout` passes.
  /// Fails only where no worker can be started at all.
  static llvm::Expected<std::vector<Completion>>
  wait(llvm::ArrayRef<WorkerPool *> pools, std::chrono::milliseconds timeout);

  /// Starts every worker and waits until each says hello, in order of the
  /// commands. A launcher may queue for long: fails when `interrupted` is set.
  llvm::Expected<std::vector<llvm::json::Value>>
  startAll(const volatile sig_atomic_t *interrupted = nullptr);

  /// Ends all workers; requests under way complete no more.
  void stop();

  /// Most memory that one worker used so far.
  uint64_t getPeakBytes() const;
  /// Workers that had to be replaced after a failure.
  unsigned getReplaced() const { return replaced; }

private:
  struct Slot;

  /// How long the worker has for what it does.
  double getSeconds(const Slot &slot) const;
  llvm::Error ensureStarted(Slot &slot);
  llvm::Error check(Slot &slot, std::vector<Completion> &completions);
  void readLines(Slot &slot, std::vector<Completion> &completions);
  /// Ends the worker of a slot and completes its request.
  void fail(Slot &slot, Completion::Kind kind, llvm::StringRef reason,
            std::vector<Completion> &completions);
  void retire(Slot &slot);

  WorkerLimits limits;
  std::list<Slot> slots;
  uint64_t peakBytes = 0;
  unsigned replaced = 0;
};

} // namespace attune::tuning

#endif // ATTUNE_TUNING_WORKERPOOL_H
