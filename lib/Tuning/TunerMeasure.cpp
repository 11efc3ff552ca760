// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is on its way to a device and back. In a sustained state every candidate
// takes turns with the baseline: the clock is not the same from one minute to
// the next, but both have had the same.

#include "attune/Runtime/Benchmark.h"
#include "attune/Tuning/Tuner.h"
#include "llvm/ADT/STLExtras.h"

using namespace attune;
using namespace attune::tuning;
namespace json = llvm::json;

json::Object Tuner::makeDeviceRequest(const Candidate &candidate) const {
  return json::Object{{"problem", task.text},
                      {"chip", task.chip},
                      {"schedule", space.toJSON(candidate.result.point)},
                      {"hash", candidate.result.binaryHash},
                      {"binary", candidate.binary}};
}

bool Tuner::isSustained() const {
  return outcome.timed && options.state == ChipState::Sustained;
}

bool Tuner::wantsEnergy(const Candidate &candidate) const {
  if (!isSustained())
    return false;
  return options.objective != Objective::Time ||
         (countsEnergy && !candidate.result.conditions.energyJoules);
}

json::Value Tuner::makeMeasureRequest(const Candidate &candidate) const {
  json::Object request = makeDeviceRequest(candidate);
  if (bestTime && candidate.index != baselineIndex &&
      !candidate.result.wasInFinal())
    request["stop_above_ns"] = *bestTime * options.stopFactor;
  if (options.state)
    request["chip_state"] = toString(*options.state);
  if (isSustained() && baselineTime &&
      baselineBinary.kind() != json::Value::Null)
    request["baseline"] = baselineBinary;
  if (wantsEnergy(candidate))
    request["energy_s"] = kEnergySeconds;
  return request;
}

bool Tuner::awaitsBaseline() {
  if (!isSustained() || !baselineIndex)
    return false;
  if (!resultOf.count(*baselineIndex))
    return true;
  if (!baselineTime || baselineFails ||
      baselineBinary.kind() != json::Value::Null)
    return false;
  // Its result is of an earlier search, which has left no binary.
  if (baselineRequest || !compilers.getIdle())
    return true;
  baselineRequest = nextRequest++;
  Candidate baseline{*baselineIndex, outcome.results[*outcome.baseline]};
  compilers.submit(*baselineRequest, makeCandidateRequest(baseline));
  return true;
}

void Tuner::takeBaseline(const Completion &completion) {
  baselineRequest.reset();
  if (const json::Object *answer = completion.answer.getAsObject())
    if (const json::Value *binary = answer->get("binary"))
      baselineBinary = *binary;
  baselineFails = baselineBinary.kind() == json::Value::Null;
  if (baselineFails)
    progress.note("warning: the default schedule does not compile any more: "
                  "candidates are measured without it");
}

void Tuner::adopt(Result &result, bool askedEnergy) {
  const Conditions &conditions = result.conditions;
  // One that was dropped early has none.
  for (const ConditionsWarning &warning : getWarnings(conditions, askedEnergy))
    if (warned.insert(warning.id).second)
      progress.note("warning: " + warning.text);
  if (!conditions.baselineNs || !baselineTime)
    return;
  for (double &sample : result.samples)
    sample *= *baselineTime / *conditions.baselineNs;
}

std::deque<Tuner::Candidate>::iterator Tuner::findNext() {
  auto next = ready.end();
  double least = 0;
  for (auto it = ready.begin(); it != ready.end(); ++it) {
    // It may be spared.
    if (awaited.contains(it->result.binaryHash))
      continue;
    if (it->index == baselineIndex)
      return it;
    double priority = strategy->getPriority(it->index, it->result);
    if (next != ready.end() && priority >= least)
      continue;
    next = it;
    least = priority;
  }
  return next;
}

llvm::Error Tuner::feedDevices() {
  while (devices && devices->getIdle()) {
    auto next = findNext();
    if (next == ready.end() ||
        (next->index != baselineIndex && awaitsBaseline()))
      break;
    Candidate candidate = std::move(*next);
    ready.erase(next);

    refuseFaulty(candidate);
    if (candidate.result.status != Status::Ok) {
      if (llvm::Error error = finish(std::move(candidate)))
        return error;
      continue;
    }
    candidate.result.stage = Stage::Measure;
    if (!options.retune && !candidate.result.binaryHash.empty()) {
      llvm::Expected<std::optional<Result>> equal =
          store.findByBinary(session.key, candidate.result.binaryHash);
      if (!equal)
        return equal.takeError();
      if (*equal && hasCost(**equal)) {
        candidate.result.status = (*equal)->status;
        candidate.result.message = (*equal)->message;
        candidate.result.samples = (*equal)->samples;
        candidate.result.conditions = (*equal)->conditions;
        candidate.result.copiedFrom = (*equal)->copiedFrom;
        if (llvm::Error error = finish(std::move(candidate)))
          return error;
        continue;
      }
    }
    submitMeasure(std::move(candidate));
  }
  return llvm::Error::success();
}

void Tuner::submitMeasure(Candidate candidate) {
  candidate.sent = Clock::now();
  if (!candidate.result.binaryHash.empty())
    awaited.insert(candidate.result.binaryHash);
  devices->submit(nextRequest, makeMeasureRequest(candidate));
  measuring.emplace(nextRequest++, std::move(candidate));
}

void Tuner::readCompletion(Completion &completion, Result &result) {
  switch (completion.kind) {
  case Completion::Kind::Answer: {
    std::string wrong = readAnswer(completion.answer, result);
    if (wrong.empty())
      return;
    result.status = Status::Crash;
    result.message = std::move(wrong);
    return;
  }
  case Completion::Kind::Timeout:
    result.status = Status::Timeout;
    break;
  case Completion::Kind::Crash:
    result.status = Status::Crash;
    break;
  case Completion::Kind::OutOfMemory:
    result.status = Status::OutOfMemory;
    break;
  }
  result.message = std::move(completion.message);
}
