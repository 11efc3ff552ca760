// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the chip's assembler works where no schedule is given.

#ifndef ATTUNE_LIB_SCHEDULE_ATTENTION_ASSEMBLING_H
#define ATTUNE_LIB_SCHEDULE_ATTENTION_ASSEMBLING_H

#include "attune/Schedule/Attention/Legality.h"

namespace attune {

/// The schedule with the assembler by which it was fastest.
schedule::AttentionAttr chooseAssembler(const AttentionProblem &problem,
                                        schedule::AttentionAttr schedule);

} // namespace attune

#endif // ATTUNE_LIB_SCHEDULE_ATTENTION_ASSEMBLING_H
