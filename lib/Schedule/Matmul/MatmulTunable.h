// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a matmul answers as an op that can be tuned; parts of the model.

#ifndef ATTUNE_LIB_SCHEDULE_MATMUL_MATMULTUNABLE_H
#define ATTUNE_LIB_SCHEDULE_MATMUL_MATMULTUNABLE_H

#include "attune/Matmul/ContractionGroup.h"
#include "attune/Schedule/TunableOpInterface.h"

namespace attune {

/// The group of which `op` is the first contraction; nothing if it is that of
/// none.
std::optional<matmul::ContractionGroup> findMatmul(mlir::Operation *op);

/// TunableOpInterface::describeKind().
std::string describeMatmulKind(const matmul::ContractionGroup &group);

/// TunableOpInterface::shrink(), for the group of an isolated module.
ProblemSizes shrinkMatmul(const matmul::ContractionGroup &group,
                          schedule::MatmulAttr schedule,
                          const ProblemSizes &sizes);

/// TunableOpInterface::describeInputs().
void describeMatmulInputs(const matmul::ContractionGroup &group,
                          InputNotes &notes);

} // namespace attune

#endif // ATTUNE_LIB_SCHEDULE_MATMUL_MATMULTUNABLE_H
