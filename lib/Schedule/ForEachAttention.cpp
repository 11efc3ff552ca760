// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention ops are collected before the first is changed.

#include "attune/Schedule/ForEachAttention.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace attune;
using tile::TargetAttr;
using tile::TileDialect;

LogicalResult attune::forEachAttention(
    ModuleOp module,
    function_ref<LogicalResult(attn::AttentionOp, TargetAttr)> action) {
  SmallVector<attn::AttentionOp> ops;
  for (auto function : module.getOps<func::FuncOp>())
    function.walk([&](attn::AttentionOp op) { ops.push_back(op); });
  if (ops.empty())
    return success();
  auto target = module->getAttrOfType<TargetAttr>(TileDialect::kTargetAttrName);
  if (!target)
    return emitError(module.getLoc())
           << "expects a '" << TileDialect::kTargetAttrName
           << "' attribute on the module; run attune-attach-target first";
  LogicalResult result = success();
  for (attn::AttentionOp op : ops)
    if (failed(action(op, target)))
      result = failure();
  return result;
}
