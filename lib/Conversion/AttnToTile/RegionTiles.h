// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel loads of tensors that its regions read: with each block of
// scores a tile of each.

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_REGIONTILES_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_REGIONTILES_H

#include "attune/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attune {

class RegionTiles {
public:
  /// Of these reads of the op's regions (findRegionTiles()), through rings of
  /// `stages` slots. Where rows of scores are keys, so are those of tiles.
  RegionTiles(attn::AttentionOpInterface op,
              llvm::ArrayRef<mlir::tensor::ExtractOp> reads, int64_t stages,
              bool rowsAreKeys = false)
      : op(op), reads(reads), stages(stages), rowsAreKeys(rowsAreKeys) {}

  /// Emits what all blocks of a head have in common. `captures` maps tensors to
  /// buffers.
  void enterTile(mlir::ImplicitLocOpBuilder &b, mlir::IRMapping captures,
                 mlir::Value batch, mlir::Value head);
  /// Of the head that enterTile() was given last, the part of a buffer of the
  /// shape of the tensor that one of these reads is of.
  mlir::Value view(mlir::ImplicitLocOpBuilder &b, mlir::tensor::ExtractOp read,
                   mlir::Value buffer);
  /// Emits the loads of a block of so many rows and columns of scores, from
  /// these on.
  void load(mlir::ImplicitLocOpBuilder &b, int64_t rows, int64_t columns,
            mlir::Value row, mlir::Value column);
  /// The tiles of the last block that a region reads.
  llvm::SmallVector<mlir::Value> get(mlir::Region &region) const;
  /// Maps what the region reads to elements of these.
  void map(mlir::Region &region, mlir::IRMapping &mapping,
           mlir::ValueRange elements) const;

private:
  mutable attn::AttentionOpInterface op;
  llvm::ArrayRef<mlir::tensor::ExtractOp> reads;
  int64_t stages;
  bool rowsAreKeys;
  /// What regions know of the head.
  mlir::IRMapping ofHead;
  /// Of each, [queries, keys], or [keys, queries].
  llvm::SmallVector<mlir::Value, 1> views, tiles;
};

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_REGIONTILES_H
