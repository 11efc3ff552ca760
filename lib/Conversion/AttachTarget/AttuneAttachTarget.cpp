// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts the description of a chip on the module.

#include "attune/Conversion/Passes.h"
#include "attune/Dialect/Launch/IR/Launch.h"
#include "attune/Target/TargetRegistry.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace attune {
#define GEN_PASS_DEF_ATTUNEATTACHTARGETPASS
#include "attune/Conversion/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

/// Where a binary is launched, or else the module: the binary itself is one
/// line with all of its code.
static Location findLaunch(ModuleOp module, gpu::BinaryOp binary) {
  Location loc = module.getLoc();
  module.walk([&](gpu::LaunchFuncOp launch) {
    if (launch.getKernelModuleName() != binary.getNameAttr())
      return WalkResult::advance();
    loc = launch.getLoc();
    return WalkResult::interrupt();
  });
  return loc;
}

/// What was made for one chip does not become what is made for another.
static LogicalResult checkKernels(ModuleOp module, StringRef chip) {
  for (auto binary : module.getOps<gpu::BinaryOp>()) {
    launch::ManifestAttr manifest = launch::getManifest(binary);
    if (manifest && manifest.getChip() && manifest.getChip() != chip)
      return emitError(findLaunch(module, binary))
             << "gpu.binary '" << binary.getName()
             << "' expects to be used on chip '"
             << manifest.getChip().getValue()
             << "', for which it was compiled, but got '" << chip
             << "'; compile the module that it was made from";
  }
  auto target = module->getAttrOfType<tile::TargetAttr>(
      tile::TileDialect::kTargetAttrName);
  for (auto kernels : module.getOps<gpu::GPUModuleOp>())
    if (target && target.getChip() != chip)
      return kernels.emitOpError()
             << "expects the chip '" << target.getChip()
             << "', for which its kernels were made, but got '" << chip << "'";
  return success();
}

namespace {

struct AttuneAttachTarget
    : attune::impl::AttuneAttachTargetPassBase<AttuneAttachTarget> {
  using AttuneAttachTargetPassBase::AttuneAttachTargetPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<attune::tile::TargetAttr> target = attune::getTarget(
        &getContext(), chip, [&] { return emitError(module.getLoc()); });
    if (failed(target) || failed(checkKernels(module, chip)))
      return signalPassFailure();
    if (sms)
      target = target->withSms(sms);
    module->setAttr(attune::tile::TileDialect::kTargetAttrName, *target);
  }
};

} // namespace
