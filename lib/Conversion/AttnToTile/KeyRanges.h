// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which keys a tile of queries can see, derived from the mask region alone.

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_KEYRANGES_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_KEYRANGES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Region.h"

namespace attune {

/// A half-open interval of keys, bounds as index values. A null bound is
/// unbounded on that side.
struct KeyInterval {
  mlir::Value begin;
  mlir::Value end;
};

/// What is known of a mask over all queries of a tile.
struct KeyRanges {
  /// Outside of it no query of the tile sees a key.
  KeyInterval visible;
  /// Inside of it every query of the tile sees every key. Absent where nothing
  /// is known.
  std::optional<KeyInterval> full;
};

/// The queries of a tile: those of `first <= m <= last`, of `count` in all
/// (dynamic where that is not known).
struct MaskedRows {
  mlir::Value first;
  mlir::Value last;
  int64_t count;
};

/// Analyses a mask region `(b, h, m, n) -> i1` for the queries `rows` and
/// `numKeys` keys (or a dynamic number) and emits the bounds at the builder's
/// insertion point. Conditions that compare sums of indices, constants and
/// values that depend on neither m nor n are understood, and so are and, or,
/// not and select of such; anything else is taken to be possibly true
/// everywhere and certainly true nowhere. The bounds hold whatever the captured
/// values are, also where the region's arithmetic wraps around.
///
/// `mapping` maps the region's b and h arguments and what it captures to values
/// that are usable at the insertion point.
KeyRanges analyzeKeyRanges(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Region &mask, const MaskedRows &rows,
                           int64_t numKeys, const mlir::IRMapping &mapping);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_KEYRANGES_H
