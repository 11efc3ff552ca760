// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The end of a search. Times from different minutes differ by clocks and
// neighbours, so the best few are measured again in turn, and only those times
// decide; who cannot be told from the winner is named as a tie. The winner is
// the first that stands the proof.

#include "attune/Tuning/Tuner.h"
#include "llvm/ADT/STLExtras.h"

using namespace attune;
using namespace attune::tuning;
namespace json = llvm::json;

void Tuner::keepBinary(const Candidate &candidate) {
  if (!devices || candidate.binary.kind() == json::Value::Null)
    return;
  const Result &result = outcome.results[resultOf[candidate.index]];
  if (!result.isTimed())
    return;
  binaries.insert_or_assign(candidate.index, candidate.binary);
  // The best of all is to be proven in any case.
  if (binaries.size() <= std::max(1u, kFirstRound * options.finalists))
    return;
  auto slowest = llvm::max_element(binaries, [&](auto &a, auto &b) {
    const Result &left = outcome.results[resultOf[a.first]],
                 &right = outcome.results[resultOf[b.first]];
    auto getKey = [&](const Result &result) {
      return std::tuple(!outcome.isValid(result),
                        outcome.isValid(result) ? outcome.getCost(result) : 0,
                        result.point);
    };
    return getKey(left) < getKey(right);
  });
  binaries.erase(slowest);
}

llvm::Error Tuner::ensureBinaries(llvm::MutableArrayRef<Candidate> finalists) {
  llvm::SmallVector<Candidate *> missing;
  for (Candidate &finalist : finalists) {
    if (auto it = binaries.find(finalist.index); it != binaries.end())
      finalist.binary = it->second;
    else if (finalist.index == baselineIndex &&
             baselineBinary.kind() != json::Value::Null)
      finalist.binary = baselineBinary;
    else
      missing.push_back(&finalist);
  }
  std::map<uint64_t, Candidate *> requests;
  while ((!missing.empty() || !requests.empty()) && !interrupted) {
    while (!missing.empty() && compilers.getIdle()) {
      Candidate *candidate = missing.pop_back_val();
      requests[nextRequest] = candidate;
      compilers.submit(nextRequest++, makeCandidateRequest(*candidate));
    }
    llvm::Expected<std::vector<Completion>> completions =
        WorkerPool::wait({&compilers}, std::chrono::milliseconds(200));
    if (!completions)
      return completions.takeError();
    for (Completion &completion : *completions) {
      auto it = requests.find(completion.id);
      if (it == requests.end())
        continue;
      // One that no longer compiles keeps a null binary and stays out of the
      // final.
      if (const json::Object *answer = completion.answer.getAsObject())
        if (const json::Value *binary = answer->get("binary"))
          it->second->binary = *binary;
      requests.erase(it);
    }
    report();
  }
  return llvm::Error::success();
}

Tuner::Candidate Tuner::makeFinalist(size_t resultIndex) {
  auto entry = llvm::find_if(
      resultOf, [&](auto &pair) { return pair.second == resultIndex; });
  Candidate finalist{entry->first, outcome.results[resultIndex]};
  finalist.result.samples.clear();
  finalist.result.conditions = {};
  finalist.result.stage = Stage::Final;
  finalist.result.reused = false;
  finalist.result.copiedFrom = 0;
  return finalist;
}

llvm::Expected<bool> Tuner::await(WorkerPool &pool, uint64_t request,
                                  Result &result, bool withinBudget) {
  bool done = false;
  while (!done && !interrupted && !(withinBudget && secondsLeft() <= 0)) {
    llvm::Expected<std::vector<Completion>> completions =
        WorkerPool::wait({&pool}, std::chrono::milliseconds(200));
    if (!completions)
      return completions.takeError();
    for (Completion &completion : *completions) {
      if (completion.id != request)
        continue;
      readCompletion(completion, result);
      done = true;
    }
    report();
  }
  return done;
}

llvm::Error Tuner::settle(Candidate finalist) {
  llvm::Expected<int64_t> row = store.add(session, space, finalist.result);
  if (!row)
    return row.takeError();
  if (finalist.result.status != Status::Ok)
    reproduce(finalist.result);
  tellStrategy(finalist.index, finalist.result);
  outcome.results[resultOf[finalist.index]] = std::move(finalist.result);
  return llvm::Error::success();
}

void Tuner::keepFastest(std::vector<Candidate> &finalists) const {
  // Those that failed are kept as well: that is to be known.
  auto getKey = [&](const Candidate &candidate) {
    const Result &result = candidate.result;
    if (!result.isTimed())
      return 0.0;
    return outcome.isValid(result) ? outcome.getCost(result)
                                   : std::numeric_limits<double>::infinity();
  };
  llvm::sort(finalists, [&](const Candidate &a, const Candidate &b) {
    return std::pair(getKey(a), a.index) < std::pair(getKey(b), b.index);
  });
  size_t failed = llvm::count_if(finalists, [](const Candidate &candidate) {
    return !candidate.result.isTimed();
  });
  if (finalists.size() > failed + options.finalists)
    finalists.erase(finalists.begin() + failed + options.finalists,
                    finalists.end());
}

llvm::Error Tuner::runFinals() {
  std::vector<size_t> order = outcome.rankByCost();
  bool decided =
      llvm::all_of(llvm::ArrayRef(order).take_front(options.finalists),
                   [&](size_t i) { return outcome.results[i].wasInFinal(); });
  // Nothing is new since the best was proven.
  if (!order.empty() && measureSeconds.empty())
    decided |= outcome.results[order.front()].stage == Stage::Proof;
  order.resize(std::min<size_t>(order.size(), kFirstRound * options.finalists));
  if (order.size() < 2 || options.finalRounds == 0 ||
      (decided && !options.retune))
    return llvm::Error::success();

  std::vector<Candidate> finalists;
  for (size_t i : order)
    finalists.push_back(makeFinalist(i));
  if (llvm::Error error = ensureBinaries(finalists))
    return error;
  if (isSustained() && baselineTime && !baselineFails &&
      baselineBinary.kind() == json::Value::Null) {
    Candidate baseline = makeFinalist(*outcome.baseline);
    if (llvm::Error error = ensureBinaries(baseline))
      return error;
    baselineBinary = std::move(baseline.binary);
  }
  llvm::erase_if(finalists, [](const Candidate &candidate) {
    return candidate.binary.kind() == json::Value::Null;
  });

  for (unsigned round = 0; round < options.finalRounds && !interrupted;
       ++round) {
    if (round == 1)
      keepFastest(finalists);
    // Not of those that leave after the first round, if there is another.
    countsEnergy = round > 0 || options.finalRounds == 1;
    // Rather a short final than none.
    if (round == 0 && secondsLeft() < estimate(finalists.size()) &&
        finalists.size() > options.finalists)
      finalists.erase(finalists.begin() + options.finalists, finalists.end());
    if (secondsLeft() < estimate(finalists.size())) {
      if (round == 0)
        return llvm::Error::success();
      break;
    }
    // Each is also verified in each round: while the host compares, the device
    // cools down. Without, clocks fell as rounds went on (H200, large
    // products), and times of a cool device scattered more. A sustained one is
    // heated again.
    for (Candidate &finalist : finalists) {
      if (finalist.result.status != Status::Ok)
        continue;
      std::vector<double> samples = std::move(finalist.result.samples);
      Conditions conditions = finalist.result.conditions;
      bool askedEnergy = wantsEnergy(finalist);
      uint64_t request = nextRequest;
      submitMeasure(finalist);
      llvm::Expected<bool> done = await(*devices, request, finalist.result);
      if (!done)
        return done.takeError();
      measuring.erase(request);
      if (!*done)
        return llvm::Error::success();
      adopt(finalist.result, askedEnergy);
      conditions.merge(finalist.result.conditions);
      finalist.result.conditions = conditions;
      finalist.result.samples.insert(finalist.result.samples.begin(),
                                     samples.begin(), samples.end());
    }
  }
  if (interrupted)
    return llvm::Error::success();
  for (Candidate &finalist : finalists)
    if (llvm::Error error = settle(std::move(finalist)))
      return error;
  return llvm::Error::success();
}

llvm::Error Tuner::runProofs() {
  // What is wrong with many may be wrong with the proof: its limit of time, or
  // the reference.
  constexpr unsigned proofsPerFinalist = 4;
  unsigned least = std::max(1u, options.finalists);
  for (unsigned failed = 0; !interrupted; ++failed) {
    std::vector<size_t> order = outcome.rank();
    if (order.empty() || outcome.results[order.front()].stage == Stage::Proof)
      break;
    if (failed >= (secondsLeft() > 0 ? proofsPerFinalist * least : least)) {
      outcome.unproven = failed;
      break;
    }
    const Result &best = outcome.results[order.front()];
    Candidate candidate = makeFinalist(order.front());
    candidate.result.stage = Stage::Proof;
    if (llvm::Error error = ensureBinaries(candidate))
      return error;
    json::Object request = makeDeviceRequest(candidate);
    // A slow kernel must not be taken for one that hangs.
    double launches = options.proofSeconds * 1e9 / best.getSummary().median;
    request["prove"] = int64_t(std::clamp<double>(
        launches, std::min(2u, options.proofLaunches), options.proofLaunches));
    if (candidate.binary.kind() == json::Value::Null) {
      if (interrupted)
        break;
      candidate.result.status = Status::CompileError;
      candidate.result.message = "expects the kernel to compile once more";
    } else {
      Result proof;
      uint64_t id = nextRequest++;
      devices->submit(id, std::move(request), options.proofExtraSeconds);
      llvm::Expected<bool> done = await(*devices, id, proof);
      if (!done)
        return done.takeError();
      if (!*done)
        break;
      candidate.result.status = proof.status;
      candidate.result.message = std::move(proof.message);
    }
    // What is not right has no time.
    if (candidate.result.status == Status::Ok) {
      candidate.result.samples = best.samples;
      candidate.result.conditions = best.conditions;
    }
    if (llvm::Error error = settle(std::move(candidate)))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error Tuner::runChecks() {
  // Who fails makes room for the next best, but a search that finds one wrong
  // candidate after the other need not look at all of them.
  constexpr unsigned checksPerFinalist = 4;
  unsigned right = 0, left = checksPerFinalist * options.finalists;
  while (right < options.finalists && left > 0 && !interrupted &&
         secondsLeft() > 0) {
    std::vector<size_t> order = outcome.rank();
    right = llvm::count_if(
        order, [&](size_t i) { return outcome.results[i].wasInFinal(); });
    auto next = llvm::find_if(
        order, [&](size_t i) { return !outcome.results[i].wasInFinal(); });
    if (right >= options.finalists || next == order.end())
      break;
    --left;
    Candidate candidate = makeFinalist(*next);
    uint64_t request = nextRequest++;
    checkers->submit(request, makeCandidateRequest(candidate));
    llvm::Expected<bool> done = await(*checkers, request, candidate.result,
                                      /*withinBudget=*/true);
    if (!done)
      return done.takeError();
    if (!*done) {
      checkers->stop();
      break;
    }
    if (candidate.result.status == Status::Refused) {
      progress.note(
          "warning: no numbers are checked: " +
          llvm::StringRef(candidate.result.message).split('\n').first.str());
      break;
    }
    if (llvm::Error error = settle(std::move(candidate)))
      return error;
  }
  return llvm::Error::success();
}
