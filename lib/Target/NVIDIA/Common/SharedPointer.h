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

/// The word, which is the same in all lanes of a warp, all of which ask, in a
/// register of the warp: redux.sync, PTX ISA 9.7.13.7, whose result the
/// assembler takes for what it is, where that of a shuffle is moved there each
/// time that it is wanted. No compiler moves it out of a loop.
mlir::Value reduceToUniform(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value word);

/// The address, an index, of the element at `offset` (null for 0) of the first
/// one of a buffer in workgroup memory; and a pointer to it.
mlir::Value sharedAddress(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value buffer, mlir::Value offset);
mlir::Value sharedPointer(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value buffer, mlir::Value offset);

} // namespace attune::nvidia

#endif // ATTUNE_LIB_TARGET_NVIDIA_COMMON_SHAREDPOINTER_H
