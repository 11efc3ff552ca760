// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts the description of a chip on the module.

#include "attune/Conversion/Passes.h"
#include "attune/Target/TargetRegistry.h"
#include "mlir/IR/BuiltinOps.h"

namespace attune {
#define GEN_PASS_DEF_ATTUNEATTACHTARGETPASS
#include "attune/Conversion/Passes.h.inc"
} // namespace attune

using namespace mlir;

namespace {

struct AttuneAttachTarget
    : attune::impl::AttuneAttachTargetPassBase<AttuneAttachTarget> {
  using AttuneAttachTargetPassBase::AttuneAttachTargetPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<attune::tile::TargetAttr> target = attune::getTarget(
        &getContext(), chip, [&] { return emitError(module.getLoc()); });
    if (failed(target))
      return signalPassFailure();
    if (sms)
      target = target->withSms(sms);
    module->setAttr(attune::tile::TileDialect::kTargetAttrName, *target);
  }
};

} // namespace
