// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers of 8 bits, or two integers of 4 in a byte, from shared memory to the
// operands of mma.sync.

#ifndef ATTUNE_LIB_TARGET_NVIDIA_COMMON_BYTEMATRICES_H
#define ATTUNE_LIB_TARGET_NVIDIA_COMMON_BYTEMATRICES_H

#include "attune/Target/TargetModel.h"

namespace attune::nvidia {

/// Reads a right operand of 8 bits by ldmatrix, whether it lies by
/// rows or by columns; null where that cannot.
mlir::Value readByteMatrices(mlir::OpBuilder &builder, mlir::Location loc,
                             const SharedRead &read);

} // namespace attune::nvidia

#endif // ATTUNE_LIB_TARGET_NVIDIA_COMMON_BYTEMATRICES_H
