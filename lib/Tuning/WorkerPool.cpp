// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One poll() over all workers. Each slot is idle or has one request with a
// deadline; every way out of a request goes through readLines() or fail().

#include "attune/Tuning/WorkerPool.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace attune::tuning;
namespace json = llvm::json;

/// An answer beyond this is garbage.
static constexpr size_t kMaxLineBytes = 256u << 20;
/// How often memory in use is looked at.
static constexpr std::chrono::milliseconds kWatchInterval(50);
/// A worker that cannot start this often in a row will not start.
static constexpr unsigned kStartAttempts = 3;

struct WorkerPool::Slot {
  std::vector<std::string> command;
  std::unique_ptr<WorkerProcess> process;
  std::optional<json::Value> hello;
  std::optional<uint64_t> request;
  /// Sent once the worker said hello.
  std::optional<json::Value> waiting;
  double extraSeconds = 0;
  Clock::time_point deadline;
  /// It has no deadline as long as the worker waits for another process.
  bool waits = false;
  unsigned served = 0;
  unsigned failedStarts = 0;
  /// The worker itself said why it cannot work.
  bool refused = false;
  std::string startError;
};

static Clock::duration toDuration(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(seconds));
}

WorkerPool::WorkerPool(std::vector<std::vector<std::string>> commands,
                       WorkerLimits limits)
    : limits(limits) {
  for (std::vector<std::string> &command : commands)
    slots.emplace_back().command = std::move(command);
}

WorkerPool::~WorkerPool() = default;

size_t WorkerPool::getIdle() const {
  return llvm::count_if(slots, [](const Slot &slot) { return !slot.request; });
}

bool WorkerPool::isWaiting() const {
  return llvm::any_of(slots, [](const Slot &slot) { return slot.waits; });
}

double WorkerPool::getSeconds(const Slot &slot) const {
  return slot.hello ? limits.requestSeconds + slot.extraSeconds
                    : limits.startSeconds;
}

void WorkerPool::submit(uint64_t id, json::Value request, double extraSeconds) {
  auto slot =
      llvm::find_if(slots, [](const Slot &slot) { return !slot.request; });
  assert(slot != slots.end() && "expects an idle worker");
  slot->request = id;
  slot->waiting = std::move(request);
  slot->extraSeconds = extraSeconds;
  if (slot->served >= limits.requestsPerWorker)
    retire(*slot);
  // The time to start is counted apart from the time to answer.
  slot->deadline = Clock::now() + toDuration(getSeconds(*slot));
  // Behind the others, so that all devices are used where one would do.
  slots.splice(slots.end(), slots, slot);
}

llvm::Error WorkerPool::ensureStarted(Slot &slot) {
  if (slot.process)
    return llvm::Error::success();
  if (slot.refused)
    return llvm::createStringError(slot.startError);
  if (slot.failedStarts >= kStartAttempts)
    return llvm::createStringError("cannot start a worker: " + slot.startError);
  llvm::Expected<std::unique_ptr<WorkerProcess>> process = WorkerProcess::start(
      slot.command, limits.limitAllocation ? limits.memoryBytes : 0);
  if (!process)
    return process.takeError();
  slot.process = std::move(*process);
  slot.served = 0;
  slot.deadline = Clock::now() + toDuration(limits.startSeconds);
  return llvm::Error::success();
}

void WorkerPool::retire(Slot &slot) {
  if (slot.process) {
    slot.process->end();
    peakBytes = std::max(peakBytes, slot.process->getPeakBytes());
  }
  slot.process.reset();
  slot.hello.reset();
  slot.waits = false;
}

void WorkerPool::fail(Slot &slot, Completion::Kind kind, llvm::StringRef reason,
                      std::vector<Completion> &completions) {
  std::string ending = slot.process->end();
  std::string output = slot.process->getOutput();
  llvm::StringRef kept = llvm::StringRef(output).trim();
  std::string message = reason.empty() ? "worker " + ending : reason.str();
  if (!kept.empty())
    message += "; the worker's last output: " + kept.str();
  bool started = slot.hello.has_value();
  retire(slot);
  ++replaced;
  if (!started) {
    // Not the request's fault: it stays, and a new worker is tried.
    ++slot.failedStarts;
    slot.startError = std::move(message);
    return;
  }
  if (slot.request) {
    completions.push_back({*slot.request, kind, nullptr, std::move(message)});
    slot.request.reset();
    slot.waiting.reset();
  }
}

void WorkerPool::readLines(Slot &slot, std::vector<Completion> &completions) {
  while (std::optional<std::string> line = slot.process->takeLine()) {
    llvm::Expected<json::Value> message = json::parse(*line);
    json::Object *object = message ? message->getAsObject() : nullptr;
    if (!message)
      llvm::consumeError(message.takeError());
    if (object && object->get("out_of_memory"))
      return fail(
          slot, Completion::Kind::OutOfMemory,
          llvm::formatv("worker needed more memory than its limit of {0} MiB",
                        limits.memoryBytes >> 20)
              .str(),
          completions);
    if (std::optional<bool> waits =
            object ? object->getBoolean("waits") : std::nullopt) {
      slot.waits = *waits;
      slot.deadline = Clock::now() + toDuration(getSeconds(slot));
      continue;
    }
    if (object && !slot.hello) {
      if (std::optional<llvm::StringRef> error = object->getString("error")) {
        slot.refused = true;
        slot.startError = error->str();
        return retire(slot);
      }
      if (json::Value *hello = object->get("hello")) {
        slot.hello = std::move(*hello);
        slot.failedStarts = 0;
        continue;
      }
    }
    json::Value *answer = object ? object->get("answer") : nullptr;
    if (!slot.hello || !slot.request || slot.waiting || !answer ||
        object->getInteger("id") != std::optional<int64_t>(*slot.request))
      return fail(slot, Completion::Kind::Crash,
                  "worker wrote something that is no answer: " +
                      llvm::StringRef(*line).take_front(200).str(),
                  completions);
    const json::Object *fields = answer->getAsObject();
    bool last = fields && fields->getBoolean("retire").value_or(false);
    completions.push_back(
        {*slot.request, Completion::Kind::Answer, std::move(*answer), ""});
    slot.request.reset();
    ++slot.served;
    if (last)
      return retire(slot);
  }
}

llvm::Error WorkerPool::check(Slot &slot,
                              std::vector<Completion> &completions) {
  if (!slot.process && !slot.request)
    return llvm::Error::success();
  if (llvm::Error error = ensureStarted(slot))
    return error;
  slot.process->transfer();
  readLines(slot, completions);
  if (!slot.process)
    return llvm::Error::success();

  if (slot.hello && slot.waiting) {
    json::Object message{{"id", int64_t(*slot.request)},
                         {"request", std::move(*slot.waiting)}};
    slot.waiting.reset();
    slot.deadline = Clock::now() + toDuration(getSeconds(slot));
    slot.process->send(std::move(message));
  }
  if (slot.process->isClosed()) {
    std::string ending = slot.process->end();
    bool silent = ending == "exited with code 0";
    fail(slot, Completion::Kind::Crash,
         "worker " + ending + (silent ? " without an answer" : ""),
         completions);
  } else if (slot.process->getPendingBytes() > kMaxLineBytes) {
    fail(slot, Completion::Kind::Crash, "worker wrote an answer without end",
         completions);
  } else if ((slot.request || !slot.hello) && !slot.waits &&
             Clock::now() >= slot.deadline) {
    fail(slot, Completion::Kind::Timeout,
         llvm::formatv("worker took longer than the limit of {0:F1} s",
                       getSeconds(slot))
             .str(),
         completions);
  } else if (limits.memoryBytes &&
             slot.process->getResidentBytes() > limits.memoryBytes) {
    fail(slot, Completion::Kind::OutOfMemory,
         llvm::formatv("worker used more memory than its limit of {0} MiB",
                       limits.memoryBytes >> 20)
             .str(),
         completions);
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<Completion>>
WorkerPool::wait(llvm::ArrayRef<WorkerPool *> pools,
                 std::chrono::milliseconds timeout) {
  std::vector<Completion> completions;
  Clock::time_point until = Clock::now() + timeout;
  while (true) {
    std::vector<pollfd> entries;
    Clock::time_point wake = std::min(until, Clock::now() + kWatchInterval);
    for (WorkerPool *pool : pools)
      for (Slot &slot : pool->slots) {
        if (llvm::Error error = pool->check(slot, completions))
          return error;
        if (slot.process) {
          slot.process->addPollEntries(entries);
          wake = std::min(wake,
                          slot.deadline > Clock::now() ? slot.deadline : wake);
        }
      }
    if (!completions.empty() || Clock::now() >= until)
      return completions;
    auto left =
        std::chrono::ceil<std::chrono::milliseconds>(wake - Clock::now());
    if (poll(entries.data(), entries.size(), std::max<int>(0, left.count())) <
            0 &&
        errno == EINTR)
      return completions;
  }
}

llvm::Expected<std::vector<json::Value>>
WorkerPool::startAll(const volatile sig_atomic_t *interrupted) {
  while (true) {
    if (interrupted && *interrupted)
      return llvm::createStringError(
          "interrupted before all workers had started");
    std::vector<Completion> completions;
    std::vector<pollfd> entries;
    std::vector<json::Value> hellos;
    for (Slot &slot : slots) {
      if (llvm::Error error = ensureStarted(slot))
        return error;
      if (llvm::Error error = check(slot, completions))
        return error;
      if (slot.hello)
        hellos.push_back(*slot.hello);
      if (slot.process)
        slot.process->addPollEntries(entries);
    }
    if (hellos.size() == slots.size())
      return hellos;
    poll(entries.data(), entries.size(), kWatchInterval.count());
  }
}

void WorkerPool::stop() {
  for (Slot &slot : slots) {
    retire(slot);
    slot.request.reset();
    slot.waiting.reset();
  }
}

uint64_t WorkerPool::getPeakBytes() const {
  uint64_t peak = peakBytes;
  for (const Slot &slot : slots)
    if (slot.process)
      peak = std::max(peak, slot.process->getResidentBytes());
  return peak;
}
