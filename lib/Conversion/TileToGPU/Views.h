// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows that a table finds, or that two dimensions have, and blocks that
// alternate: what tile.paged, tile.flattened and tile.interleaved mean to those
// who load, store and copy.

#ifndef ATTUNE_LIB_CONVERSION_TILETOGPU_VIEWS_H
#define ATTUNE_LIB_CONVERSION_TILETOGPU_VIEWS_H

#include "attune/Dialect/Tile/IR/Tile.h"

namespace attune {

/// The rows of a buffer, as a tile op counts them.
class PagedRows {
public:
  /// `view` is a buffer, or the result of a tile.paged or a tile.flattened,
  /// whose pages, those of its first dimension, are in order.
  explicit PagedRows(mlir::Value view)
      : view(view), paged(view.getDefiningOp<tile::PagedOp>()),
        flattened(view.getDefiningOp<tile::FlattenedOp>()) {}

  mlir::Value getBuffer() {
    if (flattened)
      return flattened.getSource();
    return paged ? mlir::Value(paged.getSource()) : view;
  }
  /// Consecutive rows, from a multiple of it, that are consecutive in the
  /// buffer; 0 for all.
  int64_t getPage() {
    if (flattened)
      return flattened.getInnerRows();
    return paged ? paged.getPageSize() : 0;
  }
  /// Whether the buffer has a dimension of pages in front of that of rows.
  bool hasPageDim() { return flattened || (paged && paged.hasPageDim()); }
  /// Whether there is no table, so that a TMA box may have several pages.
  bool isFlattened() { return flattened != nullptr; }
  /// Rows that move together so that they end with the last one; 0 where none
  /// is known.
  int64_t getUnit() {
    return paged && paged.getRows() ? static_cast<int64_t>(paged.getUnit()) : 0;
  }

  /// The indices of the row in the buffer: that of a page, where there are
  /// such, and that of a row. The first one is not in the buffer where there is
  /// no such row.
  llvm::SmallVector<mlir::Value, 2> locate(mlir::OpBuilder &builder,
                                           mlir::Location loc, mlir::Value row,
                                           bool inBounds);
  /// Whether a table finds a dimension of pages.
  bool findsPages() { return paged && hasPageDim(); }
  /// Some rows behind each other that one page has.
  struct RowsOfPage {
    /// The indices of the first one in the buffer.
    mlir::Value page, row;
    /// How many there are, an i32; null where all are in bounds.
    mlir::Value count;
  };
  /// `count` rows from `row` on, of a view that findsPages(), in units of one
  /// row. The table is read once.
  RowsOfPage locateRows(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value row, int64_t count, bool inBounds);
  /// The same of the first row of a TMA box, which ends with the page, or with
  /// a unit: it may start before the page. `outside` is what no buffer has.
  llvm::SmallVector<mlir::Value, 2> locateBox(mlir::OpBuilder &builder,
                                              mlir::Location loc,
                                              mlir::Value row,
                                              mlir::Value outside);

  /// Whether the table finds the row and those behind it, so many in all, none
  /// of which is in a unit that is not whole.
  mlir::Value areThere(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value row, int64_t count);
  /// What locateBox() gives for the row `offset` behind `row`, if areThere().
  /// Entries are not looked at: one that no buffer has is none of a row either.
  /// An offset is of whole pages, behind a row that starts one.
  llvm::SmallVector<mlir::Value, 2> locateThere(mlir::OpBuilder &builder,
                                                mlir::Location loc,
                                                mlir::Value row,
                                                int64_t offset);

private:
  mlir::Value locateInBuffer(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value row, mlir::Value outside);
  llvm::SmallVector<mlir::Value, 2>
  locateInOrder(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value row);
  llvm::SmallVector<mlir::Value, 2>
  locateInPage(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value row,
               mlir::Value outside, bool isBox);
  /// Whether the table has an entry of that number.
  mlir::Value hasEntry(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value number);
  /// The entry of the table, which is not read unless `condition` holds; null
  /// for one that does.
  mlir::Value readTable(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value number, mlir::Value condition);

  mlir::Value view;
  tile::PagedOp paged;
  tile::FlattenedOp flattened;
};

/// A rectangle of a tile that one buffer has as it stands there.
struct SourcePiece {
  mlir::Value buffer;
  /// The number of the copied buffer (getCopiedBuffers()).
  int64_t number;
  /// Where it starts in the tile, and how large it is.
  int64_t row, column, rows, columns;
  /// Where it starts in the buffer.
  mlir::Value sourceRow, sourceColumn;
};

/// Rows of a TMA box: so many of each of some pages, of which there is one
/// where the buffer has no dimension of pages.
struct BoxRows {
  int64_t pages, ofPage;
  int64_t count() const { return pages * ofPage; }
};

/// What boxes by which the copy engine copies what a put puts are boxes of, and
/// their rows. Pieces go by their numbers.
struct CopiedBuffer {
  mlir::Value buffer;
  BoxRows box;
};

/// Those of the buffers of a tile.interleaved, or of one; where two dimensions
/// are the rows, of that one for whole pages, and again for the rows that are
/// left. Boxes end with the page, or with the block.
llvm::SmallVector<CopiedBuffer, 2> getCopiedBuffers(tile::PutOp put);

/// The pieces of the tile that `put` puts, in the order of the tile, each of
/// one of the copied buffers. The tile starts and ends where blocks of all
/// buffers do.
llvm::SmallVector<SourcePiece> getPieces(mlir::OpBuilder &builder,
                                         tile::PutOp put);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_TILETOGPU_VIEWS_H
