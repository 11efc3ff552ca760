// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the contractions of linalg ops that can be tuned.

#ifndef ATTUNE_SCHEDULE_MATMUL_REGISTER_H
#define ATTUNE_SCHEDULE_MATMUL_REGISTER_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace attune {

void registerMatmulTunable(mlir::DialectRegistry &registry);

} // namespace attune

#endif // ATTUNE_SCHEDULE_MATMUL_REGISTER_H
