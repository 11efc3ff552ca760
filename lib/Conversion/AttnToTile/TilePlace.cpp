// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TilePlace.h"
#include "Views.h"
#include "VisitedBlocks.h"
#include "attune/Conversion/RegionClone.h"
#include "attune/Dialect/Attn/IR/SizeFacts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attune;

Value TilePlace::size(Value buffer, char dim) {
  return b.createOrFold<memref::DimOp>(
      buffer, static_cast<int64_t>(op.getOrder().find(dim)));
}

Value TilePlace::getQueryBatch() {
  return packed.first ? constant(b, 0) : batch;
}

Value TilePlace::getRow() {
  Value row = packed.first
                  ? b.createOrFold<arith::AddIOp>(packed.first, firstRow)
                  : firstRow;
  // Boxes of several rows start where it is known.
  if (sizes.flattens)
    return packed.first
               ? b.createOrFold<arith::MulIOp>(row, constant(b, sizes.heads))
               : constant(b, 0);
  return row;
}

Value TilePlace::getAfter(ImplicitLocOpBuilder &at) {
  if (!packed.after || sizes.heads == 1)
    return packed.after;
  // Rows behind whole queries of a tile are those of the next one.
  Value first = at.createOrFold<arith::AddIOp>(packed.first, firstRow);
  Value afterTile = at.createOrFold<arith::AddIOp>(
      first, arith::ConstantIndexOp::create(at, sizes.queries));
  return at.createOrFold<arith::MinSIOp>(packed.after, afterTile);
}

std::pair<Value, Value> TilePlace::locateRow(OpBuilder &inner, Location loc,
                                             Value row, bool clamp) {
  if (sizes.heads == 1)
    return {headQ, elementPosition(inner, loc, firstRow, row, seqQ, clamp)};
  if (packed.first) {
    Value heads = arith::ConstantIndexOp::create(inner, loc, sizes.heads);
    Value ofHeads = arith::DivUIOp::create(inner, loc, row, heads);
    Value head = arith::RemUIOp::create(inner, loc, row, heads);
    return {arith::AddIOp::create(inner, loc, headQ, head),
            elementPosition(inner, loc, firstRow, ofHeads, seqQ, clamp)};
  }
  auto [outer, length] = std::pair(sizes.heads, op.getSeqQ());
  if (sizes.queriesFirst)
    std::swap(outer, length);
  Value count = arith::ConstantIndexOp::create(inner, loc, length);
  Value number = arith::DivUIOp::create(inner, loc, row, count);
  if (clamp)
    number = arith::MinUIOp::create(
        inner, loc, number,
        arith::ConstantIndexOp::create(inner, loc, outer - 1));
  Value other = arith::RemUIOp::create(inner, loc, row, count);
  if (sizes.queriesFirst)
    std::swap(number, other);
  return {arith::AddIOp::create(inner, loc, headQ, number), other};
}

Value TilePlace::viewRows(ImplicitLocOpBuilder &at, StringRef order,
                          Value buffer, Value ofBatch) {
  if (sizes.flattens)
    return viewSharedRows(at, order, buffer, ofBatch, headQ, sizes.heads,
                          sizes.queriesFirst, getAfter(at));
  Value view = viewHeads(at, order, buffer, ofBatch, headQ, sizes.heads);
  Value after = getAfter(at);
  return after ? limitRows(at, view, after) : view;
}

Value TilePlace::viewNumbers(ImplicitLocOpBuilder &at, Value buffer,
                             Value ofBatch) {
  if (sizes.flattens)
    return viewSharedRows(at, "bhs", buffer, ofBatch, headQ, sizes.heads,
                          sizes.queriesFirst, getAfter(at));
  Value after = getAfter(at);
  return viewRowNumbers(at, buffer, ofBatch, headQ, sizes.heads,
                        after ? after : seqQ, /*isPacked=*/after != nullptr);
}

Value TilePlace::viewOutput(Value buffer) {
  return part ? viewPart(b, buffer, part) : buffer;
}

std::unique_ptr<VisitedBlocks> TilePlace::makeBlocks() {
  std::unique_ptr<VisitedBlocks> blocks = makeVisitedBlocks(
      b, op, operands, sizes.blockN,
      {MaskDim::Query, batch, headQ, firstRow, lastRow, lengthK});
  if (part)
    blocks->takePart(b, part, schedule.getSplitK());
  if (!slot)
    return blocks;
  // What is left of the tile's steps is that of others, who have nothing else
  // but for the last one.
  Value steps = arith::SubIOp::create(b, blocks->end, blocks->begin);
  Value left = arith::SubIOp::create(
      b, steps, arith::MinUIOp::create(b, steps, afterStep));
  Value others = arith::CeilDivUIOp::create(b, left, shareLength);
  auto is = [&](Value number, int64_t other) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, number,
                                 constant(b, other));
  };
  Value isFirst = is(firstStep, 0);
  sharers = {sharer, arith::AddIOp::create(b, others, constant(b, 1)), isFirst,
             arith::AndIOp::create(b, isFirst, is(others, 0))};
  blocks->take(b, firstStep, afterStep);
  return blocks;
}

Value TilePlace::countTiles() {
  seqQ = boundSize(b, size(operands.query, 's'), attn::getQueryFacts(op));
  seqK = countRoomForKeys(b, op, operands.key, operands.pages);
  // Tiles are counted, ordered and assigned by clusters; the last one of a head
  // may lie beyond it in part.
  int64_t rows = sizes.queries * schedule.getCluster();
  Value tiles = b.createOrFold<arith::CeilDivUIOp>(seqQ, constant(b, rows));
  if (operands.queryStarts)
    // As many as findPackedRows() may number.
    tiles = b.createOrFold<arith::AddIOp>(
        tiles, b.createOrFold<memref::DimOp>(operands.queryStarts, 0));
  counts = {tiles,
            b.createOrFold<arith::DivUIOp>(size(operands.query, 'h'),
                                           constant(b, sizes.heads)),
            size(operands.key, 'h'), size(operands.query, 'b')};
  Value ofHeads = b.createOrFold<arith::MulIOp>(counts.tiles, counts.headsQ);
  Value all = b.createOrFold<arith::MulIOp>(ofHeads, counts.batches);
  total = b.createOrFold<arith::MulIOp>(
      all, constant(b, std::max<int64_t>(1, schedule.getSplitK())));
  return total;
}

void TilePlace::locate(Value number) {
  schedule::TileOrder order = schedule.getTileOrder();
  bool isByHead =
      order != schedule::TileOrder::AcrossHeads || sizes.batchesFirst;
  if (isByHead)
    number = dealToParts(b, number, total, sizes.cache);
  if (schedule.getSplitK() > 1) {
    // Parts of one tile start one after the other.
    Value parts = constant(b, schedule.getSplitK());
    part = b.createOrFold<arith::RemUIOp>(number, parts);
    number = b.createOrFold<arith::DivUIOp>(number, parts);
  }
  tileNumber = number;
  QueryTile tile;
  if (!isByHead) {
    int64_t ofKey = sizes.headDimQK / (op.getPackedKey() ? 2 : 1),
            ofValue = sizes.headDimV / (op.getPackedValue() ? 2 : 1);
    int64_t rowBytes = (ofKey + (op.getLatent() ? 0 : ofValue)) *
                       op.getKey().getType().getElementTypeBitWidth() / 8;
    Value headBytes =
        b.createOrFold<arith::MulIOp>(seqK, constant(b, rowBytes));
    tile = orderBySection(b, number, counts, headBytes, sizes.cache,
                          /*lastFirst=*/true);
  } else if (operands.queryStarts && order == schedule::TileOrder::Ascending) {
    tile = orderByTile(b, number, counts);
  } else {
    tile =
        orderByHead(b, number, counts, order != schedule::TileOrder::Ascending,
                    sizes.batchesFirst);
  }
  headQ = b.createOrFold<arith::MulIOp>(tile.headQ, constant(b, sizes.heads));
  headKV = tile.headKV;
  batch = tile.batch;
  if (operands.queryStarts) {
    packed = findPackedRows(b, operands.queryStarts, seqQ,
                            sizes.queries * schedule.getCluster(), tile.tile);
    batch = packed.batch;
    tile.tile = packed.tile;
  }
  if (int64_t size = schedule.getCluster(); size > 1) {
    Value first = arith::MulIOp::create(b, tile.tile, constant(b, size));
    Value rank = gpu::ClusterBlockIdOp::create(b, gpu::Dimension::x);
    tile.tile = arith::AddIOp::create(b, first, rank);
    tileNumber = b.createOrFold<arith::AddIOp>(
        b.createOrFold<arith::MulIOp>(number, constant(b, size)), rank);
  }
  firstRow = arith::MulIOp::create(b, tile.tile, constant(b, sizes.queries));
  Value afterTile =
      arith::AddIOp::create(b, firstRow, constant(b, sizes.queries));
  findLengths();
  Value afterRow = arith::MinSIOp::create(b, afterTile, lengthQ);
  lastRow = arith::SubIOp::create(b, afterRow, constant(b, 1));
}

StepShare TilePlace::takeShare(Value own) {
  Value members = constant(b, sizes.members);
  sharer = b.createOrFold<arith::DivUIOp>(own, members);
  member = b.createOrFold<arith::RemUIOp>(own, members);
  return StepShare(b, op, operands, sizes, counts.batches, sharer);
}

void TilePlace::locate(const StepShare &share, Value number) {
  Value rounds = constant(b, sizes.rounds);
  batch = b.createOrFold<arith::DivUIOp>(number, rounds);
  Value round = b.createOrFold<arith::RemUIOp>(number, rounds);
  Value tile = b.createOrFold<arith::AddIOp>(
      b.createOrFold<arith::MulIOp>(round, constant(b, sizes.members)), member);
  headQ = b.createOrFold<arith::MulIOp>(tile, constant(b, sizes.heads));
  headKV = b.createOrFold<arith::DivUIOp>(
      headQ, constant(b, op.getHeadsQ() / op.getHeadsKV()));
  slot = b.createOrFold<arith::AddIOp>(batch, sharer);
  firstRow = constant(b, 0);
  findLengths();
  Value rows = arith::MinSIOp::create(b, constant(b, sizes.blockM), lengthQ);
  lastRow = arith::SubIOp::create(b, rows, constant(b, 1));
  auto isTile = [&](Value other) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, number, other);
  };
  firstStep = arith::SelectOp::create(b, isTile(share.firstTile),
                                      share.firstStep, constant(b, 0));
  Value last = arith::SubIOp::create(b, share.afterTile, constant(b, 1));
  afterStep = arith::SelectOp::create(b, isTile(last), share.afterStep,
                                      constant(b, StepShare::kAll));
  shareLength = share.length;
}

void TilePlace::findLengths() {
  auto load = [&](Value buffer, Value place) -> Value {
    return memref::LoadOp::create(b, buffer, place);
  };
  lengthQ = attn::getBatchRows(b, /*starts=*/Value(), operands.queryLengths,
                               batch, packed.room ? packed.room : seqQ, load)
                .length;
  attn::BatchRows keys = attn::getBatchRows(
      b, operands.keyStarts, operands.keyLengths, batch, seqK, load);
  lengthK = keys.length;
  firstKey = keys.first;
  captures = operands.captures;
  if (!op.hasLengths())
    return;
  if (operands.queryLengths || packed.room) {
    // Rows behind the last query see nothing.
    Value exists =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, firstRow, lengthQ);
    lengthK = arith::SelectOp::create(b, exists, lengthK, constant(b, 0));
  }
  for (Region *region : {&op.getScore(), &op.getMask()})
    if (!region->empty())
      cloneOfArgument(b, attn::getBatchArgument(*region), batch, captures);
}
