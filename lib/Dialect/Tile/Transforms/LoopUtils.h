// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What passes that take iterations out of a loop, or issue its MMAs, have in
// common.

#ifndef ATTUNE_LIB_DIALECT_TILE_TRANSFORMS_LOOPUTILS_H
#define ATTUNE_LIB_DIALECT_TILE_TRANSFORMS_LOOPUTILS_H

#include "attune/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace attune::tile {

/// The induction variable in the last iteration of a loop that has one.
mlir::Value getLastIteration(mlir::OpBuilder &builder, mlir::scf::ForOp loop);

/// Issues what `mma` computes, of these operands, without waiting for it.
MmaAsyncOp issueMma(mlir::OpBuilder &builder, MmaOp mma, mlir::Value lhs,
                    mlir::Value rhs, mlir::Value acc);

/// What these values, each that often, add up to, where sums and differences
/// leave nothing but constants.
std::optional<int64_t>
foldSum(llvm::ArrayRef<std::pair<mlir::Value, int64_t>> terms);

/// Replaces a loop by what `emit` makes of it, whose results it returns, for
/// when there is an iteration. Else by its initial values; `emitElse`, if there
/// is one, adds what happens then.
void replaceLoop(
    mlir::scf::ForOp loop,
    llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::OpBuilder &)> emit,
    llvm::function_ref<void(mlir::OpBuilder &)> emitElse = nullptr);

} // namespace attune::tile

#endif // ATTUNE_LIB_DIALECT_TILE_TRANSFORMS_LOOPUTILS_H
