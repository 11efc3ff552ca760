// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When is a result right? FlashAttention's rule: it may be twice as far from
// the exact result as that of a plain implementation in the operands' type.

#ifndef ATTUNE_RUNTIME_VERIFY_H
#define ATTUNE_RUNTIME_VERIFY_H

#include "attune/Runtime/DataType.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>

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

/// Compares `result` to `reference`, which was computed in f32, by the rule
///
///   max |result - reference| <= 2 * max |lowPrecision - reference| + slack
///   slack = 2 * max |(reference + 0.3 - 0.3) - reference|
///
/// where the slack is computed in `type`, that of the operands, and
/// `lowPrecision` is the same computation with every intermediate value rounded
/// to that type. NaN never passes; infinities must agree.
Comparison compareToReference(llvm::ArrayRef<float> result,
                              llvm::ArrayRef<float> reference,
                              llvm::ArrayRef<float> lowPrecision,
                              DataType type);

/// Compares logarithms of sums of exponentials: 1e-3, and the resolution of f32
/// for large values. -inf must agree.
Comparison compareLogSumExp(llvm::ArrayRef<float> result,
                            llvm::ArrayRef<float> reference);

} // namespace attune

#endif // ATTUNE_RUNTIME_VERIFY_H
