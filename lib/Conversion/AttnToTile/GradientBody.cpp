// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both kernels of gradients are one loop. A workgroup owns a tile of rows, of
// keys or of queries, and visits blocks of the others:
//
//              owns keys                 owns queries
//   S  =       key * query^T             query * key^T
//   dP =       value * output_grad^T     output_grad * value^T
//   P  = exp2(S * unit - lse * log2(e))
//   dS = P * (dP - deltas)
//   sums +=    P * output_grad,          dS * key
//              dS * query
//
// Kernels that own keys and are apart have one of their sums each.
//
// So a tile of scores that owns keys is the transpose of one that owns queries,
// weights and their gradients stay in the registers in which they are computed,
// and log-sum-exps and deltas run along the columns.

#include "GradientBody.h"
#include "Reach.h"
#include "Views.h"
#include "VisitedBlocks.h"
#include "attune/Conversion/RegionClone.h"
#include "attune/Dialect/Attn/IR/ScoreGradient.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attune;
using tile::TileType;

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

namespace {
/// What a workgroup adds up: the gradients of what it owns, then those of
/// values.
using Sums = SmallVector<Value, 2>;

class GradientBuilder {
public:
  GradientBuilder(OpBuilder &builder, attn::AttentionGradOp op,
                  const GradientOperands &operands,
                  const GradientKernel &kernel, tile::MmaAtomAttr atom,
                  const DeviceCache &cache)
      : b(op.getLoc(), builder), op(op), operands(operands), kernel(kernel),
        atom(atom), cache(cache),
        padded(getPaddedHeadDims(AttentionGradProblem::get(op), atom)),
        ownsKeys(kernel.owns == MaskDim::Key),
        scoreType(
            TileType::get({kernel.owned, kernel.visited}, b.getF32Type())) {}

  void build();

private:
  void planLoop(scf::ForOp loop);
  void locate();
  /// Of all query heads of a key head, or of keys and values.
  Value getVisitedBytes(const TileCounts &counts);
  /// The sums after all blocks of the query head.
  Sums visitHead(Value head, Sums sums);
  Sums step(VisitedBlocks &blocks, Value block, Sums sums);
  /// Scores, those that are hidden as -inf.
  Value makeScores(Value products, VisitedBlocks &blocks, Value block,
                   Value first);
  /// Keys that are owned and do not exist have products of 0, and no part of
  /// the gradients of queries or tensors: their weights, which may be infinite,
  /// must be 0.
  SmallVector<Reach, 2> findReaches(Value first);
  Value applyScore(Value products, Value first);
  Value applyMask(Value scores, Value first, bool asksRegion);
  /// exp2(scores - log-sum-exp), with another sign where dropout takes it.
  Value makeWeights(Value scores, Value shifts, Value first);
  /// Those that are kept, in the type of operands.
  Value takeKept(Value weights);
  /// Of what makeWeights() has made, the weight, and its gradient less the
  /// delta of its query.
  std::pair<Value, Value> splitWeight(OpBuilder &inner, Location loc,
                                      Value weight, Value weightGrad,
                                      Value delta);
  /// Gradients of the products of query and key but for their scale, in the
  /// type of operands.
  Value makeScoreGrads(Value products, Value weights, Value weightGrads,
                       Value deltas, Value first);
  /// Adds what a read of a tensor changes to the gradient of that.
  void addToTensor(OpBuilder &inner, tensor::ExtractOp extract, Value change,
                   const IRMapping &mapping);
  /// What makes weights of scores, in powers of two.
  Value loadShifts(int64_t rows, Value first);
  Value loadDeltas(int64_t rows, Value first);
  Value loadOwnNumbers(int64_t rows, Value buffer, Value first);
  /// The part of the gradients of the queries visited that the keys have.
  Value multiplyByKeys(Value grads);
  void finish(Value sums, Value gradient, double factor);

  tile::LoadOp load(int64_t rows, int64_t columns, Value buffer, Value row,
                    int64_t stages) {
    auto type = TileType::get({rows, columns}, op.getElementType());
    return createLoad(b, type, buffer, {row, constant(0)}, stages);
  }
  Value loadOwned(int64_t columns, Value buffer) {
    tile::LoadOp owned =
        load(kernel.owned, columns, buffer, firstOwned, /*stages=*/1);
    owned.setReadOnce(kernel.inRegisters);
    return owned;
  }
  Value multiply(Value lhs, Value rhs, Value acc, bool transposeRhs) {
    tile::MmaScope scope = op.getScheduleAttr().getMmaWarps() > 1
                               ? tile::MmaScope::Warpgroup
                               : tile::MmaScope::Warp;
    return tile::MmaOp::create(b, acc.getType(), lhs, rhs, acc,
                               /*transpose_lhs=*/false, transposeRhs, scope,
                               /*warps_n=*/1, /*lhs_through_shared=*/false,
                               tile::MmaAtomAttr());
  }
  /// Numbers of queries as large as a tile of scores.
  Value broadcast(Value numbers) {
    return tile::BroadcastOp::create(b, scoreType, numbers,
                                     /*dim=*/ownsKeys ? 1 : 0);
  }
  /// Query and key of an element of a tile of scores.
  std::pair<Value, Value> locateElement(OpBuilder &inner, Location loc,
                                        ValueRange place, Value first);
  /// Whether a region is asked for positions that do not exist.
  Positions getPositions(Region &region);
  /// Arguments of the score region for an element.
  IRMapping mapScore(OpBuilder &inner, Location loc, Value score,
                     ValueRange place, Value first);
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value size(Value buffer, int64_t position) {
    return b.createOrFold<memref::DimOp>(buffer, position);
  }
  Value view(Value buffer, Value head) {
    return viewHeads(b, op.getOrder(), buffer, batch, head);
  }

  TileBuilder b;
  attn::AttentionGradOp op;
  const GradientOperands &operands;
  GradientKernel kernel;
  tile::MmaAtomAttr atom;
  DeviceCache cache;
  PaddedHeadDims padded;
  bool ownsKeys;
  TileType scoreType;
  std::optional<attn::Dropout> dropout;
  Value headsQ;
  Value seqQ, seqK, batch, firstOwned, lastOwned;
  /// Of the tile: a key head, or a query head.
  Value headOwned, headKV;
  /// The query head that is visited, and what is owned and visited of it: of
  /// queries or keys, and of output gradients or values.
  Value headQ;
  Value ownedRows, ownedValues, visitedRows, visitedValues;
  /// The sums of the queries that are visited; null where none are added to.
  Value visitedSums;
  /// Of queries that are owned.
  Value ownedShifts, ownedDeltas;
};
} // namespace

void GradientBuilder::planLoop(scf::ForOp loop) {
  if (op.getScheduleAttr().getSplitMasked())
    loop->setAttr(tile::TileDialect::kSplitAttrName, b.getUnitAttr());
  loop->setAttr(tile::TileDialect::kDeferWaitsAttrName, b.getUnitAttr());
  if (op.getScheduleAttr().getScoresAhead())
    loop->setAttr(tile::TileDialect::kIssueAheadAttrName, b.getUnitAttr());
}

Value GradientBuilder::getVisitedBytes(const TileCounts &counts) {
  int64_t bits = op.getElementType().getIntOrFloatBitWidth();
  int64_t rowBytes = (padded.qk + padded.v) * bits / 8;
  if (!ownsKeys)
    return b.createOrFold<arith::MulIOp>(seqK, constant(rowBytes));
  if (kernel.addsQueries)
    rowBytes += padded.qk * sizeof(float);
  Value ofHead = b.createOrFold<arith::MulIOp>(seqQ, constant(rowBytes));
  Value heads = size(operands.query, op.getHeadPos());
  return b.createOrFold<arith::MulIOp>(
      ofHead, b.createOrFold<arith::DivUIOp>(heads, counts.headsKV));
}

void GradientBuilder::locate() {
  seqQ = boundSize(b, size(operands.query, op.getSeqPos()),
                   attn::getQueryFacts(op));
  seqK =
      boundSize(b, size(operands.key, op.getSeqPos()), attn::getKeyFacts(op));
  Value length = ownsKeys ? seqK : seqQ;
  Value headsKV = size(operands.key, op.getHeadPos());
  TileCounts counts{
      b.createOrFold<arith::CeilDivUIOp>(length, constant(kernel.owned)),
      ownsKeys ? headsKV : size(operands.query, op.getHeadPos()), headsKV,
      size(operands.query, op.getBatchPos())};
  Value number = gpu::BlockIdOp::create(b, gpu::Dimension::x);
  if (!op.hasMask()) {
    Value ofHeads = b.createOrFold<arith::MulIOp>(counts.tiles, counts.headsQ);
    number = dealToParts(b, number,
                         b.createOrFold<arith::MulIOp>(ofHeads, counts.batches),
                         cache);
  }
  // Under a causal mask the first keys and the last queries have most to do:
  // those of many heads come first, as long as what they visit stays in the
  // device's cache.
  QueryTile tile =
      op.hasMask() ? orderBySection(b, number, counts, getVisitedBytes(counts),
                                    cache, /*lastFirst=*/!ownsKeys)
                   : orderByHead(b, number, counts, /*lastFirst=*/!ownsKeys);
  batch = tile.batch;
  headOwned = tile.headQ;
  headKV = tile.headKV;
  firstOwned = arith::MulIOp::create(b, tile.tile, constant(kernel.owned));
  Value after = arith::AddIOp::create(b, firstOwned, constant(kernel.owned));
  lastOwned = arith::SubIOp::create(b, arith::MinSIOp::create(b, after, length),
                                    constant(1));
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

Value GradientBuilder::loadShifts(int64_t rows, Value first) {
  Value shifts = loadOwnNumbers(rows, operands.shifts, first);
  // The products of a query that does not exist are 0, and so is what its
  // weights add, unless a score region makes them infinite.
  if (!op.hasScore())
    return shifts;
  return b.map(
      cast<TileType>(shifts.getType()), shifts,
      [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
        Value query = arith::AddIOp::create(inner, loc, first, args[1]);
        Value exists = arith::CmpIOp::create(
            inner, loc, arith::CmpIPredicate::slt, query, seqQ);
        return arith::SelectOp::create(inner, loc, exists, args[0],
                                       constantF32(inner, loc, -kInfinity));
      });
}

Value GradientBuilder::loadDeltas(int64_t rows, Value first) {
  return loadOwnNumbers(rows, operands.deltas, first);
}

Value GradientBuilder::loadOwnNumbers(int64_t rows, Value buffer, Value first) {
  if (ownsKeys && stagesNumbers(op.getScheduleAttr(), kernel))
    return createLoad(b, TileType::get({rows}, b.getF32Type()),
                      viewNumbers(b, buffer, batch, /*head=*/Value()),
                      {headQ, first}, kernel.stages);
  return loadNumbers(b, rows, viewNumbers(b, buffer, batch, headQ), first);
}

Value GradientBuilder::multiplyByKeys(Value grads) {
  auto type = TileType::get({kernel.visited, padded.qk}, b.getF32Type());
  return tile::MmaOp::create(b, type, grads, ownedRows, b.fill(type, 0),
                             /*transpose_lhs=*/true,
                             /*transpose_rhs=*/false, tile::MmaScope::Warpgroup,
                             countGroupsAlongColumns(kernel, atom),
                             /*lhs_through_shared=*/true, tile::MmaAtomAttr());
}

Sums GradientBuilder::step(VisitedBlocks &blocks, Value block, Sums sums) {
  Value first = blocks.getFirst(b, block);
  // Both products come first: one runs while weights are made of the other.
  Value rows =
      load(kernel.visited, padded.qk, visitedRows, first, kernel.stages);
  Value zero = b.fill(scoreType, 0);
  Value products = multiply(ownedRows, rows, zero, /*transposeRhs=*/true);
  Value values =
      load(kernel.visited, padded.v, visitedValues, first, kernel.stages);
  Value weightGrads;
  if (kernel.sumsOwned)
    weightGrads = multiply(ownedValues, values, zero, /*transposeRhs=*/true);
  // Numbers of columns are many, and are read when they are needed. Where
  // scores are there at once, the wait for deltas keeps the exponentials in
  // front of that for the other product, under which they then run: the
  // assembler moves them behind it as far as the block reaches.
  auto getDeltas = [&] {
    return ownsKeys ? loadDeltas(kernel.visited, first) : ownedDeltas;
  };
  bool isAhead = op.getScheduleAttr().getScoresAhead();
  Value shifts = ownsKeys ? loadShifts(kernel.visited, first) : ownedShifts;
  Value deltas = isAhead || !kernel.sumsOwned ? Value() : getDeltas();
  Value weights =
      makeWeights(makeScores(products, blocks, block, first), shifts, first);
  if (isAhead && kernel.sumsOwned)
    deltas = getDeltas();
  Value grads;
  if (kernel.sumsOwned)
    grads = makeScoreGrads(products, weights, weightGrads, deltas, first);
  if (kernel.sumsValues)
    sums.back() = multiply(takeKept(weights), values, sums.back(),
                           /*transposeRhs=*/false);
  // Asked for before what runs while it is added.
  Value ofQueries = kernel.addsQueries ? multiplyByKeys(grads) : Value();
  if (kernel.sumsOwned)
    sums.front() = multiply(grads, rows, sums.front(), /*transposeRhs=*/false);
  if (ofQueries)
    tile::StoreOp::create(b, ofQueries, visitedSums,
                          ValueRange{first, constant(0)},
                          /*accumulate=*/true, tile::StorePath::Buffer);
  return sums;
}

Sums GradientBuilder::visitHead(Value head, Sums sums) {
  headQ = head;
  visitedRows =
      ownsKeys ? view(operands.query, headQ) : view(operands.key, headKV);
  visitedValues = ownsKeys ? view(operands.outputGrad, headQ)
                           : view(operands.value, headKV);
  if (kernel.addsQueries)
    visitedSums =
        viewHeads(b, kQuerySumsOrder, operands.querySums, batch, headQ);
  std::unique_ptr<VisitedBlocks> blocks =
      makeVisitedBlocks(b, op, operands, kernel.visited,
                        {kernel.owns, batch, headQ, firstOwned, lastOwned,
                         ownsKeys ? seqQ : seqK});
  auto loop = scf::ForOp::create(b, blocks->begin, blocks->end, constant(1),
                                 ValueRange(sums));
  planLoop(loop);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Sums next =
      step(*blocks, loop.getInductionVar(), Sums(loop.getRegionIterArgs()));
  scf::YieldOp::create(b, ValueRange(next));
  return Sums(loop.getResults());
}

void GradientBuilder::finish(Value sums, Value gradient, double factor) {
  if (!gradient)
    return;
  Value scaled = scaleToOperand(b, sums, op.getElementType(), factor);
  tile::StoreOp::create(b, scaled, view(gradient, headOwned),
                        ValueRange{firstOwned, constant(0)},
                        /*accumulate=*/false, tile::StorePath::Direct);
}

void GradientBuilder::build() {
  dropout = readDropout(b, op, operands);
  if (dropout)
    headsQ = size(operands.query, op.getHeadPos());
  locate();
  auto makeZeros = [&](int64_t columns) {
    return b.fill(TileType::get({kernel.owned, columns}, b.getF32Type()), 0);
  };
  Sums sums;
  if (kernel.sumsOwned)
    sums.push_back(makeZeros(padded.qk));
  if (kernel.sumsValues)
    sums.push_back(makeZeros(padded.v));
  double scale = op.getEffectiveScale();
  if (!ownsKeys) {
    headQ = headOwned;
    ownedRows = loadOwned(padded.qk, view(operands.query, headQ));
    ownedValues = loadOwned(padded.v, view(operands.outputGrad, headQ));
    ownedShifts = loadShifts(kernel.owned, firstOwned);
    ownedDeltas = loadDeltas(kernel.owned, firstOwned);
    finish(visitHead(headOwned, sums).front(), operands.queryGrad, scale);
    return;
  }
  ownedRows = loadOwned(padded.qk, view(operands.key, headOwned));
  if (kernel.sumsOwned)
    ownedValues = loadOwned(padded.v, view(operands.value, headOwned));
  int64_t headsQ = op.getHeadsQ();
  if (ShapedType::isStatic(headsQ) && headsQ == op.getHeadsKV()) {
    sums = visitHead(headOwned, sums);
  } else {
    Value group =
        b.createOrFold<arith::DivUIOp>(size(operands.query, op.getHeadPos()),
                                       size(operands.key, op.getHeadPos()));
    Value first = b.createOrFold<arith::MulIOp>(headOwned, group);
    Value after = b.createOrFold<arith::AddIOp>(first, group);
    auto loop =
        scf::ForOp::create(b, first, after, constant(1), ValueRange(sums));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Sums next =
        visitHead(loop.getInductionVar(), Sums(loop.getRegionIterArgs()));
    scf::YieldOp::create(b, ValueRange(next));
    sums = Sums(loop.getResults());
  }
  finish(sums.front(), operands.keyGrad, scale);
  finish(sums.back(), operands.valueGrad,
         dropout ? attn::Dropout::getScale(op) : 1);
}

void attune::buildGradientBody(OpBuilder &builder, attn::AttentionGradOp op,
                               const GradientOperands &operands,
                               const GradientKernel &kernel,
                               tile::MmaAtomAttr atom,
                               const DeviceCache &cache) {
  GradientBuilder(builder, op, operands, kernel, atom, cache).build();
}
