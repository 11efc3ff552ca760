// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the search meets the IR: attention ops become tasks, and a point of the
// search space becomes a schedule on an op.

#ifndef ATTUNE_TUNING_ATTENTIONPROBLEM_H
#define ATTUNE_TUNING_ATTENTIONPROBLEM_H

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Tuning/Tuner.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace attune::tuning {

/// The knobs of #attn.schedule.
Space makeScheduleSpace();

/// Sets the schedule that a point names.
void setSchedule(attn::AttentionOp op, llvm::ArrayRef<int64_t> point);

/// A copy of the op alone, without its schedule, in a function `attention` that
/// takes what the op uses and returns what it gives. Equal ops give equal
/// modules, wherever they stand.
mlir::OwningOpRef<mlir::ModuleOp> isolate(attn::AttentionOp op);

/// Sizes of dynamic dimensions by name.
using SizeMap = std::map<std::string, int64_t>;
/// The names that a SizeMap may have: those of attune-run's options.
llvm::SmallVector<llvm::StringRef> getSizeNames();

/// Notes on an isolated problem what it is to be run with.
void setSizes(mlir::ModuleOp isolated, const SizeMap &sizes);

/// Floating-point operations of an isolated problem, by the convention of
/// attune-run; 0 where a size is not known.
double countFlops(mlir::ModuleOp isolated);

/// The task of tuning an op for a chip. Its baseline is the schedule that the
/// compiler picks where none is given.
Task makeTask(attn::AttentionOp op, tile::TargetAttr target,
              const SizeMap &sizes);

/// What the compiler says of each point.
Legality makeLegality(attn::AttentionOp op, tile::TargetAttr target);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_ATTENTIONPROBLEM_H
