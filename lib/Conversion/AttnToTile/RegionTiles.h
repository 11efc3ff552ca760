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
  /// Of these reads of the op's regions (findRegionTiles()).
  RegionTiles(attn::AttentionOp op,
              llvm::ArrayRef<mlir::tensor::ExtractOp> reads)
      : op(op), reads(reads) {}

  /// Emits what all blocks of a head have in common. `captures` maps tensors to
  /// buffers.
  void enterTile(mlir::ImplicitLocOpBuilder &b, mlir::IRMapping captures,
                 mlir::Value batch, mlir::Value head);
  /// Emits the loads of a block of so many queries and keys, from these on.
  void load(mlir::ImplicitLocOpBuilder &b, int64_t queries, int64_t keys,
            mlir::Value query, mlir::Value key);
  /// The tiles of the last block that a region reads.
  llvm::SmallVector<mlir::Value> get(mlir::Region &region) const;
  /// Maps what the region reads to elements of these.
  void map(mlir::Region &region, mlir::IRMapping &mapping,
           mlir::ValueRange elements) const;

private:
  mutable attn::AttentionOp op;
  llvm::ArrayRef<mlir::tensor::ExtractOp> reads;
  /// Of each, [queries, keys].
  llvm::SmallVector<mlir::Value, 1> views, tiles;
};

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_REGIONTILES_H
