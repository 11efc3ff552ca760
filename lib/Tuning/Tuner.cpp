// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search loop. A candidate is in exactly one place at a time: being
// compiled, ready, being measured, or finished; finish() is the only way into
// the results, and what it takes is on disk before anybody hears of it.

#include "attune/Tuning/Tuner.h"
#include "attune/Runtime/Benchmark.h"
#include "attune/Tuning/Reproducer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace attune::tuning;
namespace json = llvm::json;

/// How long one wait for workers lasts before the progress line is looked
/// after.
static constexpr std::chrono::milliseconds kTick(200);
/// Compiled candidates that wait for a device, for each compiling worker:
/// enough to choose from, and few enough to follow what is measured. Those that
/// are executed are small, and many wait for the result of an equal one.
static constexpr size_t kReadyPerCompiler = 3, kReadyToExecute = 64;

Tuner::Tuner(const Task &task, const Space &space, const LegalSpace &legal,
             Store &store, SessionInfo &session, WorkerPool &compilers,
             WorkerPool *devices, WorkerPool *checkers, const Ranker *ranker,
             Progress &progress, const TunerOptions &options,
             const volatile sig_atomic_t &interrupted)
    : task(task), space(space), legal(legal), store(store), session(session),
      compilers(compilers), devices(devices), checkers(checkers),
      ranker(ranker), progress(progress), options(options),
      interrupted(interrupted) {}

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// From `sent` to now, of a search that began at `started`.
static Interval makeInterval(Clock::time_point started,
                             Clock::time_point sent) {
  return {std::chrono::duration<double>(sent - started).count(),
          secondsSince(started)};
}

double Tuner::secondsLeft() const {
  return options.budgetSeconds ? *options.budgetSeconds - secondsSince(started)
                               : std::numeric_limits<double>::infinity();
}

double Tuner::estimate(size_t measurements) const {
  if (measureSeconds.empty() || !outcome.timed)
    return 0;
  // Not the mean: the first has waited for its worker to start, and one that
  // hangs has taken all its time.
  return measurements * measureSeconds[measureSeconds.size() / 2];
}

/// A proof takes as long as so many measurements: it verifies for more inputs
/// and launches more often. Seen on an H200, 16384 tokens.
static constexpr unsigned kProofMeasurements = 8;

double Tuner::getReserve() const {
  // What would take more than half of the budget is cut short instead.
  double most = *options.budgetSeconds / 2;
  if (!devices && checkers)
    return std::min(options.finalists * kCheckSeconds, most);
  size_t rounds =
      options.finalRounds ? options.finalRounds - 1 + kFirstRound : 0;
  double energy = isSustained() ? options.finalists * kEnergySeconds : 0;
  return std::min(
      estimate(rounds * options.finalists + kProofMeasurements) + energy, most);
}

bool Tuner::isOutOfTime() const {
  return options.budgetSeconds && secondsLeft() <= getReserve();
}

bool Tuner::onlyLooksUp() const {
  return options.budgetSeconds == 0 || options.budgetCandidates == 0;
}

bool Tuner::isStopping() const {
  if (interrupted || isOutOfTime())
    return true;
  return options.budgetCandidates && asked >= *options.budgetCandidates;
}

llvm::Expected<Outcome> Tuner::run(Strategy &theStrategy) {
  strategy = &theStrategy;
  started = Clock::now();
  outcome.timed = devices && !options.execute;
  outcome.executed = options.execute;
  outcome.objective = options.objective;
  outcome.ranked = ranker;
  outcome.base = task.baseline.empty() ? space.getDefault() : task.baseline;
  state.total = legal.points.size();
  if (options.budgetCandidates)
    state.total = std::min<uint64_t>(state.total, *options.budgetCandidates);
  state.budgetSeconds = options.budgetSeconds;

  // The baseline comes first and is measured however short the budget: it
  // is what every other result is compared with.
  baselineIndex = findIndex(outcome.base);
  if (baselineIndex) {
    ++asked;
    if (llvm::Error error = startCandidate(*baselineIndex))
      return error;
  }
  if (llvm::Error error = startStoredBest())
    return error;

  // Where nothing is timed, what is compiled when the budget is spent is not
  // waited for: it would add one more prediction.
  auto isOver = [&] {
    bool hasBaseline = !baselineIndex || resultOf.count(*baselineIndex);
    return !devices && hasBaseline && !onlyLooksUp() && secondsLeft() <= 0;
  };
  std::vector<Completion> completed;
  while (true) {
    if (interrupted) {
      if (llvm::Error error = abandon())
        return error;
      break;
    }
    if (llvm::Error error = advance(std::exchange(completed, {})))
      return error;
    report();
    if (isNothingUnderWay() && (exhausted || isStopping()))
      break;
    if (isOver()) {
      if (llvm::Error error = abandon())
        return error;
      break;
    }

    std::vector<WorkerPool *> pools = {&compilers};
    if (devices)
      pools.push_back(devices);
    llvm::Expected<std::vector<Completion>> completions =
        WorkerPool::wait(pools, kTick);
    if (!completions)
      return completions.takeError();
    completed = std::move(*completions);
  }

  store.releaseClaims();
  outcome.budgetSpent = !interrupted && tried.size() < legal.points.size();
  bool goesOn = !interrupted && !onlyLooksUp();
  if (outcome.timed && goesOn)
    if (llvm::Error error = runFinals())
      return error;
  if (outcome.timed && goesOn && !interrupted)
    if (llvm::Error error = runProofs())
      return error;
  if (!devices && checkers && goesOn)
    if (llvm::Error error = runChecks())
      return error;
  outcome.interrupted = interrupted;
  outcome.pickWinner();
  outcome.seconds = secondsSince(started);
  report();
  progress.finish();
  return std::move(outcome);
}

llvm::Error Tuner::startStoredBest() {
  if (!outcome.timed || options.retune)
    return llvm::Error::success();
  llvm::Expected<std::optional<Result>> best =
      store.findBest(session.key, space, options.objective);
  if (!best)
    return best.takeError();
  if (!*best)
    return llvm::Error::success();
  std::optional<size_t> index = findIndex((*best)->point);
  if (!index || tried.count(*index))
    return llvm::Error::success();
  return startCandidate(*index);
}

llvm::Error Tuner::advance(std::vector<Completion> completions) {
  // A write to disk takes longer than many results take to be written.
  llvm::Error error = store.transact([&]() -> llvm::Error {
    for (Completion &completion : completions)
      if (llvm::Error error = complete(std::move(completion)))
        return error;
    return feedDevices();
  });
  if (error)
    return error;
  // Others look for a result as soon as they have the claim.
  for (size_t index : std::exchange(finished, {}))
    store.release(session.key, space, legal.points[index]);
  if (llvm::Error error = lookElsewhere())
    return error;
  return askForCandidates();
}

bool Tuner::isNothingUnderWay() const {
  return compiling.empty() && ready.empty() && measuring.empty() &&
         elsewhere.empty();
}

llvm::Error Tuner::lookElsewhere() {
  for (size_t index : std::exchange(elsewhere, {})) {
    if (isOutOfTime() && index != baselineIndex)
      continue;
    // It may be ours to compile: who claimed it may have ended without a
    // result.
    if (!compilers.getIdle())
      elsewhere.push_back(index);
    else if (llvm::Error error = startCandidate(index))
      return error;
  }
  return llvm::Error::success();
}

std::optional<size_t> Tuner::findIndex(const Point &point) const {
  auto it = llvm::find(legal.points, point);
  return it == legal.points.end()
             ? std::nullopt
             : std::optional<size_t>(it - legal.points.begin());
}

std::optional<size_t> Tuner::takeSeed() {
  while (nextSeed < task.seeds.size()) {
    std::optional<size_t> index = findIndex(task.seeds[nextSeed++]);
    if (index && !tried.count(*index))
      return index;
  }
  return std::nullopt;
}

llvm::Error Tuner::askForCandidates() {
  if (isStopping()) {
    // Out of time: what is not yet on a device is given up, except the default.
    if (isOutOfTime()) {
      auto others = llvm::partition(ready, [&](const Candidate &candidate) {
        return candidate.index == baselineIndex;
      });
      std::deque<Candidate> compiled(std::make_move_iterator(others),
                                     std::make_move_iterator(ready.end()));
      ready.erase(others, ready.end());
      if (llvm::Error error = keepCompiled(std::move(compiled)))
        return error;
      bool onlyOthers =
          !compiling.empty() && llvm::none_of(compiling, [&](auto &entry) {
            return entry.second.index == baselineIndex;
          });
      if (onlyOthers) {
        compilers.stop();
        compiling.clear();
        baselineRequest.reset();
      }
    }
    return llvm::Error::success();
  }
  size_t enough = compilers.size() *
                  (options.execute ? kReadyToExecute : kReadyPerCompiler);
  bool waits = devices && ready.size() >= enough;
  size_t room = waits ? 0 : compilers.getIdle();
  while (room && !exhausted && !isStopping()) {
    std::vector<size_t> candidates;
    if (std::optional<size_t> seed = takeSeed())
      candidates.push_back(*seed);
    else
      candidates = strategy->ask(1);
    if (candidates.empty()) {
      exhausted = isNothingUnderWay();
      break;
    }
    for (size_t index : candidates) {
      if (tried.count(index))
        continue;
      ++asked;
      if (llvm::Error error = startCandidate(index))
        return error;
    }
    room = compilers.getIdle();
    report();
  }
  return llvm::Error::success();
}

llvm::Error Tuner::startCandidate(size_t index) {
  tried.insert(index);
  Candidate candidate{index, {}};
  candidate.result.point = legal.points[index];
  candidate.result.origin = strategy->getOrigin(index);
  if (!options.retune) {
    if (!onlyLooksUp() &&
        !store.claim(session.key, space, candidate.result.point)) {
      elsewhere.push_back(index);
      return llvm::Error::success();
    }
    llvm::Expected<bool> isFinished = finishStored(candidate);
    if (!isFinished || *isFinished)
      return isFinished.takeError();
  }
  if (!onlyLooksUp())
    submitCompile(std::move(candidate));
  return llvm::Error::success();
}

llvm::Expected<bool> Tuner::finishStored(Candidate &candidate) {
  llvm::Expected<std::optional<Result>> stored =
      store.find(session.key, space, candidate.result.point);
  if (!stored)
    return stored.takeError();
  if (!*stored)
    return false;
  // What was compiled and then given up is yet to be measured, and so is what
  // another limit refused.
  bool isOpen = devices && (*stored)->stage == Stage::Compile &&
                ((*stored)->status == Status::Ok ||
                 ((*stored)->resources.spillBytes.value_or(0) > 0 &&
                  findFault((*stored)->resources).empty()));
  isOpen |= !onlyLooksUp() && !hasCost(**stored);
  if (isOpen)
    return false;
  candidate.result = std::move(**stored);
  candidate.result.origin = strategy->getOrigin(candidate.index);
  refuseFaulty(candidate);
  if (llvm::Error error = finish(std::move(candidate)))
    return error;
  return true;
}

bool Tuner::hasCost(const Result &result) const {
  return !outcome.timed || !result.isTimed() ||
         result.getCost(options.objective);
}

std::string Tuner::findFault(const Resources &resources) const {
  return resources.findFault(options.mostSpilledBytes);
}

void Tuner::refuseFaulty(Candidate &candidate) const {
  Result &result = candidate.result;
  std::string fault = findFault(result.resources);
  if (result.status != Status::Ok || fault.empty() || !hasFaultless ||
      candidate.index == baselineIndex)
    return;
  result.status = Status::Refused;
  result.message = std::move(fault);
}

json::Value Tuner::makeCandidateRequest(const Candidate &candidate) const {
  return json::Object{{"problem", task.text},
                      {"chip", task.chip},
                      {"schedule", space.toJSON(candidate.result.point)}};
}

void Tuner::submitCompile(Candidate candidate) {
  candidate.sent = Clock::now();
  compilers.submit(nextRequest, makeCandidateRequest(candidate));
  compiling.emplace(nextRequest++, std::move(candidate));
}

llvm::Error Tuner::complete(Completion completion) {
  if (completion.id == baselineRequest) {
    takeBaseline(completion);
    return llvm::Error::success();
  }
  if (auto it = compiling.find(completion.id); it != compiling.end()) {
    Candidate candidate = std::move(it->second);
    compiling.erase(it);
    candidate.result.compiled = makeInterval(started, candidate.sent);
    readCompletion(completion, candidate.result);
    if (const json::Object *answer = completion.answer.getAsObject())
      if (const json::Value *binary = answer->get("binary"))
        candidate.binary = *binary;
    return finishCompile(std::move(candidate));
  }
  auto it = measuring.find(completion.id);
  if (it == measuring.end())
    return llvm::Error::success();
  Candidate candidate = std::move(it->second);
  measuring.erase(it);
  awaited.erase(candidate.result.binaryHash);
  candidate.result.measured = makeInterval(started, candidate.sent);
  double seconds = secondsSince(candidate.sent);
  measureSeconds.insert(llvm::upper_bound(measureSeconds, seconds), seconds);
  readCompletion(completion, candidate.result);
  adopt(candidate.result,
        wantsEnergy(candidate) && candidate.result.conditions.state);
  if (outcome.timed && candidate.result.status == Status::Ok &&
      candidate.result.samples.empty()) {
    candidate.result.status = Status::Crash;
    candidate.result.message =
        "expects times in the answer of a device, but got none";
  }
  return finish(std::move(candidate));
}

llvm::Error Tuner::finishCompile(Candidate candidate) {
  Result &result = candidate.result;
  result.samples.clear();
  if (result.status != Status::Ok)
    return finish(std::move(candidate));
  if (ranker)
    result.score = ranker->score(result);
  refuseFaulty(candidate);
  if (!devices || result.status != Status::Ok)
    return finish(std::move(candidate));
  ready.push_back(std::move(candidate));
  return llvm::Error::success();
}

llvm::Error Tuner::finish(Candidate candidate) {
  Result &result = candidate.result;
  if (!result.reused) {
    llvm::Expected<int64_t> row = store.add(session, space, result);
    if (!row)
      return row.takeError();
    if (result.status != Status::Ok && result.status != Status::Refused)
      reproduce(result);
  }
  finished.push_back(candidate.index);
  outcome.reused += result.reused;
  outcome.copied += result.copiedFrom != 0 && !result.reused;
  count(result);
  tellStrategy(candidate.index, result);
  resultOf[candidate.index] = outcome.results.size();
  if (candidate.index == baselineIndex) {
    outcome.baseline = outcome.results.size();
    if (result.isTimed())
      baselineTime = result.getSummary().median;
    if (baselineTime)
      baselineBinary = candidate.binary;
  }
  outcome.results.push_back(std::move(result));
  keepBinary(candidate);
  return llvm::Error::success();
}

void Tuner::tellStrategy(size_t index, const Result &result) {
  if (!outcome.timed || options.objective == Objective::Time)
    return strategy->tell(index, result);
  // Strategies know one cost, which they call time.
  Result told = result;
  told.samples.clear();
  if (std::optional<Summary> cost = result.getCost(options.objective))
    told.samples = {cost->median};
  strategy->tell(index, told);
}

void Tuner::reproduce(const Result &result) {
  if (options.reproDir.empty() || !task.print)
    return;
  llvm::Expected<std::string> path = writeReproducer(
      options.reproDir, task.name, task.chip, task.print(result.point), result,
      options.execute, task.getCommand);
  // A folder that cannot be written must not end a search that goes well.
  if (!path)
    progress.note("warning: " + llvm::toString(path.takeError()));
}

llvm::Error Tuner::abandon() {
  compilers.stop();
  if (devices)
    devices->stop();
  compiling.clear();
  measuring.clear();
  return keepCompiled(std::exchange(ready, {}));
}

llvm::Error Tuner::keepCompiled(std::deque<Candidate> candidates) {
  for (Candidate &candidate : candidates) {
    // An older time must not be hidden by a result without one; and of what was
    // not executed there is nothing to keep.
    if (options.retune || options.execute)
      continue;
    if (llvm::Error error = finish(std::move(candidate)))
      return error;
  }
  return llvm::Error::success();
}

void Tuner::count(const Result &result) {
  ++state.counts[result.status];
  ++state.done;
  state.reused = outcome.reused;
  if (outcome.timed && result.isTimed()) {
    double time = result.getSummary().median;
    bestTime = std::min(bestTime.value_or(time), time);
  }
  if (outcome.executed || !outcome.isValid(result))
    return;
  if (result.isTimed() && findFault(result.resources).empty())
    hasFaultless = true;
  double cost = outcome.getCost(result);
  if (bestCost && *bestCost <= cost)
    return;
  bestCost = cost;
  state.schedule = space.toString(result.point, outcome.base);
  if (!outcome.timed && !outcome.ranked)
    return;
  double time = result.isTimed() ? result.getSummary().median : cost;
  state.best = llvm::formatv("{0:F1} us{1}", time / 1000,
                             outcome.timed ? "" : " (predicted)");
  if (result.isTimed() && task.flops)
    state.best += llvm::formatv(", {0:F1} TFLOP/s", task.flops / time / 1000);
  if (result.conditions.picojoulesPerFlop)
    state.best +=
        llvm::formatv(", {0:F3} pJ/FLOP", *result.conditions.picojoulesPerFlop);
}

void Tuner::report() {
  state.seconds = secondsSince(started);
  state.elsewhere = elsewhere.size();
  state.waits = devices && devices->isWaiting();
  progress.update(state);
}
