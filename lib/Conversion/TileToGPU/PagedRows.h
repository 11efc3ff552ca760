// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows that a table finds: what tile.paged means to those who load, store and
// copy.

#ifndef ATTUNE_LIB_CONVERSION_TILETOGPU_PAGEDROWS_H
#define ATTUNE_LIB_CONVERSION_TILETOGPU_PAGEDROWS_H

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

/// Rows of a TMA box by which the copy engine copies what `put` puts: it ends
/// with the page.
int64_t getRowsOfBox(tile::PutOp put);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_TILETOGPU_PAGEDROWS_H
