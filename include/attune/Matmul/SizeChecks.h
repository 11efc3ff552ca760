// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of sizes that are known when a matmul runs.

#ifndef ATTUNE_MATMUL_SIZECHECKS_H
#define ATTUNE_MATMUL_SIZECHECKS_H

#include "attune/Matmul/ContractionGroup.h"

namespace attune::matmul {

/// Asserts, at the builder, that tensors of the group agree about sizes that
/// are known at run time only: of k in both operands, of m, n and batch in what
/// the epilogue reads and in results. What is one `tensor.dim` needs no check.
/// Messages name tensors as manifests do (lhs, rhs, operand, result), in the
/// order in which the condition compares their sizes.
void emitSizeChecks(mlir::OpBuilder &builder, const ContractionGroup &group);

} // namespace attune::matmul

#endif // ATTUNE_MATMUL_SIZECHECKS_H
