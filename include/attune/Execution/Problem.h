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
  /// The operand of attention that it is.
  enum class Role { Other, Query, Key } role = Role::Other;
};

/// What queries and keys are filled with. A kernel may be right for one kind
/// and wrong for the other.
enum class InputClass {
  /// Numbers of mean 0 and variance 1: scores are close to each other.
  Normal,
  /// Every score is far below 0. A maximum that starts from 0, or a key beyond
  /// the last one that was read as 0, takes all the weight.
  Repelled,
  /// Scores are so far apart that their exponentials overflow, and that the
  /// maximum of a row moves far from block to block.
  Spread,
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

/// All classes of inputs.
llvm::ArrayRef<InputClass> getInputClasses();
/// As options spell it: `normal`.
llvm::StringRef toString(InputClass inputClass);

/// Values for an argument. Each argument has its own sequence.
Tensor makeInput(const ProblemArgument &argument, unsigned index, uint64_t seed,
                 InputClass inputClass = InputClass::Normal);

} // namespace attune

#endif // ATTUNE_EXECUTION_PROBLEM_H
