// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The comparisons. All of it is arithmetic in double on values of f32. A
// tuner compares millions of elements for each candidate: what a right result
// needs is one short loop.

#include "attune/Runtime/Verify.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace attune;

/// Whether no comparison can make sense of the pair: NaN differs from all,
/// itself included, and infinities from all but themselves.
static bool isMismatch(float got, float expected) {
  return !(std::isfinite(got) && std::isfinite(expected)) && got != expected;
}

/// Distance of two values that are no mismatch.
static double getDistance(float got, float expected) {
  return got == expected ? 0 : std::fabs(static_cast<double>(got) - expected);
}

/// Largest distance of the elements that are no mismatch.
static double getLargestDistance(llvm::ArrayRef<float> values,
                                 llvm::ArrayRef<float> reference) {
  double largest = 0;
  for (auto [got, expected] : llvm::zip_equal(values, reference))
    if (!isMismatch(got, expected))
      largest = std::max(largest, getDistance(got, expected));
  return largest;
}

Comparison attune::compare(llvm::ArrayRef<float> result,
                           const Reference &reference) {
  llvm::ArrayRef<float> expected = reference.values;
  Comparison comparison;
  comparison.tolerance = reference.tolerance;
  if (result.size() != expected.size()) {
    comparison.reason = llvm::formatv("expects {0} elements, but got {1}",
                                      expected.size(), result.size());
    return comparison;
  }
  bool mismatch = false;
  double largest = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    mismatch |= isMismatch(result[i], expected[i]);
    double distance = getDistance(result[i], expected[i]);
    largest = distance > largest ? distance : largest;
  }
  comparison.passed = !mismatch && largest <= reference.tolerance;
  comparison.maxError = largest;
  if (comparison.passed)
    return comparison;
  comparison.maxError = getLargestDistance(result, expected);
  for (size_t i = 0; i < expected.size(); ++i) {
    if (mismatch ? !isMismatch(result[i], expected[i])
                 : getDistance(result[i], expected[i]) < comparison.maxError)
      continue;
    comparison.worst = static_cast<int64_t>(i);
    comparison.reason = llvm::formatv("expects {0} at element {1}", expected[i],
                                      comparison.worst);
    if (!mismatch)
      comparison.reason += llvm::formatv(" within {0:e3}", reference.tolerance);
    comparison.reason += llvm::formatv(", but got {0}", result[i]);
    break;
  }
  return comparison;
}

Reference attune::makeReference(std::vector<float> values,
                                llvm::ArrayRef<float> lowPrecision,
                                DataType type) {
  constexpr double kFactor = 2, kProbe = 0.3;
  double slack = 0;
  for (float value : values) {
    if (!std::isfinite(value))
      continue;
    double rounded = roundTo(type, value);
    double moved = roundTo(type, roundTo(type, rounded + kProbe) - kProbe);
    if (double distance = std::fabs(moved - rounded); std::isfinite(distance))
      slack = std::max(slack, distance);
  }
  double expected = 0;
  if (lowPrecision.size() == values.size())
    expected = getLargestDistance(lowPrecision, values);
  return {std::move(values), kFactor * expected + kFactor * slack};
}

Reference attune::makeLogSumExpReference(std::vector<float> values) {
  constexpr double kTolerance = 1e-3, kResolution = 1e-6;
  double largest = 0;
  for (float value : values)
    if (std::isfinite(value))
      largest = std::max(largest, std::fabs(static_cast<double>(value)));
  return {std::move(values), std::max(kTolerance, kResolution * largest)};
}
