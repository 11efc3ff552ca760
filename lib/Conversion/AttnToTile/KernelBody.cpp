// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loop over the keys of each tile. TilePlace.cpp says which tiles there
// are, VisitedBlocks.cpp which keys are visited, OnlineSoftmax.cpp writes what
// becomes of the scores.

#include "KernelBody.h"
#include "GradientRows.h"
#include "KeySource.h"
#include "LastMerge.h"
#include "LoopPlan.h"
#include "MergeParts.h"
#include "NarrowRows.h"
#include "OnlineSoftmax.h"
#include "OperandFactors.h"
#include "PackedUnits.h"
#include "RegionTiles.h"
#include "TilePlace.h"
#include "Views.h"
#include "VisitedBlocks.h"
#include "attune/Conversion/RegionClone.h"
#include "attune/Dialect/Attn/IR/SizeFacts.h"
#include "attune/Schedule/Attention/Legality.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attune;
using tile::TileType;

namespace {

class BodyBuilder {
public:
  BodyBuilder(OpBuilder &builder, attn::AttentionOp op,
              const KernelOperands &operands, const KernelSizes &sizes)
      : b(op.getLoc(), builder), op(op), schedule(op.getScheduleAttr()),
        operands(operands), sizes(sizes), softmax(b, op, sizes),
        at(b, op, operands, this->sizes), factors(op, operands, sizes.heads),
        regionTiles(op, this->sizes.regionTiles, RegionTile::kStages) {}

  void build();

private:
  tile::MmaScope getScope() {
    return schedule.getMmaWarps() > 1 ? tile::MmaScope::Warpgroup
                                      : tile::MmaScope::Warp;
  }
  tile::MmaOp multiply(Value lhs, Value rhs, Value acc, bool transposeRhs) {
    bool isPacked = transposeRhs ? op.getPackedKey() : op.getPackedValue();
    auto mma = tile::MmaOp::create(
        b, acc.getType(), lhs, rhs, acc, /*transpose_lhs=*/false, transposeRhs,
        getScope(), /*warps_n=*/1,
        /*lhs_through_shared=*/false, tile::MmaAtomAttr(), /*replicas=*/1,
        isPacked, transposeRhs ? sizes.keyUnits : sizes.valueUnits);
    if (schedule.getMmaSchedule() == schedule::MmaSchedule::Priority)
      mma->setAttr(tile::TileDialect::kRaisePriorityAttrName, b.getUnitAttr());
    if (schedule.getMmaSchedule() == schedule::MmaSchedule::Groups)
      mma->setAttr(tile::TileDialect::kIssueGroupsAttrName, b.getUnitAttr());
    return mma;
  }
  tile::StorePath getOutputPath() {
    switch (schedule.getOInShared()) {
    case schedule::OutputPath::Registers:
      return tile::StorePath::Direct;
    case schedule::OutputPath::QuerySlot:
      return tile::StorePath::OperandSlot;
    case schedule::OutputPath::Buffer:
      return tile::StorePath::Buffer;
    }
    llvm_unreachable("all paths are covered");
  }
  /// A tile of a buffer, which goes through a ring of `stages` slots.
  tile::LoadOp load(TileType type, Value buffer, Value row, int64_t stages,
                    tile::Eviction eviction, UnitAttr inBounds = {},
                    int64_t column = 0) {
    return tile::LoadOp::create(
        b, type, buffer, ValueRange{row, constant(b, column)}, inBounds,
        b.getI64IntegerAttr(stages),
        /*read_once=*/UnitAttr(), /*role=*/StringAttr(),
        tile::EvictionAttr::get(b.getContext(), eviction));
  }
  /// Of keys and values: the other query tiles of a head read them as well.
  tile::Eviction getKeyEviction() {
    return op.getSeqQ() > sizes.blockM || ShapedType::isDynamic(op.getSeqQ())
               ? tile::Eviction::Last
               : tile::Eviction::Normal;
  }
  void buildTile();
  /// The tiles of the parts of so many rows' columns, each of which `load` is
  /// given the type and the first column of.
  SmallVector<Value, 2>
  loadParts(int64_t rows, Type element,
            function_ref<Value(TileType type, int64_t column)>);
  SmallVector<Value, 2> queryTiles();
  /// The rows of the tile as they lie in memory.
  Value viewQueries();
  /// The values of a block, those of each part of the output's columns.
  SmallVector<Value, 2> valueTiles(ValueRange keys, Value row);
  /// Adds their products with the weights, which roles of columns get.
  void addProducts(Value weights, ValueRange values, SoftmaxState &state);
  SoftmaxState step(Value block, ValueRange queries, SoftmaxState state);
  Value applyScore(Value scores, const KeySource::Block &block);
  /// Hides keys beyond the last one and, if `asksRegion`, those that the mask
  /// hides.
  Value applyMask(Value scores, const KeySource::Block &block, bool asksRegion);
  void finish(SoftmaxState state);
  /// Into a buffer of results, or of parts of them: their columns, and the
  /// logarithms of rows.
  void storeColumns(ArrayRef<Value> columns, Value output, bool isPart);
  void storeLogs(Value logs, Value buffer, bool isPart);
  Value getBatch(bool isPart) {
    return isPart ? at.getOutputBatch() : at.getQueryBatch();
  }
  /// Of equal shares, who has all of a tile stores results of the op.
  void storeShare(ArrayRef<Value> columns, Value logs);
  /// Rows of the result in f32, divided by the scales of their heads if there
  /// are any, and rounded.
  Value round(Value rows, Type element, Value scales);
  /// The tile with this value in rows behind the last query of the batch.
  Value clearBehind(Value tile, double value);

  /// The 2-D [rows, head size] view of `heads` heads, whatever the dimension
  /// order. More than one must be adjacent, or have one row each; all that
  /// follow of such if there is no number.
  Value head(Value buffer, Value headIndex, std::optional<int64_t> heads = 1);
  int64_t position(char dim) { return op.getOrder().find(dim); }
  Value size(Value buffer, char dim) {
    return b.createOrFold<memref::DimOp>(buffer, position(dim));
  }
  UnitAttr inBounds(int64_t size, int64_t padded) {
    return blocks->wholeBlocks && size == padded && source->isInBounds()
               ? b.getUnitAttr()
               : UnitAttr();
  }

  TileBuilder b;
  attn::AttentionOp op;
  schedule::AttentionAttr schedule;
  const KernelOperands &operands;
  KernelSizes sizes;
  OnlineSoftmax softmax;
  TilePlace at;
  OperandFactors factors;
  RegionTiles regionTiles;
  std::optional<attn::Dropout> dropout;
  Value headsQ;
  /// None where queries are multiplied as they are.
  std::optional<HalfRows> halves;
  /// Of the block; rows of the role that restages.
  KeyRows keyRows;
  /// Of the elements of each row, by which the zero points of keys are
  /// multiplied; null where there are none.
  Value querySums;
  std::unique_ptr<VisitedBlocks> blocks;
  std::unique_ptr<KeySource> source;
};

} // namespace

Value BodyBuilder::head(Value buffer, Value headIndex,
                        std::optional<int64_t> heads) {
  return viewHeads(b, op.getOrder(), buffer, at.getQueryBatch(), headIndex,
                   heads);
}

SmallVector<Value, 2> BodyBuilder::loadParts(
    int64_t rows, Type element,
    function_ref<Value(TileType type, int64_t column)> load) {
  SmallVector<Value, 2> tiles;
  for (ColumnPart part : sizes.keyParts)
    tiles.push_back(
        load(TileType::get({rows, part.count}, element), part.first));
  return tiles;
}

Value BodyBuilder::viewQueries() {
  // Heads of one row each are a dimension whose end the copy engine knows; it
  // would not stop at the last head of this tile. Nor where that is the first
  // dimension of several.
  std::optional<int64_t> heads = sizes.heads;
  if (sizes.heads > 1 &&
      (sizes.flattens ? !sizes.queriesFirst : op.getSeqQ() == 1))
    heads = std::nullopt;
  if (sizes.flattens)
    return viewSharedRows(b, op.getOrder(), operands.query, at.getQueryBatch(),
                          at.headQ, heads, sizes.queriesFirst);
  return head(operands.query, at.headQ, heads);
}

SmallVector<Value, 2> BodyBuilder::queryTiles() {
  Value buffer = viewQueries(), row = at.getRow();
  Type element = op.getQuery().getType().getElementType();
  SmallVector<Value, 2> tiles = loadParts(
      sizes.blockM, element, [&](TileType type, int64_t column) -> Value {
        tile::LoadOp query =
            load(type, buffer, row, schedule.getQStages(),
                 tile::Eviction::First, /*inBounds=*/{}, column);
        query.setReadOnce(schedule.getQInRegisters());
        return query;
      });
  querySums = factors.shiftsScores() ? sumRows(b, tiles) : Value();
  halves.reset();
  if (sizes.multipliedType == element && sizes.keyUnits.empty())
    return tiles;
  halves.emplace(b, tiles, sizes.keyUnits);
  return halves->parts;
}

Value BodyBuilder::applyScore(Value scores, const KeySource::Block &block) {
  auto type = cast<TileType>(scores.getType());
  bool takesUnscaled = OnlineSoftmax::takesUnscaled(op);
  if (halves)
    scores = b.scaleRows(scores, halves->factors);
  bool multiplies =
      factors.ofScores() && !(takesUnscaled && factors.getOfAllScores());
  if (takesUnscaled && !multiplies && !querySums)
    return scores;
  bool hasRegion = !op.getScore().empty();
  SmallVector<Value> inputs{scores};
  if (querySums)
    inputs.push_back(b.broadcast(querySums, type));
  // The number of the input of a row; 0 where there is none.
  auto addRow = [&](Value row) {
    if (row)
      inputs.push_back(b.broadcast(row, type, /*dim=*/1));
    return row ? inputs.size() - 1 : 0;
  };
  size_t ofKey = addRow(keyRows.ofScores),
         zeroOf = addRow(keyRows.zerosOfScores), own = inputs.size();
  llvm::append_range(inputs, regionTiles.get(op.getScore()));
  return b.map(
      type, inputs,
      [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
        Value score = args[0];
        ValueRange place = args.take_back(2);
        if (querySums) {
          Value zero =
              zeroOf ? args[zeroOf]
                     : factors.getZeroOfScore(inner, loc, block, place[1]);
          score = math::FmaOp::create(inner, loc,
                                      arith::NegFOp::create(inner, loc, zero),
                                      args[1], score);
        }
        if (multiplies) {
          auto locate = [&] {
            return at.locateRow(inner, loc, place[0], /*clamp=*/true);
          };
          score = arith::MulFOp::create(
              inner, loc, score,
              factors.getOfScore(inner, loc, block, locate, place[1],
                                 ofKey ? args[ofKey] : Value()));
        }
        if (takesUnscaled)
          return score;
        auto scaled = arith::MulFOp::create(
            inner, loc, score, constantF32(inner, loc, op.getEffectiveScale()));
        if (!hasRegion)
          return scaled;
        // With additions of the region that may be, too.
        scaled.setFastmath(arith::FastMathFlags::contract);
        bool clamp = readsTensor(op.getScore());
        IRMapping mapping = at.captures;
        regionTiles.map(op.getScore(), mapping, args.drop_front(own));
        auto [head, row] = at.locateRow(inner, loc, place[0], clamp);
        Value column = source->getKey(inner, loc, block, place[1], clamp);
        mapping.map(op.getScore().getArguments(),
                    ValueRange{scaled, at.batch, head, row, column});
        score = OnlineSoftmax::dropFactor(
            op, inlineOntoBuffers(inner, op.getScore(), mapping));
        if (score != scaled)
          OnlineSoftmax::foldIntoNextFactor(inner, scaled);
        return score;
      });
}

Value BodyBuilder::applyMask(Value scores, const KeySource::Block &block,
                             bool asksRegion) {
  auto type = cast<TileType>(scores.getType());
  bool hasRegion = asksRegion && op.hasMask();
  if (blocks->wholeBlocks && !hasRegion)
    return scores;
  SmallVector<Value> inputs{scores};
  if (hasRegion)
    llvm::append_range(inputs, regionTiles.get(op.getMask()));
  return b.map(
      type, inputs,
      [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
        ValueRange place = args.take_back(2);
        Value column =
            source->getKey(inner, loc, block, place[1], /*clamp=*/false);
        Value keep;
        if (!blocks->wholeBlocks)
          keep = source->isKey(inner, loc, block, place[1], column);
        if (hasRegion) {
          bool clamp = readsTensor(op.getMask());
          IRMapping mapping = at.captures;
          regionTiles.map(op.getMask(), mapping, args.drop_front());
          auto [head, row] = at.locateRow(inner, loc, place[0], clamp);
          Value key = clamp ? source->getKey(inner, loc, block, place[1], clamp)
                            : column;
          mapping.map(op.getMask().getArguments(),
                      ValueRange{at.batch, head, row, key});
          Value visible = inlineOntoBuffers(inner, op.getMask(), mapping);
          keep =
              keep
                  ? arith::AndIOp::create(inner, loc, keep, visible).getResult()
                  : visible;
        }
        return arith::SelectOp::create(inner, loc, keep, args[0],
                                       constantF32(inner, loc, -kInfinity));
      });
}

SoftmaxState BodyBuilder::step(Value block, ValueRange queries,
                               SoftmaxState state) {
  Type keyType = op.getKey().getType().getElementType();
  auto scoreType = TileType::get({sizes.blockM, sizes.blockN}, b.getF32Type());
  KeySource::Block place = source->getBlock(b, blocks->getFirst(b, block));
  Value row = source->getRow(b, place);
  keyRows = sizes.restages ? factors.read(b, place, sizes.blockN) : KeyRows();

  Value scores;
  // A part is waited for where it is multiplied, behind the products of others.
  SmallVector<Value, 2> keys = loadParts(
      sizes.blockN, keyType, [&](TileType type, int64_t column) -> Value {
        if (op.getPackedKey())
          type = TileType::get({sizes.blockN, type.getShape()[1] / 2}, keyType);
        Value key = load(type, source->keys, row, schedule.getKStages(),
                         getKeyEviction(),
                         inBounds(op.getHeadDimQK(), sizes.headDimQK), column);
        if (!scores) {
          regionTiles.load(b, sizes.blockM, sizes.blockN, at.firstRow,
                           place.first);
          OperandFactors::handOver(b, keyRows);
          scores = halves && halves->biases
                       ? b.broadcast(halves->biases, scoreType)
                       : b.fill(scoreType, 0);
        }
        tile::MmaOp product =
            multiply(queries.front(), key, scores, /*transposeRhs=*/true);
        queries = queries.drop_front();
        product.setReplicas(hasScoreRole(schedule) ? 1 : schedule.getWarpsN());
        scores = product;
        return key;
      });
  scores = applyScore(scores, place);
  scores = blocks->maskStep(b, block, scores, [&](bool asksRegion) {
    return applyMask(scores, place, asksRegion);
  });

  auto getFactor = [&](OpBuilder &inner, Location loc, ValueRange args) {
    return keyRows.ofWeights ? args.front()
                             : factors.getOfWeight(inner, loc, place, args[1]);
  };
  auto isKept = [&](OpBuilder &inner, Location loc, ValueRange args) {
    auto [head, query] = at.locateRow(inner, loc, args[0], /*clamp=*/false);
    Value key = source->getKey(inner, loc, place, args[1], /*clamp=*/false);
    return drawIsKept(inner, loc, *dropout, at.batch, head, headsQ, query, key);
  };
  auto getZero = [&](OpBuilder &inner, Location loc, ValueRange args) {
    return keyRows.zerosOfWeights
               ? args.front()
               : factors.getZeroOfWeight(inner, loc, place, args[1]);
  };
  Value weights = softmax.takeBlock(
      scores, state,
      {factors.ofWeights() ? TileBuilder::Body(getFactor) : nullptr,
       keyRows.ofWeights},
      dropout ? TileBuilder::Body(isKept) : nullptr,
      {getZero, keyRows.zerosOfWeights});
  addProducts(weights, valueTiles(keys, row), state);
  return state;
}

SmallVector<Value, 2> BodyBuilder::valueTiles(ValueRange keys, Value row) {
  if (op.getLatent())
    return SmallVector<Value, 2>(keys.take_back(sizes.outputParts.size()));
  Type type = op.getValue().getType().getElementType();
  SmallVector<Value, 2> values;
  for (ColumnPart part : sizes.outputParts) {
    int64_t columns = op.getPackedValue() ? part.count / 2 : part.count;
    values.push_back(
        load(TileType::get({sizes.blockN, columns}, type), source->values, row,
             schedule.getVStages(), getKeyEviction(),
             inBounds(op.getHeadDimV(), sizes.headDimV), part.first));
  }
  return values;
}

void BodyBuilder::addProducts(Value weights, ValueRange values,
                              SoftmaxState &state) {
  if (state.counts)
    state.counts = addCounts(b, weights, state.counts);
  bool hasRoles = hasScoreRole(schedule);
  if (hasRoles)
    weights = softmax.handOver(weights);
  for (auto [acc, value] : llvm::zip_equal(state.accs, values)) {
    tile::MmaOp sum = multiply(weights, value, acc, /*transposeRhs=*/false);
    if (!hasRoles) {
      sum.setWarpsN(schedule.getWarpsN());
      sum.setLhsThroughShared(!schedule.getPInRegisters());
    }
    acc = sum;
  }
}

void BodyBuilder::finish(SoftmaxState state) {
  softmax.complete(state);
  if (operands.sinks)
    softmax.takeSink(
        [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
          Value head = at.locateRow(inner, loc, args[0], /*clamp=*/true).first;
          Value sink = memref::LoadOp::create(inner, loc, operands.sinks, head);
          if (!at.sharers)
            return sink;
          // It counts once.
          return arith::SelectOp::create(inner, loc, at.sharers->isFirst, sink,
                                         constantF32(inner, loc, -kInfinity));
        },
        state);
  auto getFactor = [&](OpBuilder &inner, Location loc, ValueRange args) {
    return factors.getOfResult(inner, loc, args[1]);
  };
  auto getZero = [&](OpBuilder &inner, Location loc, ValueRange args) {
    return factors.getZeroOfResult(inner, loc, args[1]);
  };
  Type element = getElementTypeOrSelf(operands.output);
  SmallVector<Value> columns = softmax.normalize(
      state, operands.resultScales ? b.getF32Type() : element,
      factors.ofResults() ? TileBuilder::Body(getFactor) : nullptr, getZero);
  for (Value &part : columns) {
    part = clearBehind(part, 0);
    if (operands.resultScales)
      part = round(part, element, operands.resultScales);
  }
  auto getLogs = [&] {
    return clearBehind(softmax.logSumExp(state), -kInfinity);
  };
  if (at.sharers)
    return storeShare(columns, getLogs());
  bool isPart = schedule.getSplitK() != 1;
  Value output = at.viewOutput(operands.output),
        logs = operands.lse ? at.viewOutput(operands.lse) : Value();
  storeColumns(columns, output, isPart);
  if (logs)
    storeLogs(getLogs(), logs, isPart);
  if (operands.merged.counters)
    buildLastMerge(b, op, operands, sizes, at);
}

void BodyBuilder::storeColumns(ArrayRef<Value> columns, Value output,
                               bool isPart) {
  Value rows = at.viewRows(b, isPart ? StringRef(kPartOrder) : op.getOrder(),
                           output, getBatch(isPart));
  for (auto [tile, part] : llvm::zip_equal(columns, sizes.outputParts)) {
    auto store = tile::StoreOp::create(
        b, tile, rows, ValueRange{at.getRow(), constant(b, part.first)},
        /*accumulate=*/false, getOutputPath());
    // Those behind the first one, which computes scores.
    if (hasScoreRole(schedule))
      store.setRole(WarpBudget::getRoleName(
          1 + part.first * schedule.getWarpsN() / sizes.headDimV));
  }
}

void BodyBuilder::storeLogs(Value logs, Value buffer, bool isPart) {
  tile::StoreOp::create(b, logs, at.viewNumbers(b, buffer, getBatch(isPart)),
                        at.getRow(), /*accumulate=*/false,
                        tile::StorePath::Direct);
}

void BodyBuilder::storeShare(ArrayRef<Value> columns, Value logs) {
  storeSharers(b, op, operands.sharers, sizes, at);
  auto branch =
      scf::IfOp::create(b, at.sharers->isWhole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.elseBlock());
  storeColumns(columns, operands.output, /*isPart=*/true);
  storeLogs(logs, operands.lse, /*isPart=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  const KernelOperands::Merged &merged = operands.merged;
  SmallVector<Value> rounded;
  for (Value part : columns)
    rounded.push_back(
        round(part, getElementTypeOrSelf(merged.output), merged.resultScales));
  storeColumns(rounded, merged.output, /*isPart=*/false);
  if (merged.lse)
    storeLogs(logs, merged.lse, /*isPart=*/false);
}

Value BodyBuilder::round(Value rows, Type element, Value scales) {
  if (!scales)
    return scaleToOperand(b, rows, element, /*factor=*/1);
  auto getHead = [&](OpBuilder &inner, Location loc, Value row) {
    return at.locateRow(inner, loc, row, /*clamp=*/true).first;
  };
  Value inverses = invert(
      b, loadResultScales(b, scales, position('h'), sizes.blockM, getHead));
  return roundToNarrow(b, rows, inverses, /*zeros=*/Value(), element);
}

Value BodyBuilder::clearBehind(Value tile, double value) {
  // Behind packed queries no keys are seen, but sinks are.
  if (!operands.queryLengths && !(at.packed.after && operands.sinks))
    return tile;
  auto type = cast<TileType>(tile.getType());
  return b.map(
      type, tile,
      [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
        Value row = at.locateRow(inner, loc, args[1], /*clamp=*/false).second;
        Value exists = arith::CmpIOp::create(
            inner, loc, arith::CmpIPredicate::slt, row, at.lengthQ);
        Value other = arith::ConstantOp::create(
            inner, loc, inner.getFloatAttr(type.getElementType(), value));
        return arith::SelectOp::create(inner, loc, exists, args[0], other);
      });
}

void BodyBuilder::build() {
  dropout = readDropout(b, op, operands);
  if (dropout)
    headsQ = size(operands.query, 'h');
  Value total = at.countTiles();
  bool byCluster = schedule.getCluster() > 1;
  Value own = byCluster
                  ? gpu::ClusterIdOp::create(b, gpu::Dimension::x).getResult()
                  : gpu::BlockIdOp::create(b, gpu::Dimension::x).getResult();
  if (schedule.getPersistent() == schedule::Persistent::None) {
    at.locate(own);
    return buildTile();
  }
  if (sizes.sharers) {
    StepShare share = at.takeShare(own);
    auto loop =
        scf::ForOp::create(b, share.firstTile, share.afterTile, constant(b, 1));
    b.setInsertionPointToStart(loop.getBody());
    at.locate(share, loop.getInductionVar());
    buildTile();
    return b.setInsertionPointAfter(loop);
  }
  Value grid = byCluster
                   ? gpu::ClusterDimOp::create(b, gpu::Dimension::x).getResult()
                   : gpu::GridDimOp::create(b, gpu::Dimension::x).getResult();
  auto loop = scf::ForOp::create(b, own, total, grid);
  if (schedule.getPersistent() == schedule::Persistent::Dynamic)
    loop->setAttr(tile::TileDialect::kDynamicAttrName, b.getUnitAttr());
  b.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar();
  // Lists by length are assigned there and back.
  if (schedule.getTileOrder() == schedule::TileOrder::AcrossHeads &&
      schedule.getPersistent() == schedule::Persistent::Static)
    number = reverseOddRounds(b, number, own, grid, total);
  at.locate(number);
  buildTile();
  b.setInsertionPointAfter(loop);
}

void BodyBuilder::buildTile() {
  blocks = at.makeBlocks();
  source = std::make_unique<KeySource>(
      b, op, operands, sizes,
      OwnedKeys{at.batch, at.headKV, at.lengthK, at.seqK, at.firstKey});
  factors.enterTile(b,
                    {at.getQueryBatch(), at.headQ, at.packed.first, at.seqQ,
                     at.batch, at.headKV},
                    *source);
  if (Value factor = factors.getOfAllScores();
      factor && OnlineSoftmax::takesUnscaled(op))
    softmax.setFactor(factor);
  regionTiles.enterTile(b, at.captures, at.batch, at.headQ);
  SmallVector<Value, 2> queries = queryTiles();
  SoftmaxState initial = softmax.start();
  auto loop = scf::ForOp::create(b, blocks->begin, blocks->end, constant(b, 1),
                                 initial.getValues());
  planLoop(loop, schedule);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SoftmaxState next = step(loop.getInductionVar(), queries,
                             initial.with(loop.getRegionIterArgs()));
    scf::YieldOp::create(b, next.getValues());
  }
  finish(initial.with(loop.getResults()));
}

void attune::buildKernelBody(OpBuilder &builder, attn::AttentionOp op,
                             const KernelOperands &operands,
                             const KernelSizes &sizes) {
  BodyBuilder(builder, op, operands, sizes).build();
}
