// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the kernels of attn.attention_grad that go through the rows of queries
// before and behind those that multiply, and what all of them do with rows.

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_GRADIENTROWS_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_GRADIENTROWS_H

#include "KernelBody.h"
#include "OnlineSoftmax.h"
#include "attune/Schedule/AttentionGrad/Legality.h"

namespace attune {

/// Kernel-side values that stand for the operands and results of an
/// attn.attention_grad op.
struct GradientOperands : KernelInputs {
  mlir::Value outputGrad;
  /// For each query, of the shape of lse but for a length that is a multiple of
  /// kRowBlock, with 0 behind the last query: what makes weights of its scores,
  /// in powers of two (-lse * log2(e), or 0 where it sees nothing), and the sum
  /// of its row of output times output gradient.
  mlir::Value shifts, deltas;
  /// What the kernel that owns keys adds the gradients of queries to, in f32
  /// and without their scale, of padded head size in kQuerySumsOrder; null in
  /// the split form. The first query is behind so many rows that no query has,
  /// to which boxes that end with a batch, and begin before it, add.
  mlir::Value querySums;
  /// How far the turns are of those who add there, of each block of queries of
  /// each head of each batch; null where they add in no order.
  mlir::Value turns;
  /// How many workgroups of each head of keys of each batch have added all they
  /// have; null where a kernel behind them rounds.
  mlir::Value counters;
  int64_t rowsBefore = 0;
  /// The layout in which blocks of kRowBlock rows of these sums lie by threads;
  /// null where they lie by rows.
  tile::LayoutAttr sumsLayout;
  /// The row there of a query.
  mlir::Value findSums(mlir::ImplicitLocOpBuilder &b, mlir::Value query) const;
  /// Where there are such rows, shifts and deltas are there four times, of
  /// which copy c of a batch begins with c zeros: from one of them the copy
  /// engine, which wants multiples of 16 bytes, reads from any query on.
  static int64_t countCopies(int64_t rowsBefore) { return rowsBefore ? 4 : 1; }
  /// The copy, in the place of the batch, and where the query is in it. Without
  /// a query the first copy, in which it is at its own place.
  std::pair<mlir::Value, mlir::Value> findNumbers(mlir::ImplicitLocOpBuilder &b,
                                                  mlir::Value batch,
                                                  mlir::Value query = {}) const;
  /// Null where they are not wanted, or another kernel's.
  mlir::Value queryGrad, keyGrad, valueGrad;
  /// Of tensors that scores read and `wrt` names, with what a kernel adds to or
  /// writes, in f32: 0 before where it adds, of any rank. Empty elsewhere.
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>, 1> tensorGrads;
  /// What the gradient of `sinks` is added to, 0 before; null where it is not
  /// wanted, as `sinks` then is.
  mlir::Value sinksGrad;
};

constexpr llvm::StringLiteral kQuerySumsOrder = "bhsd";
/// Rows of a tile of kernels that multiply nothing. Copy engines want rows of
/// numbers that are multiples of 16 bytes.
constexpr int64_t kRowBlock = kRowsByThreads;

/// The numbers of the queries of a head, of a buffer [batch, heads, length], or
/// without one those of all heads as rows.
mlir::Value viewNumbers(mlir::ImplicitLocOpBuilder &b, mlir::Value buffer,
                        mlir::Value batch, mlir::Value head);
/// A tile from memory, through a ring of `stages` slots if there are any.
tile::LoadOp createLoad(TileBuilder &b, tile::TileType type, mlir::Value buffer,
                        mlir::ValueRange place, int64_t stages = 0);
/// Of a number for each query.
mlir::Value loadNumbers(TileBuilder &b, int64_t rows, mlir::Value buffer,
                        mlir::Value first);
/// A tile of f32 times `factor`, as `element`.
mlir::Value scaleToOperand(TileBuilder &b, mlir::Value tile, mlir::Type element,
                           double factor);

/// Emits the kernel that sums, for one tile of rows of one query head, the
/// products of output and output gradient, less the gradient of lse, which may
/// be null, makes shifts of lse, and clears the sums of queries if there are
/// any. `rows` are those of a tile, `headDim` and `queryDim` the padded columns
/// of output and query.
void buildDeltaBody(mlir::OpBuilder &builder, attn::AttentionGradOp op,
                    mlir::Value output, mlir::Value lse, mlir::Value lseGrad,
                    const GradientOperands &operands, int64_t rows,
                    int64_t headDim, int64_t queryDim);

/// Columns of a buffer of sums that a workgroup clears.
constexpr int64_t kClearBlock = 1024;

/// Emits the kernel that makes kClearBlock columns of one row of sums 0: of a
/// row-major buffer of f32 of any rank, whose last dimension is that of rows.
void buildClearBody(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value sums);

/// Makes gradients of `rows` queries of their sums, of which a head has those
/// from these rows on. A layout says that they lie by threads.
void buildQueryRounding(TileBuilder &b, attn::AttentionGradOp op,
                        mlir::Value sums, mlir::Value firstSum,
                        mlir::Value grads, mlir::Value firstGrad, int64_t rows,
                        int64_t headDim, tile::LayoutAttr layout);

/// Emits the kernel that makes the gradients of one tile of queries of one head
/// of their sums.
void buildQueryGradBody(mlir::OpBuilder &builder, attn::AttentionGradOp op,
                        const GradientOperands &operands, int64_t rows,
                        int64_t headDim);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_GRADIENTROWS_H
