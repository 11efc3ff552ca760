// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the compiler may ask of a chip whose warps run programs of their own.

#ifndef ATTUNE_TARGET_WARPROLES_H
#define ATTUNE_TARGET_WARPROLES_H

#include "mlir/IR/Builders.h"
#include <optional>

namespace attune {

/// What roles may ask for while they run, in 32-bit registers of a thread.
struct RegisterLimits {
  int64_t fewest, most;
  /// In multiples of which a thread gets registers.
  int64_t step;
  /// Warps, in order from a multiple of as many, that ask together.
  int64_t warps;
};

/// A chip with roles has Barriers too, at which these meet.
class WarpRoles {
public:
  virtual ~WarpRoles() = default;

  /// True in one thread of a warp.
  virtual mlir::Value electThread(mlir::OpBuilder &builder,
                                  mlir::Location loc) const = 0;
  /// Nothing where roles exchange no registers.
  virtual std::optional<RegisterLimits> getRegisterLimits() const = 0;
  /// Gives the threads of this role `count` registers each, more or fewer than
  /// they have; where there are limits, within them.
  virtual void setRegisters(mlir::OpBuilder &builder, mlir::Location loc,
                            int64_t count, bool more) const = 0;
};

} // namespace attune

#endif // ATTUNE_TARGET_WARPROLES_H
