// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes what makes one result of what was found in parts of the keys.

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_MERGEPARTS_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_MERGEPARTS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attune {

/// The dimensions of the output of a part.
constexpr llvm::StringLiteral kPartOrder = "bhsd";

/// What a kernel finds in each part of the keys: the output, f32 of [parts,
/// batch, heads, queries, head size], or of [slots, heads, queries, head size]
/// where shares are equal, and the logarithms of sums, without the last
/// dimension. And whose the slots are, or null (KernelOperands).
struct KeyParts {
  mlir::Value output, lse, sharers = {};
};

/// Kernel-side buffers of a merge.
struct MergeOperands {
  /// One for each part, with the dimensions of `partOrder`.
  llvm::SmallVector<KeyParts> parts;
  llvm::StringRef partOrder = kPartOrder;
  /// Of split keys instead: buffers whose first dimension counts parts, how
  /// many there are, and a divisor of that, so many of which are loaded at
  /// once.
  KeyParts splits;
  int64_t numSplits = 0, atOnce = 0;
  /// Where the only part has slots: whose they are. Null where it has not. Rows
  /// of which one has all keys are left alone.
  mlir::Value sharers;
  /// Null where there are none.
  mlir::Value sinks, resultScales;
  mlir::Value output, lse;
};

/// The rows that are merged.
struct MergeRows {
  /// Of the tile.
  int64_t rows, columns;
  /// Where they lie in views, and in which batch of buffers; index values.
  mlir::Value first, batch;
  /// Queries of the batch, behind which none has a sink; null where all have.
  mlir::Value length;
  /// A head whose sharers are theirs, where there are slots.
  mlir::Value sharedHead;
  /// [rows, columns] of a buffer whose dimensions have these letters, and
  /// [rows] of a buffer [batch, heads, queries].
  std::function<mlir::Value(mlir::ImplicitLocOpBuilder &b, llvm::StringRef dims,
                            mlir::Value buffer, mlir::Value batch)>
      viewRows;
  std::function<mlir::Value(mlir::ImplicitLocOpBuilder &b, mlir::Value buffer,
                            mlir::Value batch)>
      viewNumbers;
  /// The head, one that there is, and the query of a row of the tile, inside of
  /// a map.
  std::function<std::pair<mlir::Value, mlir::Value>(
      mlir::OpBuilder &inner, mlir::Location loc, mlir::Value row)>
      locate;
};

/// Merges them, into results whose dimensions have the letters of `order`.
void buildMerge(mlir::OpBuilder &builder, mlir::Location loc,
                llvm::StringRef order, const MergeOperands &operands,
                const MergeRows &own);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_MERGEPARTS_H
