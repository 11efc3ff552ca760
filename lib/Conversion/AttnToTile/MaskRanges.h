// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which keys a block of queries can see, and which queries a block of keys is
// seen by: one question, asked along either dimension, answered from the mask
// region alone.

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_MASKRANGES_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_MASKRANGES_H

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
};

/// The positions `first <= p <= last` of a dimension of `length` in all
/// (dynamic where that is not known).
struct MaskBlock {
  MaskDim dim;
  mlir::Value first;
  mlir::Value last;
  int64_t length;
};

/// Analyses a mask region `(b, h, m, n) -> i1` for the block, along the
/// dimension that is not the block's and has `otherLength` positions (or a
/// dynamic number), and emits the bounds at the builder's insertion point.
/// Conditions that compare sums of indices, constants and values that depend on
/// neither m nor n are understood, and so are and, or, not and select of such;
/// anything else is taken to be possibly true everywhere and certainly true
/// nowhere. The bounds hold whatever the captured values are, also where the
/// region's arithmetic wraps around.
///
/// `mapping` maps the region's b and h arguments and what it captures to values
/// that are usable at the insertion point.
MaskRanges analyzeMaskRanges(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Region &mask, const MaskBlock &positions,
                             int64_t otherLength,
                             const mlir::IRMapping &mapping);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_MASKRANGES_H
