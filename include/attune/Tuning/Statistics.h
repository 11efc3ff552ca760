// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The median of a few timings and how far to trust it. Timings have a long
// tail, so nothing here assumes a distribution.

#ifndef ATTUNE_TUNING_STATISTICS_H
#define ATTUNE_TUNING_STATISTICS_H

#include "llvm/ADT/ArrayRef.h"

namespace attune::tuning {

struct Summary {
  double median;
  /// Bounds of the median at 95 % confidence, or the extremes where there are
  /// too few samples for that (fewer than six).
  double low;
  double high;

  bool overlaps(const Summary &other) const {
    return low <= other.high && other.low <= high;
  }
};

/// Expects at least one sample.
Summary summarize(llvm::ArrayRef<double> samples);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_STATISTICS_H
