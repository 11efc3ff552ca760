// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What attn.attention answers as an op that can be tuned; parts of the model.

#ifndef ATTUNE_LIB_SCHEDULE_ATTENTION_ATTENTIONTUNABLE_H
#define ATTUNE_LIB_SCHEDULE_ATTENTION_ATTENTIONTUNABLE_H

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Schedule/TunableOpInterface.h"

namespace attune {

/// The places of sizes in the set of attention.
enum AttentionSize : size_t { kBatch, kHeads, kKVHeads, kSeqQ, kSeqK };

/// TunableOpInterface::describeKind().
std::string describeAttentionKind(attn::AttentionOp op);

/// TunableOpInterface::shrink().
ProblemSizes shrinkAttention(attn::AttentionOp op, const ProblemSizes &sizes);

/// TunableOpInterface::describeInputs().
void describeAttentionInputs(attn::AttentionOp op, InputNotes &notes);

} // namespace attune

#endif // ATTUNE_LIB_SCHEDULE_ATTENTION_ATTENTIONTUNABLE_H
