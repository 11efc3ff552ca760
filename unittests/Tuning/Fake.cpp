// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fake problem and the search over it.

#include "Fake.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"
#include "gtest/gtest.h"
#include <cmath>
#include <fstream>

using namespace attune::tuning;
using namespace attune::tuning::fake;
namespace json = llvm::json;

Space fake::makeSpace(const Problem &problem) {
  Knob x{"x", 0, {}};
  for (int64_t i = 0; i < problem.candidates; ++i)
    x.domain.push_back(i);
  return Space({x});
}

Task fake::makeTask(const Problem &problem) {
  json::Object faults;
  for (const auto &[when, what] : problem.faults)
    faults[when] = what;
  json::Object text{{"faults", std::move(faults)},
                    {"same_binary", problem.sameBinary},
                    {"log", problem.log},
                    {"spilled", problem.spilledBytes},
                    {"serialized", problem.serialized},
                    {"sleep_ms", problem.sleepMs},
                    {"measure_ms", problem.measureMs},
                    {"leaked", problem.leakedBytes},
                    {"drift", problem.drift},
                    {"settles", problem.settles},
                    {"counts_energy", problem.countsEnergy}};
  Task task;
  task.name = "fake";
  task.text = llvm::formatv("{0}", json::Value(std::move(text)));
  task.key = problem.name;
  task.flops = 1e6;
  task.chip = "fake-chip";
  task.print = [](llvm::ArrayRef<int64_t> point) {
    return "module {} // x = " + std::to_string(point[0]);
  };
  return task;
}

double fake::getTime(int64_t x) { return 1000 + 100 * std::abs(double(x - 5)); }

double fake::getEnergy(int64_t x) {
  return 0.1 + 0.005 * double((x - 2) * (x - 2));
}

std::vector<std::string> fake::getWorkerCommand(llvm::StringRef role) {
  static int anchor;
  return {llvm::sys::fs::getMainExecutable("", &anchor), "fake", role.str()};
}

namespace {
/// Likes what spills least.
class FakeRanker : public Ranker {
protected:
  double score(llvm::ArrayRef<int64_t>,
               const Resources *reported) const override {
    return reported ? reported->spillBytes.value_or(0) : 0;
  }
};
} // namespace

Settings fake::makeSettings() {
  Settings settings;
  settings.limits.requestSeconds = 1;
  settings.limits.startSeconds = 20;
  settings.options.proofExtraSeconds = 0;
  settings.limits.memoryBytes = 256 << 20;
  return settings;
}

llvm::Expected<Outcome> fake::search(const Problem &problem,
                                     const Settings &settings) {
  Space space = makeSpace(problem);
  Task task = makeTask(problem);
  task.seeds = settings.seeds;
  LegalSpace legal = findLegal(space, settings.legality);
  auto store = settings.database == ":memory:" ? Store::openInMemory()
                                               : Store::open(settings.database);
  if (!store)
    return store.takeError();
  SessionInfo session;
  session.key = {
      task.key, task.chip, settings.device ? "fake-device" : "none",
      "fake-compiler",
      settings.options.state ? toString(*settings.options.state).str() : ""};
  if (llvm::Error error = (*store)->addProblem(task.key, task.name, task.text))
    return error;
  if (llvm::Error error = (*store)->beginSession(session))
    return error;
  WorkerPool compilers(std::vector(settings.jobs, getWorkerCommand()),
                       settings.limits);
  WorkerPool devices(
      std::vector(settings.devices, settings.deviceCommand.empty()
                                        ? getWorkerCommand()
                                        : settings.deviceCommand),
      settings.limits);
  WorkerPool checkers({getWorkerCommand("--checker")}, settings.limits);
  FakeRanker ranker;
  std::unique_ptr<Progress> quiet = createQuietProgress();
  Progress &progress = settings.progress ? *settings.progress : *quiet;
  static const volatile sig_atomic_t never = 0;
  Tuner tuner(task, space, legal, **store, session, compilers,
              settings.device ? &devices : nullptr,
              settings.check ? &checkers : nullptr,
              settings.rank ? &ranker : nullptr, progress, settings.options,
              settings.interrupted ? *settings.interrupted : never);
  std::unique_ptr<Strategy> strategy =
      createStrategy(settings.strategy, {space, legal.points, 1});
  llvm::Expected<Outcome> outcome = tuner.run(*strategy);
  if (outcome)
    if (llvm::Error error = (*store)->endSession(
            session, outcome->interrupted ? "interrupted" : "finished"))
      return error;
  return outcome;
}

Outcome fake::mustSearch(const Problem &problem, const Settings &settings) {
  llvm::Expected<Outcome> outcome = search(problem, settings);
  if (outcome)
    return std::move(*outcome);
  ADD_FAILURE() << llvm::toString(outcome.takeError());
  return {};
}

int64_t fake::getWinner(const Outcome &outcome) {
  return outcome.winner ? getX(outcome.results[*outcome.winner]) : -1;
}

bool fake::isFull() {
  const char *full = getenv("ATTUNE_FULL_TESTS");
  return full && llvm::StringRef(full) == "1";
}

void fake::tell(const std::string &figure) {
  if (isFull())
    llvm::outs() << "[ FIGURE   ] " << figure << "\n";
}

TemporaryFolder::TemporaryFolder() {
  llvm::SmallString<64> name;
  std::error_code code =
      llvm::sys::fs::createUniqueDirectory("attune-tuning-test", name);
  assert(!code && "expects a folder for temporary files");
  (void)code;
  path = std::string(name);
}

TemporaryFolder::~TemporaryFolder() { llvm::sys::fs::remove_directories(path); }

std::vector<std::string> fake::readLines(const std::string &path) {
  std::vector<std::string> lines;
  std::ifstream file(
      path); // not MemoryBuffer: files of /proc claim to be empty
  for (std::string line; std::getline(file, line);)
    lines.push_back(line);
  return lines;
}
