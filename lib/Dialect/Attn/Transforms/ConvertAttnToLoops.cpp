// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// convert-attn-to-loops: the reference. For each query, three sweeps over its
// keys in f32: largest score, sum of exponentials, weighted sum of values. The
// query and the weighted sum are vectors, which a GPU keeps in registers: in
// memory they would cost hundreds of times what is computed. Short forms are
// expanded first, so that regions are all it has to know.

#include "attune/Dialect/Attn/Transforms/Passes.h"
#include "attune/Dialect/Attn/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attune::attn {
#define GEN_PASS_DEF_CONVERTATTNTOLOOPSPASS
#include "attune/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attune::attn

using namespace mlir;
using namespace attune::attn;

namespace {
/// Emits the loops of one op. Members that are Values are set on the way.
class ReferenceEmitter {
public:
  ReferenceEmitter(RewriterBase &rewriter, AttentionOp op,
                   ReferencePrecision output, ReferencePrecision precision)
      : rewriter(rewriter), op(op), builder(op.getLoc(), rewriter),
        output(output), precision(precision) {}

  void emit();

private:
  struct Row {
    Value b, h, m;
    Value kvHead;
    /// In f32, as all vectors are.
    Value query;
  };
  /// Buffers of a list of blocks; null where there is none.
  struct List {
    Value counts, indices;
  };
  using KeyBody = function_ref<Value(Value n, Value carried)>;

  Value createF32(float value) {
    return arith::ConstantOp::create(builder, builder.getF32FloatAttr(value));
  }
  Value createIndex(int64_t value) {
    return arith::ConstantIndexOp::create(builder, value);
  }
  Value toBuffer(Value tensor);
  Value getSize(Value buffer, int64_t position);
  Value allocate(RankedTensorType type, ArrayRef<Value> sizes);
  SmallVector<Value, 4> getIndices(Value b, Value h, Value s);
  bool isHeadDimDense(Value buffer);
  /// The vector along the head size, and the other way round.
  Value loadF32(Value buffer, SmallVector<Value, 4> indices, int64_t count);
  void store(Value vector, Value buffer, SmallVector<Value, 4> indices);
  Value round(Value value);

  void emitRow(ValueRange rowIndices);
  Value emitScore(const Row &row, Value n);
  Value forEachVisibleKey(const Row &row, Value initial, KeyBody body);
  /// carried = body(n, carried) for each n from `begin` to `end`, not included,
  /// that the mask lets through, if it is asked.
  Value forEachKey(const Row &row, Value begin, Value end, bool isMasked,
                   Value initial, KeyBody body);
  /// The same for the keys of the listed blocks.
  Value forEachListedKey(const Row &row, const List &list, bool isMasked,
                         Value initial, KeyBody body);
  void readCapturesFromBuffers(scf::ParallelOp loop);

  RewriterBase &rewriter;
  AttentionOp op;
  ImplicitLocOpBuilder builder;
  ReferencePrecision output, precision;
  Value query, key, value, sinks, result, lse;
  List blocks, fullBlocks;
  Value zero, one, seqK, headsQ, headsKV;
  llvm::MapVector<Value, Value> captures;
};
} // namespace

/// The buffer of a tensor: contiguous unless an encoding says otherwise.
static MemRefType getBufferType(RankedTensorType type) {
  MemRefLayoutAttrInterface layout;
  if (auto strided = dyn_cast_or_null<StridedAttr>(type.getEncoding()))
    layout = StridedLayoutAttr::get(type.getContext(), /*offset=*/0,
                                    strided.getStrides());
  return MemRefType::get(type.getShape(), type.getElementType(), layout);
}

Value ReferenceEmitter::toBuffer(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return bufferization::ToBufferOp::create(builder, getBufferType(type), tensor,
                                           /*read_only=*/true);
}

Value ReferenceEmitter::getSize(Value buffer, int64_t position) {
  return builder.createOrFold<memref::DimOp>(buffer, position);
}

Value ReferenceEmitter::allocate(RankedTensorType type, ArrayRef<Value> sizes) {
  SmallVector<Value> dynamicSizes;
  for (auto [size, value] : llvm::zip_equal(type.getShape(), sizes))
    if (ShapedType::isDynamic(size))
      dynamicSizes.push_back(value);
  return memref::AllocOp::create(
      builder, MemRefType::get(type.getShape(), type.getElementType()),
      dynamicSizes);
}

/// Of the first element along the head size.
SmallVector<Value, 4> ReferenceEmitter::getIndices(Value b, Value h, Value s) {
  SmallVector<Value, 4> indices(4);
  indices[op.getBatchPos()] = b;
  indices[op.getHeadPos()] = h;
  indices[op.getSeqPos()] = s;
  indices[op.getHeadDimPos()] = zero;
  return indices;
}

/// The type of a vector, or of a scalar, with other elements.
static Type withElement(Value value, Type element) {
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    return vector.clone(element);
  return element;
}

/// Whether elements along the head size are neighbours, as those of a vector in
/// memory are.
bool ReferenceEmitter::isHeadDimDense(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  return op.getHeadDimPos() == type.getRank() - 1 && type.isLastDimUnitStride();
}

Value ReferenceEmitter::loadF32(Value buffer, SmallVector<Value, 4> indices,
                                int64_t count) {
  auto type = VectorType::get(
      count, cast<MemRefType>(buffer.getType()).getElementType());
  Value loaded;
  if (isHeadDimDense(buffer)) {
    loaded = vector::LoadOp::create(builder, type, buffer, indices);
  } else {
    SmallVector<Value> elements;
    for (int64_t d = 0; d < count; ++d) {
      indices[op.getHeadDimPos()] = createIndex(d);
      elements.push_back(memref::LoadOp::create(builder, buffer, indices));
    }
    loaded = vector::FromElementsOp::create(builder, type, elements);
  }
  if (type.getElementType().isF32())
    return loaded;
  return arith::ExtFOp::create(
      builder, withElement(loaded, builder.getF32Type()), loaded);
}

void ReferenceEmitter::store(Value vector, Value buffer,
                             SmallVector<Value, 4> indices) {
  if (isHeadDimDense(buffer)) {
    vector::StoreOp::create(builder, vector, buffer, indices);
    return;
  }
  for (int64_t d = 0; d < op.getHeadDimV(); ++d) {
    indices[op.getHeadDimPos()] = createIndex(d);
    memref::StoreOp::create(builder,
                            vector::ExtractOp::create(builder, vector, d),
                            buffer, indices);
  }
}

/// What is left of an f32 in the operands' element type, if that is asked for.
Value ReferenceEmitter::round(Value value) {
  if (precision == ReferencePrecision::F32 || op.getElementType().isF32())
    return value;
  Value rounded = arith::TruncFOp::create(
      builder, withElement(value, op.getElementType()), value);
  return arith::ExtFOp::create(
      builder, withElement(value, builder.getF32Type()), rounded);
}

/// score(scale * sum_d query * key, b, h, m, n)
Value ReferenceEmitter::emitScore(const Row &row, Value n) {
  Value product = arith::MulFOp::create(
      builder, row.query,
      loadF32(key, getIndices(row.b, row.kvHead, n), op.getHeadDimQK()));
  // In ascending order.
  Value dot = vector::ReductionOp::create(builder, vector::CombiningKind::ADD,
                                          product, createF32(0.0f));
  Value score = round(
      arith::MulFOp::create(builder, dot, createF32(op.getEffectiveScale())));
  if (!op.hasScore())
    return score;
  IRMapping mapping;
  return round(inlineRegion(builder, op.getScore(),
                            {score, row.b, row.h, row.m, n}, mapping));
}

/// carried = body(n, carried) for each n that the mask lets through.
Value ReferenceEmitter::forEachVisibleKey(const Row &row, Value initial,
                                          KeyBody body) {
  if (!op.hasBlockLists())
    return forEachKey(row, zero, seqK, op.hasMask(), initial, body);
  Value carried = initial;
  if (fullBlocks.counts)
    carried =
        forEachListedKey(row, fullBlocks, /*isMasked=*/false, carried, body);
  return forEachListedKey(row, blocks, op.hasMask(), carried, body);
}

Value ReferenceEmitter::forEachListedKey(const Row &row, const List &list,
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
      builder, arith::AddIOp::create(builder, begin, size), seqK);
  scf::YieldOp::create(builder, forEachKey(row, begin, end, isMasked,
                                           loop.getRegionIterArg(0), body));
  return loop.getResult(0);
}

Value ReferenceEmitter::forEachKey(const Row &row, Value begin, Value end,
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

void ReferenceEmitter::emitRow(ValueRange rowIndices) {
  Row row{rowIndices[0], rowIndices[1], rowIndices[2], {}, {}};
  // h / (headsQ / headsKV), written so that nothing is divided by zero.
  row.kvHead = arith::DivUIOp::create(
      builder, arith::MulIOp::create(builder, row.h, headsKV), headsQ);
  row.query =
      loadF32(query, getIndices(row.b, row.h, row.m), op.getHeadDimQK());

  Value minusInfinity = createF32(-std::numeric_limits<float>::infinity());
  Value sink =
      sinks ? Value(memref::LoadOp::create(builder, sinks, row.h)) : Value();
  Value largest = forEachVisibleKey(
      row, sink ? sink : minusInfinity, [&](Value n, Value carried) {
        return arith::MaxNumFOp::create(builder, carried, emitScore(row, n));
      });
  // Where no score is finite, exponentials are taken as they are: -inf - -inf
  // is no number.
  Value isEmpty = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ,
                                        largest, minusInfinity);
  Value shift =
      arith::SelectOp::create(builder, isEmpty, createF32(0.0f), largest);
  auto exponential = [&](Value score) -> Value {
    return math::ExpOp::create(builder,
                               arith::SubFOp::create(builder, score, shift));
  };

  Value total =
      forEachVisibleKey(row, sink ? exponential(sink) : createF32(0.0f),
                        [&](Value n, Value carried) {
                          return arith::AddFOp::create(
                              builder, carried, exponential(emitScore(row, n)));
                        });
  // Every weight of such a row is 0; only the division must not spoil that.
  Value isZero = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ,
                                       total, createF32(0.0f));
  Value divisor =
      arith::SelectOp::create(builder, isZero, createF32(1.0f), total);

  int64_t headSize = op.getHeadDimV();
  auto vectorType = VectorType::get(headSize, builder.getF32Type());
  Value sum = forEachVisibleKey(
      row, arith::ConstantOp::create(builder, builder.getZeroAttr(vectorType)),
      [&](Value n, Value carried) -> Value {
        Value weight = round(arith::DivFOp::create(
            builder, exponential(emitScore(row, n)), divisor));
        Value elements =
            loadF32(value, getIndices(row.b, row.kvHead, n), headSize);
        Value term = arith::MulFOp::create(
            builder, vector::BroadcastOp::create(builder, vectorType, weight),
            elements);
        return arith::AddFOp::create(builder, carried, term);
      });

  sum = round(sum);
  if (!cast<MemRefType>(result.getType()).getElementType().isF32())
    sum = arith::TruncFOp::create(builder,
                                  withElement(sum, op.getElementType()), sum);
  store(sum, result, getIndices(row.b, row.h, row.m));
  if (lse) {
    Value logarithm = arith::AddFOp::create(
        builder, shift, math::LogOp::create(builder, total));
    memref::StoreOp::create(builder, logarithm, lse,
                            ValueRange{row.b, row.h, row.m});
  }
}

void ReferenceEmitter::readCapturesFromBuffers(scf::ParallelOp loop) {
  loop.walk([&](Operation *inner) {
    rewriter.setInsertionPoint(inner);
    if (auto extract = dyn_cast<tensor::ExtractOp>(inner))
      rewriter.replaceOpWithNewOp<memref::LoadOp>(
          extract, captures.lookup(extract.getTensor()), extract.getIndices());
    else if (auto dim = dyn_cast<tensor::DimOp>(inner))
      rewriter.replaceOpWithNewOp<memref::DimOp>(
          dim, captures.lookup(dim.getSource()), dim.getIndex());
  });
}

void ReferenceEmitter::emit() {
  builder.setInsertionPoint(op);
  query = toBuffer(op.getQuery());
  key = toBuffer(op.getKey());
  value = toBuffer(op.getValue());
  if (op.getSinks())
    sinks = toBuffer(op.getSinks());
  if (op.hasBlockLists())
    blocks = {toBuffer(op.getBlockCounts()), toBuffer(op.getBlockIndices())};
  if (op.getFullBlockCounts())
    fullBlocks = {toBuffer(op.getFullBlockCounts()),
                  toBuffer(op.getFullBlockIndices())};
  for (Value capture : op.getCaptures())
    if (isa<RankedTensorType>(capture.getType()))
      captures[capture] = toBuffer(capture);
  zero = createIndex(0);
  one = createIndex(1);
  Value batch = getSize(query, op.getBatchPos()),
        seqQ = getSize(query, op.getSeqPos());
  headsQ = getSize(query, op.getHeadPos());
  headsKV = getSize(key, op.getHeadPos());
  seqK = getSize(key, op.getSeqPos());

  auto resultType = cast<RankedTensorType>(op.getResult().getType());
  if (output == ReferencePrecision::F32)
    resultType = resultType.clone(builder.getF32Type());
  result = allocate(resultType, getIndices(batch, headsQ, seqQ));
  if (op.getLse())
    lse = allocate(cast<RankedTensorType>(op.getLse().getType()),
                   {batch, headsQ, seqQ});

  auto loop = scf::ParallelOp::create(builder, ValueRange{zero, zero, zero},
                                      ValueRange{batch, headsQ, seqQ},
                                      ValueRange{one, one, one});
  builder.setInsertionPointToStart(loop.getBody());
  emitRow(loop.getInductionVars());
  readCapturesFromBuffers(loop);

  builder.setInsertionPointAfter(loop);
  auto toTensor = [&](Value buffer) -> Value {
    return bufferization::ToTensorOp::create(
        builder, memref::getTensorTypeFromMemRefType(buffer.getType()), buffer,
        /*restrict=*/true, /*writable=*/true);
  };
  SmallVector<Value> results{toTensor(result)};
  if (lse)
    results.push_back(toTensor(lse));
  rewriter.replaceOp(op, results);
}

/// Whether the results of `op` can have a type that is not the operands'.
/// `reshapes` gets the reshapes between it and the function's return.
static LogicalResult checkF32Output(AttentionOp op,
                                    SmallVectorImpl<Operation *> &reshapes) {
  auto func = op->getParentOfType<func::FuncOp>();
  if (!func || op->getParentOp() != func || !func.getBody().hasOneBlock())
    return op.emitOpError(
        "expects to be in a function of one block for output=f32");
  SmallVector<Operation *> users(op.getResult().getUsers());
  while (!users.empty()) {
    Operation *user = users.pop_back_val();
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user)) {
      reshapes.push_back(user);
      llvm::append_range(users, user->getUsers());
      continue;
    }
    if (!isa<func::ReturnOp>(user)) {
      InFlightDiagnostic diagnostic = op.emitOpError(
          "expects its result to be returned by the function for output=f32");
      diagnostic.attachNote(user->getLoc())
          << "used here by '" << user->getName() << "'";
      return diagnostic;
    }
  }
  std::optional<SymbolTable::UseRange> uses =
      SymbolTable::getSymbolUses(func, func->getParentOp());
  if (!uses || !uses->empty())
    return op.emitOpError(
               "expects a function without callers for output=f32, but '@")
           << func.getSymName() << "' is called";
  return success();
}

namespace {
struct ConvertAttnToLoops
    : attune::attn::impl::ConvertAttnToLoopsPassBase<ConvertAttnToLoops> {
  using ConvertAttnToLoopsPassBase::ConvertAttnToLoopsPassBase;

  void runOnOperation() override {
    SmallVector<AttentionOp> ops;
    getOperation().walk([&](AttentionOp op) { ops.push_back(op); });
    for (AttentionOp op : ops)
      if (failed(lower(op)))
        return signalPassFailure();
  }

private:
  LogicalResult lower(AttentionOp op) {
    bool changesType =
        output == ReferencePrecision::F32 && !op.getElementType().isF32();
    SmallVector<Operation *> reshapes;
    if (changesType && failed(checkF32Output(op, reshapes)))
      return failure();
    for (Value result : op.getResults())
      if (cast<RankedTensorType>(result.getType()).getEncoding() &&
          !(changesType && result == op.getResult()))
        return op.emitOpError("expects results without an encoding, but got ")
               << result.getType();
    IRRewriter rewriter(op);
    auto func = op->getParentOfType<func::FuncOp>();
    expandShortForms(rewriter, op);
    ReferenceEmitter(rewriter, op, output, precision).emit();
    if (changesType) {
      for (Operation *reshape : reshapes) {
        Value reshaped = reshape->getResult(0);
        reshaped.setType(cast<RankedTensorType>(reshaped.getType())
                             .clone(rewriter.getF32Type()));
      }
      Operation *terminator = func.getBody().back().getTerminator();
      func.setType(FunctionType::get(&getContext(), func.getArgumentTypes(),
                                     terminator->getOperandTypes()));
    }
    return success();
  }
};
} // namespace
