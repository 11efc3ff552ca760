// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What schedules of warpgroups have in common that are chosen without a search.

#ifndef ATTUNE_LIB_SCHEDULE_ATTENTION_WARPGROUPS_H
#define ATTUNE_LIB_SCHEDULE_ATTENTION_WARPGROUPS_H

#include "attune/Schedule/Attention/Legality.h"

namespace attune {

/// Warps of a group.
inline constexpr int64_t kWarpgroup = 4;
/// Heads of which tiles are short of work, not of shared memory.
inline constexpr int64_t kSmallHeadDim = 64;
/// Keys of rows that make tiles short.
inline constexpr int64_t kFewKeys = 2048;
/// Keys of a block beside which there are registers for anything.
inline constexpr int64_t kSmallBlock = 64;

/// Whether the schedule is legal, and by estimate spills no registers.
bool fits(const AttentionProblem &problem, schedule::AttentionAttr schedule,
          tile::TargetAttr target);

/// The schedule, or null where it does not fit.
schedule::AttentionAttr getIfFits(const AttentionProblem &problem,
                                  const AttentionSchedule &wanted,
                                  tile::TargetAttr target);

/// A producer beside so many warpgroups, of which `sharers` share each column
/// of the output, with one query tile for each workgroup, the longest ones
/// first.
AttentionSchedule makeGroups(const AttentionProblem &problem, int64_t groups,
                             int64_t blockN, int64_t sharers = 1);

/// The same with tiles that a work counter hands out.
void handOut(const AttentionProblem &problem, AttentionSchedule &wanted);

/// Has two workgroups read each key once. Tiles of one length need no counter.
AttentionSchedule makeCluster(AttentionSchedule wanted);

/// Hands the tiles out where a second query tile fits, and stores from shared
/// memory where the output fits beside it. All by what an H200 was fastest
/// with when hot (docs/measurements/Forward.md).
schedule::AttentionAttr handOutTiles(const AttentionProblem &problem,
                                     AttentionSchedule wanted,
                                     tile::TargetAttr target);

} // namespace attune

#endif // ATTUNE_LIB_SCHEDULE_ATTENTION_WARPGROUPS_H
