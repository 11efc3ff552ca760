// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which query tile of which head a workgroup computes, and when.

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_TILEORDER_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_TILEORDER_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attune {

/// Extents of what is assigned to the workgroups, as index values.
struct TileCounts {
  /// Query tiles of one head, query heads, key heads, and batches.
  mlir::Value tiles, headsQ, headsKV, batches;
};

/// One query tile; index values.
struct QueryTile {
  mlir::Value tile, headQ, headKV, batch;
};

/// The device's cache: the bytes of all of its parts. Workgroup i uses the part
/// i mod `parts`.
struct DeviceCache {
  int64_t bytes, parts;
};

/// A number below `total` instead of that of a workgroup: those that use one
/// part of the cache have numbers in a row.
mlir::Value dealToParts(mlir::ImplicitLocOpBuilder &b, mlir::Value number,
                        mlir::Value total, const DeviceCache &cache);

/// All heads of a tile, then those of the next one, in one batch: of packed
/// sequences, so that what heads read, whose keys lie together, is read at the
/// same time.
QueryTile orderByTile(mlir::ImplicitLocOpBuilder &b, mlir::Value number,
                      const TileCounts &counts);

/// Tiles of one head after the other, in one of two directions: `number` counts
/// tiles fastest, then heads, then batches. With `batchesFirst` it counts these
/// fastest, so that what a tile reads of the head is read at the same time.
QueryTile orderByHead(mlir::ImplicitLocOpBuilder &b, mlir::Value number,
                      const TileCounts &counts, bool lastFirst,
                      bool batchesFirst = false);

/// The last tiles of all heads first, then those before them, or the first ones
/// and then those behind them, in sections of as many heads as have keys and
/// values, or whatever their tiles visit, as fit the device's cache, so that
/// these stay there while the section is computed. `headBytes`, an index, is
/// the size of that of one head. Where the cache has parts, a section has as
/// many heads for each, and a head's tiles meet in one.
QueryTile orderBySection(mlir::ImplicitLocOpBuilder &b, mlir::Value number,
                         const TileCounts &counts, mlir::Value headBytes,
                         const DeviceCache &cache, bool lastFirst);

/// Where a tile of packed queries lies; index values.
struct PackedRows {
  /// Of the batch, and of the tile among those of the batch.
  mlir::Value batch, tile;
  /// The place where the batch begins, and how many queries it has room for.
  mlir::Value first, room;
  /// The place behind the rows that are the tile's to write.
  mlir::Value after;
};

/// Finds the tile of this number among those of all batches, of `rows` queries
/// each, by where these begin. There are `size` queries. Numbers go up to
/// size / rows, rounded up, and the elements of `starts`. Some tiles have no
/// rows; those behind the last batch are of this one, which ends before them.
PackedRows findPackedRows(mlir::ImplicitLocOpBuilder &b, mlir::Value starts,
                          mlir::Value size, int64_t rows, mlir::Value number);

/// A number that a persistent workgroup takes instead of `number`, its own plus
/// whole grids: each other round runs backwards, so that in a list by length
/// those who start with a long tile go on with a short one.
mlir::Value reverseOddRounds(mlir::ImplicitLocOpBuilder &b, mlir::Value number,
                             mlir::Value own, mlir::Value grid,
                             mlir::Value total);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_TILEORDER_H
