// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 8.0 and later, "elect.sync", "setmaxnreg".

#include "RegisterRoles.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace attune;
using nvidia::RegisterRoles;

Value RegisterRoles::electThread(OpBuilder &b, Location loc) const {
  return NVVM::ElectSyncOp::create(b, loc, b.getI1Type(), Value());
}

std::optional<RegisterLimits> RegisterRoles::getRegisterLimits() const {
  return RegisterLimits{/*fewest=*/24, /*most=*/256, /*step=*/8, /*warps=*/4};
}

void RegisterRoles::setRegisters(OpBuilder &b, Location loc, int64_t count,
                                 bool more) const {
  NVVM::SetMaxRegisterOp::create(b, loc, static_cast<uint32_t>(count),
                                 more ? NVVM::SetMaxRegisterAction::increase
                                      : NVVM::SetMaxRegisterAction::decrease);
}
