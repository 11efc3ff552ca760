// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loop of the passes that need the chip for every op that can be tuned.

#ifndef ATTUNE_SCHEDULE_FOREACHTUNABLE_H
#define ATTUNE_SCHEDULE_FOREACHTUNABLE_H

#include "attune/Schedule/TunableOpInterface.h"

namespace attune {

/// Calls `action` with each tunable op in the functions of `module`, which it
/// may erase, and the module's #tile.target. Fails where `action` does, at the
/// end of the loop, and with a diagnostic where there are ops but no target.
mlir::LogicalResult
forEachTunable(mlir::ModuleOp module,
               llvm::function_ref<mlir::LogicalResult(TunableOpInterface,
                                                      tile::TargetAttr)>
                   action);

} // namespace attune

#endif // ATTUNE_SCHEDULE_FOREACHTUNABLE_H
