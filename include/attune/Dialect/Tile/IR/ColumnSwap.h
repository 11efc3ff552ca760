// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where threads find the elements that `tile.swap_columns` exchanges. The
// lowering and the legality of schedules ask the same.

#ifndef ATTUNE_DIALECT_TILE_IR_COLUMNSWAP_H
#define ATTUNE_DIALECT_TILE_IR_COLUMNSWAP_H

#include "attune/Dialect/Tile/IR/Tile.h"

namespace attune::tile {

/// A register of the lane whose number is `own lane xor laneMask`; with a mask
/// of 0, one of the thread itself. Of a mask with one binary digit, lanes that
/// have the digit set find theirs in `upperReg`, all others in `reg`.
struct ColumnSource {
  int64_t reg, upperReg, laneMask;
};

/// For each register of a 2-D layout the one that holds the element of the
/// partner's column, `stride` columns away. Nothing where one is in another
/// warp, or in lanes whose numbers differ in more than one binary digit, or of
/// lanes that agree in this digit in two registers.
std::optional<llvm::SmallVector<ColumnSource>>
findSwappedColumns(LayoutAttr layout, int64_t stride);

} // namespace attune::tile

#endif // ATTUNE_DIALECT_TILE_IR_COLUMNSWAP_H
