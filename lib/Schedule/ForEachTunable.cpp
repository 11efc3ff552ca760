// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops are collected before the first is changed.

#include "attune/Schedule/ForEachTunable.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace attune;
using tile::TargetAttr;
using tile::TileDialect;

LogicalResult attune::forEachTunable(
    ModuleOp module,
    function_ref<LogicalResult(TunableOpInterface, TargetAttr)> action) {
  SmallVector<TunableOpInterface> ops;
  for (auto function : module.getOps<func::FuncOp>())
    function.walk([&](TunableOpInterface op) { ops.push_back(op); });
  if (ops.empty())
    return success();
  auto target = module->getAttrOfType<TargetAttr>(TileDialect::kTargetAttrName);
  if (!target)
    return emitError(module.getLoc())
           << "expects a '" << TileDialect::kTargetAttrName
           << "' attribute on the module; run attune-attach-target first";
  LogicalResult result = success();
  for (TunableOpInterface op : ops)
    if (failed(action(op, target)))
      result = failure();
  return result;
}
