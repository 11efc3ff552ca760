// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What operands of few bits are multiplied by, and which results they have.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune::attn;

Value Scales::getPlace(OpBuilder &builder, Location loc, int64_t dim,
                       Value place) const {
  if (isShared(dim))
    return arith::ConstantIndexOp::create(builder, loc, 0);
  if (getBlock(dim) == 1)
    return place;
  Value block = arith::ConstantIndexOp::create(builder, loc, getBlock(dim));
  return arith::DivUIOp::create(builder, loc, place, block);
}

static std::optional<Scales> makeScales(StringRef name, Value operand,
                                        Value scales,
                                        std::optional<ArrayRef<int64_t>> blocks,
                                        Value zeros = {}) {
  if (!scales)
    return std::nullopt;
  return Scales{name, operand, scales, blocks.value_or(ArrayRef<int64_t>()),
                zeros};
}

std::optional<Scales> attune::attn::getQueryScales(AttentionOp op) {
  return makeScales("query", op.getQuery(), op.getQueryScales(),
                    op.getQueryScaleBlocks());
}

std::optional<Scales> attune::attn::getKeyScales(AttentionOp op) {
  return makeScales("key", op.getKey(), op.getKeyScales(),
                    op.getKeyScaleBlocks(), op.getKeyZeros());
}

std::optional<Scales> attune::attn::getValueScales(AttentionOp op) {
  if (op.getLatent())
    return getKeyScales(op);
  return makeScales("value", op.getValue(), op.getValueScales(),
                    op.getValueScaleBlocks(), op.getValueZeros());
}

std::optional<Scales> attune::attn::getResultScales(AttentionOp op) {
  return makeScales("result", op.getQuery(), op.getResultScales(),
                    std::nullopt);
}

SmallVector<Scales, 4> attune::attn::getScales(AttentionOp op) {
  SmallVector<Scales, 4> all;
  for (const std::optional<Scales> &scales :
       {getQueryScales(op), getKeyScales(op),
        op.getLatent() ? std::nullopt : getValueScales(op),
        getResultScales(op)})
    if (scales)
      all.push_back(*scales);
  return all;
}

bool attune::attn::variesAlong(AttentionOp op,
                               const std::optional<Scales> &scales,
                               char letter) {
  return scales &&
         !scales->isShared(static_cast<int64_t>(op.getOrder().find(letter)));
}

bool attune::attn::scalesValuesByKey(AttentionOp op) {
  std::optional<Scales> scales = getValueScales(op);
  return variesAlong(op, scales, 's') ||
         (op.getPages() && variesAlong(op, scales, 'b'));
}

ValueZeros attune::attn::getValueZeros(AttentionOp op) {
  if (!op.getValueZeros())
    return ValueZeros::None;
  return scalesValuesByKey(op) || op.getSinks() || op.getDropout()
             ? ValueZeros::Summed
             : ValueZeros::Shared;
}

Type attune::attn::getDefaultResultElement(Type query) {
  constexpr unsigned kLeastBits = 16;
  // Types are inferred before they are checked.
  auto type = dyn_cast<FloatType>(query);
  return type && type.getWidth() < kLeastBits
             ? BFloat16Type::get(query.getContext())
             : query;
}

static LogicalResult verifySizes(AttentionOp op, const Scales &scales) {
  if (!scales.blocks.empty()) {
    if (scales.blocks.size() != 4)
      return op.emitOpError("expects 4 sizes of blocks of ")
             << scales.name << " that share a scale, but got "
             << scales.blocks.size();
    for (int64_t size : scales.blocks)
      if (size < 1)
        return op.emitOpError("expects sizes of blocks of ")
               << scales.name << " that share a scale of at least 1, but got "
               << size;
  }
  auto type = cast<RankedTensorType>(scales.scales.getType()),
       operand = cast<RankedTensorType>(scales.operand.getType());
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int64_t size = type.getDimSize(dim), all = operand.getDimSize(dim);
    if (size == 1 || ShapedType::isDynamic(size) || ShapedType::isDynamic(all))
      continue;
    int64_t blocks = llvm::divideCeilSigned(all, scales.getBlock(dim));
    if (size != blocks)
      return op.emitOpError("expects scales of ")
             << scales.name << " to have 1 or " << blocks
             << " elements along dimension " << dim << ", but got " << size;
  }
  return success();
}

/// f16 for values of 8 bits, which it holds as it does weights of at most 1,
/// for less than bf16: chips widen to it. Factors may be of any size. Otherwise
/// that of query, but for 8 bits; then that of the result, if it has 16.
static FloatType getDefaultWeightType(AttentionOp op) {
  constexpr unsigned kBits = 16;
  Type value = op.getValue().getType().getElementType();
  if (value.getIntOrFloatBitWidth() < kBits && !scalesValuesByKey(op))
    return Float16Type::get(op.getContext());
  auto query = cast<FloatType>(op.getQuery().getType().getElementType()),
       result = cast<FloatType>(op.getResult().getType().getElementType());
  if (query.getWidth() < kBits && result.getWidth() == kBits)
    return result;
  return cast<FloatType>(getDefaultResultElement(query));
}

Type attune::attn::getWeightType(AttentionOp op) {
  return op.getWeights().value_or(getDefaultWeightType(op));
}

Type attune::attn::getRoundedType(AttentionOp op) {
  FloatType weight = getDefaultWeightType(op),
            result = cast<FloatType>(op.getResult().getType().getElementType());
  bool isJudged = !op.getResultScales() &&
                  result.getFPMantissaWidth() < weight.getFPMantissaWidth();
  return isJudged ? result : weight;
}

static LogicalResult verifyZeros(AttentionOp op, StringRef name, Value operand,
                                 Value scales, Value zeros) { // attention_c32
  if (!zeros)
    return success();
  Type element = getElementTypeOrSelf(operand);
  if (!element.isInteger(8))
    return op.emitOpError("expects zero points of a ")
           << name << " of i8, but got " << element;
  if (!scales)
    return op.emitOpError("expects scales of ")
           << name << " beside its zero points, but got none";
  auto ofZeros = cast<RankedTensorType>(zeros.getType()),
       ofScales = cast<RankedTensorType>(scales.getType());
  if (ofZeros.getShape() != ofScales.getShape())
    return op.emitOpError("expects a zero point for each scale of ")
           << name << ", " << ofScales << ", but got " << ofZeros;
  if (op.getLatent())
    return op.emitOpError("expects no zero points where values are a part of "
                          "the keys, but got some of ")
           << name;
  constexpr unsigned kLeastBits = 16;
  for (auto [other, type] : {std::pair<StringRef, Type>{
                                 "query", getElementTypeOrSelf(op.getQuery())},
                             {"weights", getWeightType(op)}})
    if (type.getIntOrFloatBitWidth() < kLeastBits)
      return op.emitOpError("expects ")
             << other << " of at least " << kLeastBits
             << " bits beside zero points, but got " << type;
  return success();
}

/// That the result has 8 bits where it has scales, and each head one.
static LogicalResult verifyResult(AttentionOp op) {
  Type element = op.getResult().getType().getElementType();
  bool isNarrow = element.getIntOrFloatBitWidth() == 8;
  auto scales = op.getResultScales();
  if (!scales) { // attention_c33
    if (isNarrow)
      return op.emitOpError("expects scales of a result of ")
             << element << ", but got none";
    return success();
  }
  if (!isNarrow)
    return op.emitOpError("expects scales of a result of 8 bits alone, but got "
                          "some of ")
           << element;
  int64_t heads = op.getHeadsQ();
  for (auto [dim, size] : llvm::enumerate(scales.getType().getShape())) {
    bool isOfHeads = static_cast<int64_t>(dim) == op.getHeadPos();
    if (size == 1 ||
        (isOfHeads && (ShapedType::isDynamic(size) ||
                       ShapedType::isDynamic(heads) || size == heads)))
      continue;
    InFlightDiagnostic diagnostic = // attention_c34
        op.emitOpError("expects scales of result to have 1 ");
    if (isOfHeads)
      diagnostic << "or " << heads << " elements";
    else
      diagnostic << "element";
    diagnostic << " along dimension " << dim << ", but got ";
    if (ShapedType::isDynamic(size))
      return diagnostic << "`?`";
    return diagnostic << size;
  }
  return success();
}

LogicalResult attune::attn::detail::verifyScales(AttentionOp op) {
  if (std::optional<Type> weights = op.getWeights()) // attention_c29
    if (!isa<Float16Type, BFloat16Type, Float8E4M3FNType, Float8E5M2Type,
             Float8E4M3FNUZType, Float8E5M2FNUZType>(*weights))
      return op.emitOpError("expects weights of f16, bf16, or a float of 8 "
                            "bits that operands may have, but got ")
             << *weights;
  for (auto [name, scales, blocks] :
       {std::tuple("query", op.getQueryScales(), op.getQueryScaleBlocks()),
        {"key", op.getKeyScales(), op.getKeyScaleBlocks()},
        {"value", op.getValueScales(), op.getValueScaleBlocks()}})
    if (blocks && !scales) // attention_c27
      return op.emitOpError("expects scales of ")
             << name << " beside blocks that share one, but got none";
  if (op.getLatent() && op.getValueScales()) // attention_c28
    return op.emitOpError("expects no scales of values that are a part of the "
                          "keys, but got ")
           << op.getValueScales().getType();
  if (failed(verifyResult(op)))
    return failure();
  for (const Scales &scales : getScales(op)) // attention_c27
    if (failed(verifySizes(op, scales)))
      return failure();
  if (failed(verifyZeros(op, "key", op.getKey(), op.getKeyScales(),
                         op.getKeyZeros())) ||
      failed(verifyZeros(op, "value", op.getValue(), op.getValueScales(),
                         op.getValueZeros())))
    return failure();
  std::optional<Scales> keys = getKeyScales(op);
  if (keys && keys->zeros && variesAlong(op, keys, 'd'))
    return op.emitOpError("expects zero points of key that the columns of a "
                          "row share, but got some along dimension ")
           << op.getHeadDimPos();
  return success();
}
