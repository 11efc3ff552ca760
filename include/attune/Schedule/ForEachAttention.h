// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loop of the passes that need the chip for every attention op.

#ifndef ATTUNE_SCHEDULE_FOREACHATTENTION_H
#define ATTUNE_SCHEDULE_FOREACHATTENTION_H

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/BuiltinOps.h"

namespace attune {

/// Calls `action` with each attention op in the functions of `module`, which
/// it may erase, and the module's #tile.target. Fails where `action` does, at
/// the end of the loop, and with a diagnostic where there are ops but no
/// target.
mlir::LogicalResult forEachAttention(
    mlir::ModuleOp module,
    llvm::function_ref<mlir::LogicalResult(attn::AttentionOp, tile::TargetAttr)>
        action);

} // namespace attune

#endif // ATTUNE_SCHEDULE_FOREACHATTENTION_H
