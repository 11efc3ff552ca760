// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps functions as they were before they are compiled.

#include "attune/Schedule/Transforms/Passes.h"
#include "attune/Schedule/TunableOpInterface.h"

namespace attune {
#define GEN_PASS_DEF_ATTUNEKEEPSOURCEPASS
#include "attune/Schedule/Transforms/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

namespace {
struct AttuneKeepSource
    : attune::impl::AttuneKeepSourcePassBase<AttuneKeepSource> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto nested : module.getOps<ModuleOp>())
      if (nested->hasAttr(kSourceAttrName))
        return;
    SmallVector<func::FuncOp> functions;
    for (auto function : module.getOps<func::FuncOp>())
      if (hasTunableOp(function))
        functions.push_back(function);
    if (functions.empty())
      return;
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    auto source = ModuleOp::create(builder, module.getLoc());
    source->setAttr(kSourceAttrName, builder.getUnitAttr());
    OpBuilder inside = OpBuilder::atBlockBegin(source.getBody());
    for (func::FuncOp function : functions)
      inside.clone(*function);
  }
};
} // namespace
