// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which keys a block of queries can see, and which queries a block of keys is
// seen by: one question, asked along either dimension, answered from the mask
// region alone.

#ifndef ATTUNE_DIALECT_ATTN_ANALYSIS_MASKRANGES_H
#define ATTUNE_DIALECT_ATTN_ANALYSIS_MASKRANGES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Region.h"

namespace attune {

/// The dimensions of a mask, by the number of the region's argument.
enum class MaskDim : unsigned { Query = 2, Key = 3 };

/// A half-open interval of positions along one dimension, bounds as index
/// values. A null bound is unbounded on that side.
struct MaskInterval {
  mlir::Value begin;
  mlir::Value end;
};

/// What is known of a mask along one dimension, over a block of the other.
struct MaskRanges {
  /// Outside of it the mask is false for every position of the block.
  MaskInterval visible;
  /// Inside of it the mask is true for every position of the block. Absent
  /// where nothing is known.
  std::optional<MaskInterval> full;
  /// Inside of it, too, the mask is false for every position of the block: what
  /// lies between two things that are seen. Both bounds are there; it may be
  /// empty or reach beyond `visible`.
  std::optional<MaskInterval> hole;
};

/// The positions `first <= p <= last` of a dimension of `length` in all
/// (dynamic where that is not known).
struct MaskBlock {
  MaskDim dim;
  mlir::Value first;
  mlir::Value last;
  int64_t length;
};

/// An op of a mask region of which nothing is known, and why.
struct MaskObstacle {
  mlir::Operation *op;
  llvm::StringRef reason;
};

/// Clones an op of the region that depends on neither position, and records its
/// results in the mapping.
using MaskCloner = llvm::function_ref<void(mlir::OpBuilder &, mlir::Operation &,
                                           mlir::IRMapping &)>;

/// Analyses a mask region `(b, h, m, n) -> i1` for the block, along the
/// dimension that is not the block's and has `otherLength` positions (or a
/// dynamic number), and emits the bounds at the builder's insertion point.
///
/// Understood are comparisons, signed or unsigned, of numbers made of
/// positions, constants and values that depend on neither m nor n by addition,
/// subtraction and multiplication by constants, minimum, maximum, absolute
/// value, select, and division, remainder, shift right and low bits by
/// constants (a remainder only of the block's own positions); and `and`, `or`,
/// `not` and `select` of these. Anything else is taken to be possibly true
/// everywhere and certainly true nowhere, and added to `obstacles` if that is
/// given. The bounds hold whatever the captured values are, also where the
/// region's arithmetic wraps around.
///
/// `mapping` maps the region's b and h arguments and what it captures to values
/// that are usable at the insertion point; `clone` copies what is computed of
/// these.
MaskRanges
analyzeMaskRanges(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Region &mask, const MaskBlock &positions,
                  int64_t otherLength, const mlir::IRMapping &mapping,
                  MaskCloner clone,
                  llvm::SmallVectorImpl<MaskObstacle> *obstacles = nullptr);

/// Whether ranges of this mask are exact for blocks: of a block of queries and
/// one of keys, one sees the other by its range just where the other sees it by
/// its own, as long as both are whole. So it is for conditions that all hold,
/// each of which bounds a sum of positions and constants: it is true somewhere
/// in the two blocks where it is at a corner. Conditions of which one holds
/// have hulls, which depend on the side.
bool areRangesMutual(mlir::Region &mask);

} // namespace attune

#endif // ATTUNE_DIALECT_ATTN_ANALYSIS_MASKRANGES_H
