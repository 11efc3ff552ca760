// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recognizes softmax over the keys, however it is computed.

#ifndef ATTUNE_LIB_CONVERSION_LINALGTOATTN_SOFTMAX_H
#define ATTUNE_LIB_CONVERSION_LINALGTOATTN_SOFTMAX_H

#include "Element.h"

namespace attune::raising {

/// Why what looks like attention is none.
struct Mismatch {
  mlir::Operation *op = nullptr;
  /// "expects ..., but got ..."; empty where nothing looks like attention.
  std::string reason;
};

/// weights = exp(score - shifts) / divisor, where
/// divisor = sum_n exp(score - shifts) + exp(sink - shifts).
struct Softmax {
  /// The loop over keys, and what it counts to.
  unsigned keys = 0;
  int64_t size = 0;
  const Element *score = nullptr;
  /// What is subtracted, the same for all keys.
  llvm::SmallVector<const Element *, 2> shifts;
  /// exp(score - shifts); null for linalg.softmax.
  const Element *exponential = nullptr;
  /// Null for linalg.softmax, and where the weights are not divided (yet).
  const Element *divisor = nullptr;
  /// The load of the sum of exponentials, a part of the divisor.
  const Element *sum = nullptr;
  /// A further score, which takes part in the sum alone; null if there is none.
  const Element *sink = nullptr;
  bool isDivided = false;
};

/// 1 / x as x; null for anything else.
const Element *getReciprocal(const Element *factor);

/// The softmax over loop `keys` of `size` iterations that `weights`, an operand
/// of `contraction`, is; or its exponentials alone.
std::optional<Softmax> matchSoftmax(ElementBuilder &elements,
                                    const Element *weights,
                                    mlir::linalg::LinalgOp contraction,
                                    unsigned keys, int64_t size, Mismatch &why);

/// Takes `divisor` for what the exponentials are divided by.
mlir::LogicalResult matchDivisor(ElementBuilder &elements, Softmax &softmax,
                                 const Element *divisor, Mismatch &why);

/// `softmax` with another sum of exponentials of the same scores, which `load`
/// reads: they may be less another shift. Nothing for any other element.
std::optional<Softmax> matchOtherSum(ElementBuilder &elements,
                                     const Softmax &softmax,
                                     const Element *load);

/// Whether `element` is a multiple of the logarithm of the sum of exponentials
/// of the scores, and which one: 1 for the natural logarithm.
std::optional<double> matchLogSumExp(const Softmax &softmax,
                                     const Element *element);

} // namespace attune::raising

#endif // ATTUNE_LIB_CONVERSION_LINALGTOATTN_SOFTMAX_H
