// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Made-up problems with known times, for searches to be held against: knobs
// whose effects multiply, pairs of them that matter together, cliffs, knobs
// that do nothing, rules, and a model that knows a part of it.

#ifndef ATTUNE_UNITTESTS_TUNING_LANDSCAPE_H
#define ATTUNE_UNITTESTS_TUNING_LANDSCAPE_H

#include "attune/Tuning/Strategy.h"

namespace attune::tuning {

struct Landscape {
  /// With `isRanked` the points are in the order of the model, and otherwise in
  /// that of the space.
  Landscape(uint64_t seed, bool isRanked);

  Result measure(size_t candidate) const;
  /// Lets a strategy search, and returns by how much the best of its first
  /// `count` candidates is slower than the best of all.
  double search(llvm::StringRef strategy, uint64_t seed, size_t count) const;

  Space space;
  std::vector<Point> points;
  /// Of each point, in nanoseconds.
  std::vector<double> times, scores;
  double best;
};

} // namespace attune::tuning

#endif // ATTUNE_UNITTESTS_TUNING_LANDSCAPE_H
