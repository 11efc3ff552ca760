// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When is a result right? Either each element has a bound of its own on its
// distance from the reference, or FlashAttention's rule holds: a result may be
// twice as far from the exact one as that of a plain implementation in the
// operands' type.

#ifndef ATTUNE_RUNTIME_VERIFY_H
#define ATTUNE_RUNTIME_VERIFY_H

#include "attune/Runtime/Tensor.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>
#include <vector>

namespace attune {

struct Comparison {
  bool passed = false;
  /// Largest distance from the reference where both are finite; with bounds,
  /// the distance that is the largest part of what its element is allowed.
  double maxError = 0;
  /// What the rule allows, with bounds that element.
  double tolerance = 0;
  /// Row-major number of the element that is worst; -1 if none is wrong.
  int64_t worst = -1;
  /// Why it did not pass; empty if it did.
  std::string reason;
};

/// A result as it should be, and how far from it is right. Derived once: it
/// takes longer than a comparison.
struct Reference {
  /// Computed in f32.
  std::vector<float> values;
  double tolerance = 0;
  /// In place of the tolerance one for each value, unless empty.
  std::vector<float> bounds;
};

/// Allows
///
///   max |result - values| <= 2 * max |lowPrecision - values| + slack
///   slack = 2 * max |(values + 0.3 - 0.3) - values|
///
/// where the slack is computed in `type`, that of the operands, and
/// `lowPrecision` is the same computation with every intermediate value rounded
/// to that type.
Reference makeReference(std::vector<float> values,
                        llvm::ArrayRef<float> lowPrecision, DataType type);

/// What f32 tells apart of logarithms of sums, relative to the largest.
inline constexpr double kLogSumExpResolution = 1e-6;

/// For logarithms of sums of exponentials: allows 1e-3, and for large values
/// the resolution of scores relative to the largest.
Reference makeLogSumExpReference(std::vector<float> values,
                                 double resolution = kLogSumExpResolution);

/// Each value has its own bound, as attune/Matmul/Reference.h derives them.
/// That of memory that is still poisoned becomes NaN.
Reference makeBoundedReference(std::vector<float> values,
                               std::vector<float> bounds);

/// Compares each element, in row-major order. Without bounds
/// NaN never passes, not even where the reference is NaN, for that leaves
/// nothing to compare with, and infinities must agree. With bounds, NaN is
/// right where the reference is NaN as well, and an infinity where what is
/// allowed rounds to it in the result's type; nothing is right where the bound
/// is NaN.
Comparison compare(const Tensor &result, const Reference &reference);

} // namespace attune

#endif // ATTUNE_RUNTIME_VERIFY_H
