// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which warps of a workgroup run what.

#ifndef ATTUNE_DIALECT_TILE_IR_WARPS_H
#define ATTUNE_DIALECT_TILE_IR_WARPS_H

#include "attune/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include <optional>

namespace attune::tile {

/// Consecutive warps that run a program together, and hold its tiles. Of a role
/// with teams these are its first team, which the others follow.
struct WarpRange {
  int64_t first = 0, count = 1, teams = 1;

  /// Warps of all teams.
  int64_t getAll() const { return count * teams; }

  /// Those of a role whose first warp has this number.
  static WarpRange get(int64_t first, RoleAttr role) {
    return {first, role.getTeamWarps(), role.getTeams()};
  }
};

/// Warps of the workgroup; nothing without `known_block_size` or a target, and
/// where the workgroup is not made of whole warps along x.
std::optional<int64_t> getWorkgroupWarps(mlir::gpu::GPUFuncOp kernel);

/// The roles of a kernel: those of its `tile.specialize` or, before that is
/// made, of its attribute `tile.roles`; empty where all warps are alike.
mlir::ArrayAttr getRoles(mlir::gpu::GPUFuncOp kernel);

/// Of `roles`, the one of this name whose program so many threads run; null
/// where there is none.
RoleAttr findRole(mlir::ArrayAttr roles, llvm::StringRef name,
                  RoleThreads threads);

/// The warps that hold the tiles of `op`: those of the role in whose program it
/// stands. Outside of the roles they are those of the first role that all its
/// threads run, and all of the workgroup where there are no roles. Nothing
/// where getWorkgroupWarps() is.
std::optional<WarpRange> getWarps(mlir::Operation *op);

/// The role in whose program `op` stands; null where it stands in none.
RoleAttr getRole(mlir::Operation *op);

/// Whether one team alone runs `op`: it stands where a `tile.is_turn` says so.
bool isOfOneTeam(mlir::Operation *op);

/// Whether a reduction of dimension `dim` of a tile in this layout combines
/// what several warps hold.
bool crossesWarps(LayoutAttr layout, int64_t dim);

/// The first use of a buffer in a role of which all threads run the program;
/// null where there is none.
mlir::Operation *findUseInRole(BufferOp buffer);

} // namespace attune::tile

#endif // ATTUNE_DIALECT_TILE_IR_WARPS_H
