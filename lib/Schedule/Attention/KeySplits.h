// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Among how many workgroups the keys of a tile are divided where no schedule is
// given.

#ifndef ATTUNE_LIB_SCHEDULE_ATTENTION_KEYSPLITS_H
#define ATTUNE_LIB_SCHEDULE_ATTENTION_KEYSPLITS_H

#include "attune/Schedule/Attention/Legality.h"

namespace attune {

/// Rows of so many keys are worth taller tiles; under a mask they are seen in
/// part.
inline constexpr int64_t kLongKeys = 8192;
/// And where they see so few, less of a small tile lies beyond the mask.
inline constexpr int64_t kShortKeys = 512;

/// Whether all queries of a head fit into the rows of a tile, beside keys that
/// are not few.
bool hasFewQueries(const AttentionProblem &problem);

/// Divides the keys of each tile among workgroups where a chip has more of them
/// than there are tiles of few queries.
schedule::AttentionAttr splitKeys(const AttentionProblem &problem,
                                  schedule::AttentionAttr schedule,
                                  tile::TargetAttr target);

} // namespace attune

#endif // ATTUNE_LIB_SCHEDULE_ATTENTION_KEYSPLITS_H
