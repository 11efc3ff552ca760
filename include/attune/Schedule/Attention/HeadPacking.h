// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many heads the rows of a tile belong to.

#ifndef ATTUNE_SCHEDULE_ATTENTION_HEADPACKING_H
#define ATTUNE_SCHEDULE_ATTENTION_HEADPACKING_H

#include "attune/Dialect/Attn/IR/Attn.h"

namespace attune {

/// Query heads that read the same keys share a tile where the whole sequences
/// of several fit: row i of the tile is position i % length of head i / length,
/// or where queries come before heads in memory, position i / count of head
/// i % count. Then keys and values are read once for all of them, as a step of
/// decoding with grouped heads wants it. Of packed sequences, some of which may
/// have few queries, tiles have as many positions as there is room for; they
/// share them where queries come before heads.
class HeadPacking {
public:
  /// Expects an op that the verifier admits, with short forms or without.
  static HeadPacking get(attn::AttentionOp op);

  /// Heads of a tile: a divisor of the heads of a group.
  int64_t count(const schedule::AttentionAttr::View &schedule) const;
  /// Positions of each that a tile has room for, and the next one starts at.
  int64_t countQueries(const schedule::AttentionAttr::View &schedule) const;
  /// Whether rows of several heads are those of two dimensions, of which the
  /// copy engine copies boxes, and threads find each row by itself.
  bool flattens(const schedule::AttentionAttr::View &schedule) const;
  /// Whether, then, all heads of a query come behind each other.
  bool hasQueriesFirst() const { return queriesFirst; }

private:
  /// Whether rows of several heads are not of one distance, or boxes.
  bool needsTwoDims(const schedule::AttentionAttr::View &schedule) const;
  /// Whether boxes of so many heads start where they can in shared memory.
  bool areAligned(int64_t heads, int64_t rows) const;

  /// Query heads with the same keys; 1 where heads cannot share a tile.
  int64_t group = 1;
  /// Queries of a head; 0 for those of packed sequences.
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
