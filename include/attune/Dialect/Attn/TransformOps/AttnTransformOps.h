// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention for scripts of upstream's transform dialect.

#ifndef ATTUNE_DIALECT_ATTN_TRANSFORMOPS_ATTNTRANSFORMOPS_H
#define ATTUNE_DIALECT_ATTN_TRANSFORMOPS_ATTNTRANSFORMOPS_H

#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformTypes.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"

#define GET_OP_CLASSES
#include "attune/Dialect/Attn/TransformOps/AttnTransformOps.h.inc"

namespace attune::attn {

/// Adds the ops to the transform dialect.
void registerTransformExtension(mlir::DialectRegistry &registry);

} // namespace attune::attn

#endif // ATTUNE_DIALECT_ATTN_TRANSFORMOPS_ATTNTRANSFORMOPS_H
