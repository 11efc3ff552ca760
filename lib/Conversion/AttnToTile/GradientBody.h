// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the bodies of the kernels of attn.attention_grad in terms of tiles.

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_GRADIENTBODY_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_GRADIENTBODY_H

#include "KernelBody.h"
#include "attune/Schedule/AttentionGrad/Legality.h"

namespace attune {

/// Kernel-side values that stand for the operands and results of an
/// attn.attention_grad op.
struct GradientOperands : KernelInputs {
  mlir::Value outputGrad, lse;
  /// The sums of rows, of the shape of lse.
  mlir::Value deltas;
  /// Null where they are not wanted, or another kernel's.
  mlir::Value queryGrad, keyGrad, valueGrad;
};

/// Emits the kernel that sums, for one tile of rows of one query head, the
/// products of output and output gradient, less the gradient of lse, which may
/// be null. `rows` are those of a tile, `headDim` its padded columns.
void buildDeltaBody(mlir::OpBuilder &builder, attn::AttentionGradOp op,
                    mlir::Value output, mlir::Value lseGrad,
                    const GradientOperands &operands, int64_t rows,
                    int64_t headDim);

/// Emits the gradients of one tile of keys, or of queries, of one head. Expects
/// an op whose short forms were expanded.
void buildGradientBody(mlir::OpBuilder &builder, attn::AttentionGradOp op,
                       const GradientOperands &operands,
                       const GradientKernel &kernel,
                       const PaddedHeadDims &padded);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_GRADIENTBODY_H
