// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One factor of a size. See #launch.product for the meaning.

#ifndef ATTUNE_DIALECT_LAUNCH_IR_FACTOR_H
#define ATTUNE_DIALECT_LAUNCH_IR_FACTOR_H

#include "llvm/ADT/Hashing.h"
#include <cstdint>

namespace attune::launch {

/// The size of dimension `dim` of argument `argument`, divided by `per` and
/// rounded up, and what is added to it: the size of dimension `moreDim` of
/// argument `moreArgument`, which is below 0 where that is not, or a number.
struct Factor {
  int64_t argument;
  int64_t dim;
  int64_t per = 1;
  int64_t moreArgument = -1;
  int64_t moreDim = 0;
  int64_t moreNumber = 0;

  bool isSum() const { return moreArgument >= 0 || moreNumber != 0; }
  bool operator==(const Factor &other) const {
    return argument == other.argument && dim == other.dim && per == other.per &&
           moreArgument == other.moreArgument && moreDim == other.moreDim &&
           moreNumber == other.moreNumber;
  }
};

inline llvm::hash_code hash_value(const Factor &factor) {
  return llvm::hash_combine(factor.argument, factor.dim, factor.per,
                            factor.moreArgument, factor.moreDim,
                            factor.moreNumber);
}

} // namespace attune::launch

#endif // ATTUNE_DIALECT_LAUNCH_IR_FACTOR_H
