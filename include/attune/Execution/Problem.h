// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a function with tunable ops is run on: sizes for its dynamic dimensions
// and inputs that suit the use the function makes of them.

#ifndef ATTUNE_EXECUTION_PROBLEM_H
#define ATTUNE_EXECUTION_PROBLEM_H

#include "attune/Runtime/Tensor.h"
#include "attune/Schedule/TunableOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attune {

/// The class of inputs that every op has, with which times are taken.
inline constexpr llvm::StringRef kNormalInputs = "normal";

/// An argument of the function.
struct ProblemArgument {
  /// Of a tensor; rank 0 for a scalar.
  TensorShape shape;
  bool isTensor = true;
  /// What integers mean.
  using Use = IntegerUse::Kind;
  Use use = Use::Number;
  /// The largest position or count, or the number of indices, segments or
  /// numbers.
  int64_t limit = 8;
  /// Of a BlockIndex, the first number, and the distance to the next.
  int64_t first = 0, step = 1;
  /// How normal numbers are changed for other classes of inputs.
  std::map<std::string, InputTransform> transforms;
};

struct Problem {
  std::vector<ProblemArgument> arguments;
  /// Of all ops.
  Work work;
  /// Sizes that were given by a name which no dimension of an argument has.
  std::vector<std::string> unusedSizes;
};

/// Derives sizes and uses from the tunable ops in `function`, which must be as
/// the user wrote it. A dimension that stays unknown, a size that
/// contradicts a type and a shape of no tensor are errors.
mlir::FailureOr<Problem> analyzeProblem(mlir::func::FuncOp function,
                                        const ProblemSizes &sizes);

/// The names of all classes of inputs that the ops of a function have, in their
/// order.
llvm::SmallVector<llvm::StringRef> getInputClasses(mlir::func::FuncOp function);

/// Values for an argument. Each argument has its own sequence.
Tensor makeInput(const ProblemArgument &argument, unsigned index, uint64_t seed,
                 llvm::StringRef inputClass = kNormalInputs);

} // namespace attune

#endif // ATTUNE_EXECUTION_PROBLEM_H
