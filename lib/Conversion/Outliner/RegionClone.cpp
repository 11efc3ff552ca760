// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Clones scalar ops with tensors replaced by buffers.

#include "attune/Conversion/RegionClone.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

SmallVector<Value> attune::placeOnBuffer(OpBuilder &builder,
                                         tensor::ExtractOp extract,
                                         const IRMapping &mapping,
                                         Positions positions) {
  Location loc = extract.getLoc();
  Value buffer = mapping.lookup(extract.getTensor());
  SmallVector<Value> place;
  for (auto [dim, index] : llvm::enumerate(extract.getIndices())) {
    Value number = mapping.lookupOrDefault(index);
    // What is below 0 is a large number without sign.
    if (positions == Positions::MayBeBeyond)
      number = arith::MinUIOp::create(
          builder, loc, number,
          builder.createOrFold<arith::SubIOp>(
              loc,
              builder.createOrFold<memref::DimOp>(
                  loc, buffer,
                  arith::ConstantIndexOp::create(builder, loc,
                                                 static_cast<int64_t>(dim))),
              arith::ConstantIndexOp::create(builder, loc, 1)));
    place.push_back(number);
  }
  return place;
}

void attune::cloneOntoBuffers(OpBuilder &builder, Operation &op,
                              IRMapping &mapping, Positions positions) {
  auto onBuffer = [&](Value tensor) {
    return isa<MemRefType>(mapping.lookupOrDefault(tensor).getType());
  };
  if (auto extract = dyn_cast<tensor::ExtractOp>(op);
      extract && onBuffer(extract.getTensor())) {
    SmallVector<Value> place =
        placeOnBuffer(builder, extract, mapping, positions);
    mapping.map(extract.getResult(),
                memref::LoadOp::create(builder, op.getLoc(),
                                       mapping.lookup(extract.getTensor()),
                                       place));
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
                                IRMapping mapping, Positions positions) {
  Block &block = region.front();
  for (Operation &op : block.without_terminator())
    if (op.getNumResults() == 0 || !mapping.contains(op.getResult(0)))
      cloneOntoBuffers(builder, op, mapping, positions);
  return mapping.lookupOrDefault(block.getTerminator()->getOperand(0));
}

void attune::cloneOfArgument(OpBuilder &builder, BlockArgument argument,
                             Value value, IRMapping &mapping) {
  mapping.map(argument, value);
  DenseSet<Value> known{argument};
  Region *region = argument.getParentRegion();
  auto isKnown = [&](Value operand) {
    Operation *op = operand.getDefiningOp();
    return known.contains(operand) ||
           !region->isAncestor(operand.getParentRegion()) ||
           (op && op->hasTrait<OpTrait::ConstantLike>());
  };
  for (Operation &op : argument.getOwner()->without_terminator()) {
    auto isOfArgument = [&](Value operand) { return known.contains(operand); };
    if (!llvm::any_of(op.getOperands(), isOfArgument) ||
        !llvm::all_of(op.getOperands(), isKnown))
      continue;
    for (Value operand : op.getOperands())
      if (!known.contains(operand) && !mapping.contains(operand) &&
          region->isAncestor(operand.getParentRegion()))
        builder.clone(*operand.getDefiningOp(), mapping);
    cloneOntoBuffers(builder, op, mapping);
    known.insert(op.result_begin(), op.result_end());
  }
}
