// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loop of the passes that need the chip for every op of a kind.

#ifndef ATTUNE_SCHEDULE_FOREACHTUNABLE_H
#define ATTUNE_SCHEDULE_FOREACHTUNABLE_H

#include "attune/Schedule/TunableOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attune {

/// The #tile.target of a module; null and a diagnostic where it has none.
tile::TargetAttr requireTarget(mlir::ModuleOp module);

/// Calls `action` with each op of a class or an interface in the functions of
/// `module`, which it may erase, and the module's #tile.target. Fails where
/// `action` does, at the end of the loop, and with a diagnostic where there are
/// ops but no target.
template <typename OpT>
mlir::LogicalResult forEachWithTarget(
    mlir::ModuleOp module,
    llvm::function_ref<mlir::LogicalResult(OpT, tile::TargetAttr)> action) {
  llvm::SmallVector<OpT> ops;
  for (auto function : module.getOps<mlir::func::FuncOp>())
    function.walk([&](OpT op) { ops.push_back(op); });
  if (ops.empty())
    return mlir::success();
  tile::TargetAttr target = requireTarget(module);
  if (!target)
    return mlir::failure();
  mlir::LogicalResult result = mlir::success();
  for (OpT op : ops)
    if (failed(action(op, target)))
      result = mlir::failure();
  return result;
}

/// The same for all ops that can be tuned.
inline mlir::LogicalResult
forEachTunable(mlir::ModuleOp module,
               llvm::function_ref<mlir::LogicalResult(TunableOpInterface,
                                                      tile::TargetAttr)>
                   action) {
  return forEachWithTarget<TunableOpInterface>(module, action);
}

} // namespace attune

#endif // ATTUNE_SCHEDULE_FOREACHTUNABLE_H
