// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What becomes of the elements of a tile of scores: weights, and the gradients
// of scores and of what these read.

#include "GradientBuilder.h"
#include "OnlineSoftmax.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune;

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
  Value none = arith::ConstantIndexOp::create(inner, loc, 0);
  if (readsAtVisited)
    visited = arith::MaxSIOp::create(inner, loc, visited, none);
  if (readsAtOwned)
    owned = arith::MaxSIOp::create(inner, loc, owned, none);
  return ownsKeys ? std::pair(visited, owned) : std::pair(owned, visited);
}

bool GradientBuilder::findReadsAt(MaskDim dim) {
  return llvm::any_of(ArrayRef<Region *>{&op.getScore(), &op.getMask()},
                      [&](Region *region) {
                        return !region->empty() && readsTensorAt(*region, dim);
                      });
}

Positions GradientBuilder::getPositions(Region &region) {
  bool exist = endsWithBlock(seqQ, ownsKeys ? kernel.visited : kernel.owned) &&
               endsWithBlock(seqK, ownsKeys ? kernel.owned : kernel.visited);
  return exist || !readsTensor(region) ? Positions::Exist
                                       : Positions::MayBeBeyond;
}

/// A bfloat16 as the upper half of a float. A chip converts by the unit that
/// exponentiates, which weights keep busy.
static Value extendByShift(OpBuilder &b, Location loc, Value element) {
  constexpr int64_t kHalf = 16;
  Value bits = arith::BitcastOp::create(b, loc, b.getI16Type(), element);
  Value wide = arith::ExtUIOp::create(b, loc, b.getI32Type(), bits);
  Value upper = arith::ShLIOp::create(
      b, loc, wide, arith::ConstantIntOp::create(b, loc, kHalf, 32));
  return arith::BitcastOp::create(b, loc, b.getF32Type(), upper);
}

IRMapping GradientBuilder::mapScore(OpBuilder &inner, Location loc,
                                    Value product, ValueRange elements,
                                    Value first) {
  IRMapping mapping = captures;
  tiles.map(op.getScore(), mapping, elements.drop_back(2));
  for (tensor::ExtractOp read : op.getScore().getOps<tensor::ExtractOp>())
    if (Value element = mapping.lookupOrNull(read.getResult()))
      for (Operation *user : read->getUsers())
        if (auto extend = dyn_cast<arith::ExtFOp>(user);
            extend && read.getType().isBF16() && extend.getType().isF32())
          mapping.map(extend.getResult(),
                      extendByShift(inner, extend.getLoc(), element));
  auto scaled = arith::MulFOp::create(
      inner, loc, product, constantF32(inner, loc, op.getEffectiveScale()));
  // With additions of the region that may be, too.
  if (!tileReads.empty())
    scaled.setFastmath(arith::FastMathFlags::contract);
  auto [query, key] = locateElement(inner, loc, elements.take_back(2), first);
  mapping.map(op.getScore().getArguments(),
              ValueRange{scaled, batch, headQ, query, key});
  for (Operation &scalar : op.getScore().front().without_terminator())
    if (scalar.getNumResults() == 0 || !mapping.contains(scalar.getResult(0)))
      cloneOntoBuffers(inner, scalar, mapping, getPositions(op.getScore()));
  return mapping;
}

Value GradientBuilder::applyScore(Value products, Value first) {
  if (OnlineSoftmax::takesUnscaled(op))
    return products;
  if (!op.hasScore())
    return scaleToOperand(b, products, b.getF32Type(), op.getEffectiveScale());
  SmallVector<Value> inputs{products};
  llvm::append_range(inputs, tiles.get(op.getScore()));
  return b.map(scoreType, inputs,
               [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
                 IRMapping mapping =
                     mapScore(inner, loc, args[0], args.drop_front(), first);
                 Operation *yield = op.getScore().front().getTerminator();
                 return mapping.lookupOrDefault(yield->getOperand(0));
               });
}

Value GradientBuilder::applyMask(Value scores, Value first, bool asksRegion) {
  bool asks = asksRegion && op.hasMask();
  SmallVector<Value> inputs{scores};
  if (asks)
    llvm::append_range(inputs, tiles.get(op.getMask()));
  return b.map(
      scoreType, inputs,
      [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
        ValueRange place = args.take_back(2);
        Value keep;
        if (!ownsKeys)
          keep = arith::CmpIOp::create(
              inner, loc, arith::CmpIPredicate::slt,
              locateElement(inner, loc, place, first).second, seqK);
        if (asks) {
          IRMapping mapping = captures;
          tiles.map(op.getMask(), mapping, args.drop_front().drop_back(2));
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
  SmallVector<Reach, 2> reaches;
  if (lastBox)
    reaches.push_back({first, kernel.visited, Value(), 1, leastVisited});
  if (!ownsKeys)
    return reaches;
  bool addsOwned = kernel.addsQueries || !operands.tensorGrads.empty();
  if (movesOwned())
    reaches.push_back({firstOwned, kernel.owned, Value(), 0, leastOwned});
  else if (addsOwned && !endsWithBlock(seqK, kernel.owned))
    reaches.push_back({firstOwned, kernel.owned, seqK, 0});
  // What was read for them may be NaN.
  if (!lastBox && readsTensor(op.getScore()) &&
      !endsWithBlock(seqQ, kernel.visited))
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
  double unit = OnlineSoftmax::takesUnscaled(op)
                    ? op.getEffectiveScale() * llvm::numbers::log2e
                    : llvm::numbers::log2e;
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
            drawIsKept(inner, loc, *dropout, batch, headQ, headsQ, query, key);
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

Value GradientBuilder::ElementGrads::mute(OpBuilder &inner, Location loc,
                                          Value gradient) {
  // Of what is finite there is none already.
  if (gradient == seed)
    return gradient;
  return arith::SelectOp::create(inner, loc, none, constantF32(inner, loc, 0),
                                 gradient);
}

SmallVector<Value> GradientBuilder::getGradInputs(Value products, Value weights,
                                                  Value weightGrads,
                                                  Value deltas) {
  SmallVector<Value> inputs{weights, weightGrads, broadcast(deltas)};
  if (op.hasScore()) {
    inputs.push_back(products);
    llvm::append_range(inputs, tiles.get(op.getScore()));
  }
  return inputs;
}

GradientBuilder::ElementGrads
GradientBuilder::differentiate(OpBuilder &inner, Location loc,
                               ValueRange elements, Value gradient,
                               Value first) {
  ElementGrads grads;
  grads.seed = gradient;
  grads.mapping =
      mapScore(inner, loc, elements[3], elements.drop_front(4), first);
  bool adds = !operands.tensorGrads.empty();
  grads.derived =
      attn::differentiateScore(inner, op.getScore(), grads.mapping, gradient,
                               adds ? ValueRange(op.getWrt()) : ValueRange());
  grads.none = arith::CmpFOp::create(inner, loc, arith::CmpFPredicate::OEQ,
                                     elements[0], constantF32(inner, loc, 0));
  return grads;
}

Value GradientBuilder::makeScoreGrads(Value products, Value weights,
                                      Value weightGrads, Value deltas,
                                      Value first) {
  auto type = scoreType.withElementType(op.getElementType());
  return b.map(
      type, getGradInputs(products, weights, weightGrads, deltas),
      [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
        auto [weight, difference] =
            splitWeight(inner, loc, args[0], args[1], args[2]);
        Value gradient = arith::MulFOp::create(inner, loc, weight, difference);
        if (op.hasScore()) {
          ElementGrads grads = differentiate(inner, loc, args, gradient, first);
          gradient = grads.derived.score
                         ? grads.mute(inner, loc, grads.derived.score)
                         : constantF32(inner, loc, 0);
          for (auto &[extract, change] : grads.derived.reads)
            if (!llvm::is_contained(tileReads, extract))
              addToTensor(
                  inner, extract,
                  grads.mute(inner, loc, extendToF32(inner, loc, change)),
                  grads.mapping);
        }
        if (type.getElementType() == inner.getF32Type())
          return gradient;
        return arith::TruncFOp::create(inner, loc, type.getElementType(),
                                       gradient);
      });
}

/// A change that was rounded to the type of what is read, as it was before.
static Value undoRounding(OpBuilder &builder, Location loc, Value change) {
  auto rounded = change.getDefiningOp<arith::TruncFOp>();
  if (rounded && rounded.getIn().getType().isF32())
    return rounded.getIn();
  return extendToF32(builder, loc, change);
}

void GradientBuilder::addTiles(Value products, Value weights, Value weightGrads,
                               Value deltas, Value first) {
  for (auto &[read, sums] : addedTiles) {
    Value changes = b.map(
        scoreType, getGradInputs(products, weights, weightGrads, deltas),
        [&, read = read](OpBuilder &inner, Location loc,
                         ValueRange args) -> Value {
          auto [weight, difference] =
              splitWeight(inner, loc, args[0], args[1], args[2]);
          ElementGrads grads = differentiate(
              inner, loc, args,
              arith::MulFOp::create(inner, loc, weight, difference), first);
          for (auto &[extract, change] : grads.derived.reads)
            if (extract == read)
              return grads.mute(inner, loc, undoRounding(inner, loc, change));
          return constantF32(inner, loc, 0);
        });
    tile::StoreOp::create(b, changes, sums, ValueRange{firstOwned, first},
                          /*accumulate=*/!isOfOneHead(op, read),
                          tile::StorePath::Buffer);
  }
}

void GradientBuilder::addToTensor(OpBuilder &inner, tensor::ExtractOp extract,
                                  Value change, const IRMapping &mapping) {
  for (auto [tensor, sums] : operands.tensorGrads)
    if (tensor == extract.getTensor())
      memref::AtomicRMWOp::create(
          inner, extract.getLoc(), arith::AtomicRMWKind::addf, change, sums,
          placeOnBuffer(inner, extract, mapping, getPositions(op.getScore())));
}
