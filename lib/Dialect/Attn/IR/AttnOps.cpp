// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes, type inference and shape reification of attn.attention. Syntax,
// verification, regions and canonicalization have files of their own, and so
// have other ops.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include <cmath>

using namespace mlir;
using namespace attune::attn;

#include "attune/Dialect/Attn/IR/AttnInterfaces.cpp.inc"

/// The letters of an order as a keyword, in the syntax that ODS makes.
static ParseResult parseOrder(OpAsmParser &parser, StringAttr &order) {
  StringRef letters;
  if (parser.parseKeyword(&letters))
    return failure();
  order = parser.getBuilder().getStringAttr(letters);
  return success();
}

static void printOrder(OpAsmPrinter &printer, Operation *, StringAttr order) {
  printer << order.getValue();
}

#define GET_OP_CLASSES
#include "attune/Dialect/Attn/IR/AttnOps.cpp.inc"

static int64_t getDim(Value tensor, int64_t position) {
  return cast<RankedTensorType>(tensor.getType()).getDimSize(position);
}

static int64_t getFirstStatic(std::initializer_list<int64_t> sizes) {
  for (int64_t size : sizes)
    if (ShapedType::isStatic(size))
      return size;
  return ShapedType::kDynamic;
}

int64_t attune::attn::detail::getBatch(Operation *op) {
  AttentionOpInterface attention(op);
  int64_t b = attention.getBatchPos(), batch = ShapedType::kDynamic;
  Value queryStarts = attention.getQueryStarts(),
        keyStarts = attention.getKeyStarts(), pages = attention.getPages();
  for (Value starts : {queryStarts, keyStarts})
    if (starts && getDim(starts, 0) > 0)
      batch = getFirstStatic({batch, getDim(starts, 0) - 1});
  if (!queryStarts)
    batch = getFirstStatic({getDim(attention.getQuery(), b), batch});
  if (pages)
    return getFirstStatic({batch, getDim(pages, 0)});
  if (keyStarts)
    return batch;
  return getFirstStatic(
      {batch, getDim(attention.getKey(), b), getDim(attention.getValue(), b)});
}

int64_t attune::attn::detail::getHeadsQ(Operation *op) {
  AttentionOpInterface attention(op);
  int64_t heads = getDim(attention.getQuery(), attention.getHeadPos());
  for (Value perHead : {attention.getAlibiSlopes(), attention.getSinks()})
    if (ShapedType::isDynamic(heads) && perHead)
      heads = getDim(perHead, 0);
  return heads;
}

int64_t attune::attn::detail::getHeadsKV(Operation *op) {
  AttentionOpInterface attention(op);
  int64_t h = attention.getHeadPos();
  return getFirstStatic(
      {getDim(attention.getKey(), h), getDim(attention.getValue(), h)});
}

int64_t attune::attn::detail::getSeqQ(Operation *op) {
  AttentionOpInterface attention(op);
  return getDim(attention.getQuery(), attention.getSeqPos());
}

int64_t attune::attn::detail::getSeqK(Operation *op) {
  AttentionOpInterface attention(op);
  int64_t s = attention.getSeqPos();
  int64_t keys = getFirstStatic(
      {getDim(attention.getKey(), s), getDim(attention.getValue(), s)});
  Value pages = attention.getPages();
  if (!pages || ShapedType::isDynamic(keys))
    return keys;
  int64_t most = getDim(pages, 1);
  return ShapedType::isDynamic(most) ? most : most * keys;
}

bool attune::attn::packsKey(Operation *op) {
  auto forward = dyn_cast<AttentionOp>(op);
  return forward && forward.getPackedKey();
}

bool attune::attn::packsValue(Operation *op) {
  auto forward = dyn_cast<AttentionOp>(op);
  return forward && forward.getPackedValue();
}

/// What so many elements of a row stand for.
static int64_t getColumns(int64_t stored, bool isPacked) {
  return isPacked && ShapedType::isStatic(stored) ? 2 * stored : stored;
}

int64_t attune::attn::detail::getHeadDimQK(Operation *op) {
  AttentionOpInterface attention(op);
  int64_t d = attention.getHeadDimPos();
  int64_t columns = getDim(attention.getQuery(), d);
  if (ShapedType::isStatic(columns))
    return columns;
  return getColumns(getDim(attention.getKey(), d), packsKey(op));
}

int64_t attune::attn::detail::getHeadDimV(Operation *op) {
  AttentionOpInterface attention(op);
  if (auto forward = dyn_cast<AttentionOp>(op))
    if (std::optional<int64_t> latent = forward.getLatent())
      return *latent;
  return getColumns(getDim(attention.getValue(), attention.getHeadDimPos()),
                    packsValue(op));
}

float attune::attn::detail::getEffectiveScale(Operation *op) {
  if (FloatAttr scale = AttentionOpInterface(op).getScaleAttr())
    return scale.getValue().convertToFloat();
  return static_cast<float>(1.0 /
                            std::sqrt(static_cast<double>(getHeadDimQK(op))));
}

TensorRoles AttentionOp::getTensorRoles() {
  TensorRoles roles{{getQuery(), getResult()}, {getKey(), getValue()}, {}};
  if (getLse())
    roles.perQuery.push_back(getLse());
  return roles;
}

void AttentionOp::build(OpBuilder &builder, OperationState &state, Value query,
                        Value key, Value value, StringRef order,
                        bool returnLse) {
  state.addOperands({query, key, value});
  auto &properties = state.getOrAddProperties<Properties>();
  properties.operandSegmentSizes = {1, 1, 1};
  properties.order = builder.getStringAttr(order);
  if (returnLse)
    properties.returnLse = builder.getUnitAttr();
  state.addRegion();
  state.addRegion();
  SmallVector<Type> types;
  if (succeeded(
          inferReturnTypes(builder.getContext(), state.location, state.operands,
                           state.attributes.getDictionary(builder.getContext()),
                           state.getRawProperties(), state.regions, types)))
    state.addTypes(types);
}

bool AttentionOp::isValidOrder(StringRef order) {
  std::string letters = order.str();
  llvm::sort(letters);
  return letters == "bdhs";
}

// Checks what it needs and no more: the rest is the verifier's, which comes
// later.
LogicalResult AttentionOp::inferReturnTypes(MLIRContext *context,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  StringRef order = adaptor.getOrder();
  if (!isValidOrder(order)) // attention_c1
    return emitOptionalError(location,
                             "expects order to be a permutation of the letters "
                             "b, h, s and d, but got '",
                             order, "'");
  RankedTensorType operands[3];
  StringRef names[3] = {"query", "key", "value"};
  Value values[3] = {adaptor.getQuery(), adaptor.getKey(), adaptor.getValue()};
  for (auto [type, name, value] : llvm::zip_equal(operands, names, values)) {
    type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || type.getRank() != 4)
      return emitOptionalError(location, "expects ", name,
                               " to be a tensor of rank 4, but got ",
                               value.getType());
  }
  auto [query, key, value] = operands;
  int64_t b = order.find('b'), h = order.find('h'), s = order.find('s'),
          d = order.find('d');
  SmallVector<int64_t> shape(query.getShape());
  if (adaptor.getQueryStarts()) {
    // As packed as the queries are.
  } else if (Value pages = adaptor.getPages()) {
    auto type = dyn_cast<RankedTensorType>(pages.getType());
    if (!type || type.getRank() != 2)
      return emitOptionalError(
          location, "expects pages to be a tensor of rank 2, but got ",
          pages.getType());
    shape[b] = getFirstStatic({query.getDimSize(b), type.getDimSize(0)});
  } else if (adaptor.getKeyStarts()) {
    shape[b] = query.getDimSize(b);
  } else {
    shape[b] = getFirstStatic(
        {query.getDimSize(b), key.getDimSize(b), value.getDimSize(b)});
  }
  shape[d] = adaptor.getLatent().value_or(
      getColumns(value.getDimSize(d), adaptor.getPackedValue()));
  types.push_back(RankedTensorType::get(
      shape, getDefaultResultElement(query.getElementType())));
  if (adaptor.getReturnLse())
    types.push_back(RankedTensorType::get({shape[b], shape[h], shape[s]},
                                          Float32Type::get(context)));
  return success();
}

bool AttentionOp::isCompatibleReturnTypes(TypeRange inferred,
                                          TypeRange actual) {
  return inferred.size() == actual.size() &&
         llvm::all_of(llvm::zip(inferred, actual), [](auto pair) {
           // Of which elements results may be, their constraints say.
           auto want = dyn_cast<RankedTensorType>(std::get<0>(pair));
           auto have = dyn_cast<RankedTensorType>(std::get<1>(pair));
           return want && have && want.getShape() == have.getShape();
         });
}

LogicalResult
AttentionOp::reifyResultShapes(OpBuilder &builder,
                               ReifiedRankedShapedTypeDims &shapes) {
  auto getSize = [&](int64_t size, Value tensor,
                     int64_t position) -> OpFoldResult {
    if (ShapedType::isStatic(size))
      return builder.getIndexAttr(size);
    return tensor::getMixedSize(builder, getLoc(), tensor, position);
  };
  OpFoldResult batch =
      getSize(getDim(getResult(), getBatchPos()), getQuery(), getBatchPos());
  OpFoldResult heads =
      getSize(getDim(getQuery(), getHeadPos()), getQuery(), getHeadPos());
  OpFoldResult length = getSize(getSeqQ(), getQuery(), getSeqPos());
  SmallVector<OpFoldResult> result(4);
  result[getBatchPos()] = batch;
  result[getHeadPos()] = heads;
  result[getSeqPos()] = length;
  result[getHeadDimPos()] = builder.getIndexAttr(getHeadDimV());
  shapes.push_back(result);
  if (getReturnLse())
    shapes.push_back({batch, heads, length});
  return success();
}
