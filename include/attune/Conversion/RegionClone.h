// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moving scalar ops of regions, and captured values, from tensors to the
// buffers that a kernel sees.

#ifndef ATTUNE_CONVERSION_REGIONCLONE_H
#define ATTUNE_CONVERSION_REGIONCLONE_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace attune {

/// Whether what a region computes may be asked of positions that do not exist,
/// of which nothing is used: what it reads there is something else of the same
/// buffer.
enum class Positions { Exist, MayBeBeyond };

/// Where a buffer that `mapping` gives for a tensor is read for an element.
llvm::SmallVector<mlir::Value> placeOnBuffer(mlir::OpBuilder &builder,
                                             mlir::tensor::ExtractOp extract,
                                             const mlir::IRMapping &mapping,
                                             Positions positions);

/// Clones one op; where `mapping` gives a buffer for a tensor, reads of the
/// tensor become reads of the buffer. Records the results in `mapping`.
void cloneOntoBuffers(mlir::OpBuilder &builder, mlir::Operation &op,
                      mlir::IRMapping &mapping,
                      Positions positions = Positions::Exist);

/// Clones the ops of a one-block region without its terminator and returns the
/// value that the terminator yields.
mlir::Value inlineOntoBuffers(mlir::OpBuilder &builder, mlir::Region &region,
                              mlir::IRMapping mapping,
                              Positions positions = Positions::Exist);

/// Clones, at the builder, what a region computes of one of its arguments,
/// which is `value`, and of what is around it. `mapping` gets the results;
/// inlineOntoBuffers() takes what it has instead of cloning the ops again.
void cloneOfArgument(mlir::OpBuilder &builder, mlir::BlockArgument argument,
                     mlir::Value value, mlir::IRMapping &mapping);

} // namespace attune

#endif // ATTUNE_CONVERSION_REGIONCLONE_H
