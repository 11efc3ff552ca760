// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttnLoops.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune::attn;

/// The buffer of a tensor: contiguous unless an encoding says otherwise.
static MemRefType getBufferType(RankedTensorType type) {
  MemRefLayoutAttrInterface layout;
  if (auto strided = dyn_cast_or_null<StridedAttr>(type.getEncoding()))
    layout = StridedLayoutAttr::get(type.getContext(), /*offset=*/0,
                                    strided.getStrides());
  return MemRefType::get(type.getShape(), type.getElementType(), layout);
}

Value RowEmitter::toBuffer(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return bufferization::ToBufferOp::create(builder, getBufferType(type), tensor,
                                           /*read_only=*/true);
}

Value RowEmitter::getSize(Value buffer, int64_t position) {
  return builder.createOrFold<memref::DimOp>(buffer, position);
}

Value RowEmitter::allocate(RankedTensorType type, ArrayRef<Value> sizes) {
  SmallVector<Value> dynamicSizes;
  for (auto [size, value] : llvm::zip_equal(type.getShape(), sizes))
    if (ShapedType::isDynamic(size))
      dynamicSizes.push_back(value);
  return memref::AllocOp::create(
      builder, MemRefType::get(type.getShape(), type.getElementType()),
      dynamicSizes);
}

/// Of the first element along the head size.
SmallVector<Value, 4> RowEmitter::getIndices(Value b, Value h, Value s) {
  SmallVector<Value, 4> indices(4);
  indices[find('b')] = b;
  indices[find('h')] = h;
  indices[find('s')] = s;
  indices[find('d')] = zero;
  return indices;
}

Type RowEmitter::withElement(Value value, Type element) {
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    return vector.clone(element);
  return element;
}

int64_t RowEmitter::findHeadDim(Value buffer) {
  int64_t rank = cast<MemRefType>(buffer.getType()).getRank();
  return rank == static_cast<int64_t>(order.size()) ? find('d') : rank - 1;
}

/// Whether elements along the head size are neighbours, as those of a vector in
/// memory are. Also where dimensions of one element lie behind it: one by one,
/// LLVM 22 stores some of a vector's elements in the places of others on x86
/// (merging stores of neighbours, of vectors of 40 or 72 elements).
bool RowEmitter::isHeadDimDense(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(type.getStridesAndOffset(strides, offset)) &&
         strides[findHeadDim(buffer)] == 1 && strides.back() == 1;
}

Value RowEmitter::loadStored(Value buffer, SmallVector<Value, 4> indices,
                             int64_t count) {
  auto type = VectorType::get(
      count, cast<MemRefType>(buffer.getType()).getElementType());
  Value loaded;
  if (isHeadDimDense(buffer)) {
    loaded = vector::LoadOp::create(builder, type, buffer, indices);
  } else {
    SmallVector<Value> elements;
    for (int64_t d = 0; d < count; ++d) {
      indices[findHeadDim(buffer)] = createIndex(d);
      elements.push_back(memref::LoadOp::create(builder, buffer, indices));
    }
    loaded = vector::FromElementsOp::create(builder, type, elements);
  }
  return loaded;
}

Value RowEmitter::loadPacked(Value buffer, SmallVector<Value, 4> indices,
                             int64_t count) {
  Value bytes = loadStored(buffer, std::move(indices), count / 2);
  constexpr int64_t kBits = 4;
  Value bits = arith::ConstantOp::create(
      builder, DenseElementsAttr::get(cast<VectorType>(bytes.getType()),
                                      APInt(8, kBits)));
  Value shifted = arith::ShLIOp::create(builder, bytes, bits);
  SmallVector<Value> columns;
  for (Value upper : {shifted, bytes}) {
    Value numbers = arith::ShRSIOp::create(builder, upper, bits);
    Value wide = arith::SIToFPOp::create(
        builder, withElement(numbers, builder.getF32Type()), numbers);
    for (int64_t i = 0; i < count / 2; ++i)
      columns.push_back(vector::ExtractOp::create(builder, wide, i));
  }
  return vector::FromElementsOp::create(
      builder, VectorType::get(count, builder.getF32Type()), columns);
}

Value RowEmitter::loadF32(Value buffer, SmallVector<Value, 4> indices,
                          int64_t count) {
  Value loaded = loadStored(buffer, std::move(indices), count);
  auto type = cast<VectorType>(loaded.getType());
  if (type.getElementType().isF32())
    return loaded;
  Type wide = withElement(loaded, builder.getF32Type());
  if (type.getElementType().isInteger())
    return arith::SIToFPOp::create(builder, wide, loaded);
  return arith::ExtFOp::create(builder, wide, loaded);
}

void RowEmitter::store(Value vector, Value buffer,
                       SmallVector<Value, 4> indices) {
  Type stored = cast<MemRefType>(buffer.getType()).getElementType();
  if (getElementTypeOrSelf(vector) != stored)
    vector =
        arith::TruncFOp::create(builder, withElement(vector, stored), vector);
  if (isHeadDimDense(buffer)) {
    vector::StoreOp::create(builder, vector, buffer, indices);
    return;
  }
  int64_t count = cast<VectorType>(vector.getType()).getNumElements();
  for (int64_t d = 0; d < count; ++d) {
    indices[findHeadDim(buffer)] = createIndex(d);
    memref::StoreOp::create(builder,
                            vector::ExtractOp::create(builder, vector, d),
                            buffer, indices);
  }
}

/// What is left of an f32 in the operands' element type, if that is asked for.
Value RowEmitter::round(Value value) {
  if (precision == ReferencePrecision::F32 || element.isF32())
    return value;
  Value rounded =
      arith::TruncFOp::create(builder, withElement(value, element), value);
  return arith::ExtFOp::create(
      builder, withElement(value, builder.getF32Type()), rounded);
}

LoopEmitter::Score LoopEmitter::emitScore(const Row &row, Value n) {
  Value keyRow = loadKey(key, row, n, op.getHeadDimQK());
  Value scaled = arith::MulFOp::create(builder, dot(row.query, keyRow),
                                       createF32(op.getEffectiveScale()));
  Score score;
  score.product = score.score = round(scaled);
  if (op.hasScore())
    score.score = round(inlineRegion(builder, op.getScore(),
                                     {score.product, row.b, row.h, row.m, n},
                                     score.region));
  return score;
}

Value LoopEmitter::dropOut(Value weight, const Row &row, Value n) {
  if (!dropout)
    return weight;
  Value scaled =
      arith::MulFOp::create(builder, weight, createF32(Dropout::getScale(op)));
  Value isKept = dropout->isKept(builder, builder.getLoc(), row.b, row.h,
                                 headsQ, row.m, n);
  return arith::SelectOp::create(builder, isKept, scaled, createF32(0.0f));
}

/// carried = body(n, carried) for each n that the mask lets through.
Value LoopEmitter::forEachVisibleKey(const Row &row, Value initial,
                                     KeyBody body) {
  if (!op.hasBlockLists())
    return forEachKey(row, zero, row.keys, op.hasMask(), initial, body);
  Value carried = initial;
  if (fullBlocks.counts)
    carried =
        forEachListedKey(row, fullBlocks, /*isMasked=*/false, carried, body);
  return forEachListedKey(row, blocks, op.hasMask(), carried, body);
}

Value LoopEmitter::forEachListedKey(const Row &row, const List &list,
                                    bool isMasked, Value initial,
                                    KeyBody body) {
  // Where there is one batch or head, all share it.
  auto load = [&](Value list, SmallVector<Value> place) -> Value {
    for (int64_t dim : {0, 1})
      if (cast<MemRefType>(list.getType()).getDimSize(dim) == 1)
        place[dim] = zero;
    Value number = memref::LoadOp::create(builder, list, place);
    return arith::IndexCastOp::create(builder, builder.getIndexType(), number);
  };
  Value queries = arith::DivUIOp::create(builder, row.m,
                                         createIndex(op.getListedQueries()));
  Value count = load(list.counts, {row.b, row.h, queries});
  auto loop = scf::ForOp::create(builder, zero, count, one, initial);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value number =
      load(list.indices, {row.b, row.h, queries, loop.getInductionVar()});
  Value size = createIndex(op.getListedKeys());
  Value begin = arith::MulIOp::create(builder, number, size);
  Value end = arith::MinSIOp::create(
      builder, arith::AddIOp::create(builder, begin, size), row.keys);
  scf::YieldOp::create(builder, forEachKey(row, begin, end, isMasked,
                                           loop.getRegionIterArg(0), body));
  return loop.getResult(0);
}

Value LoopEmitter::forEachKey(const Row &row, Value begin, Value end,
                              bool isMasked, Value initial, KeyBody body) {
  auto loop = scf::ForOp::create(builder, begin, end, one, initial);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value n = loop.getInductionVar(), carried = loop.getRegionIterArg(0);
  if (!isMasked) {
    scf::YieldOp::create(builder, body(n, carried));
    return loop.getResult(0);
  }
  IRMapping mapping;
  Value visible =
      inlineRegion(builder, op.getMask(), {row.b, row.h, row.m, n}, mapping);
  auto branch = scf::IfOp::create(builder, carried.getType(), visible,
                                  /*withElseRegion=*/true);
  scf::YieldOp::create(builder, branch.getResult(0));
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, body(n, carried));
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, carried);
  return loop.getResult(0);
}

void LoopEmitter::readCapturesFromBuffers(Operation *loop) {
  loop->walk([&](Operation *inner) {
    rewriter.setInsertionPoint(inner);
    if (auto extract = dyn_cast<tensor::ExtractOp>(inner))
      rewriter.replaceOpWithNewOp<memref::LoadOp>(
          extract, captures.lookup(extract.getTensor()), extract.getIndices());
    else if (auto dim = dyn_cast<tensor::DimOp>(inner))
      rewriter.replaceOpWithNewOp<memref::DimOp>(
          dim, captures.lookup(dim.getSource()), dim.getIndex());
  });
}

Value RowEmitter::createZeros(int64_t count) {
  auto type = VectorType::get(count, builder.getF32Type());
  return arith::ConstantOp::create(builder, builder.getZeroAttr(type));
}

Value RowEmitter::toTensor(Value buffer) {
  return bufferization::ToTensorOp::create(
      builder, memref::getTensorTypeFromMemRefType(buffer.getType()), buffer,
      /*restrict=*/true, /*writable=*/true);
}

Value LoopEmitter::dot(Value lhs, Value rhs) {
  Value product = arith::MulFOp::create(builder, lhs, rhs);
  return vector::ReductionOp::create(builder, vector::CombiningKind::ADD,
                                     product, createF32(0.0f));
}

Value RowEmitter::addMultiple(Value sum, Value factor, Value vector) {
  Value factors =
      vector::BroadcastOp::create(builder, vector.getType(), factor);
  Value term = arith::MulFOp::create(builder, factors, vector);
  return arith::AddFOp::create(builder, sum, term);
}

BatchRows LoopEmitter::getRows(Value starts, Value lengths, Value b,
                               Value size) {
  return getBatchRows(builder, starts, lengths, b, size,
                      [&](Value buffer, Value place) -> Value {
                        return memref::LoadOp::create(builder, buffer, place);
                      });
}

Value LoopEmitter::findBatch(Value starts, Value size, Value &b, Value s) {
  // The batches that end before it.
  Value count = getSize(starts, 0);
  auto loop = scf::ForOp::create(builder, one, count, one, zero);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value end = clampStart(
        builder,
        memref::LoadOp::create(builder, starts, loop.getInductionVar()), size);
    Value isBefore =
        arith::CmpIOp::create(builder, arith::CmpIPredicate::sle, end, s);
    Value ended = loop.getRegionIterArg(0);
    Value more = arith::AddIOp::create(builder, ended, one);
    scf::YieldOp::create(
        builder,
        arith::SelectOp::create(builder, isBefore, more, ended).getResult());
  }
  Value last = arith::SubIOp::create(builder, count, createIndex(2));
  b = arith::MinSIOp::create(builder, loop.getResult(0), last);
  return arith::CmpIOp::create(builder, arith::CmpIPredicate::sle,
                               loop.getResult(0), last);
}

Value LoopEmitter::locate(Value starts, Value lengths, Value size, Value &b,
                          Value &s) {
  Value exists;
  if (starts)
    exists = findBatch(starts, size, b, s);
  if (!starts && !lengths)
    return {};
  BatchRows rows = getRows(starts, lengths, b, size);
  if (rows.first)
    s = arith::SubIOp::create(builder, s, rows.first);
  Value isOfBatch =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, s, rows.length);
  return exists ? arith::AndIOp::create(builder, exists, isOfBatch).getResult()
                : isOfBatch;
}

LoopEmitter::Operand LoopEmitter::getOperand(Value tensor,
                                             std::optional<Scales> scales,
                                             bool isPacked) {
  return {toBuffer(tensor), scales, scales ? toBuffer(scales->scales) : Value(),
          scales && scales->zeros ? toBuffer(scales->zeros) : Value(),
          isPacked};
}

Value LoopEmitter::loadNumbers(const Operand &operand, Value numbers,
                               SmallVector<Value, 4> indices, int64_t count) {
  int64_t headDim = find('d');
  for (auto [dim, index] : llvm::enumerate(indices))
    index = operand.scales->getPlace(builder, builder.getLoc(),
                                     static_cast<int64_t>(dim), index);
  SmallVector<Value> elements;
  for (int64_t d = 0; d < count; ++d) {
    // Of each group of columns the first loads it.
    if (d == 0 || (!operand.scales->isShared(headDim) &&
                   d % operand.scales->getBlock(headDim) == 0)) {
      indices[headDim] = createIndex(d / operand.scales->getBlock(headDim));
      elements.push_back(memref::LoadOp::create(builder, numbers, indices));
    } else {
      elements.push_back(elements.back());
    }
  }
  return vector::FromElementsOp::create(
      builder, VectorType::get(count, builder.getF32Type()), elements);
}

Value LoopEmitter::load(const Operand &operand, Value b, Value h, Value s,
                        int64_t count) {
  SmallVector<Value, 4> indices = getIndices(b, h, s);
  Value vector = operand.isPacked ? loadPacked(operand.buffer, indices, count)
                                  : loadF32(operand.buffer, indices, count);
  if (!operand.scales)
    return vector;
  if (operand.zeros)
    vector = arith::SubFOp::create(
        builder, vector, loadNumbers(operand, operand.zeros, indices, count));
  if (!operand.factors)
    return vector;
  return arith::MulFOp::create(
      builder, vector, loadNumbers(operand, operand.factors, indices, count));
}

Value LoopEmitter::loadKey(const Operand &operand, const Row &row, Value n,
                           int64_t count) {
  return loadAtKey(operand, row, n, count, [&](Value b, Value h, Value s) {
    return load(operand, b, h, s, count);
  });
}

Value LoopEmitter::loadFactor(const Operand &operand, const Row &row, Value n) {
  Value factor =
      loadAtKey(operand, row, n, /*count=*/1, [&](Value b, Value h, Value s) {
        return loadNumbers(operand, operand.factors, getIndices(b, h, s),
                           /*count=*/1);
      });
  return vector::ExtractOp::create(builder, factor, 0);
}

Value LoopEmitter::loadAtKey(const Operand &operand, const Row &row, Value n,
                             int64_t count, LoadBody body) {
  if (row.firstKey)
    return body(zero, row.kvHead,
                arith::AddIOp::create(builder, row.firstKey, n));
  if (!pages)
    return body(row.b, row.kvHead, n);
  Value size = createIndex(op.getPageSize());
  Value entry = memref::LoadOp::create(
      builder, pages,
      ValueRange{row.b, arith::DivUIOp::create(builder, n, size)});
  Value page =
      arith::IndexCastOp::create(builder, builder.getIndexType(), entry);
  // Unsigned: a number below 0 is that of no page either.
  Value exists =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, page,
                            getSize(operand.buffer, op.getBatchPos()));
  auto branch = scf::IfOp::create(
      builder, VectorType::get(count, builder.getF32Type()), exists,
      /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Value inPage = arith::RemUIOp::create(builder, n, size);
  scf::YieldOp::create(builder, body(page, row.kvHead, inPage));
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, createZeros(count));
  return branch.getResult(0);
}

Value LoopEmitter::getKVHead(Value h) {
  // Written so that nothing is divided by zero.
  return arith::DivUIOp::create(
      builder, arith::MulIOp::create(builder, h, headsKV), headsQ);
}

void LoopEmitter::readOperands() {
  builder.setInsertionPoint(op);
  auto forward = dyn_cast<AttentionOp>(*op);
  auto getOf = [&](auto getScales) {
    return forward ? getScales(forward) : std::nullopt;
  };
  query = getOperand(op.getQuery(), getOf(getQueryScales));
  key = getOperand(op.getKey(), getOf(getKeyScales), packsKey(op));
  value = getOperand(op.getValue(), getOf(getValueScales), packsValue(op));
  if (op.getSinks())
    sinks = toBuffer(op.getSinks());
  if (op.getQueryLengths())
    queryLengths = toBuffer(op.getQueryLengths());
  if (op.getKeyLengths())
    keyLengths = toBuffer(op.getKeyLengths());
  if (op.getQueryStarts())
    queryStarts = toBuffer(op.getQueryStarts());
  if (op.getKeyStarts())
    keyStarts = toBuffer(op.getKeyStarts());
  if (op.getPages())
    pages = toBuffer(op.getPages());
  if (op.hasBlockLists())
    blocks = {toBuffer(op.getBlockCounts()), toBuffer(op.getBlockIndices())};
  if (op.getFullBlockCounts())
    fullBlocks = {toBuffer(op.getFullBlockCounts()),
                  toBuffer(op.getFullBlockIndices())};
  if (op.getDropout()) {
    Value numbers = toBuffer(op.getDropout());
    dropout.emplace(builder, builder.getLoc(), op, [&](int64_t number) {
      return memref::LoadOp::create(builder, numbers, createIndex(number));
    });
  }
  for (Value capture : op.getCaptures())
    if (isa<RankedTensorType>(capture.getType()))
      captures[capture] = toBuffer(capture);
  zero = createIndex(0);
  one = createIndex(1);
  batch = getSize(query.buffer, op.getBatchPos());
  seqQ = getSize(query.buffer, op.getSeqPos());
  headsQ = getSize(query.buffer, op.getHeadPos());
  headsKV = getSize(key.buffer, op.getHeadPos());
  seqK = getSize(key.buffer, op.getSeqPos());
  if (pages)
    seqK = arith::MulIOp::create(builder, getSize(pages, 1), seqK);
}
