// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The record of a measurement's conditions, as JSON and in words.

#include "attune/Runtime/Conditions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace attune;
namespace json = llvm::json;

static constexpr std::pair<ThrottleReason, llvm::StringLiteral> kReasons[] = {
    {ThrottleReason::PowerCap, "power-cap"},
    {ThrottleReason::Thermal, "thermal"},
    {ThrottleReason::Slowdown, "hardware-slowdown"},
    {ThrottleReason::PowerBrake, "power-brake"},
    {ThrottleReason::Setting, "clock-setting"}};

llvm::StringRef attune::toString(ChipState state) {
  return state == ChipState::Sustained ? "sustained" : "cool";
}

std::optional<ChipState> attune::parseChipState(llvm::StringRef text) {
  for (ChipState state : {ChipState::Sustained, ChipState::Cool})
    if (toString(state) == text)
      return state;
  return std::nullopt;
}

static llvm::SmallVector<llvm::StringRef> getNames(uint32_t reasons) {
  llvm::SmallVector<llvm::StringRef> names;
  for (const auto &[reason, name] : kReasons)
    if (reasons & static_cast<uint32_t>(reason))
      names.push_back(name);
  return names;
}

std::string attune::describeThrottling(uint32_t reasons) {
  return llvm::join(getNames(reasons), ",");
}

std::optional<int64_t> attune::parseThrottling(llvm::StringRef text) {
  int64_t reasons = 0;
  for (llvm::StringRef name : llvm::split(text, ',')) {
    if (name.empty())
      continue;
    const auto *found = llvm::find_if(
        kReasons, [&](auto &entry) { return entry.second == name; });
    if (found == std::end(kReasons))
      return std::nullopt;
    reasons |= static_cast<int64_t>(found->first);
  }
  return reasons;
}

/// Combines two readings, of which either may be absent.
template <typename T, typename U, typename Operation>
static void combine(std::optional<T> &mine, const std::optional<U> &other,
                    Operation operation) {
  if (other)
    mine = mine ? operation(*mine, static_cast<T>(*other))
                : static_cast<T>(*other);
}

static constexpr auto kLeast = [](auto a, auto b) { return std::min(a, b); };
static constexpr auto kMost = [](auto a, auto b) { return std::max(a, b); };
static constexpr auto kUnion = [](auto a, auto b) { return a | b; };

void Conditions::see(const DeviceState &seen) {
  combine(clockMHz, seen.clockMHz, kLeast);
  combine(powerWatts, seen.powerWatts, kMost);
  combine(temperatureCelsius, seen.temperatureCelsius, kMost);
  combine(throttleReasons, seen.throttleReasons, kUnion);
}

void Conditions::merge(const Conditions &newer) {
  if (newer.state)
    state = newer.state;
  combine(clockMHz, newer.clockMHz, kLeast);
  combine(powerWatts, newer.powerWatts, kMost);
  combine(temperatureCelsius, newer.temperatureCelsius, kMost);
  combine(throttleReasons, newer.throttleReasons, kUnion);
  combine(settled, newer.settled, [](bool a, bool b) { return a && b; });
  combine(otherProcesses, newer.otherProcesses, kMost);
  if (newer.baselineNs)
    baselineNs = newer.baselineNs;
  if (!newer.energySpanSeconds || !newer.energyJoules || !newer.meanPowerWatts)
    return;
  double before = energySpanSeconds.value_or(0);
  double all = before + *newer.energySpanSeconds;
  auto average = [&](std::optional<double> &mine, std::optional<double> other) {
    combine(mine, other, [&](double a, double b) {
      return (a * before + b * (all - before)) / all;
    });
  };
  average(energyJoules, newer.energyJoules);
  average(meanPowerWatts, newer.meanPowerWatts);
  average(picojoulesPerFlop, newer.picojoulesPerFlop);
  energySpanSeconds = all;
}

llvm::SmallVector<ConditionsWarning>
attune::getWarnings(const Conditions &conditions, bool wantsEnergy) {
  llvm::SmallVector<ConditionsWarning> warnings;
  bool isSustained = conditions.state == ChipState::Sustained;
  if (conditions.settled == false)
    warnings.push_back({"unsettled", "clock and power did not settle: what was "
                                     "timed is a chip whose clocks "
                                     "still moved, and its rows say so"});
  if (isSustained && !conditions.settled)
    warnings.push_back(
        {"no-clock",
         "the driver tells neither clock nor power: work ran for up to a "
         "second "
         "before it was timed, and whether clocks had settled is not known"});
  if (isSustained && wantsEnergy && !conditions.energyJoules)
    warnings.push_back({"no-energy", "the device has no counter of energy that "
                                     "moves: joules and pJ/FLOP are missing"});
  if (conditions.otherProcesses.value_or(0) > 0)
    warnings.push_back(
        {"other-processes",
         llvm::formatv("{0} other process{1} the device open: what {2} there "
                       "is in these times",
                       *conditions.otherProcesses,
                       *conditions.otherProcesses == 1 ? " has" : "es have",
                       *conditions.otherProcesses == 1 ? "it does" : "they do")
             .str()});
  return warnings;
}

/// Numbers by name, in the order in which both directions visit them.
static constexpr std::pair<llvm::StringLiteral,
                           std::optional<int64_t> Conditions::*>
    kIntegers[] = {{"clock_mhz", &Conditions::clockMHz},
                   {"power_w", &Conditions::powerWatts},
                   {"temperature_c", &Conditions::temperatureCelsius},
                   {"other_processes", &Conditions::otherProcesses}};
static constexpr std::pair<llvm::StringLiteral,
                           std::optional<double> Conditions::*>
    kReals[] = {{"energy_j", &Conditions::energyJoules},
                {"mean_power_w", &Conditions::meanPowerWatts},
                {"energy_span_s", &Conditions::energySpanSeconds},
                {"pj_per_flop", &Conditions::picojoulesPerFlop},
                {"baseline_ns", &Conditions::baselineNs}};

void attune::addTo(json::Object &object, const Conditions &conditions) {
  if (conditions.state)
    object["chip_state"] = toString(*conditions.state);
  for (const auto &[name, member] : kIntegers)
    if (conditions.*member)
      object[name] = *(conditions.*member);
  for (const auto &[name, member] : kReals)
    if (conditions.*member)
      object[name] = *(conditions.*member);
  if (conditions.settled)
    object["settled"] = *conditions.settled;
  if (conditions.throttleReasons)
    object["throttle_reasons"] =
        json::Array(getNames(*conditions.throttleReasons));
}

std::string attune::readFrom(const json::Object &object,
                             Conditions &conditions) {
  conditions = Conditions();
  if (const json::Value *value = object.get("chip_state")) {
    conditions.state = parseChipState(value->getAsString().value_or(""));
    if (!conditions.state)
      return "expects a chip state of sustained or cool";
  }
  for (const auto &[name, member] : kIntegers)
    conditions.*member = object.getInteger(name);
  for (const auto &[name, member] : kReals) {
    std::optional<double> number = object.getNumber(name);
    if (number && (!std::isfinite(*number) || *number <= 0))
      return llvm::formatv("expects a positive number as {0}, but got {1}",
                           name, *number);
    conditions.*member = number;
  }
  conditions.settled = object.getBoolean("settled");
  const json::Array *reasons = object.getArray("throttle_reasons");
  if (!reasons)
    return "";
  conditions.throttleReasons = 0;
  for (const json::Value &reason : *reasons) {
    auto bits = parseThrottling(reason.getAsString().value_or("none"));
    if (!bits)
      return "expects names of throttle reasons, but got something else";
    *conditions.throttleReasons |= *bits;
  }
  return "";
}
