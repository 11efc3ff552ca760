// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a wait for a value means to hardware that counts.

#ifndef ATTUNE_LIB_CONVERSION_TILETOGPU_COMPLETION_H
#define ATTUNE_LIB_CONVERSION_TILETOGPU_COMPLETION_H

#include "attune/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/DenseMap.h"

namespace attune {

/// MMAs of warpgroups complete in the order of their issue. For each
/// `tile.wait` and `tile.wait_reads` of one, the number of those that have
/// been issued since, on whatever way it came there: as many may still run, or
/// fewer where a wait in front of it leaves no more.
/// Waits for MMAs of a warp, which are done at once, are not in the map.
llvm::DenseMap<mlir::Operation *, int64_t>
countLaterMmas(mlir::gpu::GPUFuncOp kernel);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_TILETOGPU_COMPLETION_H
