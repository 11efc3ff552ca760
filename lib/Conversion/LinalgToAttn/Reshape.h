// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Brings tensors into other shapes and orders.

#ifndef ATTUNE_LIB_CONVERSION_LINALGTOATTN_RESHAPE_H
#define ATTUNE_LIB_CONVERSION_LINALGTOATTN_RESHAPE_H

#include "Layout.h"

namespace attune::raising {

/// `tensor`, whose dimensions are made of the digits `from`, with dimensions
/// made of `to`: the same digits, split and joined by reshapes, and by a
/// linalg.transpose in another order where that differs.
mlir::Value rearrange(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value tensor, const TensorDigits &from,
                      const TensorDigits &to);

} // namespace attune::raising

#endif // ATTUNE_LIB_CONVERSION_LINALGTOATTN_RESHAPE_H
