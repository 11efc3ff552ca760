// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which knobs matter, of those that a search tried several values of. The
// figure is that of attune-report's page: the time of a value's best candidate
// over the winner's.

#ifndef ATTUNE_TUNING_SENSITIVITY_H
#define ATTUNE_TUNING_SENSITIVITY_H

#include "attune/Tuning/Outcome.h"

namespace attune::tuning {

/// What a value of a knob costs, as far as it was tried.
struct ValueEffect {
  int64_t value;
  /// How many valid candidates have it.
  size_t candidates;
  /// Cost of the best of these over the winner's.
  double ratio;
  /// Whether that is more than noise.
  bool isSlower;
};

struct KnobEffect {
  /// Its place in Space::getKnobs().
  size_t knob;
  /// The winner's value, then the others, the least slow first.
  std::vector<ValueEffect> values;

  /// How much slower the best candidate of the worst value is.
  double getWorst() const { return values.back().ratio; }
  /// Whether a value was found to be slower.
  bool matters() const {
    return llvm::any_of(
        values, [](const ValueEffect &value) { return value.isSlower; });
  }
};

/// Of the knobs that have several values among the valid candidates; those that
/// matter most come first. Empty without a winner.
std::vector<KnobEffect> getSensitivity(const Space &space,
                                       const Outcome &outcome);

/// `128 is best; 64 is 8.1 % slower (12 candidates), ...`
std::string describe(const Space &space, const Outcome &outcome,
                     const KnobEffect &effect);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_SENSITIVITY_H
