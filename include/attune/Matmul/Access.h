// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How tensors are read in the space (batch, m, n, k) of a contraction, after
// dimensions that always go together have become one.

#ifndef ATTUNE_MATMUL_ACCESS_H
#define ATTUNE_MATMUL_ACCESS_H

#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include <array>

namespace attune::matmul {

/// The dimensions of a contraction, in the order in which affine expressions
/// number them.
enum class Dim : unsigned { Batch, M, N, K };
constexpr unsigned kNumDims = 4;
/// `m`, as messages have it.
llvm::StringRef toString(Dim dim);

/// The sizes of the loops that make up each dimension, outermost first; none
/// where there is no batch.
struct Space {
  std::array<llvm::SmallVector<int64_t, 2>, kNumDims> loops;

  llvm::ArrayRef<int64_t> operator[](Dim dim) const {
    return loops[static_cast<unsigned>(dim)];
  }
  llvm::SmallVector<int64_t, 2> &operator[](Dim dim) {
    return loops[static_cast<unsigned>(dim)];
  }
  /// Of all loops together: 1 if there are none, dynamic if one is.
  int64_t getSize(Dim dim) const;
};

/// Where a dimension of a tensor is in the space: at
///
///   (loop floordiv stride) mod size
///
/// of one loop of one dimension, or at 0 everywhere.
struct Coordinate {
  Dim dim = Dim::Batch;
  unsigned loop = 0;
  int64_t stride = 1, size = 1;
  bool isZero = false;

  static Coordinate zero() { return {Dim::Batch, 0, 1, 1, true}; }
  /// Whether both run along the same, though one may not know its size.
  bool matches(const Coordinate &other) const;
};
using Coordinates = llvm::SmallVector<Coordinate, 4>;

/// Neighbouring dimensions of a tensor that are read as one, with the affine
/// expression of (batch, m, n, k) that says where.
struct Run {
  unsigned first, count;
  mlir::AffineExpr index;

  /// The dimension that is read as it is, if that is so.
  std::optional<Dim> getDim() const;
  bool operator==(const Run &other) const {
    return first == other.first && count == other.count && index == other.index;
  }
};

/// A tensor in the space of a contraction. Dimensions of size 1 that are read
/// at 0 alone belong to no run. A scalar has no runs.
struct TensorAccess {
  mlir::Value tensor;
  llvm::SmallVector<Run, 4> runs;

  mlir::Type getElementType() const;
  /// Whether the element depends on this dimension.
  bool reads(Dim dim) const;
  /// The number of the run that is `dim` as a whole.
  std::optional<unsigned> findRun(Dim dim) const;
  /// Whether every run is a dimension as a whole: a matrix, a vector or a
  /// scalar.
  bool isPlain() const;
  /// One size for each run, dynamic if it is not known.
  llvm::SmallVector<int64_t, 4> getRunSizes() const;
  /// (batch, m, n, k) -> runs.
  mlir::AffineMap getMap(mlir::MLIRContext *context) const;
  /// The index of each dimension of the tensor where the space is at `indices`
  /// (batch, m, n and, if runs depend on it, k). `getSize` makes the sizes of
  /// dimensions.
  llvm::SmallVector<mlir::Value>
  getIndices(mlir::OpBuilder &builder, mlir::Location loc,
             mlir::ValueRange indices,
             llvm::function_ref<mlir::Value(unsigned)> getSize) const;
  bool operator==(const TensorAccess &other) const {
    return tensor == other.tensor && runs == other.runs;
  }
};

/// The access to a tensor whose dimensions are at `coordinates`; nothing where
/// an index would need a size that is not known.
std::optional<TensorAccess> makeAccess(mlir::Value tensor, const Space &space,
                                       llvm::ArrayRef<Coordinate> coordinates);

/// The coordinates of a tensor of type `result` made by expand_shape from one
/// at `source`, and those of a collapse_shape. Nothing where a size that is
/// not known is needed, or where what becomes one is none in the space.
std::optional<Coordinates>
expandCoordinates(llvm::ArrayRef<Coordinate> source,
                  mlir::RankedTensorType result,
                  llvm::ArrayRef<mlir::ReassociationIndices> reassociation);
std::optional<Coordinates>
collapseCoordinates(llvm::ArrayRef<Coordinate> source,
                    llvm::ArrayRef<mlir::ReassociationIndices> reassociation);

/// The value of an expression made by makeAccess() from index values.
mlir::Value emitIndex(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::AffineExpr index, mlir::ValueRange indices);

} // namespace attune::matmul

#endif // ATTUNE_MATMUL_ACCESS_H
