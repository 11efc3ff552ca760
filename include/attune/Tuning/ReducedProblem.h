// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Problems small enough for the host executor.

#ifndef ATTUNE_TUNING_REDUCEDPROBLEM_H
#define ATTUNE_TUNING_REDUCEDPROBLEM_H

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Execution/Problem.h"
#include "mlir/IR/BuiltinOps.h"

namespace attune::tuning {

/// Makes an isolated problem small without changing what a schedule makes of
/// it: one batch entry, one group of heads, and lengths of a few blocks, with a
/// remainder where the problem has one. Sizes that are smaller stay as they
/// are, and so do captured tensors. Returns the sizes for dynamic dimensions,
/// derived from `sizes` likewise.
ProblemSizes reduceProblem(mlir::ModuleOp isolated, const ProblemSizes &sizes,
                           attn::ScheduleAttr schedule);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_REDUCEDPROBLEM_H
