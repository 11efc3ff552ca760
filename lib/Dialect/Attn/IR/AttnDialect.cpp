// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration of the attn dialect.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attune::attn;

#include "attune/Dialect/Attn/IR/AttnDialect.cpp.inc"

void AttnDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "attune/Dialect/Attn/IR/AttnOps.cpp.inc"
      >();
}
