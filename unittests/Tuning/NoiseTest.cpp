// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole searches, with worker processes, a store and a final, on a device whose
// times are noisy in all the ways that devices have been seen to be: each
// launch differs by 5 percent, some take twice as long, everything becomes
// slower by 10 percent until the end, and half way the clock steps by 10
// percent, up or down. Full tests (ATTUNE_FULL_TESTS=1) search 1000 times.

#include "Fake.h"
#include "Landscape.h"
#include "attune/Tuning/Worker.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace attune::tuning;
namespace json = llvm::json;

static constexpr double kJitter = 0.05, kOutliers = 0.05, kOutlier = 2,
                        kDrift = 0.1, kStep = 0.1;
static constexpr int64_t kCandidates = 64;

namespace {
/// The device of one search; its clock is the number of its measurements.
class NoisyDevice {
public:
  json::Value handle(const json::Value &request) {
    const json::Object &object = *request.getAsObject();
    const json::Object *binary = object.getObject("binary");
    if (!binary) {
      int64_t x = *object.getObject("schedule")->getInteger("x");
      return json::Object{{"status", "ok"},
                          {"hash", "hash-" + std::to_string(x)},
                          {"binary", json::Object{{"x", x}}}};
    }
    if (object.get("prove"))
      return json::Object{{"status", "ok"}};
    if (times.empty())
      read(*object.getString("problem"));
    double time = times[*binary->getInteger("x")] *
                  (1 + kDrift * measurements / kCandidates);
    if (measurements >= kCandidates / 2)
      time *= step;
    ++measurements;
    // As the device's worker does it: a look first, and then the rest.
    std::vector<double> samples = launch(time, 5);
    std::optional<double> most = object.getNumber("stop_above_ns");
    if (!most || summarize(samples).median <= *most)
      samples = launch(time, 20);
    return json::Object{{"status", "ok"}, {"samples", json::Array(samples)}};
  }

private:
  void read(llvm::StringRef text) {
    json::Value problem = llvm::cantFail(json::parse(text));
    for (const json::Value &time : *problem.getAsObject()->getArray("times"))
      times.push_back(*time.getAsNumber());
    generator.seed(*problem.getAsObject()->getInteger("seed"));
    step = generator() % 2 ? 1 + kStep : 1 / (1 + kStep);
  }
  std::vector<double> launch(double time, int count) {
    std::normal_distribution<double> jitter(1, kJitter);
    std::bernoulli_distribution outlier(kOutliers);
    std::vector<double> samples;
    for (int i = 0; i < count; ++i)
      samples.push_back(time * std::max(0.5, jitter(generator)) *
                        (outlier(generator) ? kOutlier : 1));
    return samples;
  }

  std::vector<double> times;
  std::mt19937_64 generator;
  double step = 1;
  int64_t measurements = 0;
};
} // namespace

int fake::serveNoisy() {
  NoisyDevice device;
  WorkerHandlers handlers;
  handlers.handle = [&](const json::Value &request) {
    return device.handle(request);
  };
  return serveWorker(handlers);
}

/// What a search tries: half of it is fast, as a search looks there, and half
/// is drawn.
static std::vector<double> drawTimes(const Landscape &landscape,
                                     uint64_t seed) {
  std::vector<double> sorted = landscape.times, times;
  llvm::sort(sorted);
  std::mt19937_64 generator(seed);
  for (int64_t i = 0; i < kCandidates; ++i)
    times.push_back(
        sorted[generator() % (i % 2 ? sorted.size() : sorted.size() / 50)]);
  return times;
}

/// How much slower the winner of a search is than the best that it tried.
static double getRegret(llvm::ArrayRef<double> times, uint64_t seed) {
  Knob x{"x", 0, {}};
  for (int64_t i = 0; i < kCandidates; ++i)
    x.domain.push_back(i);
  Space space({x});
  LegalSpace legal =
      findLegal(space, [](const Probe &) { return std::optional<Refusal>(); });
  Task task;
  task.name = "noisy";
  task.key = "noisy-problem";
  task.text = llvm::formatv(
      "{0}", json::Value(json::Object{{"times", json::Array(times)},
                                      {"seed", int64_t(seed)}}));
  task.chip = "fake-chip";
  std::unique_ptr<Store> store = llvm::cantFail(Store::openInMemory());
  SessionInfo session;
  session.key = {task.key, task.chip, "fake-device", "fake-compiler"};
  llvm::cantFail(store->addProblem(task.key, task.name, task.text));
  llvm::cantFail(store->beginSession(session));
  WorkerLimits limits = fake::makeSettings().limits;
  WorkerPool compilers({fake::getWorkerCommand("--noisy")}, limits);
  WorkerPool devices({fake::getWorkerCommand("--noisy")}, limits);
  std::unique_ptr<Progress> progress = createQuietProgress();
  static const volatile sig_atomic_t never = 0;
  Tuner tuner(task, space, legal, *store, session, compilers, &devices,
              /*checkers=*/nullptr, /*ranker=*/nullptr, *progress,
              TunerOptions(), never);
  std::unique_ptr<Strategy> strategy =
      createStrategy("random", {space, legal.points, seed});
  Outcome outcome = llvm::cantFail(tuner.run(*strategy));
  if (!outcome.winner || outcome.results.size() != times.size())
    return std::numeric_limits<double>::infinity();
  return times[fake::getX(outcome.results[*outcome.winner])] /
             *llvm::min_element(times) -
         1;
}

TEST(Noise, TheWinnerIsAmongTheFastest) {
  uint64_t searches = fake::choose(30, 1000);
  std::vector<Landscape> landscapes;
  for (uint64_t problem = 1; problem <= 4; ++problem)
    landscapes.emplace_back(problem, /*isRanked=*/false);
  std::vector<double> regrets;
  double sum = 0;
  for (uint64_t seed = 1; seed <= searches; ++seed) {
    const Landscape &landscape = landscapes[seed % landscapes.size()];
    regrets.push_back(getRegret(drawTimes(landscape, seed), seed));
    sum += regrets.back();
  }
  llvm::sort(regrets);
  double mean = sum / static_cast<double>(searches),
         worst = regrets[searches * 95 / 100];
  fake::tell(llvm::formatv("{0} noisy searches: mean regret {1:P2}, 95th "
                           "percentile {2:P2}, worst {3:P2}",
                           searches, mean, worst, regrets.back()));
  EXPECT_LE(mean, 0.01);
  EXPECT_LE(worst, 0.03);
}
