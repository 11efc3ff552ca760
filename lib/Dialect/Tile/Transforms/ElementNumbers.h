// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which element of a channel an iteration puts and gets.

#ifndef ATTUNE_LIB_DIALECT_TILE_TRANSFORMS_ELEMENTNUMBERS_H
#define ATTUNE_LIB_DIALECT_TILE_TRANSFORMS_ELEMENTNUMBERS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace attune::tile {

class ElementNumbers {
public:
  /// The number of the element that an iteration of `loop`, null where there is
  /// none, puts: elements count from 0, over all iterations of a loop around
  /// it. May make another loop of one, whose block is another.
  mlir::Value get(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::scf::ForOp loop);
  /// Lets `loop` carry one more value, from `initial` on; returns that of the
  /// iteration before. `getNext` gives that of an iteration.
  mlir::Value addCarried(
      mlir::scf::ForOp &loop, mlir::Value initial,
      llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Value)> getNext);
  void clear() { counters.clear(); }

private:
  mlir::Value
  addCounter(mlir::scf::ForOp &loop,
             llvm::function_ref<mlir::Value(mlir::OpBuilder &)> increment);

  /// Counts of iterations, by the body of the loop that they are of.
  llvm::DenseMap<mlir::Block *, mlir::Value> counters;
};

} // namespace attune::tile

#endif // ATTUNE_LIB_DIALECT_TILE_TRANSFORMS_ELEMENTNUMBERS_H
