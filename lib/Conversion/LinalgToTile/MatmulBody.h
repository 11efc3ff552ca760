// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the body of a matmul kernel in terms of tiles.

#ifndef ATTUNE_LIB_CONVERSION_LINALGTOTILE_MATMULBODY_H
#define ATTUNE_LIB_CONVERSION_LINALGTOTILE_MATMULBODY_H

#include "Raster.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Matmul/ContractionGroup.h"
#include "attune/Schedule/IR/Schedule.h"

namespace attune {

/// A tensor of the host side as the kernel has it: its dimensions are those of
/// the space of the contraction, in the order of the buffer. A scalar has
/// neither.
struct MatmulOperand {
  mlir::Value buffer;
  llvm::SmallVector<matmul::Dim, 3> dims;
  /// How it is read where that is by parts of dimensions: the buffer then has
  /// the dimensions of the tensor.
  const matmul::TensorAccess *byParts = nullptr;

  /// The place of a dimension in the buffer.
  std::optional<int64_t> find(matmul::Dim dim) const {
    const auto *it = llvm::find(dims, dim);
    return it == dims.end() ? std::nullopt
                            : std::optional<int64_t>(it - dims.begin());
  }
};

/// Kernel-side values that stand for what the group reads and writes.
struct MatmulOperands {
  /// Of all contractions.
  MatmulOperand lhs;
  /// One for each contraction.
  llvm::SmallVector<MatmulOperand, 2> rhs;
  /// One for each operand of the epilogue, and for each result.
  llvm::SmallVector<MatmulOperand, 4> epilogue, results;
  /// Where the sums are split: those of all splits but the last one, block
  /// beneath block, and a counter for each block of the result. Else null.
  mlir::Value partials, counters;
};

/// What follows from the schedule of a problem on a chip.
struct MatmulPlan {
  schedule::MatmulAttr schedule;
  /// Columns of each right operand that alternate with those of the others; 0
  /// where each is multiplied on its own.
  int64_t interleavedColumns = 0;
  Evictions evictions;
};

/// Emits, at the builder's insertion point inside a gpu.func, the tiles of a
/// workgroup.
void buildMatmulBody(mlir::OpBuilder &builder, mlir::Location loc,
                     const matmul::ContractionGroup &group,
                     const MatmulOperands &operands, const MatmulPlan &plan);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_LINALGTOTILE_MATMULBODY_H
