// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How lanes of a warp bring a tile into another layout by themselves. The
// lowering of `tile.convert_layout` follows these plans, and what has none goes
// through shared memory.

#ifndef ATTUNE_DIALECT_TILE_IR_LAYOUTCONVERSION_H
#define ATTUNE_DIALECT_TILE_IR_LAYOUTCONVERSION_H

#include "attune/Dialect/Tile/IR/Tile.h"

namespace attune::tile {

/// The number of the register of `layout` that holds the given coordinates for
/// lane 0; -1 if none does.
int64_t findRegister(LayoutAttr layout, llvm::ArrayRef<int64_t> coordinates);

/// For each register of the new layout, the one of the same lane that holds its
/// element. Nothing where a lane lacks one.
std::optional<llvm::SmallVector<int64_t>> findRenaming(LayoutAttr source,
                                                       TileType to);

/// Registers for lanes: where the layouts differ in which digits of a position
/// are those of lanes and which those of registers, one step for each binary
/// digit moves half of the registers to the lane whose number differs in it.
struct LaneExchange {
  struct Step {
    int64_t laneBit;
    /// How far apart two registers are that differ in the digit.
    int64_t registerStride;
  };
  llvm::SmallVector<Step> steps;
  /// For each register of the new layout, its number behind the last step.
  llvm::SmallVector<int64_t> order;
};
/// Nothing where lanes differ in more, or elements that move share a 32-bit
/// register.
std::optional<LaneExchange> findLaneExchange(TileType from, TileType to);

/// Two lanes, whose numbers differ in one binary digit, both get what either
/// has.
struct LaneGathering {
  int64_t laneBit;
  /// For each register of the new layout, the one of the lane whose digit is
  /// 0, or, counted behind these, of the other one.
  llvm::SmallVector<int64_t> order;
};
std::optional<LaneGathering> findLaneGathering(TileType from, TileType to);

/// The element of one register: always in register `reg` of the old layout, of
/// lane `(own lane & keep) | set`.
struct LaneShuffle {
  int64_t reg, keep, set;
};
/// One for each register of the new layout, whose elements have 16 or 32 bits.
std::optional<llvm::SmallVector<LaneShuffle>> findLaneShuffles(TileType from,
                                                               TileType to);

/// Whether there is one of these ways.
bool convertsWithinWarps(TileType from, TileType to);

} // namespace attune::tile

#endif // ATTUNE_DIALECT_TILE_IR_LAYOUTCONVERSION_H
