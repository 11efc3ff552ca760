// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chips with warpgroup MMAs and a tensor memory accelerator, beside all
// that other chips of the vendor have.

#include "../Common/Baseline.h"
#include "../Common/MBarriers.h"
#include "../Common/RegisterRoles.h"
#include "../Common/SharedPointer.h"
#include "../Common/TensorCopyEngine.h"
#include "WarpgroupMatrixUnit.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace attune;

namespace {
class HopperTarget : public nvidia::BaselineTarget {
public:
  const MatrixUnit *getMatrixUnit() const override { return &matrixUnit; }
  const CopyEngine *getCopyEngine() const override { return &copyEngine; }
  const Barriers *getBarriers() const override { return &barriers; }
  const WarpRoles *getWarpRoles() const override { return &roles; }
  Value emitUniform(OpBuilder &b, Location loc, tile::TargetAttr,
                    Value value) const override {
    Value word = nvidia::reduceToUniform(b, loc, nvidia::toI32(b, loc, value));
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), word);
  }
  /// PTX ISA 9.7.13.7, red.vec.
  bool addsRuns() const override { return true; }
  /// PTX ISA 9.7.13.13, griddepcontrol.
  bool startsEarly() const override { return true; }
  void emitWaitForPredecessor(OpBuilder &builder, Location loc) const override {
    NVVM::GriddepcontrolOp::create(builder, loc, NVVM::GridDepActionKind::wait);
  }
  void emitStartSuccessor(OpBuilder &builder, Location loc) const override {
    NVVM::GriddepcontrolOp::create(builder, loc,
                                   NVVM::GridDepActionKind::launch_dependents);
  }

private:
  WarpgroupMatrixUnit matrixUnit;
  nvidia::TensorCopyEngine copyEngine;
  nvidia::MBarriers barriers;
  nvidia::RegisterRoles roles;
};
} // namespace

namespace attune {
std::unique_ptr<TargetModel> createHopperTargetModel() {
  return std::make_unique<HopperTarget>();
}
void registerHopperDialects(DialectRegistry &registry) {
  nvidia::registerDialects(registry);
}
} // namespace attune
