// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One factor of a size. See #launch.product for the meaning.

#ifndef ATTUNE_DIALECT_LAUNCH_IR_FACTOR_H
#define ATTUNE_DIALECT_LAUNCH_IR_FACTOR_H

#include "llvm/ADT/Hashing.h"
#include <cstdint>

namespace attune::launch {

/// The size of dimension `dim` of argument `argument`, divided by `per` and
/// rounded up, and that of dimension `moreDim` of argument `moreArgument`,
/// which is below 0 where nothing is added.
struct Factor {
  int64_t argument;
  int64_t dim;
  int64_t per = 1;
  int64_t moreArgument = -1;
  int64_t moreDim = 0;

  bool isSum() const { return moreArgument >= 0; }
  bool operator==(const Factor &other) const {
    return argument == other.argument && dim == other.dim && per == other.per &&
           moreArgument == other.moreArgument && moreDim == other.moreDim;
  }
};

inline llvm::hash_code hash_value(const Factor &factor) {
  return llvm::hash_combine(factor.argument, factor.dim, factor.per,
                            factor.moreArgument, factor.moreDim);
}

} // namespace attune::launch

#endif // ATTUNE_DIALECT_LAUNCH_IR_FACTOR_H
