// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a pass finds the chip.

#include "attune/Schedule/ForEachTunable.h"

using namespace mlir;
using namespace attune;

tile::TargetAttr attune::requireTarget(ModuleOp module) {
  auto target = module->getAttrOfType<tile::TargetAttr>(
      tile::TileDialect::kTargetAttrName);
  if (!target)
    emitError(module.getLoc())
        << "expects a '" << tile::TileDialect::kTargetAttrName
        << "' attribute on the module; run attune-attach-target first";
  return target;
}
