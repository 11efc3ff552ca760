// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is chosen without a search for few queries.

#ifndef ATTUNE_LIB_SCHEDULE_ATTENTION_FEWQUERIES_H
#define ATTUNE_LIB_SCHEDULE_ATTENTION_FEWQUERIES_H

#include "attune/Schedule/Attention/Legality.h"

namespace attune {

/// Where there are few (hasFewQueries()); null where there are not, or nothing
/// fits.
schedule::AttentionAttr selectFewQueries(const AttentionProblem &problem,
                                         tile::TargetAttr target);

/// Single warps, for keys of 8 bits and queries that one instruction has rows
/// for, whatever is known of the number of keys; null elsewhere.
schedule::AttentionAttr selectNarrowKeys(const AttentionProblem &problem,
                                         tile::TargetAttr target);

} // namespace attune

#endif // ATTUNE_LIB_SCHEDULE_ATTENTION_FEWQUERIES_H
