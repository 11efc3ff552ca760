// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sizes that an isolated problem is run with.

#ifndef ATTUNE_TUNING_SIZEDPROBLEM_H
#define ATTUNE_TUNING_SIZEDPROBLEM_H

#include "attune/Execution/Problem.h"
#include "mlir/IR/BuiltinOps.h"

namespace attune::tuning {

/// Those that setSizes() left on the problem.
ProblemSizes getSizes(mlir::ModuleOp isolated);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_SIZEDPROBLEM_H
