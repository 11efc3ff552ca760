// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_LOOPPLAN_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_LOOPPLAN_H

#include "attune/Schedule/IR/Schedule.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attune {

/// Says on the loop over key blocks what the passes on tiles make of it.
void planLoop(mlir::scf::ForOp loop, schedule::AttentionAttr schedule);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_LOOPPLAN_H
