// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration of the attn dialect.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FoldInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attune::attn;

#include "attune/Dialect/Attn/IR/AttnDialect.cpp.inc"

namespace {
/// Keeps folded constants inside the regions that use them: outside they would
/// look like captured values.
struct AttnFoldInterface : DialectFoldInterface {
  using DialectFoldInterface::DialectFoldInterface;
  bool shouldMaterializeInto(Region *region) const final {
    return isa<AttentionOpInterface>(region->getParentOp());
  }
};
} // namespace

void AttnDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "attune/Dialect/Attn/IR/AttnOps.cpp.inc"
      >();
  addInterfaces<AttnFoldInterface>();
  attachRuntimeVerification();
}
