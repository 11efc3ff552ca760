// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A first model of how fast an attention kernel is.

#ifndef ATTUNE_TUNING_ATTENTIONRANKER_H
#define ATTUNE_TUNING_ATTENTIONRANKER_H

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Tuning/Ranker.h"
#include <memory>

namespace attune::tuning {

std::unique_ptr<Ranker> createAttentionRanker(attn::AttentionOp op,
                                              tile::TargetAttr target);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_ATTENTIONRANKER_H
