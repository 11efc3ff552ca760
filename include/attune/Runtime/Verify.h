// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When is a result right? FlashAttention's rule: it may be twice as far from
// the exact result as that of a plain implementation in the operands' type.

#ifndef ATTUNE_RUNTIME_VERIFY_H
#define ATTUNE_RUNTIME_VERIFY_H

#include "attune/Runtime/Tensor.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>
#include <vector>

namespace attune {

struct Comparison {
  bool passed = false;
  /// Largest distance from the reference where both are finite.
  double maxError = 0;
  /// What the rule allows.
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

/// For logarithms of sums of exponentials: allows 1e-3, and the resolution of
/// f32 for large values.
Reference makeLogSumExpReference(std::vector<float> values);

/// Compares each element, in row-major order. NaN never passes; infinities must
/// agree.
Comparison compare(const Tensor &result, const Reference &reference);

} // namespace attune

#endif // ATTUNE_RUNTIME_VERIFY_H
