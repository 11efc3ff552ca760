// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the kernels of attention and of its gradients see of buffers, and the
// positions of the elements of their tiles.

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_VIEWS_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_VIEWS_H

#include "attune/Dialect/Attn/IR/SizeFacts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attune {

/// An index.
inline mlir::Value constant(mlir::ImplicitLocOpBuilder &b, int64_t value) {
  return mlir::arith::ConstantIndexOp::create(b, value);
}

/// The 2-D [rows, head size] view of `heads` heads of a buffer whose dimensions
/// have these letters, whatever their order. More than one must be adjacent, or
/// have one row each; all that follow of such if there is no number.
mlir::Value viewHeads(mlir::ImplicitLocOpBuilder &b, llvm::StringRef order,
                      mlir::Value buffer, mlir::Value batch, mlir::Value head,
                      std::optional<int64_t> heads = 1);

/// The 2-D [rows, head size] view of the keys, or values, of a head that lie in
/// pages of a buffer whose dimensions have these letters: `b` counts pages,
/// which `table`, 2-D, names for each batch. The other arguments are those of
/// tile.paged; `rows` may be null.
mlir::Value viewPages(mlir::ImplicitLocOpBuilder &b, llvm::StringRef order,
                      mlir::Value buffer, mlir::Value table, mlir::Value batch,
                      mlir::Value head, mlir::Value rows, int64_t unit);

/// The first rows of a 2-D view.
mlir::Value limitRows(mlir::ImplicitLocOpBuilder &b, mlir::Value view,
                      mlir::Value rows);

/// Those of a 2-D view from `first` on, if there are any.
mlir::Value dropRows(mlir::ImplicitLocOpBuilder &b, mlir::Value view,
                     mlir::Value first);

/// The 1-D view of a number for each of `length` rows of `heads` heads, of a
/// buffer [batch, heads, rows], all of whose rows these are unless packed.
mlir::Value viewRowNumbers(mlir::ImplicitLocOpBuilder &b, mlir::Value buffer,
                           mlir::Value batch, mlir::Value head, int64_t heads,
                           mlir::Value length, bool isPacked);

/// A view of the rows of `heads` heads that share a tile, of a buffer whose
/// dimensions have these letters, with head sizes or without: heads by queries,
/// or with `queriesFirst` queries by heads, of which all elements of one come
/// behind each other. Of the outer ones those before `after`, or all if it is
/// null; all heads that follow if there is no number, which is for heads by
/// queries.
mlir::Value viewSharedRows(mlir::ImplicitLocOpBuilder &b, llvm::StringRef order,
                           mlir::Value buffer, mlir::Value batch,
                           mlir::Value head, std::optional<int64_t> heads,
                           bool queriesFirst, mlir::Value after = {});

/// A 2-D view with its columns as rows.
mlir::Value transposeView(mlir::ImplicitLocOpBuilder &b, mlir::Value view);

/// One part of a buffer whose first dimension counts parts.
mlir::Value viewPart(mlir::ImplicitLocOpBuilder &b, mlir::Value buffer,
                     mlir::OpFoldResult part);

/// Of a 2-D view of rows, so many columns from `first` on.
mlir::Value viewColumns(mlir::ImplicitLocOpBuilder &b, mlir::Value view,
                        int64_t first, int64_t columns);

/// A size within what is known of it, so that what is computed of it is known
/// to fit into 32 bits.
mlir::Value boundSize(mlir::ImplicitLocOpBuilder &b, mlir::Value size,
                      const attn::SizeFacts &facts);

/// Emits how many keys a batch has room for, in `key` or in its pages, of which
/// `pages` may be null.
mlir::Value countRoomForKeys(mlir::ImplicitLocOpBuilder &b,
                             attn::AttentionOpInterface op, mlir::Value key,
                             mlir::Value pages);

/// Whether a region reads tensors, but where the batch alone says. Tiles reach
/// beyond the ends of the sequences, so that its positions have to be clamped,
/// or places in tensors.
bool readsTensor(mlir::Region &region);

/// Emits the position of an element, clamped to the last valid one if asked.
mlir::Value elementPosition(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value first, mlir::Value offset,
                            mlir::Value length, bool clamp);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_VIEWS_H
