// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the body of an attention kernel in terms of tiles.

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_KERNELBODY_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_KERNELBODY_H

#include "TileOrder.h"
#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Dialect/Attn/IR/Dropout.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Schedule/Attention/Legality.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attune {

/// Kernel-side values that stand for the operands of an attention op.
struct KernelInputs {
  mlir::Value query, key, value;
  /// Null where the op has none.
  mlir::Value dropout, sinks, queryLengths, keyLengths, queryStarts, keyStarts,
      pages, queryScales, keyScales, valueScales, keyZeros, valueZeros;
  /// Null where other kernels make the result of parts, too.
  mlir::Value resultScales;
  /// Lists of blocks, of so many queries and keys, that tiles of queries, or of
  /// keys where the kernel owns these, visit; null where there are none.
  mlir::Value blockCounts, blockIndices, fullBlockCounts, fullBlockIndices;
  int64_t listedQueries = 0, listedKeys = 0;
  /// Maps what the regions capture: tensors to buffers, scalars to scalars.
  mlir::IRMapping captures;
};

/// And those for its results. Where keys are split, both are those of all
/// parts, [parts, batch, heads, queries], or [slots, heads, queries] of equal
/// shares (StepShare), with the head size behind it for the output, in f32
/// (MergeKernel). Of these the first one of a tile's has sinks, of others none.
struct KernelOperands : KernelInputs {
  mlir::Value output;
  /// Null where the op has none.
  mlir::Value lse;
  /// Where the last workgroup of a tile merges its parts: how many have come to
  /// each tile (TilePlace), the results of the op, and its sinks and scales of
  /// the result or null. Of equal shares, the same for tiles that have one part
  /// alone, without counters and sinks.
  struct Merged {
    mlir::Value counters, output, lse, sinks, resultScales;
  } merged;
  /// Of equal shares, the first sharer of the keys of each row, and how many
  /// there are: [2, batch, heads, queries].
  mlir::Value sharers;
};

/// Tile sizes after padding to the chip's matrix instruction.
struct KernelSizes {
  int64_t blockM, blockN, headDimQK, headDimV;
  /// AttentionProblem::getMultipliedType().
  mlir::Type multipliedType;
  /// In which units packed keys and values are multiplied (tile.mma); none
  /// where they are as they are.
  llvm::ArrayRef<int64_t> keyUnits, valueUnits;
  /// Columns that an MMA has at least.
  int64_t countColumns;
  /// hasRestagingRole().
  bool restages;
  /// Lanes that share a row of the accumulator, each with a sum of its own.
  int64_t partialSums;
  /// What keys and values may take.
  DeviceCache cache;
  /// Query heads that the rows of a tile belong to, and how many queries of
  /// each lie between its first one and that of the next tile (HeadPacking).
  int64_t heads, queries;
  /// Whether these rows are of two dimensions, heads by queries, or where
  /// `queriesFirst` queries by heads (HeadPacking::flattens()).
  bool flattens, queriesFirst;
  /// Where all steps are in equal shares (StepShare): tiles of a batch that go
  /// side by side, how often that is until all of the batch's did, and shares.
  /// 0 elsewhere.
  int64_t members, rounds, sharers;
  /// Lanes of a warp.
  int64_t lanes;
  /// getOutputParts(): of several, roles of their own compute some each.
  ColumnParts outputParts;
  /// getKeyParts().
  ColumnParts keyParts;
  /// Whether all that a raised maximum changes is computed in a branch, and
  /// nothing where none is raised.
  bool raisesApart;
  /// Reads of the regions that are loaded by tiles (loadsRegionTile()).
  llvm::SmallVector<mlir::tensor::ExtractOp, 1> regionTiles;
  /// Whether batches read the same ones, and go side by side for that.
  bool batchesFirst;
};

/// Finds the head and the query of a row of the tile, inside of a map; with
/// `clamp` those of a head, or of a query, that is there.
using LocateRow = llvm::function_ref<std::pair<mlir::Value, mlir::Value>(
    mlir::OpBuilder &inner, mlir::Location loc, mlir::Value row, bool clamp)>;

/// Makes what dropout draws from, and lengths and starts of batches, arguments
/// of a kernel: `add` does so with an operand of the op and its name.
void addDropoutAndLengths(
    attn::AttentionOpInterface op, KernelInputs &inputs,
    llvm::function_ref<mlir::Value(mlir::Value, llvm::StringRef)> add);

/// Reads what dropout draws from; none without dropout.
std::optional<attn::Dropout> readDropout(mlir::ImplicitLocOpBuilder &b,
                                         attn::AttentionOpInterface op,
                                         const KernelInputs &inputs);

/// Whether a weight is kept, in a tile.map: of a batch, query head, query and
/// key, all indices, and of so many heads.
mlir::Value drawIsKept(mlir::OpBuilder &inner, mlir::Location loc,
                       const attn::Dropout &dropout, mlir::Value batch,
                       mlir::Value head, mlir::Value heads, mlir::Value query,
                       mlir::Value key);

/// Emits, at the builder's insertion point inside a gpu.func, the computation
/// of one query tile of one head: online softmax over the visible key blocks.
/// Expects an op whose short forms were expanded.
void buildKernelBody(mlir::OpBuilder &builder, attn::AttentionOp op,
                     const KernelOperands &operands, const KernelSizes &sizes);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_KERNELBODY_H
