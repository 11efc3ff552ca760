// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the body of a matmul kernel in terms of tiles.

#ifndef ATTUNE_LIB_CONVERSION_LINALGTOTILE_MATMULBODY_H
#define ATTUNE_LIB_CONVERSION_LINALGTOTILE_MATMULBODY_H

#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Matmul/ContractionGroup.h"

namespace attune {

/// A tensor of the host side as the kernel has it: its dimensions are those of
/// the space of the contraction, in the order of the buffer. A scalar has
/// neither.
struct MatmulOperand {
  mlir::Value buffer;
  llvm::SmallVector<matmul::Dim, 3> dims;

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
};

/// The tunables, and what a chip makes of them.
struct MatmulSchedule {
  int64_t blockM = 128, blockN = 128, blockK = 32;
  int64_t numWarps = 4, warpsN = 1, mmaWarps = 1, producerWarps = 0;
  int64_t stages = 3, group = 8, cluster = 1, minBlocksPerCore = 1;
  bool alongColumns = false, clusterAlongN = false, outputInShared = false;
  enum class Persistent { None, Static, Dynamic } persistent = Persistent::None;
  /// Registers of a thread of each role; 0 for those of the start.
  int64_t producerRegisters = 0, consumerRegisters = 0;
};

/// Emits, at the builder's insertion point inside a gpu.func, the tiles of a
/// workgroup.
void buildMatmulBody(mlir::OpBuilder &builder, mlir::Location loc,
                     const matmul::ContractionGroup &group,
                     const MatmulOperands &operands,
                     const MatmulSchedule &schedule);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_LINALGTOTILE_MATMULBODY_H
