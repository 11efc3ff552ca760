// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The worker of the fake problem, with every way to go wrong that a candidate
// has been seen to have.

#include "Fake.h"
#include "attune/Tuning/DeviceLock.h"
#include "attune/Tuning/Worker.h"
#include "llvm/Support/FormatVariadic.h"
#include <csignal>
#include <fcntl.h>
#include <unistd.h>

using namespace attune::tuning;
using namespace attune::tuning::fake;
namespace json = llvm::json;

static void writeRaw(llvm::StringRef text) {
  (void)!write(kWorkerAnswerFd, text.data(), text.size());
}

static void sleepForever() {
  while (true)
    pause();
}

/// Answers for the fault itself, or null where the fault leaves the answer as
/// it is.
static std::optional<json::Value> commit(llvm::StringRef fault) {
  if (fault == "segv")
    raise(SIGSEGV);
  if (fault == "abort")
    abort();
  if (fault == "exit-0")
    _exit(0);
  if (fault == "exit-3")
    _exit(3);
  if (fault == "hang")
    sleepForever();
  if (fault == "hang-with-child") {
    if (fork() == 0)
      sleepForever();
    sleepForever();
  }
  if (fault == "ignore-signals-and-hang") {
    for (int signal = 1; signal < 32; ++signal)
      ::signal(signal, SIG_IGN);
    sleepForever();
  }
  if (fault == "close-wire") {
    close(kWorkerAnswerFd);
    sleepForever();
  }
  if (fault == "garbage")
    writeRaw("ceci n'est pas une response\n");
  if (fault == "half-an-answer") {
    writeRaw("{\"id\":1,\"ans");
    _exit(0);
  }
  if (fault == "wrong-id")
    writeRaw("{\"id\":999999,\"answer\":{\"status\":\"ok\"}}\n");
  if (fault == "nan")
    writeRaw("{\"id\":1,\"answer\":{\"status\":\"ok\",\"samples\":[nan]}}\n");
  if (fault == "hog") {
    std::vector<std::unique_ptr<std::vector<char>>> memory;
    while (true)
      memory.push_back(std::make_unique<std::vector<char>>(8 << 20, 'x'));
  }
  if (fault == "flood" || fault == "gigabyte") {
    std::string line(1 << 20, 'e');
    for (int i = 0; i < (fault == "flood" ? 64 : 1024); ++i)
      (void)!write(STDERR_FILENO, line.data(), line.size());
    abort();
  }
  if (fault == "chatter") {
    (void)!write(STDOUT_FILENO, "{\"id\":1,\"answer\":{}}\n", 22);
    return std::nullopt;
  }
  if (fault == "slow") {
    usleep(1500000);
    return std::nullopt;
  }
  if (fault == "take-turn") {
    auto lock = llvm::cantFail(DeviceLock::open("cpu", 0));
    DeviceLock::Turn turn = llvm::cantFail(lock->take());
    usleep(700000);
    return std::nullopt;
  }
  if (fault == "wait-and-hang") {
    reportWaiting(true);
    reportWaiting(false);
    sleepForever();
  }
  if (fault == "error")
    return json::Object{{"status", "compile-error"},
                        {"message", "expects a better program"}};
  // Right once, and never again.
  static int launches = 0;
  if (fault == "wrong-later" && launches++ > 0)
    return commit("wrong");
  // As a context of a device that one kernel has spoiled for all after it.
  static bool spoiled = false;
  spoiled |= fault == "sticky";
  if (fault == "run-error" || spoiled)
    return json::Object{{"status", "run-error"},
                        {"message", "illegal address"},
                        {"retire", true}};
  if (fault == "wrong")
    return json::Object{{"status", "wrong-result"},
                        {"message", "error 1.0 is above 0.1"}};
  if (fault == "no-status")
    return json::Object{};
  if (fault == "negative")
    return json::Object{{"status", "ok"}, {"samples", json::Array{-1.0, 5.0}}};
  if (fault == "no-samples")
    return json::Object{{"status", "ok"}};
  if (fault == "no-object")
    return json::Value("ok");
  return std::nullopt;
}

static void appendLine(const std::string &path, std::string line) {
  int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  line += "\n";
  (void)!write(fd, line.data(), line.size());
  close(fd);
}

static json::Value handle(const json::Value &request, bool checks) {
  const json::Object &object = *request.getAsObject();
  llvm::Expected<json::Value> script =
      json::parse(*object.getString("problem"));
  const json::Object &problem = *script->getAsObject();
  const json::Object *binary = object.getObject("binary");
  int64_t x = binary ? *binary->getInteger("x")
                     : *object.getObject("schedule")->getInteger("x");
  std::string step = llvm::formatv("{0}:{1}",
                                   checks                ? "check"
                                   : object.get("prove") ? "prove"
                                   : binary              ? "measure"
                                                         : "compile",
                                   x);
  if (llvm::StringRef log = *problem.getString("log"); !log.empty()) {
    appendLine(log.str(), step);
    static bool first = true;
    if (std::exchange(first, false))
      appendLine(log.str() + ".workers", std::to_string(getpid()));
  }
  usleep(*problem.getInteger("sleep_ms") * 1000);
  static std::vector<std::vector<char>> leaked;
  leaked.emplace_back(*problem.getInteger("leaked"), 'x');
  if (std::optional<json::Value> answer =
          commit(problem.getObject("faults")->getString(step).value_or("")))
    return *answer;

  if (checks || object.get("prove"))
    return json::Object{{"status", "ok"}};
  int64_t serialized = x == 6 ? *problem.getInteger("serialized") : 0;
  if (!binary)
    return json::Object{
        {"status", "ok"},
        {"hash",
         llvm::formatv("hash-{0}", x / *problem.getInteger("same_binary"))
             .str()},
        {"resources",
         json::Object{{"registers", 100 + x},
                      {"spill_bytes", x == 7 || serialized
                                          ? *problem.getInteger("spilled")
                                          : 0},
                      {"serialized_multiplies", serialized}}},
        {"binary", json::Object{{"x", x}}}};
  usleep(*problem.getInteger("measure_ms") * 1000);
  static int measurements = 0;
  double slowness = 1 + *problem.getNumber("drift") * measurements++;
  json::Array samples;
  for (int i = 0; i < 9; ++i)
    samples.push_back((getTime(x) + i % 3) * slowness);
  json::Object answer{{"status", "ok"},
                      {"samples", std::move(samples)},
                      {"clock_mhz", 1000 + x},
                      {"power_w", 300 + x},
                      {"temperature_c", 40 + x}};
  if (std::optional<llvm::StringRef> state = object.getString("chip_state"))
    answer["chip_state"] = *state;
  if (object.getString("chip_state") == "sustained")
    answer["settled"] = *problem.getBoolean("settles");
  if (const json::Object *baseline = object.getObject("baseline"))
    answer["baseline_ns"] =
        (getTime(*baseline->getInteger("x")) + 1) * slowness;
  if (object.get("energy_s") && *problem.getBoolean("counts_energy")) {
    answer["energy_j"] = getEnergy(x);
    answer["mean_power_w"] = 500 + x;
    answer["energy_span_s"] = *object.getNumber("energy_s");
    answer["pj_per_flop"] = getEnergy(x) * 10;
  }
  return answer;
}

int fake::serve(bool checks) {
  WorkerHandlers handlers;
  handlers.handle = [checks](const json::Value &request) {
    return handle(request, checks);
  };
  return serveWorker(handlers);
}
