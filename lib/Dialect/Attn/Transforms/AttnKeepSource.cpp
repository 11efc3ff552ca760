// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps functions as they were before they are compiled.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace attune::attn {
#define GEN_PASS_DEF_ATTNKEEPSOURCEPASS
#include "attune/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attune::attn

using namespace mlir;
using namespace attune::attn;

namespace {

struct AttnKeepSource
    : attune::attn::impl::AttnKeepSourcePassBase<AttnKeepSource> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto nested : module.getOps<ModuleOp>())
      if (nested->hasAttr(kSourceAttrName))
        return;
    SmallVector<func::FuncOp> functions;
    for (auto function : module.getOps<func::FuncOp>())
      if (function.walk([](AttentionOp) { return WalkResult::interrupt(); })
              .wasInterrupted())
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
