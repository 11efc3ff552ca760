// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Roles of chips whose warpgroups exchange registers.

#ifndef ATTUNE_LIB_TARGET_NVIDIA_COMMON_REGISTERROLES_H
#define ATTUNE_LIB_TARGET_NVIDIA_COMMON_REGISTERROLES_H

#include "attune/Target/WarpRoles.h"

namespace attune::nvidia {

class RegisterRoles : public WarpRoles {
public:
  mlir::Value electThread(mlir::OpBuilder &builder,
                          mlir::Location loc) const override;
  std::optional<RegisterLimits> getRegisterLimits() const override;
  void setRegisters(mlir::OpBuilder &builder, mlir::Location loc, int64_t count,
                    bool more) const override;
};

} // namespace attune::nvidia

#endif // ATTUNE_LIB_TARGET_NVIDIA_COMMON_REGISTERROLES_H
