// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a chip's SM gives the threads of a workgroup, whatever they compute.

#ifndef ATTUNE_SCHEDULE_WARPBUDGET_H
#define ATTUNE_SCHEDULE_WARPBUDGET_H

#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Schedule/IR/Schedule.h"
#include <optional>
#include <string>

namespace attune {

/// Registers of a thread of each role.
struct RoleRegisters {
  int64_t producer, consumer;
};

/// The warps of a workgroup, and how many workgroups share an SM.
struct WarpBudget {
  /// Warps that compute, those that issue copies, and how many of the former
  /// multiply together.
  int64_t computing, producing = 0, together = 1;
  int64_t workgroups = 1;
  /// Whether producers go from tile to tile.
  bool isPersistent = false;
  /// Teams that those that compute are divided into, each with tiles of its
  /// own.
  int64_t teams = 1;
  /// Roles that those that compute are divided into: of several, the first one
  /// computes scores, and each other one has columns of its own.
  int64_t roles = 1;
  /// Of those that issue copies, how many restage what others of them bring; 0
  /// where none does.
  int64_t restaging = 0;
  /// Whether half of those that issue copies store what those that compute
  /// hand over, in their turns.
  bool stores = false;
  /// Registers without which those that compute do not do: those that restage
  /// have what is left.
  int64_t needed = 0;
  /// Those without which a thread that restages does not do, whatever is needed
  /// by others; 0 where it does with what is left.
  int64_t ofRestaging = 0;
  /// Those of a thread of the role that computes scores, if it is apart.
  int64_t ofScores = 0;
  /// Those without which a thread that issues copies does not do, if they are
  /// more than the chip says.
  int64_t ofLoading = 0;
  /// Whether loops have the counters that they are written with.
  bool keepsCounters = false;
  /// How the chip's assembler works.
  schedule::Assembler assembler = schedule::Assembler::Thorough;

  int64_t getThreads(tile::TargetAttr target) const {
    return (computing + producing) * target.getLanes();
  }
  /// Threads of the role that computes scores.
  int64_t getScoreThreads(tile::TargetAttr target) const {
    return roles > 1 ? computing / roles * target.getLanes() : 0;
  }
  /// Registers of each thread when the kernel starts, before roles exchange
  /// them, in words of 32 bits.
  int64_t getRegistersAtEntry(tile::TargetAttr target) const;
  /// Those of roles; nothing where they cannot exchange them: where there are
  /// no producers, or not as many as multiply together.
  std::optional<RoleRegisters> getRoleRegisters(tile::TargetAttr target) const;
  /// Most registers that a thread that computes can have.
  int64_t getRegisterLimit(tile::TargetAttr target) const;

  /// Says on a kernel how many workgroups of it an SM holds, whether it keeps
  /// counters, how it is assembled, and who runs what: "compute", "restage",
  /// "load" and "store", where there are producers.
  void mark(mlir::Operation *kernel, tile::TargetAttr target) const;
  /// The name of the role of this number among those that compute: "compute",
  /// "compute1" and so on.
  static std::string getRoleName(int64_t number);
  static constexpr llvm::StringLiteral kStoringRole = "store";
};

} // namespace attune

#endif // ATTUNE_SCHEDULE_WARPBUDGET_H
