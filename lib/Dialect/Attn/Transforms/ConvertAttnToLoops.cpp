// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// convert-attn-to-loops: the reference of attention; those of its gradients and
// of merges have files of their own. For each query, three sweeps over its keys
// in f32: largest score, sum of exponentials, weighted sum of values. The query
// and the weighted sum are vectors, which a GPU keeps in registers: in memory
// they would cost hundreds of times what is computed. Short forms are expanded
// first, so that regions are all it has to know.

#include "AttnLoops.h"
#include "attune/Dialect/Attn/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
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
class ReferenceEmitter : public LoopEmitter {
public:
  using LoopEmitter::LoopEmitter;

  void emit(AttentionOp attention);

private:
  void emitRow(ValueRange rowIndices);
  /// A weight of values, of an exponential and the sum of all. What is rounded
  /// is what kernels round.
  Value makeWeight(Value exponential, Value sum);
  bool roundsWeights() const {
    return precision != ReferencePrecision::F32 && !weightType.isF32();
  }
  /// A weight that its key's scale is multiplied by before it is rounded. That
  /// a scale pushes it out of the type's range is no rounding: its power of 2
  /// costs nothing.
  Value makeScaledWeight(Value exponential, Value scale, Value sum);
  Value roundWeight(Value weight);
  /// The number in a type of 8 bits, which has it but for rounding.
  Value roundNarrow(Value number, FloatType type);

  /// A row of the result divided by the scale of its head.
  Value divideByScale(Value row, Value head);

  Value result, lse;
  /// Null where the result has none.
  Value resultScales;
  /// That of the result as the op has it.
  Type resultElement;
  FloatType weightType;
  /// Whether weights are rounded that are multiplied by scales of their keys.
  bool scalesWeights = false;
};
} // namespace

Value ReferenceEmitter::roundNarrow(Value number, FloatType type) {
  const llvm::fltSemantics &format = type.getFloatSemantics();
  constexpr int kBits = 24;
  int precision = static_cast<int>(APFloat::semanticsPrecision(format)),
      exponent = APFloat::semanticsMinExponent(format);
  auto word = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(
        builder, builder.getI32IntegerAttr(static_cast<int32_t>(value)));
  };
  // To the nearest one with as many bits, and to even ones between two.
  int64_t unit = int64_t(1) << (kBits - precision);
  Value bits = arith::BitcastOp::create(builder, builder.getI32Type(), number);
  Value odd = arith::AndIOp::create(
      builder, arith::ShRUIOp::create(builder, bits, word(kBits - precision)),
      word(1));
  Value above = arith::AddIOp::create(
      builder, bits, arith::AddIOp::create(builder, odd, word(unit / 2 - 1)));
  Value normal = arith::BitcastOp::create(
      builder, builder.getF32Type(),
      arith::AndIOp::create(builder, above, word(-unit)));
  // Of subnormal numbers, to a multiple of the least one, which is the last bit
  // of what is added.
  Value large = createF32(std::ldexp(1.5f, kBits - precision + exponent));
  Value subnormal = arith::SubFOp::create(
      builder, arith::AddFOp::create(builder, number, large), large);
  Value isNormal =
      arith::CmpFOp::create(builder, arith::CmpFPredicate::OGE, number,
                            createF32(std::ldexp(1.0f, exponent)));
  return arith::SelectOp::create(builder, isNormal, normal, subnormal);
}

Value ReferenceEmitter::makeWeight(Value exponential, Value sum) {
  constexpr unsigned kNarrow = 8;
  if (!roundsWeights() || weightType.getWidth() > kNarrow) {
    Value weight = arith::DivFOp::create(builder, exponential, sum);
    return roundsWeights() ? roundWeight(weight) : weight;
  }
  // A few powers of 2 below the largest number, for maxima may lag behind. The
  // largest weight lies between two numbers, so that it is as far off as any:
  // what it is depends on the maximum of a block.
  constexpr int kLag = 3;
  const llvm::fltSemantics &format = weightType.getFloatSemantics();
  int power = ilogb(APFloat::getLargest(format)) - kLag,
      digits = static_cast<int>(APFloat::semanticsPrecision(format));
  float scale = std::ldexp(1.0f + std::ldexp(1.0f, -digits), power);
  Value scaled = arith::MulFOp::create(builder, exponential, createF32(scale));
  Value rounded = arith::MulFOp::create(
      builder, roundNarrow(scaled, weightType), createF32(1.0f / scale));
  return arith::DivFOp::create(builder, rounded, sum);
}

Value ReferenceEmitter::roundWeight(Value weight) {
  Value rounded = arith::TruncFOp::create(builder, weightType, weight);
  return arith::ExtFOp::create(builder, builder.getF32Type(), rounded);
}

Value ReferenceEmitter::makeScaledWeight(Value exponential, Value scale,
                                         Value sum) {
  constexpr int64_t kMantissa = 0x007fffff, kOne = 0x3f800000;
  auto word = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(
        builder, builder.getI32IntegerAttr(static_cast<int32_t>(value)));
  };
  auto toNumber = [&](Value bits) -> Value {
    return arith::BitcastOp::create(builder, builder.getF32Type(), bits);
  };
  Value bits = arith::BitcastOp::create(builder, builder.getI32Type(), scale);
  Value power =
      toNumber(arith::AndIOp::create(builder, bits, word(~kMantissa)));
  Value mantissa = toNumber(arith::OrIOp::create(
      builder, arith::AndIOp::create(builder, bits, word(kMantissa)),
      word(kOne)));
  Value rounded =
      roundWeight(arith::MulFOp::create(builder, exponential, mantissa));
  return arith::DivFOp::create(
      builder, arith::MulFOp::create(builder, rounded, power), sum);
}

Value ReferenceEmitter::divideByScale(Value row, Value head) {
  auto scales = cast<MemRefType>(resultScales.getType());
  SmallVector<Value, 4> place(4, zero);
  if (scales.getDimSize(op.getHeadPos()) != 1)
    place[op.getHeadPos()] = head;
  return divide(row, memref::LoadOp::create(builder, resultScales, place),
                getLargestNumber(resultElement, /*isPacked=*/false));
}

void ReferenceEmitter::emitRow(ValueRange rowIndices) {
  Row row;
  row.b = rowIndices[0];
  row.h = rowIndices[1];
  row.m = rowIndices[2];
  row.kvHead = getKVHead(row.h);
  row.query = load(query, row.b, row.h, row.m, op.getHeadDimQK());
  Value exists = locate(queryStarts, queryLengths, seqQ, row.b, row.m);
  BatchRows keys = getRows(keyStarts, keyLengths, row.b, seqK);
  row.keys = keys.length;
  row.firstKey = keys.first;
  if (exists)
    row.keys = arith::SelectOp::create(builder, exists, row.keys, zero);

  Value minusInfinity = createF32(-std::numeric_limits<float>::infinity());
  Value sink =
      sinks ? Value(memref::LoadOp::create(builder, sinks, row.h)) : Value();
  if (sink && exists)
    sink = arith::SelectOp::create(builder, exists, sink, minusInfinity);
  Value largest = forEachVisibleKey(
      row, sink ? sink : minusInfinity, [&](Value n, Value carried) {
        return arith::MaxNumFOp::create(builder, carried,
                                        emitScore(row, n).score);
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

  Value total = forEachVisibleKey(
      row, sink ? exponential(sink) : createF32(0.0f),
      [&](Value n, Value carried) {
        return arith::AddFOp::create(builder, carried,
                                     exponential(emitScore(row, n).score));
      });
  // Every weight of such a row is 0; only the division must not spoil that.
  Value isZero = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ,
                                       total, createF32(0.0f));
  Value divisor =
      arith::SelectOp::create(builder, isZero, createF32(1.0f), total);

  int64_t headSize = op.getHeadDimV();
  Operand values = value;
  if (scalesWeights)
    values.factors = {};
  Value sum = forEachVisibleKey(
      row, createZeros(headSize), [&](Value n, Value carried) -> Value {
        Value weight = exponential(emitScore(row, n).score);
        weight =
            scalesWeights
                ? makeScaledWeight(weight, loadFactor(value, row, n), divisor)
                : makeWeight(weight, divisor);
        weight = dropOut(weight, row, n);
        return addMultiple(carried, weight, loadKey(values, row, n, headSize));
      });

  Value rounded = round(sum);
  store(resultScales ? divideByScale(rounded, row.h) : rounded, result,
        getIndices(rowIndices[0], rowIndices[1], rowIndices[2]));
  if (lse) {
    Value logarithm = arith::AddFOp::create(
        builder, shift, math::LogOp::create(builder, total));
    memref::StoreOp::create(builder, logarithm, lse, rowIndices);
  }
}

void ReferenceEmitter::emit(AttentionOp attention) {
  readOperands();
  weightType = cast<FloatType>(getWeightType(attention));
  scalesWeights = roundsWeights() && scalesValuesByKey(attention) &&
                  !variesAlong(attention, getValueScales(attention), 'd');
  auto resultType = cast<RankedTensorType>(attention.getResult().getType());
  resultElement = resultType.getElementType();
  if (attention.getResultScales())
    resultScales = toBuffer(attention.getResultScales());
  if (output == ReferencePrecision::F32)
    resultType = resultType.clone(builder.getF32Type());
  result = allocate(resultType, getIndices(batch, headsQ, seqQ));
  if (attention.getLse())
    lse = allocate(cast<RankedTensorType>(attention.getLse().getType()),
                   {batch, headsQ, seqQ});

  auto loop = scf::ParallelOp::create(builder, ValueRange{zero, zero, zero},
                                      ValueRange{batch, headsQ, seqQ},
                                      ValueRange{one, one, one});
  builder.setInsertionPointToStart(loop.getBody());
  emitRow(loop.getInductionVars());
  readCapturesFromBuffers(loop);

  builder.setInsertionPointAfter(loop);
  SmallVector<Value> results{toTensor(result)};
  if (lse)
    results.push_back(toTensor(lse));
  rewriter.replaceOp(op, results);
}

bool attune::attn::movesElements(Operation *op) {
  return isa<linalg::TransposeOp, tensor::CollapseShapeOp,
             tensor::ExpandShapeOp>(op);
}

/// The same move of a tensor with other elements.
static void changeElementType(RewriterBase &rewriter, Operation *move) {
  auto type = cast<RankedTensorType>(move->getOperand(0).getType());
  auto transpose = dyn_cast<linalg::TransposeOp>(move);
  if (!transpose) {
    Value moved = move->getResult(0);
    moved.setType(
        cast<RankedTensorType>(moved.getType()).clone(type.getElementType()));
    return;
  }
  Location loc = move->getLoc();
  rewriter.setInsertionPoint(move);
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, transpose.getInit()),
      type.getElementType());
  rewriter.replaceOpWithNewOp<linalg::TransposeOp>(
      move, transpose.getInput(), empty, transpose.getPermutation());
}

/// Whether `result` can have a type that is not the operands'. `moves` gets
/// what moves its elements before the function returns them, the first ones
/// first.
static LogicalResult checkF32Output(OpResult result,
                                    SmallVectorImpl<Operation *> &moves) {
  Operation *op = result.getOwner();
  auto func = op->getParentOfType<func::FuncOp>();
  if (!func || op->getParentOp() != func || !func.getBody().hasOneBlock())
    return op->emitOpError(
        "expects to be in a function of one block for output=f32");
  SmallVector<Operation *> users(result.getUsers());
  while (!users.empty()) {
    Operation *user = users.pop_back_val();
    if (movesElements(user)) {
      moves.push_back(user);
      llvm::append_range(users, user->getUsers());
      continue;
    }
    // A part may have any type, also one that others have not.
    if (!isa<func::ReturnOp, MergeOp>(user)) {
      InFlightDiagnostic diagnostic = op->emitOpError(
          "expects its result to be returned by the function or merged, "
          "reshaped or transposed at most, for output=f32");
      diagnostic.attachNote(user->getLoc())
          << "used here by '" << user->getName() << "'";
      return diagnostic;
    }
  }
  std::optional<SymbolTable::UseRange> uses =
      SymbolTable::getSymbolUses(func, func->getParentOp());
  if (!uses || !uses->empty())
    return op->emitOpError(
               "expects a function without callers for output=f32, but '@")
           << func.getSymName() << "' is called";
  return success();
}

/// Whether bytes of the first result hold two numbers each.
static bool isPacked(Operation *op) {
  if (auto quantize = dyn_cast<QuantizeOp>(op))
    return quantize.getPacked();
  auto append = dyn_cast<AppendOp>(op);
  return append && append.getPacked();
}

namespace {
struct ConvertAttnToLoops
    : attune::attn::impl::ConvertAttnToLoopsPassBase<ConvertAttnToLoops> {
  using ConvertAttnToLoopsPassBase::ConvertAttnToLoopsPassBase;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<AppendOp, AttentionOpInterface, MergeOp, QuantizeOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (failed(lower(op)))
        return signalPassFailure();
  }

private:
  void emit(IRRewriter &rewriter, Operation *op) {
    if (auto merge = dyn_cast<MergeOp>(op))
      return emitMergeLoops(rewriter, merge, output, precision);
    if (auto quantize = dyn_cast<QuantizeOp>(op))
      return emitQuantizeLoops(rewriter, quantize, output);
    if (auto append = dyn_cast<AppendOp>(op))
      return emitAppendLoops(rewriter, append, output);
    expandShortForms(rewriter, cast<AttentionOpInterface>(op));
    if (auto grad = dyn_cast<AttentionGradOp>(op))
      emitGradientLoops(rewriter, grad, output, precision);
    else
      ReferenceEmitter(rewriter, cast<AttentionOp>(op), output, precision)
          .emit(cast<AttentionOp>(op));
  }

  LogicalResult lower(Operation *op) {
    SmallVector<Operation *> moves;
    bool changesType = false;
    for (OpResult result : op->getResults()) {
      auto type = cast<RankedTensorType>(result.getType());
      // A pool lies elsewhere than the one that it was made of.
      bool becomesF32 = output == ReferencePrecision::F32 &&
                        (!type.getElementType().isF32() ||
                         (type.getEncoding() && isa<AppendOp>(op)));
      changesType |= becomesF32;
      if (becomesF32 && failed(checkF32Output(result, moves)))
        return failure();
      if (becomesF32 && isPacked(op) && !moves.empty())
        return op->emitOpError("expects packed results to be returned as they "
                               "are for output=f32, but they are reshaped or "
                               "transposed");
      if (type.getEncoding() && !becomesF32)
        return op->emitOpError("expects results without an encoding, but got ")
               << type;
    }
    IRRewriter rewriter(op);
    auto func = op->getParentOfType<func::FuncOp>();
    emit(rewriter, op);
    if (changesType) {
      for (Operation *move : moves)
        changeElementType(rewriter, move);
      Operation *terminator = func.getBody().back().getTerminator();
      func.setType(FunctionType::get(&getContext(), func.getArgumentTypes(),
                                     terminator->getOperandTypes()));
    }
    return success();
  }
};
} // namespace
