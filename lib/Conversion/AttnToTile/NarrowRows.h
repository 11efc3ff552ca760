// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How rows become rows of 8 or 16 bits, and what these are to be multiplied by.

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_NARROWROWS_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_NARROWROWS_H

#include "OnlineSoftmax.h"

namespace attune {

/// The largest amount of what is finite of each row.
mlir::Value findAmounts(TileBuilder &b, mlir::Value rows);
/// Whether an element of a tile is one of a row, by its row and column.
using Exists = llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &,
                                              mlir::Value, mlir::Value)>;
/// Of each row the largest element that is finite, and the largest negated one;
/// the lowest number there is where there are none.
llvm::SmallVector<mlir::Value, 2> findExtremes(TileBuilder &b, mlir::Value rows,
                                               Exists exists);
/// What rows between such extremes are to be multiplied by, and their zero
/// points as integers, of 4 bits if they are `packed`.
std::pair<mlir::Value, mlir::Value>
makeZeros(TileBuilder &b, mlir::ValueRange extremes, bool isPacked);
/// The larger one of two tiles, by elements.
mlir::Value takeLarger(TileBuilder &b, mlir::Value left, mlir::Value right);
/// What rows of these amounts are to be multiplied by, of which `largest`
/// becomes the largest.
mlir::Value makeScales(TileBuilder &b, mlir::Value amounts, double largest);
/// Each number's reciprocal.
mlir::Value invert(TileBuilder &b, mlir::Value numbers);
/// Rows, each times a number, rounded to `narrow` elements; what is beyond the
/// largest one is that. Of two tiles, elements become the lower and the upper
/// bits of an i8. Integers are `zeros` more, if there are any.
mlir::Value roundToNarrow(TileBuilder &b, mlir::ValueRange rows,
                          mlir::Value factors, mlir::Value zeros,
                          mlir::Type narrow);
/// The head of a row of a tile.
using HeadOfRow = llvm::function_ref<mlir::Value(mlir::OpBuilder &,
                                                 mlir::Location, mlir::Value)>;
/// Of so many rows the scales of a result, which heads, along the dimension
/// `headPos`, share or have each.
mlir::Value loadResultScales(TileBuilder &b, mlir::Value scales,
                             int64_t headPos, int64_t rows, HeadOfRow getHead);
/// The sum of each row, in f32, of which these tiles have the columns.
mlir::Value sumRows(TileBuilder &b, mlir::ValueRange parts);
/// A tile in f32, as it is if its elements are.
mlir::Value widen(TileBuilder &b, mlir::Value tile);

/// The parts of rows as f16, each row times a power of 2 that makes its largest
/// amount one from 1 on, but less than 2, so that bf16 lose no more than what
/// is less than 2^-14 of that; and by what each row's products are to be
/// multiplied for it.
///
/// With the units of packed bytes that they are multiplied with, of one part,
/// columns are scaled to have one unit, as large as f16 has room for; and
/// `biases` are to be added to products, for the numbers that are multiplied
/// are more than the integers.
struct HalfRows {
  HalfRows(TileBuilder &b, mlir::ArrayRef<mlir::Value> parts,
           mlir::ArrayRef<int64_t> units);
  llvm::SmallVector<mlir::Value, 2> parts;
  mlir::Value factors, biases;
};

/// How rows are dealt to the lanes of a warp, which read 16 bytes each.
struct LaneRows {
  /// Of `width` elements, on a chip with so many lanes.
  LaneRows(int64_t width, unsigned bits, int64_t lanes);
  /// Elements of a row, and those behind it that nobody has, and the rows that
  /// a warp reads at once.
  int64_t columns, rows;
};

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_NARROWROWS_H
