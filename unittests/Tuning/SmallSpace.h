// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A search space of few points with all kinds of values, for tests that look
// at each point of it on each chip.

#ifndef ATTUNE_UNITTESTS_TUNING_SMALLSPACE_H
#define ATTUNE_UNITTESTS_TUNING_SMALLSPACE_H

#include "attune/Tuning/TunableTask.h"
#include "llvm/ADT/STLExtras.h"

namespace attune::tuning {

/// The space of the tunables with fewer values: in each domain every third,
/// with the first and the last. Every third tunable has its default alone,
/// another one for each number.
inline Space makeSmallSpace(const KnobSet &set, size_t number) {
  std::vector<Knob> knobs = makeSpace(set).getKnobs();
  for (auto [place, knob] : llvm::enumerate(knobs)) {
    std::vector<int64_t> fewer;
    for (size_t i = 0; i < knob.domain.size(); i += 3)
      fewer.push_back(knob.domain[i]);
    if (fewer.back() != knob.domain.back())
      fewer.push_back(knob.domain.back());
    if ((place + number) % 3 == 0)
      fewer = {knob.init};
    knob.domain = std::move(fewer);
  }
  return Space(std::move(knobs));
}

} // namespace attune::tuning

#endif // ATTUNE_UNITTESTS_TUNING_SMALLSPACE_H
