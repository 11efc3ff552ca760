// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Online softmax over key blocks (Milakov and Gimelshein, 2018; Dao et al.,
// 2022). Scores stay in the units in which they are computed, and the factor
// that takes them to base 2 is folded into the exponent, so that an element
// costs one fused multiply-add and one exp2:
//
//   p = exp2(s * unit - max * unit),  unit = scale * log2(e)
//
// With a score region, scores are scaled first, and unit = factor * log2(e) for
// a region that ends in a product with a factor, as a soft cap does, which is
// not made.
//
// Whatever `max` is, the result is right as long as nothing overflows. So it
// may lag behind the largest score by `rescale` powers of two, and what was
// summed up is only then multiplied by exp2 of its growth (FlashAttention-4).

#include "OnlineSoftmax.h"
#include "PackedUnits.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune;
using tile::TileType;

Value attune::constantF32(OpBuilder &builder, Location loc, double value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getF32FloatAttr(value));
}

static Value maximum(OpBuilder &inner, Location loc, ValueRange args) {
  return arith::MaxNumFOp::create(inner, loc, args[0], args[1]);
}

static Value multiply(OpBuilder &inner, Location loc, ValueRange args) {
  return arith::MulFOp::create(inner, loc, args[0], args[1]);
}

static math::Exp2Op exp2(OpBuilder &inner, Location loc, Value exponent) {
  return math::Exp2Op::create(inner, loc, exponent, arith::FastMathFlags::afn);
}

bool OnlineSoftmax::takesUnscaled(attn::AttentionOpInterface op) {
  return !op.hasScore() && op.getEffectiveScale() > 0;
}

/// The operand of a product that is a positive constant, and its value.
static std::optional<std::pair<unsigned, double>> findFactor(Value score) {
  auto product = score.getDefiningOp<arith::MulFOp>();
  if (!product)
    return std::nullopt;
  for (unsigned number : {0u, 1u}) {
    APFloat value(0.0f);
    if (matchPattern(product->getOperand(number), m_ConstantFloat(&value)) &&
        value.isFiniteNonZero() && !value.isNegative())
      return std::pair(number, value.convertToDouble());
  }
  return std::nullopt;
}

/// The factor that the score region ends with; none for a product from around
/// the region, which a kernel has as an argument.
static std::optional<double> getLastFactor(attn::AttentionOp op) {
  if (!op.hasScore())
    return std::nullopt;
  Value score = op.getScore().front().getTerminator()->getOperand(0);
  auto factor = findFactor(score);
  if (!factor || score.getParentRegion() != &op.getScore())
    return std::nullopt;
  return factor->second;
}

Value OnlineSoftmax::dropFactor(attn::AttentionOp op, Value score) {
  if (!getLastFactor(op))
    return score;
  Operation *product = score.getDefiningOp();
  Value rest = product->getOperand(1 - findFactor(score)->first);
  if (product->use_empty())
    product->erase();
  return rest;
}

void OnlineSoftmax::foldIntoNextFactor(OpBuilder &builder,
                                       arith::MulFOp scaled) {
  APFloat first(0.0f);
  if (!scaled->hasOneUse() ||
      !matchPattern(scaled.getRhs(), m_ConstantFloat(&first)))
    return;
  OpOperand &use = *scaled->use_begin();
  auto next = dyn_cast<arith::MulFOp>(use.getOwner());
  APFloat second(0.0f);
  unsigned other = 1 - use.getOperandNumber();
  if (!next || !matchPattern(next->getOperand(other), m_ConstantFloat(&second)))
    return;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(next);
  Value both = constantF32(builder, next.getLoc(),
                           first.convertToDouble() * second.convertToDouble());
  next->setOperand(other, both);
  use.set(scaled.getLhs());
  scaled.erase();
}

/// What the scores that takeBlock() gets are multiplied by to be an exponent of
/// 2.
static double getUnit(attn::AttentionOp op) {
  if (OnlineSoftmax::takesUnscaled(op))
    return op.getEffectiveScale() * llvm::numbers::log2e;
  return getLastFactor(op).value_or(1) * llvm::numbers::log2e;
}

/// The power of 2 at or below the largest number of a type of 8 bits; 0 of
/// others.
static int64_t getLargestPower(Type type) {
  auto format = cast<FloatType>(type);
  constexpr unsigned kNarrow = 8;
  if (format.getWidth() != kNarrow)
    return 0;
  return ilogb(APFloat::getLargest(format.getFloatSemantics()));
}

/// Of the powers of 2 that weights of 8 bits have, few are left for maxima that
/// lag behind.
static int64_t getLag(attn::AttentionOp op) {
  constexpr int64_t kNarrowLag = 2;
  int64_t lag = op.getScheduleAttr().getRescale();
  return getLargestPower(attn::getWeightType(op)) ? std::min(lag, kNarrowLag)
                                                  : lag;
}

Value TileBuilder::scaleRows(Value tile, Value factors) {
  auto type = cast<TileType>(tile.getType());
  return map(type, {tile, broadcast(factors, type)}, multiply);
}

OnlineSoftmax::OnlineSoftmax(TileBuilder &builder, attn::AttentionOp op,
                             const KernelSizes &sizes)
    : b(builder), op(op), schedule(op.getScheduleAttr()),
      rowType(TileType::get({sizes.blockM}, b.getF32Type())),
      sumType(TileType::get({sizes.blockM, sizes.partialSums}, b.getF32Type())),
      accType(TileType::get({sizes.blockM, sizes.outputParts.front().count},
                            b.getF32Type())),
      countType(
          TileType::get({sizes.blockM, sizes.countColumns}, b.getF32Type())),
      parts(sizes.outputParts), raisesApart(sizes.raisesApart),
      units(sizes.valueUnits),
      sumsCounts(!units.empty() && !attn::scalesValuesByKey(op) &&
                 !op.getDropout()),
      unit(getUnit(op)), lag(getLag(op)),
      bias(std::max<int64_t>(getLargestPower(attn::getWeightType(op)) - lag,
                             0)) {}

void OnlineSoftmax::setFactor(Value factor) {
  Location loc = b.getLoc();
  Value product =
      arith::MulFOp::create(b, loc, factor, constantF32(b, loc, unit));
  // Scores that are not seen stay -inf, whatever they are multiplied by.
  unitOfTile = arith::MaxNumFOp::create(
      b, loc, product, constantF32(b, loc, std::numeric_limits<float>::min()));
  negativeUnit = arith::NegFOp::create(b, loc, unitOfTile);
  if (lag)
    mostGrowth = arith::DivFOp::create(
        b, loc, constantF32(b, loc, static_cast<double>(lag)), unitOfTile);
}

Value OnlineSoftmax::readUnit(OpBuilder &inner, Location loc,
                              bool isNegative) const {
  if (unitOfTile)
    return isNegative ? negativeUnit : unitOfTile;
  return constantF32(inner, loc, isNegative ? -unit : unit);
}

Value OnlineSoftmax::getMostGrowth(OpBuilder &inner, Location loc) const {
  return mostGrowth ? mostGrowth
                    : constantF32(inner, loc, static_cast<double>(lag) / unit);
}

SoftmaxState OnlineSoftmax::start() {
  SoftmaxState state{b.fill(rowType, -kInfinity), b.fill(sumType, 0)};
  for (size_t i = 0; i < parts.size(); ++i)
    state.accs.push_back(b.fill(accType, 0));
  if (raisesApart)
    state.shift = b.fill(rowType, 0);
  if (attn::getValueZeros(op) == attn::ValueZeros::Summed)
    state.zeros = b.fill(sumType, 0);
  if (!units.empty())
    state.counts = b.fill(countType, 0);
  return state;
}

Value OnlineSoftmax::handOver(Value tile) {
  return tile::HandOverOp::create(b, tile, /*stages=*/uint64_t(1),
                                  /*role=*/StringAttr());
}

Value OnlineSoftmax::rescale(Value acc, Value factors, Value isWanted) {
  if (!isWanted)
    return b.scaleRows(acc, factors);
  auto branch =
      scf::IfOp::create(b, acc.getType(), isWanted, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, b.scaleRows(acc, factors));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, acc);
  return branch.getResult(0);
}

void OnlineSoftmax::rescaleOutput(SoftmaxState &state, Value factors,
                                  Value outgrown) {
  if (parts.size() > 1) {
    // A warp sees for itself whether its rows have outgrown their maxima.
    factors = handOver(factors);
    outgrown = tile::AnyOp::create(
        b, b.getI1Type(),
        b.map(rowType.withElementType(b.getI1Type()), factors,
              [](OpBuilder &inner, Location loc, ValueRange args) -> Value {
                return arith::CmpFOp::create(inner, loc,
                                             arith::CmpFPredicate::UNE, args[0],
                                             constantF32(inner, loc, 1));
              }));
  }
  for (Value &acc : state.accs)
    acc = rescale(acc, factors, outgrown);
}

Value OnlineSoftmax::findOutgrown(Value before, Value after) {
  auto type = cast<TileType>(after.getType());
  if (type != rowType)
    before = b.broadcast(before, type);
  Value grown = b.map(
      type.withElementType(b.getI1Type()), {before, after},
      [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
        Value growth = arith::SubFOp::create(inner, loc, args[1], args[0]);
        return arith::CmpFOp::create(inner, loc, arith::CmpFPredicate::OGT,
                                     growth, getMostGrowth(inner, loc));
      });
  return tile::AnyOp::create(b, b.getI1Type(), grown);
}

// A row that has seen no key has maximum -inf; subtracting 0 instead keeps
// exp2(-inf) = 0 where exp2(-inf + inf) would be NaN.
Value OnlineSoftmax::getShift(Value max) {
  return b.map(
      rowType, max,
      [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
        Value none =
            arith::CmpFOp::create(inner, loc, arith::CmpFPredicate::OEQ,
                                  args[0], constantF32(inner, loc, -kInfinity));
        Value scaled = arith::MulFOp::create(
            inner, loc, args[0], readUnit(inner, loc, /*isNegative=*/true));
        return arith::SelectOp::create(inner, loc, none,
                                       constantF32(inner, loc, 0), scaled);
      });
}

// The maximum before is rounded as its own shift was, so that the factors of
// all blocks cancel out in the log-sum-exp.
Value OnlineSoftmax::getFactor(Value maxBefore, Value shift) {
  return b.map(
      rowType, {maxBefore, shift},
      [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
        Value before = arith::MulFOp::create(
            inner, loc, args[0], readUnit(inner, loc, /*isNegative=*/true));
        Value exponent = arith::SubFOp::create(inner, loc, args[1], before);
        return exp2(inner, loc, exponent);
      });
}

void OnlineSoftmax::raiseApart(Value scores, SoftmaxState &state) {
  // A row outgrows its maximum where a lane's part of it does: lanes that share
  // a row meet in the branch alone.
  Value laneMax =
      tile::ReduceOp::create(b, sumType, tile::ReductionKind::Max, scores);
  Value outgrown = findOutgrown(state.max, laneMax);
  SmallVector<Value> before = state.getValues();
  auto branch = scf::IfOp::create(b, TypeRange(ValueRange(before)), outgrown,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, before);
  b.setInsertionPointToStart(branch.thenBlock());
  Value blockMax =
      tile::ReduceOp::create(b, rowType, tile::ReductionKind::Max, laneMax);
  Value max = b.map(rowType, {state.max, blockMax}, maximum);
  state.shift = getShift(max);
  Value factor = getFactor(state.max, state.shift);
  state.max = max;
  state.sum = b.scaleRows(state.sum, factor);
  for (Value &acc : state.accs)
    acc = b.scaleRows(acc, factor);
  for (Value *sums : {&state.zeros, &state.counts})
    if (*sums)
      *sums = b.scaleRows(*sums, factor);
  scf::YieldOp::create(b, state.getValues());
  state = state.with(branch.getResults());
}

Value OnlineSoftmax::addBias(Value rows) {
  if (!bias)
    return rows;
  return b.map(rowType, rows,
               [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
                 return arith::AddFOp::create(
                     inner, loc, args[0],
                     constantF32(inner, loc, static_cast<double>(bias)));
               });
}

SmallVector<Value, 2> ColumnBody::getInputs(TileBuilder &b, Value tile) const {
  SmallVector<Value, 2> inputs{tile};
  if (row)
    inputs.push_back(b.broadcast(
        row,
        cast<TileType>(tile.getType())
            .withElementType(cast<TileType>(row.getType()).getElementType()),
        /*dim=*/1));
  return inputs;
}

Value OnlineSoftmax::takeBlock(Value scores, SoftmaxState &state,
                               ColumnBody factor, TileBuilder::Body isKept,
                               ColumnBody zero) {
  auto scoreType = cast<TileType>(scores.getType());
  // Maxima ignore NaN, which reaches the output through the weights.
  Value max, outgrown, shift, factors;
  if (raisesApart) {
    raiseApart(scores, state);
    max = state.max;
    shift = state.shift;
  } else {
    Value blockMax =
        tile::ReduceOp::create(b, rowType, tile::ReductionKind::Max, scores);
    max = b.map(rowType, {state.max, blockMax}, maximum);
    if (schedule.getRescale()) {
      // Whether a row of this warp has outgrown its maximum.
      outgrown = findOutgrown(state.max, max);
      max =
          b.map(rowType, {state.max, max},
                [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
                  return arith::SelectOp::create(inner, loc, outgrown, args[1],
                                                 args[0]);
                });
    }
    shift = getShift(max);
    factors = getFactor(state.max, shift);
    // Roles of columns rescale them while this one has weights to compute.
    if (parts.size() > 1)
      rescaleOutput(state, factors, outgrown);
  }
  shift = addBias(shift);
  Value weights =
      b.map(scoreType, {scores, b.broadcast(shift, scoreType)},
            [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
              Value exponent = math::FmaOp::create(
                  inner, loc, args[0], readUnit(inner, loc), args[1]);
              math::Exp2Op weight = exp2(inner, loc, exponent);
              if (int64_t share = schedule.getExpOnFma())
                weight->setAttr(tile::TileDialect::kFmaShareAttrName,
                                inner.getI64IntegerAttr(share));
              return weight;
            });
  if (!sumsCounts) {
    // The sum begins with what is rescaled: with the longest way ahead of it,
    // the factor is computed before the weights, and products with it, of which
    // the output takes one an element, run beside the exponentials.
    Value before = factors ? b.scaleRows(state.sum, factors) : state.sum;
    state.sum = tile::ReduceOp::create(b, sumType, tile::ReductionKind::Add,
                                       weights, before);
  }
  if (factors) {
    if (parts.size() == 1)
      rescaleOutput(state, factors, outgrown);
    if (state.zeros)
      state.zeros = b.scaleRows(state.zeros, factors);
    if (state.counts)
      state.counts = rescale(state.counts, factors, outgrown);
  }
  state.max = max;
  weights = roundWeights(weights, factor, isKept);
  if (state.zeros)
    addZeros(weights, state, zero);
  return weights;
}

/// A weight times what `factor` gives, which of keys that are not seen may be
/// anything, but in a row.
static Value multiplySeen(OpBuilder &inner, Location loc, Value weight,
                          const ColumnBody &factor, ValueRange args) {
  Value product =
      arith::MulFOp::create(inner, loc, weight, factor.body(inner, loc, args));
  if (factor.row)
    return product;
  Value none = constantF32(inner, loc, 0);
  Value isSeen = arith::CmpFOp::create(inner, loc, arith::CmpFPredicate::UNE,
                                       weight, none);
  return arith::SelectOp::create(inner, loc, isSeen, product, none);
}

void OnlineSoftmax::addZeros(Value weights, SoftmaxState &state,
                             ColumnBody zero) {
  Type f32 = b.getF32Type();
  auto type = cast<TileType>(weights.getType());
  // As they are multiplied with values: the product of a value and its zero
  // point, which is as large, has the same error.
  Value terms =
      b.map(type.withElementType(f32), zero.getInputs(b, weights),
            [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
              Value exact = arith::ExtFOp::create(inner, loc, f32, args[0]);
              return multiplySeen(inner, loc, exact, zero, args.drop_front());
            });
  state.zeros = tile::ReduceOp::create(b, sumType, tile::ReductionKind::Add,
                                       terms, state.zeros);
}

Value OnlineSoftmax::roundWeights(Value weights, ColumnBody factor,
                                  TileBuilder::Body isKept) {
  Type weightType = attn::getWeightType(op);
  return b.map(
      cast<TileType>(weights.getType()).withElementType(weightType),
      factor.getInputs(b, weights),
      [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
        Value exact = args[0];
        if (factor)
          exact = multiplySeen(inner, loc, exact, factor, args.drop_front());
        if (isKept)
          exact = arith::SelectOp::create(inner, loc,
                                          isKept(inner, loc, args.take_back(2)),
                                          exact, constantF32(inner, loc, 0));
        auto weight = arith::TruncFOp::create(inner, loc, weightType, exact);
        if (bias || sumsCounts)
          return weight;
        // The sum tells of NaN.
        weight->setAttr(tile::TileDialect::kLooseRoundingAttrName,
                        inner.getUnitAttr());
        return weight;
      });
}

void OnlineSoftmax::complete(SoftmaxState &state) {
  if (state.counts)
    state.counts = tile::ReduceOp::create(b, rowType, tile::ReductionKind::Max,
                                          state.counts);
  state.sum = sumsCounts ? state.counts
                         : tile::ReduceOp::create(
                               b, rowType, tile::ReductionKind::Add, state.sum)
                               .getResult();
  if (state.zeros)
    state.zeros = tile::ReduceOp::create(b, rowType, tile::ReductionKind::Add,
                                         state.zeros);
}

void OnlineSoftmax::takeSink(TileBuilder::Body logit, SoftmaxState &state) {
  Value scores =
      b.map(rowType, {},
            [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
              Value exponent = arith::MulFOp::create(
                  inner, loc, logit(inner, loc, args),
                  constantF32(inner, loc, llvm::numbers::log2e));
              return arith::DivFOp::create(inner, loc, exponent,
                                           readUnit(inner, loc));
            });
  Value max = b.map(rowType, {state.max, scores}, maximum);
  auto weigh = [&](OpBuilder &inner, Location loc, Value score,
                   Value maximum) -> Value {
    Value none =
        arith::CmpFOp::create(inner, loc, arith::CmpFPredicate::OEQ, score,
                              constantF32(inner, loc, -kInfinity));
    Value difference = arith::SubFOp::create(inner, loc, score, maximum);
    Value exponent =
        arith::MulFOp::create(inner, loc, difference, readUnit(inner, loc));
    Value weight = exp2(inner, loc, exponent);
    return arith::SelectOp::create(inner, loc, none, constantF32(inner, loc, 0),
                                   weight);
  };
  Value factors =
      b.map(rowType, {state.max, max},
            [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
              return weigh(inner, loc, args[0], args[1]);
            });
  state.sum = b.map(
      rowType, {state.sum, factors, scores, max},
      [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
        Value weight = weigh(inner, loc, args[2], args[3]);
        if (bias)
          weight = arith::MulFOp::create(
              inner, loc, weight,
              constantF32(inner, loc, std::ldexp(1.0, static_cast<int>(bias))));
        return math::FmaOp::create(inner, loc, args[0], args[1], weight);
      });
  rescaleOutput(state, factors, /*outgrown=*/Value());
  for (Value *sums : {&state.zeros, &state.counts})
    if (*sums)
      *sums = b.map(rowType, {*sums, factors}, multiply);
  state.max = max;
}

Value OnlineSoftmax::getShares(const SoftmaxState &state, Value inverse) {
  return b.map(rowType, {inverse, state.zeros ? state.zeros : inverse},
               [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
                 if (state.zeros)
                   return arith::MulFOp::create(inner, loc, args[0], args[1]);
                 Value none = constantF32(inner, loc, 0);
                 Value isEmpty = arith::CmpFOp::create(
                     inner, loc, arith::CmpFPredicate::OEQ, args[0], none);
                 return arith::SelectOp::create(inner, loc, isEmpty, none,
                                                constantF32(inner, loc, 1));
               });
}

SmallVector<Value> OnlineSoftmax::normalize(const SoftmaxState &state,
                                            Type type, TileBuilder::Body factor,
                                            TileBuilder::Body zero) {
  double whole = op.getDropout() ? attn::Dropout::getScale(op) : 1;
  Value inverse =
      b.map(rowType, state.sum,
            [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
              Value zero = constantF32(inner, loc, 0);
              Value empty = arith::CmpFOp::create(
                  inner, loc, arith::CmpFPredicate::OEQ, args[0], zero);
              Value quotient = arith::DivFOp::create(
                  inner, loc, constantF32(inner, loc, whole), args[0]);
              return arith::SelectOp::create(inner, loc, empty, zero, quotient);
            });
  auto divide = [&](Value acc, int64_t firstColumn, Value factors,
                    Value shares) -> Value {
    SmallVector<Value, 3> inputs{acc, b.broadcast(factors, accType)};
    if (shares)
      inputs.push_back(b.broadcast(shares, accType));
    return b.map(
        accType.withElementType(type), inputs,
        [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
          Value normalized =
              arith::MulFOp::create(inner, loc, args[0], args[1]);
          SmallVector<Value> place(args.take_back(2));
          if (firstColumn && (factor || shares))
            place[1] = arith::AddIOp::create(
                inner, loc, place[1],
                arith::ConstantIndexOp::create(inner, loc, firstColumn));
          if (shares)
            normalized = arith::SubFOp::create(
                inner, loc, normalized,
                arith::MulFOp::create(inner, loc, args[2],
                                      zero(inner, loc, place)));
          if (factor)
            normalized = arith::MulFOp::create(inner, loc, normalized,
                                               factor(inner, loc, place));
          if (type.isF32())
            return normalized;
          return arith::TruncFOp::create(inner, loc, type, normalized);
        });
  };
  Value shares = attn::getValueZeros(op) == attn::ValueZeros::None
                     ? Value()
                     : getShares(state, inverse);
  if (parts.size() > 1) {
    inverse = handOver(inverse);
    if (shares)
      shares = handOver(shares);
  }
  SmallVector<Value> results;
  for (auto [acc, part] : llvm::zip_equal(state.accs, parts))
    results.push_back(
        divide(state.counts ? dropUnits(b, acc, state.counts, units) : acc,
               part.first, inverse, shares));
  return results;
}

Value OnlineSoftmax::logSumExp(const SoftmaxState &state) {
  return b.map(
      rowType, {state.max, state.sum},
      [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
        Value empty =
            arith::CmpFOp::create(inner, loc, arith::CmpFPredicate::OEQ,
                                  args[1], constantF32(inner, loc, 0));
        Value log = math::Log2Op::create(inner, loc, args[1]);
        if (bias)
          log = arith::SubFOp::create(
              inner, loc, log,
              constantF32(inner, loc, static_cast<double>(bias)));
        Value scaled =
            arith::MulFOp::create(inner, loc, args[0], readUnit(inner, loc));
        Value shifted = arith::AddFOp::create(inner, loc, scaled, log);
        Value natural = arith::MulFOp::create(
            inner, loc, shifted, constantF32(inner, loc, llvm::numbers::ln2));
        return arith::SelectOp::create(
            inner, loc, empty, constantF32(inner, loc, -kInfinity), natural);
      });
}
