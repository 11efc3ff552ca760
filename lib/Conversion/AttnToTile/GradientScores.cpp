// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What becomes of the elements of a tile of scores: weights, and the gradients
// of scores and of what these read.

#include "GradientBuilder.h"
#include "attune/Dialect/Attn/IR/ScoreGradient.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace attune;

static constexpr double kLog2E = 1.4426950408889634074;
static constexpr double kInfinity = std::numeric_limits<double>::infinity();

static Value constantF32(OpBuilder &builder, Location loc, double value) {
  return TileBuilder::constant(builder, loc, value);
}

static Value extendToF32(OpBuilder &builder, Location loc, Value value) {
  if (value.getType().isF32())
    return value;
  return arith::ExtFOp::create(builder, loc, builder.getF32Type(), value);
}

std::pair<Value, Value> GradientBuilder::locateElement(OpBuilder &inner,
                                                       Location loc,
                                                       ValueRange place,
                                                       Value first) {
  Value owned = arith::AddIOp::create(inner, loc, firstOwned, place[0]),
        visited = arith::AddIOp::create(inner, loc, first, place[1]);
  return ownsKeys ? std::pair(visited, owned) : std::pair(owned, visited);
}

Positions GradientBuilder::getPositions(Region &region) {
  bool exist = endsWithBlock(seqQ, ownsKeys ? kernel.visited : kernel.owned) &&
               endsWithBlock(seqK, ownsKeys ? kernel.owned : kernel.visited);
  return exist || !readsTensor(region) ? Positions::Exist
                                       : Positions::MayBeBeyond;
}

IRMapping GradientBuilder::mapScore(OpBuilder &inner, Location loc,
                                    Value product, ValueRange place,
                                    Value first) {
  IRMapping mapping = operands.captures;
  Value scaled = arith::MulFOp::create(
      inner, loc, product, constantF32(inner, loc, op.getEffectiveScale()));
  auto [query, key] = locateElement(inner, loc, place, first);
  mapping.map(op.getScore().getArguments(),
              ValueRange{scaled, batch, headQ, query, key});
  for (Operation &scalar : op.getScore().front().without_terminator())
    cloneOntoBuffers(inner, scalar, mapping, getPositions(op.getScore()));
  return mapping;
}

Value GradientBuilder::applyScore(Value products, Value first) {
  if (!op.hasScore())
    return products;
  return b.map(scoreType, products,
               [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
                 IRMapping mapping =
                     mapScore(inner, loc, args[0], args.drop_front(), first);
                 Operation *yield = op.getScore().front().getTerminator();
                 return mapping.lookupOrDefault(yield->getOperand(0));
               });
}

Value GradientBuilder::applyMask(Value scores, Value first, bool asksRegion) {
  bool asks = asksRegion && op.hasMask();
  return b.map(
      scoreType, scores,
      [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
        ValueRange place = args.drop_front();
        Value keep;
        if (!ownsKeys)
          keep = arith::CmpIOp::create(
              inner, loc, arith::CmpIPredicate::slt,
              locateElement(inner, loc, place, first).second, seqK);
        if (asks) {
          IRMapping mapping = operands.captures;
          auto [query, key] = locateElement(inner, loc, place, first);
          mapping.map(op.getMask().getArguments(),
                      ValueRange{batch, headQ, query, key});
          Value visible = inlineOntoBuffers(inner, op.getMask(), mapping,
                                            getPositions(op.getMask()));
          keep =
              keep ? arith::AndIOp::create(inner, loc, keep, visible) : visible;
        }
        return arith::SelectOp::create(inner, loc, keep, args[0],
                                       constantF32(inner, loc, -kInfinity));
      });
}

SmallVector<Reach, 2> GradientBuilder::findReaches(Value first) {
  if (!ownsKeys)
    return {};
  SmallVector<Reach, 2> reaches;
  bool addsOwned = kernel.addsQueries || !operands.tensorGrads.empty();
  if (addsOwned && !endsWithBlock(seqK, kernel.owned))
    reaches.push_back({firstOwned, kernel.owned, seqK, 0});
  // What was read for them may be NaN.
  if (readsTensor(op.getScore()) && !endsWithBlock(seqQ, kernel.visited))
    reaches.push_back({first, kernel.visited, seqQ, 1});
  return reaches;
}

Value GradientBuilder::makeScores(Value products, VisitedBlocks &blocks,
                                  Value block, Value first) {
  Value scores = applyScore(products, first);
  scores = hideBeyond(b, scores, findReaches(first));
  // Queries beyond the last one have no weights, and gradients of keys that are
  // owned and do not exist are not stored.
  if (ownsKeys && !op.hasMask())
    return scores;
  return blocks.maskStep(b, block, scores, [&](bool asksRegion) {
    return ownsKeys && !asksRegion ? scores
                                   : applyMask(scores, first, asksRegion);
  });
}

Value GradientBuilder::makeWeights(Value scores, Value shifts, Value first) {
  double unit = op.hasScore() ? kLog2E : op.getEffectiveScale() * kLog2E;
  return b.map(
      scoreType, {scores, broadcast(shifts)},
      [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
        Value exponent = math::FmaOp::create(
            inner, loc, args[0], constantF32(inner, loc, unit), args[1]);
        Value weight = math::Exp2Op::create(inner, loc, exponent,
                                            arith::FastMathFlags::afn);
        if (!dropout)
          return weight;
        auto [query, key] =
            locateElement(inner, loc, args.drop_front(2), first);
        Value isKept =
            dropout->isKept(inner, loc, batch, headQ, headsQ, query, key);
        return arith::SelectOp::create(
            inner, loc, isKept, weight,
            arith::NegFOp::create(inner, loc, weight));
      });
}

Value GradientBuilder::takeKept(Value weights) {
  if (!dropout)
    return scaleToOperand(b, weights, op.getElementType(), 1);
  return b.map(scoreType.withElementType(op.getElementType()), weights,
               [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
                 Value kept = arith::MaximumFOp::create(
                     inner, loc, args[0], constantF32(inner, loc, 0));
                 if (op.getElementType().isF32())
                   return kept;
                 return arith::TruncFOp::create(inner, loc, op.getElementType(),
                                                kept);
               });
}

std::pair<Value, Value> GradientBuilder::splitWeight(OpBuilder &inner,
                                                     Location loc, Value weight,
                                                     Value weightGrad,
                                                     Value delta) {
  if (!dropout)
    return {weight, arith::SubFOp::create(inner, loc, weightGrad, delta)};
  Value isKept = arith::CmpFOp::create(inner, loc, arith::CmpFPredicate::OGT,
                                       weight, constantF32(inner, loc, 0));
  Value less = arith::NegFOp::create(inner, loc, delta);
  Value difference = math::FmaOp::create(
      inner, loc, weightGrad,
      constantF32(inner, loc, attn::Dropout::getScale(op)), less);
  return {math::AbsFOp::create(inner, loc, weight),
          arith::SelectOp::create(inner, loc, isKept, difference, less)};
}

Value GradientBuilder::makeScoreGrads(Value products, Value weights,
                                      Value weightGrads, Value deltas,
                                      Value first) {
  auto type = scoreType.withElementType(op.getElementType());
  SmallVector<Value> inputs{weights, weightGrads, broadcast(deltas)};
  if (op.hasScore())
    inputs.push_back(products);
  return b.map(
      type, inputs,
      [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
        auto [weight, difference] =
            splitWeight(inner, loc, args[0], args[1], args[2]);
        Value gradient = arith::MulFOp::create(inner, loc, weight, difference);
        if (op.hasScore()) {
          IRMapping mapping =
              mapScore(inner, loc, args[3], args.drop_front(4), first);
          bool adds = !operands.tensorGrads.empty();
          attn::ScoreGradient derived = attn::differentiateScore(
              inner, op.getScore(), mapping, gradient,
              adds ? ValueRange(op.getWrt()) : ValueRange());
          Value zero = constantF32(inner, loc, 0);
          // Where a weight is 0, also where a derivative is infinite.
          Value none = arith::CmpFOp::create(
              inner, loc, arith::CmpFPredicate::OEQ, args[0], zero);
          auto mute = [&](Value value) -> Value {
            return arith::SelectOp::create(inner, loc, none, zero, value);
          };
          gradient = derived.score ? mute(derived.score) : zero;
          for (auto &[extract, change] : derived.reads)
            addToTensor(inner, extract, mute(extendToF32(inner, loc, change)),
                        mapping);
        }
        if (type.getElementType() == inner.getF32Type())
          return gradient;
        return arith::TruncFOp::create(inner, loc, type.getElementType(),
                                       gradient);
      });
}

void GradientBuilder::addToTensor(OpBuilder &inner, tensor::ExtractOp extract,
                                  Value change, const IRMapping &mapping) {
  for (auto [tensor, sums] : llvm::zip_equal(op.getWrt(), operands.tensorGrads))
    if (tensor == extract.getTensor())
      memref::AtomicRMWOp::create(
          inner, extract.getLoc(), arith::AtomicRMWKind::addf, change, sums,
          placeOnBuffer(inner, extract, mapping, getPositions(op.getScore())));
}
