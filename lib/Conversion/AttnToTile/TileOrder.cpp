// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Orders of query tiles. The longest-first order in sections that fit the cache
// is that of FlashAttention-3's scheduler (Shah et al., 2024).

#include "TileOrder.h"
#include "Views.h"
#include "attune/Dialect/Attn/IR/SizeFacts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace attune;

static Value reversed(ImplicitLocOpBuilder &b, Value index, Value count) {
  Value last = b.createOrFold<arith::SubIOp>(count, constant(b, 1));
  return b.createOrFold<arith::SubIOp>(last, index);
}

static Value keyHead(ImplicitLocOpBuilder &b, Value headQ,
                     const TileCounts &counts) {
  Value group = b.createOrFold<arith::DivUIOp>(counts.headsQ, counts.headsKV);
  return b.createOrFold<arith::DivUIOp>(headQ, group);
}

// The last ones, of which not every part has one, stay where they are.
Value attune::dealToParts(ImplicitLocOpBuilder &b, Value number, Value total,
                          const DeviceCache &cache) {
  if (cache.parts == 1)
    return number;
  Value parts = constant(b, cache.parts);
  Value each = b.createOrFold<arith::DivUIOp>(total, parts);
  Value part = b.createOrFold<arith::RemUIOp>(number, parts);
  Value dealt = b.createOrFold<arith::AddIOp>(
      b.createOrFold<arith::MulIOp>(part, each),
      b.createOrFold<arith::DivUIOp>(number, parts));
  Value isDealt =
      b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ult, number,
                                    b.createOrFold<arith::MulIOp>(each, parts));
  return b.createOrFold<arith::SelectOp>(isDealt, dealt, number);
}

QueryTile attune::orderByTile(ImplicitLocOpBuilder &b, Value number,
                              const TileCounts &counts) {
  QueryTile result;
  result.batch = constant(b, 0);
  result.headQ = b.createOrFold<arith::RemUIOp>(number, counts.headsQ);
  result.tile = b.createOrFold<arith::DivUIOp>(number, counts.headsQ);
  result.headKV = keyHead(b, result.headQ, counts);
  return result;
}

QueryTile attune::orderByHead(ImplicitLocOpBuilder &b, Value number,
                              const TileCounts &counts, bool lastFirst,
                              bool batchesFirst) {
  QueryTile result;
  if (batchesFirst) {
    result.batch = b.createOrFold<arith::RemUIOp>(number, counts.batches);
    number = b.createOrFold<arith::DivUIOp>(number, counts.batches);
  }
  result.tile = b.createOrFold<arith::RemUIOp>(number, counts.tiles);
  Value rest = b.createOrFold<arith::DivUIOp>(number, counts.tiles);
  result.headQ = b.createOrFold<arith::RemUIOp>(rest, counts.headsQ);
  if (!batchesFirst)
    result.batch = b.createOrFold<arith::DivUIOp>(rest, counts.headsQ);
  result.headKV = keyHead(b, result.headQ, counts);
  if (lastFirst)
    result.tile = reversed(b, result.tile, counts.tiles);
  return result;
}

QueryTile attune::orderBySection(ImplicitLocOpBuilder &b, Value number,
                                 const TileCounts &counts, Value headBytes,
                                 const DeviceCache &cache, bool lastFirst) {
  Value one = constant(b, 1);
  Value heads = b.createOrFold<arith::MulIOp>(counts.headsQ, counts.batches);
  Value group = b.createOrFold<arith::DivUIOp>(counts.headsQ, counts.headsKV);
  // There may be no keys.
  Value atLeastOne = b.createOrFold<arith::MaxUIOp>(headBytes, one);
  Value fitting = b.createOrFold<arith::DivUIOp>(
      constant(b, cache.bytes / cache.parts), atLeastOne);
  Value keyHeads = b.createOrFold<arith::MaxUIOp>(fitting, one);
  if (cache.parts > 1)
    keyHeads =
        b.createOrFold<arith::MulIOp>(keyHeads, constant(b, cache.parts));
  Value size = b.createOrFold<arith::MinUIOp>(
      b.createOrFold<arith::MulIOp>(keyHeads, group), heads);

  Value tilesOfSection = b.createOrFold<arith::MulIOp>(size, counts.tiles);
  Value section = b.createOrFold<arith::DivUIOp>(number, tilesOfSection);
  Value inSection = b.createOrFold<arith::RemUIOp>(number, tilesOfSection);
  Value firstHead = b.createOrFold<arith::MulIOp>(section, size);
  // The last section may be smaller.
  std::optional<int64_t> all = getConstantIntValue(heads),
                         each = getConstantIntValue(size);
  if (!all || !each || *all % *each != 0) {
    Value left = b.createOrFold<arith::SubIOp>(heads, firstHead);
    size = b.createOrFold<arith::MinUIOp>(size, left);
  }
  QueryTile result;
  Value tile = b.createOrFold<arith::DivUIOp>(inSection, size);
  Value inRound = b.createOrFold<arith::RemUIOp>(inSection, size);
  if (cache.parts > 1) {
    // Heads of one key head use one part, too.
    Value ofSection = b.createOrFold<arith::DivUIOp>(size, group);
    Value keyHeadOf = b.createOrFold<arith::RemUIOp>(inRound, ofSection);
    inRound = b.createOrFold<arith::AddIOp>(
        b.createOrFold<arith::MulIOp>(keyHeadOf, group),
        b.createOrFold<arith::DivUIOp>(inRound, ofSection));
  }
  Value head = b.createOrFold<arith::AddIOp>(firstHead, inRound);
  result.tile = lastFirst ? reversed(b, tile, counts.tiles) : tile;
  result.headQ = b.createOrFold<arith::RemUIOp>(head, counts.headsQ);
  result.batch = b.createOrFold<arith::DivUIOp>(head, counts.headsQ);
  result.headKV = keyHead(b, result.headQ, counts);
  return result;
}

// Tiles of batch `i` have the numbers from `starts[i] / rows + i` on, so that
// bisection finds the batch by starts alone. They are enough: a sequence that
// begins `r` rows behind a multiple of `rows` and has `n` needs n / rows tiles,
// rounded up, and has (r + n) / rows + 1 numbers, rounded down. What is behind
// the last batch counts as one more.
PackedRows attune::findPackedRows(ImplicitLocOpBuilder &b, Value starts,
                                  Value size, int64_t rows, Value number) {
  Value one = constant(b, 1), zero = constant(b, 0),
        perTile = constant(b, rows);
  Value count = b.createOrFold<memref::DimOp>(starts, 0);
  Value batches = b.createOrFold<arith::SubIOp>(count, one);
  auto getStart = [&](Value place) -> Value {
    return attn::clampStart(b, memref::LoadOp::create(b, starts, place), size);
  };
  auto getFirstTile = [&](Value place, Value start) -> Value {
    return arith::AddIOp::create(b, place,
                                 arith::DivUIOp::create(b, start, perTile));
  };
  IntegerType word = b.getI32Type();
  Value zeros = math::CountLeadingZerosOp::create(
      b, arith::IndexCastOp::create(b, word, batches));
  Value steps = arith::SubIOp::create(
      b, constant(b, word.getWidth()),
      arith::IndexCastOp::create(b, b.getIndexType(), zeros));
  auto loop =
      scf::ForOp::create(b, zero, steps, one, ValueRange{zero, batches});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value low = loop.getRegionIterArg(0), high = loop.getRegionIterArg(1);
    Value sum = arith::AddIOp::create(b, low, high);
    Value middle = arith::DivUIOp::create(b, arith::AddIOp::create(b, sum, one),
                                          constant(b, 2));
    Value isBehind =
        arith::CmpIOp::create(b, arith::CmpIPredicate::sgt,
                              getFirstTile(middle, getStart(middle)), number);
    Value before = arith::SubIOp::create(b, middle, one);
    Value newLow = arith::SelectOp::create(b, isBehind, low, middle);
    Value newHigh = arith::SelectOp::create(b, isBehind, before, high);
    // Not below 0, whatever the first start is.
    newHigh = arith::MaxSIOp::create(b, newHigh, zero);
    scf::YieldOp::create(b, ValueRange{newLow, newHigh});
  }
  Value found = loop.getResult(0);
  PackedRows result;
  result.first = getStart(found);
  Value next = arith::AddIOp::create(b, found, one);
  Value end = getStart(arith::MinSIOp::create(b, next, batches));
  result.room = arith::MaxSIOp::create(
      b, arith::SubIOp::create(b, end, result.first), zero);
  Value isBatch =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, found, batches);
  result.after = arith::SelectOp::create(
      b, isBatch, arith::AddIOp::create(b, result.first, result.room), size);
  Value inBatch =
      arith::SubIOp::create(b, number, getFirstTile(found, result.first));
  result.tile = arith::MaxSIOp::create(b, inBatch, zero);
  result.batch =
      arith::MinSIOp::create(b, found, arith::SubIOp::create(b, batches, one));
  return result;
}

Value attune::reverseOddRounds(ImplicitLocOpBuilder &b, Value number, Value own,
                               Value grid, Value total) {
  Value one = constant(b, 1), zero = constant(b, 0);
  Value round = b.createOrFold<arith::DivUIOp>(number, grid);
  Value isOdd = b.createOrFold<arith::CmpIOp>(
      arith::CmpIPredicate::ne, b.createOrFold<arith::AndIOp>(round, one),
      zero);
  Value first = b.createOrFold<arith::SubIOp>(number, own);
  Value after = b.createOrFold<arith::AddIOp>(first, grid);
  Value isWhole =
      b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ule, after, total);
  Value backwards = b.createOrFold<arith::SubIOp>(
      b.createOrFold<arith::SubIOp>(after, one), own);
  return b.createOrFold<arith::SelectOp>(
      b.createOrFold<arith::AndIOp>(isOdd, isWhole), backwards, number);
}
