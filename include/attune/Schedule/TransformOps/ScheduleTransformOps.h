// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules for scripts of upstream's transform dialect.

#ifndef ATTUNE_SCHEDULE_TRANSFORMOPS_SCHEDULETRANSFORMOPS_H
#define ATTUNE_SCHEDULE_TRANSFORMOPS_SCHEDULETRANSFORMOPS_H

#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformTypes.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"

#define GET_OP_CLASSES
#include "attune/Schedule/TransformOps/ScheduleTransformOps.h.inc"

namespace attune {

/// Adds the ops to the transform dialect.
void registerTransformExtension(mlir::DialectRegistry &registry);

} // namespace attune

#endif // ATTUNE_SCHEDULE_TRANSFORMOPS_SCHEDULETRANSFORMOPS_H
