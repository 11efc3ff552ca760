// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of the attn dialect.

#ifndef ATTUNE_DIALECT_ATTN_TRANSFORMS_PASSES_H
#define ATTUNE_DIALECT_ATTN_TRANSFORMS_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

namespace attune::attn {

/// The type that convert-attn-to-loops computes or returns.
enum class ReferencePrecision { F32, Operand };

#define GEN_PASS_DECL
#include "attune/Dialect/Attn/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "attune/Dialect/Attn/Transforms/Passes.h.inc"

} // namespace attune::attn

#endif // ATTUNE_DIALECT_ATTN_TRANSFORMS_PASSES_H
