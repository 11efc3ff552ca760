// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state in which a chip is measured, and what it was like meanwhile: the
// one record that attune-run, the workers of the search, the database and the
// reports have of it.

#ifndef ATTUNE_RUNTIME_CONDITIONS_H
#define ATTUNE_RUNTIME_CONDITIONS_H

#include "attune/Runtime/Device.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/JSON.h"

namespace attune {

/// Times of different states do not compare: where power is the limit, a chip
/// that has just been idle is faster.
enum class ChipState {
  /// Work runs without pause until clocks have settled, and goes on.
  Sustained,
  /// Short bursts with pauses.
  Cool
};
/// `sustained` or `cool`.
llvm::StringRef toString(ChipState state);
std::optional<ChipState> parseChipState(llvm::StringRef text);

/// The names of ThrottleReason bits, joined by commas; empty without any.
std::string describeThrottling(uint32_t reasons);

struct Conditions {
  /// Absent where what was measured is no chip with such states.
  std::optional<ChipState> state;
  /// Clock of the SMs, in MHz: the slowest that was seen while samples were
  /// taken. As all that follows absent where the driver cannot tell.
  std::optional<int64_t> clockMHz;
  /// The most power, in watts, and the highest temperature, in degrees Celsius,
  /// that were seen then.
  std::optional<int64_t> powerWatts, temperatureCelsius;
  /// Bits of ThrottleReason that were seen then.
  std::optional<int64_t> throttleReasons;
  /// Of a sustained state: whether clock and power had settled before. Absent
  /// where the driver tells neither.
  std::optional<bool> settled;
  /// Processes besides the measuring one that had the device open.
  std::optional<int64_t> otherProcesses;
  /// Joules of one launch, by the device's counter of energy, over a span of
  /// launches without pause whose operands stay in the cache. Absent where
  /// there is no counter, and where nobody asked.
  std::optional<double> energyJoules;
  /// Mean power over that span, and how long it was.
  std::optional<double> meanPowerWatts, energySpanSeconds;
  /// energyJoules per floating-point operation of the problem.
  std::optional<double> picojoulesPerFlop;
  /// Median time of the baseline, in nanoseconds, whose launches took turns
  /// with those of the samples.
  std::optional<double> baselineNs;

  /// Takes in what the device said at a moment while samples were taken.
  void see(const DeviceState &state);
  /// Takes in a measurement of the same work in the same state: extremes of
  /// both, and energy over both spans. The baseline is that of the newer one.
  void merge(const Conditions &newer);
};

/// What a reader of times has to know once: an id of the kind of warning, and
/// the text. `wantsEnergy` where energy was asked for.
struct ConditionsWarning {
  llvm::StringRef id;
  std::string text;
};
llvm::SmallVector<ConditionsWarning> getWarnings(const Conditions &conditions,
                                                 bool wantsEnergy);

/// Members of an object, without those that are absent: `chip_state`,
/// `clock_mhz`, `power_w`, `temperature_c`, `throttle_reasons` (a list of
/// names), `settled`, `other_processes`, `energy_j`, `mean_power_w`,
/// `energy_span_s`, `pj_per_flop` and `baseline_ns`.
void addTo(llvm::json::Object &object, const Conditions &conditions);
/// Reads these members; what is absent stays absent. Returns what is wrong with
/// one, or an empty text.
std::string readFrom(const llvm::json::Object &object, Conditions &conditions);

/// Throttling as the database has it: describeThrottling(), and back. Nothing
/// for a name that is none.
std::optional<int64_t> parseThrottling(llvm::StringRef text);

} // namespace attune

#endif // ATTUNE_RUNTIME_CONDITIONS_H
