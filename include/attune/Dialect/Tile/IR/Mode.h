// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One digit of a layout. See #tile.layout for the meaning.

#ifndef ATTUNE_DIALECT_TILE_IR_MODE_H
#define ATTUNE_DIALECT_TILE_IR_MODE_H

#include "llvm/ADT/Hashing.h"
#include <cstdint>

namespace attune::tile {

/// A digit that runs over [0, extent) and adds digit * stride to coordinate
/// dim.
struct Mode {
  int64_t extent;
  int64_t dim;
  int64_t stride;

  bool operator==(const Mode &other) const {
    return extent == other.extent && dim == other.dim && stride == other.stride;
  }
};

inline llvm::hash_code hash_value(const Mode &mode) {
  return llvm::hash_combine(mode.extent, mode.dim, mode.stride);
}

} // namespace attune::tile

#endif // ATTUNE_DIALECT_TILE_IR_MODE_H
