// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Clones scalar ops with tensors replaced by buffers.

#include "attune/Conversion/RegionClone.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

void attune::cloneOntoBuffers(OpBuilder &builder, Operation &op,
                              IRMapping &mapping) {
  auto onBuffer = [&](Value tensor) {
    return isa<MemRefType>(mapping.lookupOrDefault(tensor).getType());
  };
  if (auto extract = dyn_cast<tensor::ExtractOp>(op);
      extract && onBuffer(extract.getTensor())) {
    SmallVector<Value> indices;
    for (Value index : extract.getIndices())
      indices.push_back(mapping.lookupOrDefault(index));
    mapping.map(extract.getResult(),
                memref::LoadOp::create(builder, op.getLoc(),
                                       mapping.lookup(extract.getTensor()),
                                       indices));
    return;
  }
  if (auto dim = dyn_cast<tensor::DimOp>(op);
      dim && onBuffer(dim.getSource())) {
    mapping.map(dim.getResult(),
                builder.createOrFold<memref::DimOp>(
                    op.getLoc(), mapping.lookup(dim.getSource()),
                    mapping.lookupOrDefault(dim.getIndex())));
    return;
  }
  builder.clone(op, mapping);
}

Value attune::inlineOntoBuffers(OpBuilder &builder, Region &region,
                                IRMapping mapping) {
  Block &block = region.front();
  for (Operation &op : block.without_terminator())
    cloneOntoBuffers(builder, op, mapping);
  return mapping.lookupOrDefault(block.getTerminator()->getOperand(0));
}
