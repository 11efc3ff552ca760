// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the compiler may ask of a chip whose warps run programs of their own.

#ifndef ATTUNE_TARGET_WARPROLES_H
#define ATTUNE_TARGET_WARPROLES_H

#include "mlir/IR/Builders.h"

namespace attune {

/// A chip with roles has Barriers too, at which these meet.
class WarpRoles {
public:
  virtual ~WarpRoles() = default;

  /// True in one thread of a warp.
  virtual mlir::Value electThread(mlir::OpBuilder &builder,
                                  mlir::Location loc) const = 0;
  /// Whether roles can exchange registers while they run.
  virtual bool exchangesRegisters() const = 0;
  /// Gives the threads of this role `count` registers each, more or fewer than
  /// they have; where exchangesRegisters().
  virtual void setRegisters(mlir::OpBuilder &builder, mlir::Location loc,
                            int64_t count, bool more) const = 0;
};

} // namespace attune

#endif // ATTUNE_TARGET_WARPROLES_H
