// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules of the types in which operands are stored and multiplied.

#ifndef ATTUNE_LIB_SCHEDULE_ATTENTION_TYPERULES_H
#define ATTUNE_LIB_SCHEDULE_ATTENTION_TYPERULES_H

#include "attune/Schedule/Attention/Legality.h"

namespace attune {

/// That there are instructions for both products, of what is stored in other
/// types than it is multiplied with as well.
std::optional<Refusal> checkTypes(const AttentionProblem &problem,
                                  const AttentionKnobs &schedule,
                                  tile::TargetAttr target);

/// What passes through shared memory again: that weights stay in registers
/// where values do as columns, for in the order of these they come, and that
/// latent rows are one type in both products.
std::optional<Refusal> checkRestaging(const AttentionProblem &problem,
                                      const AttentionKnobs &schedule,
                                      tile::TargetAttr target);

} // namespace attune

#endif // ATTUNE_LIB_SCHEDULE_ATTENTION_TYPERULES_H
