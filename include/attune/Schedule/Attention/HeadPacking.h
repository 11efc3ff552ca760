// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many heads the rows of a tile belong to.

#ifndef ATTUNE_SCHEDULE_ATTENTION_HEADPACKING_H
#define ATTUNE_SCHEDULE_ATTENTION_HEADPACKING_H

#include "attune/Dialect/Attn/IR/Attn.h"

namespace attune {

/// Query heads that read the same keys share a tile where the whole sequences
/// of several fit: row i of the tile is position i % length of head i / length.
/// Then keys and values are read once for all of them, as a step of decoding
/// with grouped heads wants it.
class HeadPacking {
public:
  /// Expects an op that the verifier admits, with short forms or without.
  static HeadPacking get(attn::AttentionOp op);

  /// Heads of a tile: a divisor of the heads of a group.
  int64_t count(const schedule::AttentionAttr::View &schedule) const;

private:
  /// Query heads with the same keys; 1 where heads cannot share a tile.
  int64_t group = 1;
  /// Queries of a head.
  int64_t length = 1;
};

} // namespace attune

#endif // ATTUNE_SCHEDULE_ATTENTION_HEADPACKING_H
