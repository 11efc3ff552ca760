// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Math functions in terms of the few that GPUs have instructions for.

#ifndef ATTUNE_LIB_CONVERSION_KERNELTOLLVM_EXPANDMATH_H
#define ATTUNE_LIB_CONVERSION_KERNELTOLLVM_EXPANDMATH_H

#include "mlir/IR/PatternMatch.h"

namespace attune {

/// Adds patterns that express exp, log, pow, tanh and their kin by exp2 and
/// log2, and mark exp2 and log2 as approximate, which makes them instructions.
void populateExpandMathPatterns(mlir::RewritePatternSet &patterns);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_KERNELTOLLVM_EXPANDMATH_H
