// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The comparisons. All of it is arithmetic in double on values of f32. A
// tuner compares millions of elements for each candidate: what a right result
// needs is one short loop, for a piece of them on each core.

#include "attune/Runtime/Verify.h"
#include "attune/Runtime/DeviceTensor.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Parallel.h"
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

/// Elements that a thread takes at a time.
static constexpr size_t kPiece = size_t(1) << 14;

/// What `find` says of all pieces of `count` elements, merged by `merge`, which
/// takes them in any order.
template <typename T, typename Merge, typename Find>
static T reducePieces(size_t count, T initial, Merge merge, Find find) {
  return llvm::parallelTransformReduce(
      llvm::seq<size_t>(0, llvm::divideCeil(count, kPiece)), initial, merge,
      [&](size_t piece) {
        size_t first = piece * kPiece;
        return find(first, std::min(kPiece, count - first));
      });
}

static double getLarger(double a, double b) { return std::max(a, b); }

/// Largest distance of the elements that are no mismatch.
static double getLargestDistance(llvm::ArrayRef<float> values,
                                 llvm::ArrayRef<float> reference) {
  return reducePieces(
      values.size(), 0.0, getLarger, [&](size_t first, size_t size) {
        double largest = 0;
        for (size_t i = first; i < first + size; ++i)
          if (!isMismatch(values[i], reference[i]))
            largest = std::max(largest, getDistance(values[i], reference[i]));
        return largest;
      });
}

namespace {
/// What one pass over the elements finds.
struct Scan {
  bool mismatch = false;
  double largest = 0;
};
} // namespace

static Scan scan(llvm::ArrayRef<float> result,
                 llvm::ArrayRef<float> reference) {
  Scan found;
  for (auto [got, expected] : llvm::zip_equal(result, reference)) {
    found.mismatch |= isMismatch(got, expected);
    double distance = getDistance(got, expected);
    found.largest = distance > found.largest ? distance : found.largest;
  }
  return found;
}

static Scan scan(const Tensor &result, llvm::ArrayRef<float> reference) {
  if (!result.shape.isContiguous())
    return scan(result.toFloats(), reference);
  int64_t width = getBytes(result.shape.type);
  return reducePieces(
      reference.size(), Scan(),
      [](const Scan &a, const Scan &b) {
        return Scan{a.mismatch || b.mismatch, std::max(a.largest, b.largest)};
      },
      [&](size_t first, size_t size) {
        // No copy in f32 leaves the cache.
        float piece[kPiece];
        loadElements(result.shape.type, &result.bytes[first * width],
                     static_cast<int64_t>(size), piece);
        return scan({piece, size}, reference.slice(first, size));
      });
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
  if (std::isnan(reference[worst])) {
    comparison.reason = llvm::formatv("expects a reference to compare with at "
                                      "element {0}, but that is nan",
                                      worst);
    return;
  }
  comparison.reason =
      llvm::formatv("expects {0} at element {1}", reference[worst], worst);
  if (!mismatch)
    comparison.reason += llvm::formatv(" within {0:e3}", comparison.tolerance);
  comparison.reason += llvm::formatv(", but got {0}", result[worst]);
}

/// How much of what it is allowed an element is off: wrong above 1.
static double getExcess(float got, float expected, float bound, DataType type) {
  constexpr double kWrong = std::numeric_limits<double>::infinity();
  // There is a bound of all that a reference computes, NaN among it.
  if (std::isnan(bound))
    return kWrong;
  if (got == expected || (std::isnan(got) && std::isnan(expected)))
    return 0;
  if (!std::isfinite(got) || !std::isfinite(expected)) {
    double limit = std::copysign(static_cast<double>(bound), got);
    bool overflows = std::isinf(got) && std::isfinite(expected) &&
                     roundTo(type, expected + limit) == got;
    return overflows ? 0 : kWrong;
  }
  // No distance at all was right above: a bound of 0 allows nothing.
  return getDistance(got, expected) / bound;
}

/// Compares with one bound for each element.
static Comparison compareBounded(const Tensor &result,
                                 const Reference &reference) {
  std::vector<float> got = result.toFloats();
  auto excess = [&](size_t i) {
    return getExcess(got[i], reference.values[i], reference.bounds[i],
                     result.shape.type);
  };
  using Worst = std::pair<double, size_t>;
  Worst worst = reducePieces(
      got.size(), Worst(0, 0),
      [&](const Worst &a, const Worst &b) {
        if (a.first == b.first)
          return a.second < b.second ? a : b;
        return a.first > b.first ? a : b;
      },
      [&](size_t first, size_t size) {
        Worst found(0, first);
        for (size_t i = first; i < first + size; ++i)
          if (double now = excess(i); now > found.first)
            found = {now, i};
        return found;
      });
  Comparison comparison;
  comparison.passed = worst.first <= 1;
  if (got.empty())
    return comparison;
  auto [ratio, element] = worst;
  float expected = reference.values[element];
  comparison.tolerance = reference.bounds[element];
  if (std::isfinite(got[element]) && std::isfinite(expected))
    comparison.maxError = getDistance(got[element], expected);
  if (comparison.passed)
    return comparison;
  comparison.worst = static_cast<int64_t>(element);
  comparison.reason =
      std::isnan(comparison.tolerance)
          ? llvm::formatv("expects a reference that says how far off element "
                          "{0} may be, but got nan",
                          element)
                .str()
          : llvm::formatv(
                "expects {0} at element {1} within {2:e3}, but got {3}",
                expected, element, comparison.tolerance, got[element])
                .str();
  return comparison;
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
  if (!reference.bounds.empty())
    return compareBounded(result, reference);
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
  double slack = reducePieces(
      values.size(), 0.0, getLarger, [&](size_t first, size_t size) {
        double largest = 0;
        for (float value : llvm::ArrayRef(values).slice(first, size)) {
          if (!std::isfinite(value))
            continue;
          double rounded = roundTo(type, value);
          double moved =
              roundTo(type, roundTo(type, rounded + kProbe) - kProbe);
          if (double distance = std::fabs(moved - rounded);
              std::isfinite(distance))
            largest = std::max(largest, distance);
        }
        return largest;
      });
  double expected = 0;
  if (lowPrecision.size() == values.size())
    expected = getLargestDistance(lowPrecision, values);
  return {std::move(values), kFactor * expected + kFactor * slack, {}};
}

Reference attune::makeBoundedReference(std::vector<float> values,
                                       std::vector<float> bounds) {
  assert(values.size() == bounds.size() && "one bound for each value");
  // What nobody wrote is NaN, but no value.
  constexpr uint32_t kUnwritten = DeviceTensor::kPoison * 0x01010101u;
  for (auto [value, bound] : llvm::zip_equal(values, bounds))
    if (llvm::bit_cast<uint32_t>(value) == kUnwritten)
      bound = std::numeric_limits<float>::quiet_NaN();
  return {std::move(values), 0, std::move(bounds)};
}

Reference attune::makeLogSumExpReference(std::vector<float> values,
                                         double resolution) {
  constexpr double kTolerance = 1e-3;
  double largest = 0;
  for (float value : values)
    if (std::isfinite(value))
      largest = std::max(largest, std::fabs(static_cast<double>(value)));
  return {std::move(values), std::max(kTolerance, resolution * largest), {}};
}
