// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Spellings of statuses, and the reading of a worker's answer. A worker may run
// code that was just generated, so nothing in an answer is taken on trust.

#include "attune/Tuning/Result.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"
#include <cmath>

using namespace attune::tuning;
namespace json = llvm::json;

static constexpr Status allStatuses[] = {
    Status::Ok,       Status::Refused,     Status::CompileError,
    Status::RunError, Status::WrongResult, Status::Timeout,
    Status::Crash,    Status::OutOfMemory};

llvm::ArrayRef<Status> attune::tuning::getStatuses() { return allStatuses; }

llvm::StringRef attune::tuning::toString(Status status) {
  switch (status) {
  case Status::Ok:
    return "ok";
  case Status::Refused:
    return "refused";
  case Status::CompileError:
    return "compile-error";
  case Status::RunError:
    return "run-error";
  case Status::WrongResult:
    return "wrong-result";
  case Status::Timeout:
    return "timeout";
  case Status::Crash:
    return "crash";
  case Status::OutOfMemory:
    return "out-of-memory";
  }
  llvm_unreachable("all statuses are covered");
}

std::optional<Status> attune::tuning::parseStatus(llvm::StringRef text) {
  for (Status status : allStatuses)
    if (toString(status) == text)
      return status;
  return std::nullopt;
}

llvm::ArrayRef<Objective> attune::tuning::getObjectives() {
  static constexpr Objective all[] = {Objective::Time, Objective::Energy,
                                      Objective::EnergyDelay};
  return all;
}

llvm::StringRef attune::tuning::toString(Objective objective) {
  switch (objective) {
  case Objective::Time:
    return "time";
  case Objective::Energy:
    return "energy";
  case Objective::EnergyDelay:
    return "energy-delay";
  }
  llvm_unreachable("all objectives are covered");
}

llvm::StringRef attune::tuning::toString(Stage stage) {
  switch (stage) {
  case Stage::Compile:
    return "compile";
  case Stage::Measure:
    return "measure";
  case Stage::Final:
    return "final";
  case Stage::Proof:
    return "proof";
  }
  llvm_unreachable("all stages are covered");
}

std::optional<Stage> attune::tuning::parseStage(llvm::StringRef text) {
  for (Stage stage :
       {Stage::Compile, Stage::Measure, Stage::Final, Stage::Proof})
    if (toString(stage) == text)
      return stage;
  return std::nullopt;
}

uint64_t attune::tuning::getHostSeed(llvm::StringRef binaryHash) {
  return llvm::xxh3_64bits(binaryHash) >> 32;
}

void Resources::add(const Resources &next) {
  auto merge = [](std::optional<int64_t> &mine, std::optional<int64_t> other,
                  auto operation) {
    if (mine && other)
      mine = operation(*mine, *other);
    else if (other)
      mine = other;
  };
  auto larger = [](int64_t a, int64_t b) { return std::max(a, b); };
  merge(registers, next.registers, larger);
  merge(sharedBytes, next.sharedBytes, larger);
  merge(threads, next.threads, larger);
  // Of the slowest loop.
  if (next.loopFlopsPerClock &&
      (!loopFlopsPerClock || next.loopFlopsPerClock < loopFlopsPerClock)) {
    loopFlopsPerClock = next.loopFlopsPerClock;
    loopTerms = next.loopTerms;
  }
  merge(spillBytes, next.spillBytes, std::plus<int64_t>());
  merge(serializedMultiplies, next.serializedMultiplies, std::plus<int64_t>());
}

std::optional<Summary> Result::getCost(Objective objective) const {
  if (!isTimed())
    return std::nullopt;
  Summary time = getSummary();
  if (objective == Objective::Time)
    return time;
  if (!conditions.energyJoules)
    return std::nullopt;
  // A span of a second between steps of a counter leaves so much open.
  constexpr double energyError = 0.02, nanojoules = 1e9, seconds = 1e-9;
  double energy = *conditions.energyJoules * nanojoules;
  double low = energy * (1 - energyError), high = energy * (1 + energyError);
  if (objective == Objective::Energy)
    return Summary{energy, low, high};
  return Summary{energy * time.median * seconds, low * time.low * seconds,
                 high * time.high * seconds};
}

std::string Resources::findFault(int64_t mostSpilledBytes) const {
  if (serializedMultiplies.value_or(0))
    return "expects MMAs that run on, but the assembler serialized them";
  if (spillBytes.value_or(0) > mostSpilledBytes)
    return llvm::formatv("expects at most {0} bytes of spills, but got {1}",
                         mostSpilledBytes, *spillBytes);
  return "";
}

json::Object attune::tuning::toJSON(const Resources &resources) {
  json::Object object;
  auto put = [&](llvm::StringRef name, std::optional<int64_t> value) {
    if (value)
      object[name] = *value;
  };
  put("registers", resources.registers);
  put("spill_bytes", resources.spillBytes);
  put("shared_bytes", resources.sharedBytes);
  put("threads", resources.threads);
  put("serialized_multiplies", resources.serializedMultiplies);
  put("loop_flops_per_clock", resources.loopFlopsPerClock);
  if (!resources.loopTerms.empty())
    object["loop_terms"] = json::Object(resources.loopTerms);
  return object;
}

bool attune::tuning::fromJSON(const json::Value &value, Resources &resources) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return false;
  resources.registers = object->getInteger("registers");
  resources.spillBytes = object->getInteger("spill_bytes");
  resources.sharedBytes = object->getInteger("shared_bytes");
  resources.threads = object->getInteger("threads");
  resources.serializedMultiplies = object->getInteger("serialized_multiplies");
  resources.loopFlopsPerClock = object->getInteger("loop_flops_per_clock");
  if (const json::Object *terms = object->getObject("loop_terms"))
    resources.loopTerms = *terms;
  return true;
}

std::string attune::tuning::readAnswer(const json::Value &answer,
                                       Result &result) {
  const json::Object *object = answer.getAsObject();
  if (!object)
    return "expects an object as answer, but got something else";
  std::optional<llvm::StringRef> statusText = object->getString("status");
  std::optional<Status> status =
      statusText ? parseStatus(*statusText) : std::nullopt;
  if (!status)
    return llvm::formatv("expects a status in the answer, but got '{0}'",
                         statusText.value_or("none"));

  std::vector<double> samples;
  if (const json::Value *value = object->get("samples")) {
    const json::Array *array = value->getAsArray();
    if (!array)
      return "expects a list of samples in the answer, but got something else";
    for (const json::Value &sample : *array) {
      std::optional<double> time = sample.getAsNumber();
      if (!time || !std::isfinite(*time) || *time <= 0)
        return "expects positive times in the answer, but got a sample that is "
               "not";
      samples.push_back(*time);
    }
  }
  result.status = *status;
  result.message = object->getString("message").value_or("").str();
  result.samples = std::move(samples);
  if (std::string wrong = readFrom(*object, result.conditions); !wrong.empty())
    return wrong;
  if (const json::Value *resources = object->get("resources");
      resources && !fromJSON(*resources, result.resources))
    return "expects an object as resources in the answer, but got something "
           "else";
  if (std::optional<llvm::StringRef> hash = object->getString("hash"))
    result.binaryHash = hash->str();
  return "";
}
