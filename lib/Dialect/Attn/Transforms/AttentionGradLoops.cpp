// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference of attn.attention_grad: loops over queries for the gradients of
// queries and of what regions read, loops over keys for those of keys and
// values. Each pair of a query and a key is worked out anew wherever it is
// needed.

#include "AttnLoops.h"
#include "attune/Dialect/Attn/IR/ScoreGradient.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune::attn;

namespace {
class GradientEmitter : public LoopEmitter {
public:
  GradientEmitter(RewriterBase &rewriter, AttentionGradOp grad,
                  ReferencePrecision output, ReferencePrecision precision)
      : LoopEmitter(rewriter, grad, output, precision), grad(grad) {}

  void emit();

private:
  /// What belongs to a query beside its place: its gradient of the output, its
  /// log-sum-exp, and the sum that its weights' gradients are lessened by.
  struct QueryRow : Row {
    Value outputGrad, lse, delta;
    /// Whether it is one of a batch; null where all are.
    Value exists;
  };
  /// The weight of a key, as its value is multiplied by it, and the gradients
  /// of the product of query and key and of what the score region read.
  struct Pair {
    Value weight, product;
    SmallVector<std::pair<tensor::ExtractOp, Value>> reads;
    IRMapping region;
  };

  /// A loop over three dimensions.
  void forEach(std::array<Value, 3> extents,
               function_ref<void(ValueRange)> body);
  /// What lies at a place of tensors of queries, without its keys.
  QueryRow readPlace(Value b, Value h, Value s);
  /// Sets the keys of a row whose batch is known; none if it does not exist.
  void findKeys(QueryRow &row);
  /// The query at batch, head and place along `s` of tensors of queries.
  QueryRow readRow(ValueRange place);
  /// That of a key, or of the sink.
  Value makeWeight(const QueryRow &row, Value score);
  Pair emitPair(const QueryRow &row, Value n);
  /// Whether the query sees the key.
  Value isVisible(const Row &row, Value n);
  Value isListed(const Row &row, const List &list, Value n);

  void emitDeltas();
  void emitQueryGrads();
  /// Adds, to the gradients of key `n` of batch `b` and of its value, what the
  /// queries of a head have; nothing unless the key exists.
  SmallVector<Value> addQueries(Value b, Value h, Value n, Value exists,
                                ValueRange sums);
  void emitKeyGrads();
  void emitTensorGrads();
  Value makeZeros(RankedTensorType type);
  Value makeGradient(Value like);

  AttentionGradOp grad;
  Value lse, lseGrad, outputGrad, deltas;
  Value queryGrad, keyGrad, valueGrad;
  SmallVector<Value> tensorGrads;
};
} // namespace

void GradientEmitter::forEach(std::array<Value, 3> extents,
                              function_ref<void(ValueRange)> body) {
  auto loop =
      scf::ParallelOp::create(builder, ValueRange{zero, zero, zero},
                              ValueRange(extents), ValueRange{one, one, one});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVars());
  readCapturesFromBuffers(loop);
}

GradientEmitter::QueryRow GradientEmitter::readPlace(Value b, Value h,
                                                     Value s) {
  QueryRow row;
  row.b = b;
  row.h = h;
  row.m = s;
  row.kvHead = getKVHead(h);
  row.query = loadF32(query.buffer, getIndices(b, h, s), op.getHeadDimQK());
  row.outputGrad = loadF32(outputGrad, getIndices(b, h, s), op.getHeadDimV());
  row.lse = memref::LoadOp::create(builder, lse, ValueRange{b, h, s});
  row.delta = memref::LoadOp::create(builder, deltas, ValueRange{b, h, s});
  return row;
}

void GradientEmitter::findKeys(QueryRow &row) {
  BatchRows keys = getRows(keyStarts, keyLengths, row.b, seqK);
  row.firstKey = keys.first;
  row.keys = keys.length;
  if (row.exists)
    row.keys = arith::SelectOp::create(builder, row.exists, row.keys, zero);
}

GradientEmitter::QueryRow GradientEmitter::readRow(ValueRange place) {
  QueryRow row = readPlace(place[0], place[1], place[2]);
  row.exists = locate(queryStarts, queryLengths, seqQ, row.b, row.m);
  findKeys(row);
  return row;
}

/// D(m) = sum_e output_grad * output - lse_grad
void GradientEmitter::emitDeltas() {
  Value outputs = toBuffer(grad.getOutput());
  auto type = RankedTensorType::get(
      SmallVector<int64_t>(3, ShapedType::kDynamic), builder.getF32Type());
  deltas = allocate(type, {batch, headsQ, seqQ});
  forEach({batch, headsQ, seqQ}, [&](ValueRange place) {
    SmallVector<Value, 4> indices = getIndices(place[0], place[1], place[2]);
    Value delta = dot(loadF32(outputGrad, indices, op.getHeadDimV()),
                      loadF32(outputs, indices, op.getHeadDimV()));
    if (lseGrad)
      delta = arith::SubFOp::create(
          builder, delta, memref::LoadOp::create(builder, lseGrad, place));
    memref::StoreOp::create(builder, delta, deltas, place);
  });
}

Value GradientEmitter::makeWeight(const QueryRow &row, Value score) {
  // Nothing is seen by a query whose sum of weights is 0.
  Value minusInfinity = createF32(-std::numeric_limits<float>::infinity());
  Value isEmpty = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ,
                                        row.lse, minusInfinity);
  Value power = math::ExpOp::create(
      builder, arith::SubFOp::create(builder, score, row.lse));
  return round(
      arith::SelectOp::create(builder, isEmpty, createF32(0.0f), power));
}

GradientEmitter::Pair GradientEmitter::emitPair(const QueryRow &row, Value n) {
  Score score = emitScore(row, n);
  Value weight = makeWeight(row, score.score);
  Pair pair;
  pair.weight = dropOut(weight, row, n);
  Value valueRow = loadKey(value, row, n, op.getHeadDimV());
  Value weightGrad = round(dropOut(dot(row.outputGrad, valueRow), row, n));
  Value scoreGrad = round(arith::MulFOp::create(
      builder, weight, arith::SubFOp::create(builder, weightGrad, row.delta)));
  // Where a weight is 0, so are the gradients, also where a derivative is
  // infinite.
  Value hasNoWeight = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ,
                                            weight, createF32(0.0f));
  auto mask = [&](Value gradient) -> Value {
    Value none = arith::ConstantOp::create(
        builder, builder.getFloatAttr(gradient.getType(), 0));
    return arith::SelectOp::create(builder, hasNoWeight, none, gradient);
  };
  pair.product = mask(scoreGrad);
  pair.region = score.region;
  if (!op.hasScore())
    return pair;
  ScoreGradient gradient = differentiateScore(
      builder, op.getScore(), score.region, pair.product, grad.getWrt());
  pair.product = gradient.score ? round(mask(gradient.score)) : createF32(0.0f);
  for (auto [extract, read] : gradient.reads)
    pair.reads.emplace_back(extract, mask(read));
  return pair;
}

Value GradientEmitter::isListed(const Row &row, const List &list, Value n) {
  Value none = arith::ConstantIntOp::create(builder, 0, 1);
  return forEachListedKey(
      row, list, /*isMasked=*/false, none, [&](Value key, Value found) {
        Value isIt =
            arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, key, n);
        return arith::OrIOp::create(builder, found, isIt);
      });
}

Value GradientEmitter::isVisible(const Row &row, Value n) {
  IRMapping mapping;
  Value visible = op.hasMask()
                      ? inlineRegion(builder, op.getMask(),
                                     {row.b, row.h, row.m, n}, mapping)
                      : Value(arith::ConstantIntOp::create(builder, 1, 1));
  if (!op.hasBlockLists())
    return visible;
  visible = arith::AndIOp::create(builder, visible, isListed(row, blocks, n));
  if (fullBlocks.counts)
    visible =
        arith::OrIOp::create(builder, visible, isListed(row, fullBlocks, n));
  return visible;
}

void GradientEmitter::emitQueryGrads() {
  forEach({batch, headsQ, seqQ}, [&](ValueRange place) {
    QueryRow row = readRow(place);
    Value sum = forEachVisibleKey(
        row, createZeros(op.getHeadDimQK()), [&](Value n, Value carried) {
          Value keyRow = loadKey(key, row, n, op.getHeadDimQK());
          return addMultiple(carried, emitPair(row, n).product, keyRow);
        });
    Value scale = createF32(op.getEffectiveScale());
    store(round(addMultiple(createZeros(op.getHeadDimQK()), scale, sum)),
          queryGrad, getIndices(place[0], place[1], place[2]));
  });
}

SmallVector<Value> GradientEmitter::addQueries(Value b, Value h, Value n,
                                               Value exists, ValueRange sums) {
  BatchRows queries = getRows(queryStarts, queryLengths, b, seqQ);
  Value count = queries.length;
  if (exists)
    count = arith::SelectOp::create(builder, exists, count, zero);
  auto loop = scf::ForOp::create(builder, zero, count, one, sums);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value m = loop.getInductionVar(), ofBatch = b, place = m;
  if (queries.first) {
    ofBatch = zero;
    place = arith::AddIOp::create(builder, queries.first, m);
  }
  QueryRow row = readPlace(ofBatch, h, place);
  row.b = b;
  row.m = m;
  findKeys(row);
  ValueRange before = loop.getRegionIterArgs();
  auto branch = scf::IfOp::create(builder, sums.getTypes(), isVisible(row, n),
                                  /*withElseRegion=*/true);
  scf::YieldOp::create(builder, branch.getResults());
  builder.setInsertionPointToStart(branch.thenBlock());
  Pair pair = emitPair(row, n);
  scf::YieldOp::create(
      builder, ValueRange{addMultiple(before[0], pair.product, row.query),
                          addMultiple(before[1], pair.weight, row.outputGrad)});
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, before);
  return SmallVector<Value>(loop.getResults());
}

void GradientEmitter::emitKeyGrads() {
  int64_t sizeQK = op.getHeadDimQK(), sizeV = op.getHeadDimV();
  Value batches = getSize(key.buffer, op.getBatchPos());
  forEach({batches, headsKV, seqK}, [&](ValueRange place) {
    Value b = place[0], g = place[1], n = place[2];
    Value exists = locate(keyStarts, keyLengths, seqK, b, n);
    Value heads = arith::DivUIOp::create(builder, headsQ, headsKV);
    Value first = arith::MulIOp::create(builder, g, heads);
    Value last = arith::AddIOp::create(builder, first, heads);
    auto overHeads =
        scf::ForOp::create(builder, first, last, one,
                           ValueRange{createZeros(sizeQK), createZeros(sizeV)});
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(overHeads.getBody());
      scf::YieldOp::create(builder,
                           addQueries(b, overHeads.getInductionVar(), n, exists,
                                      overHeads.getRegionIterArgs()));
    }
    Value scale = createF32(op.getEffectiveScale());
    SmallVector<Value, 4> indices = getIndices(place[0], g, place[2]);
    if (keyGrad)
      store(round(addMultiple(createZeros(sizeQK), scale,
                              overHeads.getResult(0))),
            keyGrad, indices);
    if (valueGrad)
      store(round(overHeads.getResult(1)), valueGrad, indices);
  });
}

/// The elements of a buffer of this type, all 0.
Value GradientEmitter::makeZeros(RankedTensorType type) {
  SmallVector<Value> sizes;
  Value total = one;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    Value tensor = grad.getWrt()[tensorGrads.size()];
    sizes.push_back(getSize(toBuffer(tensor), dim));
    total = arith::MulIOp::create(builder, total, sizes.back());
  }
  Value buffer = allocate(type, sizes);
  forEach({one, one, total}, [&](ValueRange place) {
    Value rest = place[2];
    SmallVector<Value> indices(sizes.size());
    for (int64_t dim = type.getRank(); dim-- > 0;) {
      indices[dim] = arith::RemUIOp::create(builder, rest, sizes[dim]);
      rest = arith::DivUIOp::create(builder, rest, sizes[dim]);
    }
    memref::StoreOp::create(builder, createF32(0.0f), buffer, indices);
  });
  return buffer;
}

/// Many positions read one element, in any order of loops.
void GradientEmitter::emitTensorGrads() {
  for (Value gradient : grad.getWrtGrads())
    tensorGrads.push_back(
        makeZeros(cast<RankedTensorType>(gradient.getType())));
  auto add = [&](Value gradient, Value tensor, ValueRange indices) {
    for (auto [named, buffer] : llvm::zip_equal(grad.getWrt(), tensorGrads))
      if (named == tensor)
        memref::AtomicRMWOp::create(builder, arith::AtomicRMWKind::addf,
                                    gradient, buffer, indices);
  };
  forEach({batch, headsQ, seqQ}, [&](ValueRange place) {
    QueryRow row = readRow(place);
    if (llvm::is_contained(grad.getWrt(), op.getSinks())) {
      Value sink = memref::LoadOp::create(builder, sinks, row.h);
      Value gradient = round(arith::NegFOp::create(
          builder,
          arith::MulFOp::create(builder, makeWeight(row, sink), row.delta)));
      if (row.exists)
        gradient = arith::SelectOp::create(builder, row.exists, gradient,
                                           createF32(0.0f));
      add(gradient, op.getSinks(), row.h);
    }
    if (!op.hasScore())
      return;
    Value none = arith::ConstantIntOp::create(builder, 0, 1);
    forEachVisibleKey(row, none, [&](Value n, Value carried) {
      Pair pair = emitPair(row, n);
      for (auto &[extract, gradient] : pair.reads) {
        Value wide = gradient;
        if (!wide.getType().isF32())
          wide = arith::ExtFOp::create(builder, builder.getF32Type(), wide);
        SmallVector<Value> indices;
        for (Value index : extract.getIndices())
          indices.push_back(pair.region.lookupOrDefault(index));
        add(wide, extract.getTensor(), indices);
      }
      return carried;
    });
  });
}

Value GradientEmitter::makeGradient(Value like) {
  auto type = cast<RankedTensorType>(like.getType());
  if (output == ReferencePrecision::F32)
    type = type.clone(builder.getF32Type());
  Value buffer = toBuffer(like);
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    sizes.push_back(getSize(buffer, dim));
  return allocate(type, sizes);
}

void GradientEmitter::emit() {
  readOperands();
  lse = toBuffer(grad.getLse());
  outputGrad = toBuffer(grad.getOutputGrad());
  if (grad.getLseGrad())
    lseGrad = toBuffer(grad.getLseGrad());
  emitDeltas();
  SmallVector<Value> results;
  auto add = [&](Value wanted, Value like, Value &buffer) {
    if (wanted)
      results.push_back(buffer = makeGradient(like));
  };
  add(grad.getQueryGrad(), op.getQuery(), queryGrad);
  add(grad.getKeyGrad(), op.getKey(), keyGrad);
  add(grad.getValueGrad(), op.getValue(), valueGrad);
  if (queryGrad)
    emitQueryGrads();
  if (keyGrad || valueGrad)
    emitKeyGrads();
  if (!grad.getWrt().empty())
    emitTensorGrads();
  llvm::append_range(results, tensorGrads);
  SmallVector<Value> tensors;
  for (auto [buffer, result] : llvm::zip_equal(results, grad.getResults())) {
    Value tensor = toTensor(buffer);
    // Sizes that only another operand knows.
    auto type = cast<RankedTensorType>(result.getType());
    type =
        type.clone(cast<RankedTensorType>(tensor.getType()).getElementType());
    if (tensor.getType() != type)
      tensor = tensor::CastOp::create(builder, type, tensor);
    tensors.push_back(tensor);
  }
  rewriter.replaceOp(grad, tensors);
}

void attune::attn::emitGradientLoops(RewriterBase &rewriter, AttentionGradOp op,
                                     ReferencePrecision output,
                                     ReferencePrecision precision) {
  GradientEmitter(rewriter, op, output, precision).emit();
}
