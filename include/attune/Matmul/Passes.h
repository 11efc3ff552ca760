// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes on matmuls.

#ifndef ATTUNE_MATMUL_PASSES_H
#define ATTUNE_MATMUL_PASSES_H

#include "attune/Matmul/Reference.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

namespace attune::matmul {

#define GEN_PASS_DECL
#include "attune/Matmul/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "attune/Matmul/Passes.h.inc"

} // namespace attune::matmul

#endif // ATTUNE_MATMUL_PASSES_H
