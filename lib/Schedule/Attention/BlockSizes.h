// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many keys blocks of a size have that no query sees.

#ifndef ATTUNE_LIB_SCHEDULE_ATTENTION_BLOCKSIZES_H
#define ATTUNE_LIB_SCHEDULE_ATTENTION_BLOCKSIZES_H

#include "attune/Schedule/Attention/Legality.h"

namespace attune {

/// What a smaller block costs: it has to save more of the keys, in percent.
inline constexpr double kSmallerBlockPercent = 1.7;

/// A smaller block where much of `blockN` lies beyond the keys.
int64_t trimBlock(const AttentionProblem &problem, int64_t blockM,
                  int64_t blockN);
/// Whether no row ends within a block.
bool hasWholeBlocks(const AttentionProblem &problem, int64_t blockN);
/// Whether few of the keys of blocks of so many lie beyond the last one.
bool endsWithBlock(const AttentionProblem &problem, int64_t blockN);

} // namespace attune

#endif // ATTUNE_LIB_SCHEDULE_ATTENTION_BLOCKSIZES_H
