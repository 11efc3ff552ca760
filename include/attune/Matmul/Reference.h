// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a matmul has to give, and how far from that it may be.

#ifndef ATTUNE_MATMUL_REFERENCE_H
#define ATTUNE_MATMUL_REFERENCE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attune::matmul {

/// What is made of each result of a function.
enum class ReferenceOutput {
  /// Its values before their last rounding.
  Values,
  /// How far from them each may be.
  Bounds
};

/// Makes plain loops of a function of one group, as isolate() gives it, or of
/// one that returns reshapes of the group's results, which become tensors of
/// f32.
///
/// Sums are in f64, of exact products. With S the sum of their absolute values,
/// a kernel's sum may be off by
///
///   d = (K / 16 + 18) * 2^-23 * S
///
/// because the additions inside of a matrix instruction truncate. The bound is
/// how far the epilogue moves where each sum moves by d, up and down; 4 units
/// in the last place of f32 where the epilogue computes functions or quotients,
/// which chips approximate, and all of a quotient by more than 2^126; and half
/// a unit in the last place of the result's type.
///
/// Of integers whose sums f32 has, additions in any order give the same: d is 0
/// for them, and where the epilogue is exact and reads integers the values are
/// rounded to the result's type and their bound is 0.
///
/// One scf.parallel over m, batch and n: attune/Execution runs it on the CPU or
/// as a kernel, one thread an element.
mlir::LogicalResult lowerToReference(mlir::func::FuncOp function,
                                     ReferenceOutput output);

} // namespace attune::matmul

#endif // ATTUNE_MATMUL_REFERENCE_H
