// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows that a table finds, and blocks that alternate: what tile.paged and
// tile.interleaved mean to those who load, store and copy.

#ifndef ATTUNE_LIB_CONVERSION_TILETOGPU_VIEWS_H
#define ATTUNE_LIB_CONVERSION_TILETOGPU_VIEWS_H

#include "attune/Dialect/Tile/IR/Tile.h"

namespace attune {

/// The rows of a buffer, as a tile op counts them.
class PagedRows {
public:
  /// `view` is a buffer, or the result of a tile.paged.
  explicit PagedRows(mlir::Value view)
      : view(view), paged(view.getDefiningOp<tile::PagedOp>()) {}

  mlir::Value getBuffer() {
    return paged ? mlir::Value(paged.getSource()) : view;
  }
  /// Consecutive rows, from a multiple of it, that are consecutive in the
  /// buffer; 0 for all.
  int64_t getPage() { return paged ? paged.getPage() : 0; }

  /// The row of the buffer, `outside` where there is none; without that there
  /// is one.
  mlir::Value locate(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value row, mlir::Value outside);
  /// The row of the buffer, or one that is not in it.
  mlir::Value locate(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value row, bool inBounds);

private:
  mlir::Value view;
  tile::PagedOp paged;
};

/// A rectangle of a tile that one buffer has as it stands there.
struct SourcePiece {
  mlir::Value buffer;
  /// The number of the buffer among those of the source.
  int64_t number;
  /// Where it starts in the tile, and how large it is.
  int64_t row, column, rows, columns;
  /// Where it starts in the buffer.
  mlir::Value sourceRow, sourceColumn;
};

/// The buffers that the source of a put is made of: those of a
/// tile.interleaved, or one.
mlir::ValueRange getBuffers(tile::PutOp put);

/// The pieces of the tile that `put` puts, in the order of the tile. The tile
/// starts and ends where blocks of all buffers do.
llvm::SmallVector<SourcePiece> getPieces(mlir::OpBuilder &builder,
                                         tile::PutOp put);

/// Rows of a TMA box by which the copy engine copies what `put` puts: it ends
/// with the page, or with the block.
int64_t getRowsOfBox(tile::PutOp put);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_TILETOGPU_VIEWS_H
