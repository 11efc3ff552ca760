// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moving scalar ops of regions, and captured values, from tensors to the
// buffers that a kernel sees.

#ifndef ATTUNE_CONVERSION_REGIONCLONE_H
#define ATTUNE_CONVERSION_REGIONCLONE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace attune {

/// Clones one op; where `mapping` gives a buffer for a tensor, reads of the
/// tensor become reads of the buffer. Records the results in `mapping`.
void cloneOntoBuffers(mlir::OpBuilder &builder, mlir::Operation &op,
                      mlir::IRMapping &mapping);

/// Clones the ops of a one-block region without its terminator and returns the
/// value that the terminator yields.
mlir::Value inlineOntoBuffers(mlir::OpBuilder &builder, mlir::Region &region,
                              mlir::IRMapping mapping);

/// Clones, at the builder, what a region computes of one of its arguments,
/// which is `value`, and of what is around it. `mapping` gets the results;
/// inlineOntoBuffers() takes what it has instead of cloning the ops again.
void cloneOfArgument(mlir::OpBuilder &builder, mlir::BlockArgument argument,
                     mlir::Value value, mlir::IRMapping &mapping);

} // namespace attune

#endif // ATTUNE_CONVERSION_REGIONCLONE_H
