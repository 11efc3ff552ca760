// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PackedUnits.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace attune;
using tile::TileType;

/// What is multiplied is so much more than the integers, in units.
static constexpr double kMore = 8;
/// The power of 2 below the largest amounts that queries are scaled to, which
/// f16 have.
static constexpr int64_t kLargest = 14;

static double power(int64_t exponent) {
  return std::ldexp(1.0, static_cast<int>(exponent));
}

/// What `get` gives for the unit of the column, of which the lower parts of
/// bytes come first.
static Value selectUnit(OpBuilder &inner, Location loc, TileType type,
                        Value column, ArrayRef<int64_t> units,
                        function_ref<double(int64_t unit)> get) {
  Value half =
      arith::ConstantIndexOp::create(inner, loc, type.getShape()[1] / 2);
  Value isLower = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::ult,
                                        column, half);
  return arith::SelectOp::create(inner, loc, isLower,
                                 constantF32(inner, loc, get(units[0])),
                                 constantF32(inner, loc, get(units[1])));
}

/// Each element times what `get` gives for the unit of its column.
static Value scaleColumns(TileBuilder &b, Value tile, ArrayRef<int64_t> units,
                          function_ref<double(int64_t unit)> get) {
  auto type = cast<TileType>(tile.getType());
  return b.map(type, tile,
               [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
                 return arith::MulFOp::create(
                     inner, loc, args[0],
                     selectUnit(inner, loc, type, args.back(), units, get));
               });
}

Value attune::scaleForUnits(TileBuilder &b, Value queries,
                            ArrayRef<int64_t> units) {
  int64_t least = *llvm::min_element(units);
  return scaleColumns(b, queries, units, [&](int64_t unit) {
    return power(kLargest + least - unit);
  });
}

double attune::getUnitOfScaled(ArrayRef<int64_t> units) {
  return power(-kLargest - *llvm::min_element(units));
}

Value attune::getBiases(TileBuilder &b, Value queries,
                        ArrayRef<int64_t> units) {
  return scaleColumns(b, queries, units,
                      [](int64_t unit) { return -kMore * power(unit); });
}

Value attune::addCounts(TileBuilder &b, Value weights, Value counts) {
  int64_t keys = cast<TileType>(weights.getType()).getShape()[1],
          columns = cast<TileType>(counts.getType()).getShape()[1];
  // Weights have the layout that their product with values wants.
  Value one = arith::ConstantOp::create(b, b.getI8IntegerAttr(1));
  Value ones = tile::FillOp::create(
      b, TileType::get({keys, columns}, b.getI8Type()), one);
  return tile::MmaOp::create(b, counts.getType(), weights, ones, counts,
                             /*transpose_lhs=*/false, /*transpose_rhs=*/false,
                             tile::MmaScope::Warp, /*warps_n=*/1,
                             /*lhs_through_shared=*/false, tile::MmaAtomAttr());
}

Value attune::dropUnits(TileBuilder &b, Value sums, Value counts,
                        ArrayRef<int64_t> units) {
  auto type = cast<TileType>(sums.getType());
  return b.map(type, {sums, b.broadcast(counts, type)},
               [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
                 Value unit = selectUnit(
                     inner, loc, type, args.back(), units,
                     [](int64_t exponent) { return power(-exponent); });
                 Value more = arith::MulFOp::create(
                     inner, loc, args[1], constantF32(inner, loc, -kMore));
                 return math::FmaOp::create(inner, loc, args[0], unit, more);
               });
}
