// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Addresses in shared memory, and the 32-bit values that instructions take.

#ifndef ATTUNE_LIB_TARGET_NVIDIA_COMMON_SHAREDPOINTER_H
#define ATTUNE_LIB_TARGET_NVIDIA_COMMON_SHAREDPOINTER_H

#include "mlir/IR/Builders.h"

namespace attune::nvidia {

inline constexpr unsigned kSharedSpace = 3, kSharedClusterSpace = 7;

mlir::Value constantI32(mlir::OpBuilder &builder, mlir::Location loc,
                        int64_t value);
mlir::Value toI32(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Value index);

/// The address, an index, of the element at `offset` (null for 0) of the first
/// one of a buffer in workgroup memory; and a pointer to it.
mlir::Value sharedAddress(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value buffer, mlir::Value offset);
mlir::Value sharedPointer(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value buffer, mlir::Value offset);

} // namespace attune::nvidia

#endif // ATTUNE_LIB_TARGET_NVIDIA_COMMON_SHAREDPOINTER_H
