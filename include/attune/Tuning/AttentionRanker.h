// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Orders the schedules of an attention op by the time that a model predicts.

#ifndef ATTUNE_TUNING_ATTENTIONRANKER_H
#define ATTUNE_TUNING_ATTENTIONRANKER_H

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Tuning/AttentionProblem.h"
#include "attune/Tuning/Ranker.h"
#include <memory>

namespace attune::tuning {

/// Scores are nanoseconds. `sizes` are those of dynamic dimensions.
std::unique_ptr<Ranker> createAttentionRanker(attn::AttentionOp op,
                                              tile::TargetAttr target,
                                              const SizeMap &sizes);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_ATTENTIONRANKER_H
