// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which linalg ops are matmuls: sums of products of two tensors in 16 bits,
// accumulated in f32, whatever op of linalg says so.

#ifndef ATTUNE_MATMUL_CONTRACTION_H
#define ATTUNE_MATMUL_CONTRACTION_H

#include "attune/Matmul/Access.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Operation.h"
#include <string>

namespace attune::matmul {

/// result[batch, m, n] = sum over k of lhs[batch, m, k] * rhs[batch, k, n],
/// each in the order that its access says. What makes an operand and is done
/// elsewhere as well belongs to the contraction: transpositions and broadcasts
/// are accesses, a cast that widens is what the MMA does anyway, and a
/// factor that does not depend on k is applied to the sum.
struct Contraction {
  mlir::linalg::LinalgOp op;
  Space space;
  /// An operand need not have a batch: all of the batch then share it.
  TensorAccess lhs, rhs;
  TensorAccess result;
  Coordinates resultCoordinates;
  /// What the sum is added to; none if that is 0. A scalar if all elements
  /// begin with the same.
  std::optional<TensorAccess> init;
  /// Factors of the sum.
  llvm::SmallVector<TensorAccess, 2> scales;
  /// The ops of which nothing is left: those that make operands, and the fill.
  llvm::SmallVector<mlir::Operation *> producers;

  mlir::Type getOperandType() const { return lhs.getElementType(); }
  bool isBatched() const { return !space[Dim::Batch].empty(); }
  int64_t getSize(Dim dim) const { return space.getSize(dim); }
  /// Whether k, or for the right operand n, is the outer of the two dimensions.
  bool isLhsTransposed() const;
  bool isRhsTransposed() const;
  bool isResultTransposed() const;
};

/// Why an op is no contraction that can be compiled.
struct Mismatch {
  /// "expects ..., but got ...".
  std::string reason;
  /// Whether it is a matmul nevertheless, of types that no MMA takes.
  bool isRefusal = false;
  /// Whether it would be one if it added in f32.
  bool isNarrow = false;
};

/// The contraction that `op` is. `why` gets the reason of a failure.
mlir::FailureOr<Contraction> matchContraction(mlir::Operation *op,
                                              Mismatch *why = nullptr);

/// Warns of each op in `root` that is a matmul of types that no MMA takes, and
/// so is left to others.
void warnOfContractionTypes(mlir::Operation *root);

/// An op of which nothing is left where its result is read: it moves, repeats
/// or casts elements of one input, or is a fill.
struct Forward {
  mlir::linalg::LinalgOp op;
  mlir::OpOperand *input;
  /// extf or truncf; null if elements stay as they are.
  mlir::Operation *cast;
};
std::optional<Forward> matchForward(mlir::Value value);

/// Where the dimensions of an operand of `op` are, if its loops are at `loops`.
/// Nothing where one is indexed by another expression than a loop, or 0 of 1.
std::optional<Coordinates>
getOperandCoordinates(mlir::linalg::LinalgOp op, mlir::OpOperand &operand,
                      llvm::ArrayRef<Coordinate> loops);

/// Where the input of `op` that belongs to `input` is, if its result is at
/// `coordinates`. Nothing where getOperandCoordinates() finds nothing.
std::optional<Coordinates>
getInputCoordinates(mlir::linalg::LinalgOp op, mlir::OpOperand &input,
                    llvm::ArrayRef<Coordinate> coordinates);

} // namespace attune::matmul

#endif // ATTUNE_MATMUL_CONTRACTION_H
