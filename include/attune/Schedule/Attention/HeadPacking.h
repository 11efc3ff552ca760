// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many heads the rows of a tile belong to.

#ifndef ATTUNE_SCHEDULE_ATTENTION_HEADPACKING_H
#define ATTUNE_SCHEDULE_ATTENTION_HEADPACKING_H

#include "attune/Dialect/Attn/IR/Attn.h"

namespace attune {

/// Query heads that read the same keys share a tile where the whole sequences
/// of several fit: row i of the tile is position i % length of head i / length,
/// or where queries come before heads in memory, and the copy engine copies
/// both as dimensions of a box, position i / count of head i % count. Then keys
/// and values are read once for all of them, as a step of decoding with grouped
/// heads wants it.
class HeadPacking {
public:
  /// Expects an op that the verifier admits, with short forms or without.
  static HeadPacking get(attn::AttentionOp op);

  /// Heads of a tile: a divisor of the heads of a group.
  int64_t count(const schedule::AttentionAttr::View &schedule) const;
  /// Whether rows of several heads of several queries each are those of two
  /// dimensions, of which the copy engine copies boxes.
  bool isByBoxes(const schedule::AttentionAttr::View &schedule) const;
  /// Whether, then, all heads of a query come behind each other.
  bool hasQueriesFirst() const { return queriesFirst; }

private:
  /// Whether boxes of so many heads start where they can in shared memory.
  bool areAligned(int64_t heads, int64_t rows) const;

  /// Query heads with the same keys; 1 where heads cannot share a tile.
  int64_t group = 1;
  /// Queries of a head.
  int64_t length = 1;
  /// Whether the queries of a head follow those of the head before, or are one.
  bool areHeadsAdjacent = false;
  bool queriesFirst = false;
  /// Whether a region reads tiles of tensors (findRegionTiles()).
  bool readsTiles = false;
  /// Rows of a tile of which there are whole multiples in front of a box.
  int64_t rowsOfBoxes = 1;
};

} // namespace attune

#endif // ATTUNE_SCHEDULE_ATTENTION_HEADPACKING_H
