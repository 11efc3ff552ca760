// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention over several parts of the keys made one. Each part is known by its
// result O_c and the logarithm L_c of its sum of exponentials; then
// L = log(sum_c exp(L_c) + exp(sink)) and O = sum_c exp(L_c - L) O_c.

#include "attune/Dialect/Attn/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace attune::attn;

namespace {
/// Emits structured ops over the iteration space (dimensions of a result...,
/// part). All arithmetic is f32.
class StateMerger {
public:
  StateMerger(OpBuilder &builder, Location loc, AttentionOp op)
      : builder(loc, builder), op(op) {}

  MergeResult merge(Value results, Value logarithms);

private:
  using Body = function_ref<Value(ImplicitLocOpBuilder &, ValueRange)>;

  Value createF32(ImplicitLocOpBuilder &at, float value) {
    return arith::ConstantOp::create(at, at.getF32FloatAttr(value));
  }
  /// `x`, but 0 for -inf: what a row that sees no key is shifted by.
  Value finite(ImplicitLocOpBuilder &at, Value x);
  Value createEmpty(ArrayRef<OpFoldResult> sizes, Type type);
  Value createFilled(ArrayRef<OpFoldResult> sizes, float value);
  /// `init` updated by the body at each point of `numLoops` loops, whose last
  /// one is over parts where `reducesParts`.
  Value emit(ValueRange inputs, Value init, ArrayRef<AffineMap> maps,
             unsigned numLoops, bool reducesParts, Body body);

  ImplicitLocOpBuilder builder;
  AttentionOp op;
};
} // namespace

Value StateMerger::finite(ImplicitLocOpBuilder &at, Value x) {
  Value minusInfinity = createF32(at, -std::numeric_limits<float>::infinity());
  Value isEmpty =
      arith::CmpFOp::create(at, arith::CmpFPredicate::OEQ, x, minusInfinity);
  return arith::SelectOp::create(at, isEmpty, createF32(at, 0.0f), x);
}

Value StateMerger::createEmpty(ArrayRef<OpFoldResult> sizes, Type type) {
  return tensor::EmptyOp::create(builder, sizes, type);
}

Value StateMerger::createFilled(ArrayRef<OpFoldResult> sizes, float value) {
  return linalg::FillOp::create(builder, createF32(builder, value),
                                createEmpty(sizes, builder.getF32Type()))
      .getResult(0);
}

Value StateMerger::emit(ValueRange inputs, Value init, ArrayRef<AffineMap> maps,
                        unsigned numLoops, bool reducesParts, Body body) {
  SmallVector<utils::IteratorType> iterators(numLoops,
                                             utils::IteratorType::parallel);
  if (reducesParts)
    iterators.back() = utils::IteratorType::reduction;
  auto generic = linalg::GenericOp::create(
      builder, init.getType(), inputs, init, maps, iterators,
      [&](OpBuilder &inner, Location loc, ValueRange arguments) {
        ImplicitLocOpBuilder at(loc, inner);
        linalg::YieldOp::create(at, body(at, arguments));
      });
  return generic.getResult(0);
}

MergeResult StateMerger::merge(Value results, Value logarithms) {
  ReifiedRankedShapedTypeDims shapes;
  LogicalResult reified = op.reifyResultShapes(builder, shapes);
  assert(succeeded(reified) && "every size of a result is one of an operand");
  (void)reified;
  ArrayRef<OpFoldResult> sizes = shapes[0];
  int64_t b = op.getBatchPos(), h = op.getHeadPos(), s = op.getSeqPos();
  SmallVector<OpFoldResult> rows{sizes[b], sizes[h], sizes[s]};
  MLIRContext *context = op.getContext();
  auto map = [&](unsigned numLoops, ArrayRef<unsigned> loops) {
    return AffineMap::getMultiDimMapWithTargets(numLoops, loops, context);
  };
  auto exponential = [&](ImplicitLocOpBuilder &at, Value x, Value shift) {
    return math::ExpOp::create(at, arith::SubFOp::create(at, x, shift))
        .getResult();
  };

  // Loops (b, h, m, part); logarithms have the part in front.
  AffineMap row = map(4, {0, 1, 2}), rowOfPart = map(4, {3, 0, 1, 2});
  AffineMap alone = map(3, {0, 1, 2}), head = map(3, {1});
  // A sink counts once, like a part whose result is 0.
  Value sinks = op.getSinks();
  Value maximum = createFilled(rows, -std::numeric_limits<float>::infinity());
  if (sinks)
    maximum = emit(sinks, maximum, {head, alone}, 3, false,
                   [](auto &, ValueRange x) { return x[0]; });
  maximum = emit(logarithms, maximum, {rowOfPart, row}, 4, true,
                 [&](ImplicitLocOpBuilder &at, ValueRange x) -> Value {
                   return arith::MaxNumFOp::create(at, x[0], x[1]);
                 });
  Value sum = createFilled(rows, 0.0f);
  if (sinks)
    sum = emit({sinks, maximum}, sum, {head, alone, alone}, 3, false,
               [&](ImplicitLocOpBuilder &at, ValueRange x) {
                 return exponential(at, x[0], finite(at, x[1]));
               });
  sum = emit({logarithms, maximum}, sum, {rowOfPart, row, row}, 4, true,
             [&](ImplicitLocOpBuilder &at, ValueRange x) -> Value {
               return arith::AddFOp::create(
                   at, x[2], exponential(at, x[0], finite(at, x[1])));
             });
  Value total = emit({maximum, sum}, createEmpty(rows, builder.getF32Type()),
                     {alone, alone, alone}, 3, false,
                     [&](ImplicitLocOpBuilder &at, ValueRange x) -> Value {
                       return arith::AddFOp::create(
                           at, finite(at, x[0]), math::LogOp::create(at, x[1]));
                     });

  // Weights lie as the logarithms of the parts do.
  OpFoldResult parts =
      tensor::getMixedSize(builder, builder.getLoc(), logarithms, 0);
  SmallVector<OpFoldResult> partRows{parts};
  llvm::append_range(partRows, rows);
  AffineMap same = map(4, {0, 1, 2, 3});
  Value weights =
      emit({logarithms, total}, createEmpty(partRows, builder.getF32Type()),
           {same, map(4, {1, 2, 3}), same}, 4, false,
           [&](ImplicitLocOpBuilder &at, ValueRange x) {
             return exponential(at, x[0], finite(at, x[1]));
           });

  // Loops (dimensions of the result in its order..., part).
  unsigned rowDims[] = {4, unsigned(b), unsigned(h), unsigned(s)};
  Value merged =
      emit({results, weights}, createFilled(sizes, 0.0f),
           {map(5, {4, 0, 1, 2, 3}), map(5, rowDims), map(5, {0, 1, 2, 3})}, 5,
           true, [&](ImplicitLocOpBuilder &at, ValueRange x) -> Value {
             Value part = x[0];
             if (!part.getType().isF32())
               part = arith::ExtFOp::create(at, at.getF32Type(), part);
             return arith::AddFOp::create(
                 at, x[2], arith::MulFOp::create(at, x[1], part));
           });
  FloatType type = op.getElementType();
  if (!type.isF32())
    merged = emit(merged, createEmpty(sizes, type), {same, same}, 4, false,
                  [&](ImplicitLocOpBuilder &at, ValueRange x) -> Value {
                    return arith::TruncFOp::create(at, type, x[0]);
                  });
  SmallVector<Value> replacements{merged};
  if (op.getLse())
    replacements.push_back(total);
  // Transform dialect has one handle for all that merges: the last op.
  return {{merged.getDefiningOp()}, replacements};
}

MergeResult attune::attn::mergeStates(OpBuilder &builder, Location loc,
                                      AttentionOp op, Value results,
                                      Value logarithms) {
  return StateMerger(builder, loc, op).merge(results, logarithms);
}
