// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parsing, printing, type inference and verification of the attn ops.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace attune::attn;

#define GET_OP_CLASSES
#include "attune/Dialect/Attn/IR/AttnOps.cpp.inc"
