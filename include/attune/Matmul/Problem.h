// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a search asks of a group of contractions: how large it is, how much work
// it is, and the same with other sizes.

#ifndef ATTUNE_MATMUL_PROBLEM_H
#define ATTUNE_MATMUL_PROBLEM_H

#include "attune/Matmul/ContractionGroup.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <array>

namespace attune::matmul {

/// One size for each dimension, dynamic where it is not known.
struct Sizes {
  std::array<int64_t, kNumDims> sizes;

  int64_t &operator[](Dim dim) { return sizes[static_cast<unsigned>(dim)]; }
  int64_t operator[](Dim dim) const {
    return sizes[static_cast<unsigned>(dim)];
  }
};
Sizes getSizes(const ContractionGroup &group);

/// Floating-point operations of the contractions, 2 for each product, and bytes
/// of tensors that are read or written at least once. Nothing where a size is
/// not known.
std::optional<double> countFlops(const ContractionGroup &group,
                                 const Sizes &sizes);
std::optional<double> countBytes(const ContractionGroup &group,
                                 const Sizes &sizes);

/// The isolated group with other sizes: to bind what is dynamic, or for a
/// smaller problem of the same kind. A dynamic entry of `sizes` leaves its
/// dimension as it is. Of a dimension made of several loops, or that columns
/// are split into, the outermost changes. Fails, with the reason in `why`,
/// where an inner one does not divide the new size.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
resize(const ContractionGroup &group, const Sizes &sizes, std::string &why);

/// The same for a function that isolate() made, in place; leaves it as it is
/// where that fails.
mlir::LogicalResult resize(mlir::func::FuncOp isolated, const Sizes &sizes,
                           std::string &why);

} // namespace attune::matmul

#endif // ATTUNE_MATMUL_PROBLEM_H
