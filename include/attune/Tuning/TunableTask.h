// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the search meets the IR: ops that can be tuned become tasks, and a
// point of the search space becomes a schedule on an op.

#ifndef ATTUNE_TUNING_TUNABLETASK_H
#define ATTUNE_TUNING_TUNABLETASK_H

#include "attune/Schedule/TunableOpInterface.h"
#include "attune/Tuning/Tuner.h"

namespace attune::tuning {

/// The knobs of a set.
Space makeSpace(const KnobSet &set);

/// Sets the schedule that a point names.
void setSchedule(TunableOpInterface op, llvm::ArrayRef<int64_t> point);

/// Notes on an isolated problem what it is to be run with.
void setSizes(mlir::ModuleOp isolated, const SizeMap &sizes);
/// Those that setSizes() left on the problem.
ProblemSizes getSizes(mlir::ModuleOp isolated);

/// What one run of an isolated problem does; nothing where a size is not known.
Work getWork(mlir::ModuleOp isolated);

/// The task of tuning an op for a chip. Its baseline is the schedule that the
/// compiler picks where none is given.
Task makeTask(TunableOpInterface op, tile::TargetAttr target,
              const SizeMap &sizes);

/// What a rule says of each point.
Legality makeLegality(ScheduleRule rule);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_TUNABLETASK_H
