// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Math functions in terms of the few that GPUs have instructions for.

#ifndef ATTUNE_LIB_CONVERSION_KERNELTOLLVM_EXPANDMATH_H
#define ATTUNE_LIB_CONVERSION_KERNELTOLLVM_EXPANDMATH_H

#include "mlir/IR/PatternMatch.h"

namespace attune {

/// Adds patterns that express exp, log, pow, tanh and their kin by exp2 and
/// log2, and mark exp2 and log2 as approximate, which makes them instructions.
/// With `hasTanh` a tanh that may be approximate (`afn`) is one, too.
void populateExpandMathPatterns(mlir::RewritePatternSet &patterns,
                                bool hasTanh);

/// Adds a pattern that extends floats of 8 bits, for which chips without an
/// instruction have integer arithmetic.
void populateExpandFloat8Patterns(mlir::RewritePatternSet &patterns,
                                  mlir::PatternBenefit benefit = 1);

/// Adds a pattern that computes, in a vector exp2 of f32 that has
/// `tile.fma_share`, so many of 16 elements by a polynomial.
void populateExp2OnFmaPatterns(mlir::RewritePatternSet &patterns);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_KERNELTOLLVM_EXPANDMATH_H
