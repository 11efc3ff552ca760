// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_LOOPPLAN_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_LOOPPLAN_H

#include "attune/Schedule/IR/Schedule.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attune {

/// Says on the loop over key blocks what the passes on tiles make of it, where
/// so many roles compute columns of the output each.
void planLoop(mlir::scf::ForOp loop, schedule::AttentionAttr schedule,
              int64_t columnRoles);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_LOOPPLAN_H
