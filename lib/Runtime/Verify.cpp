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

namespace {
/// What one pass over the elements finds.
struct Scan {
  bool mismatch = false;
  double largest = 0;

  void add(llvm::ArrayRef<float> result, llvm::ArrayRef<float> reference) {
    for (size_t i = 0; i < result.size(); ++i) {
      mismatch |= isMismatch(result[i], reference[i]);
      double distance = getDistance(result[i], reference[i]);
      largest = distance > largest ? distance : largest;
    }
  }
};
} // namespace

static Scan scan(const Tensor &result, llvm::ArrayRef<float> reference) {
  Scan all;
  if (!result.shape.isContiguous()) {
    all.add(result.toFloats(), reference);
    return all;
  }
  // Piece by piece, so that no copy in f32 leaves the cache.
  float piece[4096];
  int64_t width = getBytes(result.shape.type), first = 0;
  while (!reference.empty()) {
    size_t count = std::min(reference.size(), std::size(piece));
    loadElements(result.shape.type, &result.bytes[first * width],
                 static_cast<int64_t>(count), piece);
    all.add({piece, count}, reference.take_front(count));
    reference = reference.drop_front(count);
    first += static_cast<int64_t>(count);
  }
  return all;
}

/// Names the first mismatch, or else the largest distance.
static void explain(Comparison &comparison, llvm::ArrayRef<float> result,
                    llvm::ArrayRef<float> reference, bool mismatch) {
  comparison.maxError = getLargestDistance(result, reference);
  size_t worst = 0;
  while (mismatch ? !isMismatch(result[worst], reference[worst])
                  : getDistance(result[worst], reference[worst]) <
                        comparison.maxError)
    ++worst;
  comparison.worst = static_cast<int64_t>(worst);
  comparison.reason =
      llvm::formatv("expects {0} at element {1}", reference[worst], worst);
  if (!mismatch)
    comparison.reason += llvm::formatv(" within {0:e3}", comparison.tolerance);
  comparison.reason += llvm::formatv(", but got {0}", result[worst]);
}

Comparison attune::compare(const Tensor &result, const Reference &reference) {
  llvm::ArrayRef<float> expected = reference.values;
  Comparison comparison;
  comparison.tolerance = reference.tolerance;
  int64_t elements = result.shape.getNumElements();
  if (elements != static_cast<int64_t>(expected.size())) {
    comparison.reason = llvm::formatv("expects {0} elements, but got {1}",
                                      expected.size(), elements);
    return comparison;
  }
  Scan found = scan(result, expected);
  comparison.passed = !found.mismatch && found.largest <= reference.tolerance;
  comparison.maxError = found.largest;
  if (!comparison.passed)
    explain(comparison, result.toFloats(), expected, found.mismatch);
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
