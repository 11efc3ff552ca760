// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.map and tile.fill: work on registers alone. The scalar region of a map
// becomes operations on the whole vector of a thread. Positions are 32-bit
// integers there; reads of buffers go element by element.

#include "KernelContext.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attune;

namespace {

struct FillPattern : KernelPattern<tile::FillOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::FillOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<vector::BroadcastOp>(
        op, laneVectorType(op.getResult().getType()), adaptor.getValue());
    return success();
  }
};

struct MapPattern : KernelPattern<tile::MapOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::MapOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

/// Turns the scalar ops of one region into vector ops.
class RegionVectorizer {
public:
  RegionVectorizer(OpBuilder &builder, Location loc, int64_t count)
      : b(builder), loc(loc), count(count) {}

  LogicalResult run(tile::MapOp op, ValueRange inputs,
                    const KernelContext &context);
  Value result;

private:
  /// Positions are computed in 32 bits: sequences are shorter than 2^31.
  Type elementType(Type scalar) {
    return scalar.isIndex() ? b.getI32Type() : scalar;
  }
  VectorType vectorType(Type scalar) {
    return VectorType::get(count, elementType(scalar));
  }
  /// The vector for a scalar of the region; scalars from outside are repeated.
  Value lookup(Value scalar);
  LogicalResult convert(Operation &op);
  Value loadElements(memref::LoadOp load);

  OpBuilder &b;
  Location loc;
  int64_t count;
  IRMapping mapping;
};

} // namespace

Value RegionVectorizer::lookup(Value scalar) {
  if (Value known = mapping.lookupOrNull(scalar))
    return known;
  Value value = scalar;
  if (value.getType().isIndex())
    value = b.createOrFold<arith::IndexCastOp>(loc, b.getI32Type(), value);
  Value repeated =
      vector::BroadcastOp::create(b, loc, vectorType(scalar.getType()), value);
  mapping.map(scalar, repeated);
  return repeated;
}

Value RegionVectorizer::loadElements(memref::LoadOp load) {
  SmallVector<Value> indices, elements;
  for (Value index : load.getIndices())
    indices.push_back(mapping.contains(index) ? mapping.lookup(index)
                                              : Value());
  for (int64_t i = 0; i < count; ++i) {
    SmallVector<Value> position;
    for (auto [scalar, vector] : llvm::zip_equal(load.getIndices(), indices)) {
      if (!vector) {
        position.push_back(scalar);
        continue;
      }
      Value element = vector::ExtractOp::create(b, loc, vector, i);
      position.push_back(
          arith::IndexCastOp::create(b, loc, b.getIndexType(), element));
    }
    elements.push_back(
        memref::LoadOp::create(b, loc, load.getMemref(), position));
  }
  Type type = vectorType(load.getType());
  if (load.getType().isIndex())
    for (Value &element : elements)
      element = arith::IndexCastOp::create(b, loc, b.getI32Type(), element);
  return vector::FromElementsOp::create(b, loc, type, elements);
}

LogicalResult RegionVectorizer::convert(Operation &op) {
  if (auto literal = dyn_cast<arith::ConstantOp>(op)) {
    auto type = vectorType(literal.getType());
    Attribute value = literal.getValue();
    if (literal.getType().isIndex())
      value = b.getI32IntegerAttr(
          static_cast<int32_t>(cast<IntegerAttr>(value).getInt()));
    mapping.map(
        literal.getResult(),
        arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, value)));
    return success();
  }
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    mapping.map(load.getResult(), loadElements(load));
    return success();
  }
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    // Index became i32: what is left is a change of integer width, or nothing.
    Value input = lookup(op.getOperand(0));
    unsigned from = cast<VectorType>(input.getType()).getElementTypeBitWidth();
    VectorType type = vectorType(op.getResult(0).getType());
    unsigned to = type.getElementTypeBitWidth();
    if (from < to && isa<arith::IndexCastUIOp>(op))
      input = arith::ExtUIOp::create(b, loc, type, input);
    else if (from < to)
      input = arith::ExtSIOp::create(b, loc, type, input);
    else if (from > to)
      input = arith::TruncIOp::create(b, loc, type, input);
    mapping.map(op.getResult(0), input);
    return success();
  }
  if (isa<memref::DimOp>(op) ||
      (op.getNumOperands() == 0 && op.getNumResults() == 1)) {
    mapping.map(op.getResult(0), lookup(b.clone(op)->getResult(0)));
    return success();
  }
  if (!OpTrait::hasElementwiseMappableTraits(&op) || op.getNumResults() != 1)
    return op.emitOpError()
           << "expects an elementwise operation or a load in a tile.map";
  OperationState state(op.getLoc(), op.getName());
  for (Value operand : op.getOperands())
    state.addOperands(lookup(operand));
  state.addTypes(vectorType(op.getResult(0).getType()));
  state.addAttributes(op.getDiscardableAttrDictionary().getValue());
  state.propertiesAttr = op.getPropertiesAsAttribute();
  mapping.map(op.getResult(0), b.create(state)->getResult(0));
  return success();
}

LogicalResult RegionVectorizer::run(tile::MapOp op, ValueRange inputs,
                                    const KernelContext &context) {
  tile::TileType type = op.getResult().getType();
  tile::LayoutAttr layout = type.getRegisterLayout();
  Block &block = op.getBody().front();
  mapping.map(block.getArguments().take_front(inputs.size()), inputs);
  for (auto [dim, argument] :
       llvm::enumerate(block.getArguments().take_back(type.getRank()))) {
    if (argument.use_empty())
      continue;
    SmallVector<int32_t> offsets;
    for (int64_t reg = 0; reg < count; ++reg)
      offsets.push_back(
          layout.getRegisterCoordinates(reg, type.getRank())[dim]);
    auto positionType = vectorType(argument.getType());
    Value position = arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(positionType, ArrayRef(offsets)));
    if (Value own = laneCoordinate(b, loc, context, layout, dim)) {
      Value narrow = arith::IndexCastOp::create(b, loc, b.getI32Type(), own);
      Value repeated =
          vector::BroadcastOp::create(b, loc, positionType, narrow);
      position = arith::AddIOp::create(b, loc, repeated, position);
    }
    mapping.map(argument, position);
  }
  for (Operation &inner : block.without_terminator())
    if (failed(convert(inner)))
      return failure();
  result = lookup(cast<tile::YieldOp>(block.getTerminator()).getValue());
  return success();
}

LogicalResult
MapPattern::matchAndRewrite(tile::MapOp op, OpAdaptor adaptor,
                            ConversionPatternRewriter &rewriter) const {
  RegionVectorizer vectorizer(
      rewriter, op.getLoc(),
      laneVectorType(op.getResult().getType()).getNumElements());
  if (failed(vectorizer.run(op, adaptor.getInputs(), context)))
    return failure();
  rewriter.replaceOp(op, vectorizer.result);
  return success();
}

void attune::populateElementwisePatterns(TypeConverter &converter,
                                         RewritePatternSet &patterns,
                                         const KernelContext &context) {
  patterns.add<FillPattern, MapPattern>(converter, patterns.getContext(),
                                        context);
}
