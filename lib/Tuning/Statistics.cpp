// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Order statistics: the number of samples below the true median is binomial
// with p = 1/2, which bounds the median by two ranks whatever the distribution.

#include "attune/Tuning/Statistics.h"
#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

using namespace attune::tuning;

/// The largest number of samples that can be cut from each end such that the
/// median still lies between the rest with 95 % confidence.
static size_t getTrim(size_t count) {
  // Each tail may hold 2.5 %. Terms are computed in logarithms: 2^-count
  // underflows for long runs.
  double tail = 0;
  for (size_t k = 0; k < count / 2; ++k) {
    double logTerm = std::lgamma(count + 1.0) - std::lgamma(k + 1.0) -
                     std::lgamma(count - k + 1.0);
    tail += std::exp(logTerm - count * std::log(2.0));
    if (tail > 0.025)
      return k;
  }
  return count / 2;
}

Summary attune::tuning::summarize(llvm::ArrayRef<double> samples) {
  assert(!samples.empty() && "expects a sample");
  std::vector<double> sorted(samples);
  std::sort(sorted.begin(), sorted.end());
  size_t count = sorted.size(), half = count / 2;
  double median =
      count % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  size_t trim = getTrim(count);
  // Cutting k samples from an end leaves the k-th order statistic as the bound.
  size_t rank = trim == 0 ? 0 : trim - 1;
  return {median, sorted[rank], sorted[count - 1 - rank]};
}
