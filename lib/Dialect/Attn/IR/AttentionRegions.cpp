// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The score and mask regions of attention ops: their arguments, what they
// capture, what they may contain, and how a lowering inlines them.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attune::attn;

bool attune::attn::isRegionScalar(Type type) {
  return type.isIntOrIndexOrFloat();
}

static bool isScalarConstant(Value value) {
  return isRegionScalar(value.getType()) && matchPattern(value, m_Constant());
}

SmallVector<Value> attune::attn::detail::getCaptures(Operation *op) {
  llvm::SetVector<Value> captures;
  AttentionOpInterface attention(op);
  for (Region *region : {&attention.getScore(), &attention.getMask()})
    region->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!region->isAncestor(operand.getParentRegion()) &&
            !isScalarConstant(operand))
          captures.insert(operand);
    });
  return captures.takeVector();
}

static SmallVector<Type> getArgumentTypes(Builder builder, bool isScore) {
  SmallVector<Type> types(4, builder.getIndexType());
  if (isScore)
    types.insert(types.begin(), builder.getF32Type());
  return types;
}

Block *attune::attn::detail::createRegionBlock(Operation *op,
                                               OpBuilder &builder,
                                               bool isScore) {
  AttentionOpInterface attention(op);
  Region &region = isScore ? attention.getScore() : attention.getMask();
  assert(region.empty() && "expects a region that has no block yet");
  SmallVector<Type> types = getArgumentTypes(builder, isScore);
  OpBuilder::InsertionGuard guard(builder);
  return builder.createBlock(&region, region.end(), types,
                             SmallVector<Location>(types.size(), op->getLoc()));
}

Value attune::attn::inlineRegion(OpBuilder &builder, Region &region,
                                 ValueRange arguments, IRMapping &mapping) {
  Block &block = region.front();
  mapping.map(block.getArguments(), arguments);
  for (Operation &op : block.without_terminator()) {
    for (Value operand : op.getOperands())
      if (!mapping.contains(operand) && isScalarConstant(operand))
        mapping.map(operand,
                    builder.clone(*operand.getDefiningOp())->getResult(0));
    builder.clone(op, mapping);
  }
  Value yielded = cast<YieldOp>(block.getTerminator()).getValue();
  if (!mapping.contains(yielded) && isScalarConstant(yielded))
    return builder.clone(*yielded.getDefiningOp())->getResult(0);
  return mapping.lookupOrDefault(yielded);
}

// attention_c16
static LogicalResult verifyBodyOp(Operation &op) {
  bool isRead = isa<tensor::ExtractOp, tensor::DimOp>(op);
  bool isCompute =
      isa<arith::ArithDialect, math::MathDialect>(op.getDialect()) &&
      op.getNumRegions() == 0 && isMemoryEffectFree(&op) &&
      llvm::all_of(op.getOperandTypes(), isRegionScalar);
  if ((isRead || isCompute) &&
      llvm::all_of(op.getResultTypes(), isRegionScalar))
    return success();
  return op.emitError("expects an op of arith or math on scalars, "
                      "tensor.extract or tensor.dim in a region of "
                      "attn.attention, but got '")
         << op.getName() << "'";
}

// attention_c17
static LogicalResult verifyCaptures(Operation &op, Region &region) {
  for (Value operand : op.getOperands()) {
    if (region.isAncestor(operand.getParentRegion()) ||
        isRegionScalar(operand.getType()))
      continue;
    auto tensor = dyn_cast<RankedTensorType>(operand.getType());
    if (!tensor || !isRegionScalar(tensor.getElementType()))
      return op.emitError("expects a captured value to be a scalar or a ranked "
                          "tensor of scalars, but got ")
             << operand.getType();
  }
  return success();
}

static LogicalResult verifyRegion(AttentionOpInterface attention,
                                  Region &region, bool isScore) {
  if (region.empty())
    return success();
  Block &block = region.front();
  StringRef name = isScore ? "score" : "mask";
  // attention_c14, attention_c15
  SmallVector<Type> types =
      getArgumentTypes(Builder(attention.getContext()), isScore);
  if (!llvm::equal(block.getArgumentTypes(), types))
    return attention->emitOpError("expects the ")
           << name << " region to take (" << types << "), but got ("
           << block.getArgumentTypes() << ")";
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield)
    return attention->emitOpError("expects the ")
           << name << " region to end in attn.yield";
  Type yielded = yield.getValue().getType();
  if (isScore ? !yielded.isF32() : !yielded.isInteger(1))
    return yield.emitError("expects the ")
           << name << " region to yield " << (isScore ? "f32" : "i1")
           << ", but got " << yielded;
  for (Operation &op : block) {
    if (!isa<YieldOp>(op) && failed(verifyBodyOp(op)))
      return failure();
    if (failed(verifyCaptures(op, region)))
      return failure();
  }
  return success();
}

/// A region reads tables where there is something to read.
static LogicalResult verifyTables(AttentionOpInterface op) {
  for (const TableSize &size : getTableSizes(op)) {
    int64_t elements =
        cast<RankedTensorType>(size.table.getType()).getDimSize(size.dim);
    int64_t needed = size.position == 'b'   ? op.getBatch()
                     : size.position == 'h' ? op.getHeadsQ()
                     : size.position == 'm' ? op.getSeqQ()
                                            : op.getSeqK();
    if (ShapedType::isStatic(elements) && ShapedType::isStatic(needed) &&
        elements < needed) // attention_c20
      return op->emitOpError("expects dimension ")
             << size.dim
             << " of a tensor that a region reads to have at least as many "
                "elements as there are "
             << getPositionsName(size.position) << ", but got " << elements
             << " and " << needed;
  }
  return success();
}

LogicalResult attune::attn::detail::verifyRegions(AttentionOpInterface op) {
  if (failed(verifyRegion(op, op.getScore(), /*isScore=*/true)))
    return failure();
  if (failed(verifyRegion(op, op.getMask(), /*isScore=*/false)))
    return failure();
  return verifyTables(op);
}

LogicalResult AttentionOp::verifyRegions() {
  return attune::attn::detail::verifyRegions(*this);
}
