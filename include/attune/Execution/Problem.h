// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a function with attention is run on: sizes for its dynamic dimensions
// and inputs that suit the use the function makes of them.

#ifndef ATTUNE_EXECUTION_PROBLEM_H
#define ATTUNE_EXECUTION_PROBLEM_H

#include "attune/Runtime/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attune {

/// Sizes that were asked for. Each binds every dynamic dimension that means it.
struct ProblemSizes {
  std::optional<int64_t> batch, heads, kvHeads, seqQ, seqK;
  /// Sizes of whole arguments, for dimensions that none of the above means.
  llvm::DenseMap<unsigned, llvm::SmallVector<int64_t>> shapes;
};

/// An argument of the function.
struct ProblemArgument {
  /// Of a tensor; rank 0 for a scalar.
  TensorShape shape;
  bool isTensor = true;
  /// What integers mean, by the way the regions use them.
  enum class Use {
    /// Compared with a position, or a length: 0 to `limit` inclusive.
    Position,
    /// An index: 0 to `limit` exclusive.
    Index,
    /// Compared with each other: numbers of segments.
    Segment,
    /// Anything else: small numbers.
    Number,
    /// A truth value.
    Flag,
  } use = Use::Number;
  int64_t limit = 8;
};

struct Problem {
  std::vector<ProblemArgument> arguments;
  /// Floating-point operations by FlashAttention's convention: 2 for each
  /// product, over all keys, halved under a causal mask.
  double flops = 0;
};

/// Derives sizes and uses from the attention ops in `function`, which must be
/// as the user wrote it. A dimension that stays unknown and a size that
/// contradicts a type are errors.
mlir::FailureOr<Problem> analyzeProblem(mlir::func::FuncOp function,
                                        const ProblemSizes &sizes);

/// Values for an argument. Each argument has its own sequence.
Tensor makeInput(const ProblemArgument &argument, unsigned index,
                 uint64_t seed);

} // namespace attune

#endif // ATTUNE_EXECUTION_PROBLEM_H
