// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Orders of query tiles. The longest-first order in sections that fit the cache
// is that of FlashAttention-3's scheduler (Shah et al., 2024).

#include "TileOrder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace attune;

static Value constant(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

static Value reversed(ImplicitLocOpBuilder &b, Value index, Value count) {
  Value last = b.createOrFold<arith::SubIOp>(count, constant(b, 1));
  return b.createOrFold<arith::SubIOp>(last, index);
}

static Value keyHead(ImplicitLocOpBuilder &b, Value headQ,
                     const TileCounts &counts) {
  Value group = b.createOrFold<arith::DivUIOp>(counts.headsQ, counts.headsKV);
  return b.createOrFold<arith::DivUIOp>(headQ, group);
}

QueryTile attune::orderByHead(ImplicitLocOpBuilder &b, Value number,
                              const TileCounts &counts, bool lastFirst) {
  QueryTile result;
  result.tile = b.createOrFold<arith::RemUIOp>(number, counts.tiles);
  Value rest = b.createOrFold<arith::DivUIOp>(number, counts.tiles);
  result.headQ = b.createOrFold<arith::RemUIOp>(rest, counts.headsQ);
  result.batch = b.createOrFold<arith::DivUIOp>(rest, counts.headsQ);
  result.headKV = keyHead(b, result.headQ, counts);
  if (lastFirst)
    result.tile = reversed(b, result.tile, counts.tiles);
  return result;
}

QueryTile attune::orderBySection(ImplicitLocOpBuilder &b, Value number,
                                 const TileCounts &counts, Value headBytes,
                                 int64_t cacheBytes, bool lastFirst) {
  Value one = constant(b, 1);
  Value heads = b.createOrFold<arith::MulIOp>(counts.headsQ, counts.batches);
  Value group = b.createOrFold<arith::DivUIOp>(counts.headsQ, counts.headsKV);
  // There may be no keys.
  Value atLeastOne = b.createOrFold<arith::MaxUIOp>(headBytes, one);
  Value fitting =
      b.createOrFold<arith::DivUIOp>(constant(b, cacheBytes), atLeastOne);
  Value keyHeads = b.createOrFold<arith::MaxUIOp>(fitting, one);
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
  Value head = b.createOrFold<arith::AddIOp>(
      firstHead, b.createOrFold<arith::RemUIOp>(inSection, size));
  result.tile = lastFirst ? reversed(b, tile, counts.tiles) : tile;
  result.headQ = b.createOrFold<arith::RemUIOp>(head, counts.headsQ);
  result.batch = b.createOrFold<arith::DivUIOp>(head, counts.headsQ);
  result.headKV = keyHead(b, result.headQ, counts);
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
