// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Derivatives of score regions.

#ifndef ATTUNE_DIALECT_ATTN_IR_SCOREGRADIENT_H
#define ATTUNE_DIALECT_ATTN_IR_SCOREGRADIENT_H

#include "attune/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace attune::attn {

/// The first op of a score region that stands between its score, or what it
/// reads of one of the tensors `wrt`, and what it yields, and whose derivative
/// is not known; null if there is none.
mlir::Operation *findWithoutDerivative(mlir::Region &score,
                                       mlir::ValueRange wrt);

/// What a change of the score, or of an element that is read, changes of a
/// number: f32, and the type of what is read.
struct ScoreGradient {
  /// Null where the yielded value does not depend on the score.
  mlir::Value score;
  /// For each read of a tensor that is wanted and that the yielded value
  /// depends on.
  llvm::SmallVector<std::pair<mlir::tensor::ExtractOp, mlir::Value>> reads;
};

/// Emits the derivatives of a score region in reverse mode: `seed`, f32, is the
/// gradient of the number with respect to what the region yields. `forward`
/// maps the region's values, and what it captures, to what they are at the
/// builder, where the region's ops have been cloned. Expects a region in which
/// findWithoutDerivative() finds none.
ScoreGradient differentiateScore(mlir::OpBuilder &builder, mlir::Region &score,
                                 const mlir::IRMapping &forward,
                                 mlir::Value seed, mlir::ValueRange wrt);

} // namespace attune::attn

#endif // ATTUNE_DIALECT_ATTN_IR_SCOREGRADIENT_H
