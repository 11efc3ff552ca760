// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules of warpgroups whose values others transpose for them.

#ifndef ATTUNE_LIB_SCHEDULE_ATTENTION_TRANSPOSING_H
#define ATTUNE_LIB_SCHEDULE_ATTENTION_TRANSPOSING_H

#include "attune/Schedule/Attention/Legality.h"

namespace attune {

/// Where values are transposed by a role of its own: products take half the
/// time, so that what stands between them is for more keys at once. All by what
/// an H200 was fastest with when hot (docs/measurements/EightBits.md). Null
/// where no values are transposed, or nothing fits.
schedule::AttentionAttr selectTransposing(const AttentionProblem &problem,
                                          tile::TargetAttr target);

} // namespace attune

#endif // ATTUNE_LIB_SCHEDULE_ATTENTION_TRANSPOSING_H
