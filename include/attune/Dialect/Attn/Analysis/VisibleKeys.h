// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ranges of MaskRanges.h in numbers, for lengths that are known: what is
// skipped can be counted before there is a kernel.

#ifndef ATTUNE_DIALECT_ATTN_ANALYSIS_VISIBLEKEYS_H
#define ATTUNE_DIALECT_ATTN_ANALYSIS_VISIBLEKEYS_H

#include "attune/Dialect/Attn/Analysis/MaskRanges.h"
#include "attune/Dialect/Attn/IR/Attn.h"

namespace attune {

/// Positions or blocks `begin <= p < end`; none where end <= begin.
struct KeyRange {
  int64_t begin, end;
  int64_t size() const { return std::max<int64_t>(0, end - begin); }
};

/// What a block of queries sees.
struct SeenKeys {
  /// Seen by some query, but for those in the hole; and by all queries.
  KeyRange visible, full, hole;
  /// Whether that is all, and does not depend on what is not known.
  bool isExact = true;

  /// Key blocks that are visited, and those of them that need no mask, where
  /// blocks of `size` keys are visited or not as a whole.
  struct Blocks {
    int64_t visited, unmasked;
  };
  Blocks countBlocks(int64_t size) const;
  int64_t countKeys() const { return countBlocks(1).visited; }
};

/// Answers for the mask region of an op, whose short forms are not looked at. A
/// bound that depends on the batch, on the head or on what the region captures
/// is not known.
class VisibleKeys {
public:
  /// The op may have no mask region. Lengths of the op that are dynamic are
  /// taken to be those given.
  VisibleKeys(attn::AttentionOpInterface op, int64_t seqQ, int64_t seqK);

  /// For the queries `first` to `last`, both included.
  SeenKeys get(int64_t first, int64_t last) const;

  /// Ops of the region of which nothing is known.
  llvm::ArrayRef<MaskObstacle> getObstacles() const { return obstacles; }

private:
  int64_t seqK;
  /// A block that computes `ranges` of its first two arguments.
  std::shared_ptr<mlir::Region> code;
  MaskRanges ranges;
  llvm::SmallVector<MaskObstacle> obstacles;
};

} // namespace attune

#endif // ATTUNE_DIALECT_ATTN_ANALYSIS_VISIBLEKEYS_H
