// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The comparisons. All of it is arithmetic in double on values of f32.

#include "attune/Runtime/Verify.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace attune;

/// Distances between finite values, and the first disagreement of others.
namespace {
struct Distance {
  double largest = 0;
  int64_t at = -1;
  /// First element where one is NaN or where infinities differ.
  int64_t mismatch = -1;
};
} // namespace

static Distance measure(llvm::ArrayRef<float> result,
                        llvm::ArrayRef<float> reference) {
  Distance distance;
  for (auto [index, pair] :
       llvm::enumerate(llvm::zip_equal(result, reference))) {
    double got = std::get<0>(pair), expected = std::get<1>(pair);
    if (!std::isfinite(got) || !std::isfinite(expected)) {
      // NaN differs from all, itself included.
      if (got != expected && distance.mismatch < 0)
        distance.mismatch = static_cast<int64_t>(index);
      continue;
    }
    double error = std::fabs(got - expected);
    if (error > distance.largest) {
      distance.largest = error;
      distance.at = static_cast<int64_t>(index);
    }
  }
  return distance;
}

static Comparison judge(llvm::ArrayRef<float> result,
                        llvm::ArrayRef<float> reference, double tolerance) {
  Comparison comparison;
  comparison.tolerance = tolerance;
  if (result.size() != reference.size()) {
    comparison.reason = llvm::formatv("expects {0} elements, but got {1}",
                                      reference.size(), result.size());
    return comparison;
  }
  Distance distance = measure(result, reference);
  comparison.maxError = distance.largest;
  if (distance.mismatch >= 0) {
    comparison.worst = distance.mismatch;
    comparison.reason = llvm::formatv(
        "expects {0} at element {1}, but got {2}", reference[distance.mismatch],
        distance.mismatch, result[distance.mismatch]);
    return comparison;
  }
  comparison.passed = distance.largest <= tolerance;
  if (!comparison.passed) {
    comparison.worst = distance.at;
    comparison.reason = llvm::formatv(
        "expects {0} at element {1} within {2:e3}, but got {3}",
        reference[distance.at], distance.at, tolerance, result[distance.at]);
  }
  return comparison;
}

Comparison attune::compareToReference(llvm::ArrayRef<float> result,
                                      llvm::ArrayRef<float> reference,
                                      llvm::ArrayRef<float> lowPrecision,
                                      DataType type) {
  constexpr double kFactor = 2, kProbe = 0.3;
  double slack = 0;
  for (float value : reference) {
    if (!std::isfinite(value))
      continue;
    double rounded = roundTo(type, value);
    double moved = roundTo(type, roundTo(type, rounded + kProbe) - kProbe);
    if (double distance = std::fabs(moved - rounded); std::isfinite(distance))
      slack = std::max(slack, distance);
  }
  double expected = 0;
  if (lowPrecision.size() == reference.size())
    expected = measure(lowPrecision, reference).largest;
  return judge(result, reference, kFactor * expected + kFactor * slack);
}

Comparison attune::compareLogSumExp(llvm::ArrayRef<float> result,
                                    llvm::ArrayRef<float> reference) {
  constexpr double kTolerance = 1e-3, kResolution = 1e-6;
  double largest = 0;
  for (float value : reference)
    if (std::isfinite(value))
      largest = std::max(largest, std::fabs(static_cast<double>(value)));
  return judge(result, reference, std::max(kTolerance, kResolution * largest));
}
