// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the tile of queries lies that a workgroup computes, and which of its
// keys are the workgroup's.

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_TILEPLACE_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_TILEPLACE_H

#include "KernelBody.h"
#include "StepShare.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attune {

class VisitedBlocks;

/// One tile after the other; all are index values.
class TilePlace {
public:
  TilePlace(mlir::ImplicitLocOpBuilder &b, attn::AttentionOp op,
            const KernelOperands &operands, const KernelSizes &sizes)
      : b(b), op(op), schedule(op.getScheduleAttr()), operands(operands),
        sizes(sizes) {}

  /// Sets the extents; returns the number of all query tiles, of which those
  /// of a cluster count as one, each as often as parts of its keys are apart.
  mlir::Value countTiles();
  /// Finds the tile of this number, and of that the workgroup's own.
  void locate(mlir::Value number);
  /// Finds the share of workgroup `own`, where all have equal ones.
  StepShare takeShare(mlir::Value own);
  /// Finds a tile of it.
  void locate(const StepShare &share, mlir::Value number);

  /// The steps that the tile's keys are visited in, as far as they are the
  /// workgroup's.
  std::unique_ptr<VisitedBlocks> makeBlocks();
  /// Where the batch lies in tensors of queries, which packed ones share.
  mlir::Value getQueryBatch();
  /// The place of the tile's first row along `s` of these tensors.
  mlir::Value getRow();
  /// Of packed queries, the place behind the last one that the tile stores;
  /// null elsewhere.
  mlir::Value getAfter(mlir::ImplicitLocOpBuilder &at);
  /// The head and the position of row `row` of the tile, inside of a map.
  std::pair<mlir::Value, mlir::Value> locateRow(mlir::OpBuilder &inner,
                                                mlir::Location loc,
                                                mlir::Value row, bool clamp);
  /// The rows of the tile, and more of others where it has none, of a buffer
  /// whose dimensions have these letters, from getRow() on; and the numbers of
  /// its rows, of a buffer [batch, heads, queries].
  mlir::Value viewRows(mlir::ImplicitLocOpBuilder &at, llvm::StringRef order,
                       mlir::Value buffer, mlir::Value ofBatch);
  mlir::Value viewNumbers(mlir::ImplicitLocOpBuilder &at, mlir::Value buffer,
                          mlir::Value ofBatch);
  /// A buffer of results that counts parts of keys, if there are any: that of
  /// the tile. There, it lies at getOutputBatch().
  mlir::Value viewOutput(mlir::Value buffer);
  mlir::Value getOutputBatch() { return slot ? slot : getQueryBatch(); }
  /// Of equal shares, who have the tile's keys: `count` from `first` on. Known
  /// to the first one of them, which `isFirst`, and has all keys if `isWhole`.
  struct Sharers {
    mlir::Value first, count, isFirst, isWhole;
  };
  std::optional<Sharers> sharers;

  /// The number of the tile among all, of whose parts all have the same; not
  /// known of equal shares.
  mlir::Value tileNumber;
  mlir::Value batch, headQ, headKV, firstRow, seqQ, seqK, lastRow;
  /// Queries of the batch, and the keys that the tile has of it.
  mlir::Value lengthQ, lengthK;
  /// The place of the first of the keys; null where they are not packed.
  mlir::Value firstKey;
  /// Null where queries are not packed.
  PackedRows packed;
  /// What regions capture, and what they compute of the batch alone.
  mlir::IRMapping captures;

private:
  /// Of the batch and the tile.
  void findLengths();
  mlir::Value size(mlir::Value buffer, char dim);

  mlir::ImplicitLocOpBuilder &b;
  attn::AttentionOp op;
  schedule::AttentionAttr schedule;
  const KernelOperands &operands;
  const KernelSizes &sizes;
  TileCounts counts;
  mlir::Value total;
  /// Which part of the keys, where they are split.
  mlir::Value part;
  /// Where shares are equal: the share's number, that of the workgroup among
  /// those who go side by side, and where results of the tile's part lie.
  mlir::Value sharer, member, slot;
  /// The steps that are the workgroup's: those from one on and before another.
  mlir::Value firstStep, afterStep, shareLength;
};

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_TILEPLACE_H
