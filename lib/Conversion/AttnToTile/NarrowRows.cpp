// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NarrowRows.h"
#include "GradientRows.h"
#include "PackedUnits.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune;
using tile::TileType;

using Body = llvm::function_ref<Value(ImplicitLocOpBuilder &, ValueRange)>;

static Value map(TileBuilder &b, Type type, ValueRange inputs, Body body) {
  return b.map(cast<TileType>(type), inputs,
               [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
                 ImplicitLocOpBuilder builder(loc, inner);
                 return body(builder, args);
               });
}

static Value number(ImplicitLocOpBuilder &inner, double value) {
  return constantF32(inner, inner.getLoc(), value);
}

Value attune::findAmounts(TileBuilder &b, Value rows) {
  auto type = cast<TileType>(rows.getType());
  Value amounts = map(
      b, type, rows, [](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
        Value amount = math::AbsFOp::create(inner, args[0]);
        // No bf16 is as large: compared with infinity, LLVM compares
        // before it widens, by what PTX has no instruction for.
        Value isFinite = arith::CmpFOp::create(
            inner, arith::CmpFPredicate::OLE, amount,
            number(inner, std::numeric_limits<float>::max()));
        return arith::SelectOp::create(inner, isFinite, amount,
                                       number(inner, 0));
      });
  return tile::ReduceOp::create(
      b, TileType::get({type.getShape()[0]}, b.getF32Type()),
      tile::ReductionKind::Max, amounts);
}

SmallVector<Value, 2> attune::findExtremes(TileBuilder &b, Value rows,
                                           Exists exists) {
  constexpr float kMost = std::numeric_limits<float>::max();
  auto type = cast<TileType>(rows.getType());
  SmallVector<Value, 2> extremes;
  for (bool isNegated : {false, true}) {
    Value known =
        map(b, type, rows,
            [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
              Value isFinite = arith::CmpFOp::create(
                  inner, arith::CmpFPredicate::OLE,
                  math::AbsFOp::create(inner, args[0]), number(inner, kMost));
              Value counts = arith::AndIOp::create(
                  inner, isFinite, exists(inner, args[1], args[2]));
              Value element = args[0];
              if (isNegated)
                element = arith::NegFOp::create(inner, element);
              return arith::SelectOp::create(inner, counts, element,
                                             number(inner, -kMost));
            });
    extremes.push_back(tile::ReduceOp::create(
        b, TileType::get({type.getShape()[0]}, b.getF32Type()),
        tile::ReductionKind::Max, known));
  }
  return extremes;
}

/// Whether a row has different numbers, or none.
static Value compareExtremes(ImplicitLocOpBuilder &inner,
                             arith::CmpFPredicate predicate, Value high,
                             Value negatedLow) {
  return arith::CmpFOp::create(inner, predicate, high,
                               arith::NegFOp::create(inner, negatedLow));
}

std::pair<Value, Value> attune::makeZeros(TileBuilder &b, ValueRange extremes,
                                          bool isPacked) {
  double least = attn::getLeastNumber(isPacked),
         steps = attn::getLargestNumber(b.getI8Type(), isPacked) - least;
  Value scales = map(
      b, extremes[0].getType(), extremes,
      [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
        // Each apart, for their difference may be too large.
        Value quotient = arith::AddFOp::create(
            inner, arith::DivFOp::create(inner, args[0], number(inner, steps)),
            arith::DivFOp::create(inner, args[1], number(inner, steps)));
        Value bounded = arith::MaxNumFOp::create(
            inner, quotient, number(inner, std::numeric_limits<float>::min()));
        return arith::SelectOp::create(
            inner,
            compareExtremes(inner, arith::CmpFPredicate::OGT, args[0], args[1]),
            bounded, number(inner, 1));
      });
  Value zeros = map(
      b, scales.getType(), {extremes[0], extremes[1], invert(b, scales)},
      [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
        Value isEmpty =
            compareExtremes(inner, arith::CmpFPredicate::OLT, args[0], args[1]);
        Value negatedLow =
            arith::SelectOp::create(inner, isEmpty, number(inner, 0), args[1]);
        return math::FmaOp::create(inner, negatedLow, args[2],
                                   number(inner, least));
      });
  return {scales, zeros};
}

Value attune::takeLarger(TileBuilder &b, Value left, Value right) {
  return map(b, left.getType(), {left, right},
             [](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
               return arith::MaxNumFOp::create(inner, args[0], args[1]);
             });
}

Value attune::makeScales(TileBuilder &b, Value amounts, double largest) {
  return map(
      b, amounts.getType(), amounts,
      [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
        Value quotient =
            arith::DivFOp::create(inner, args[0], number(inner, largest));
        Value least = arith::MaxNumFOp::create(
            inner, quotient, number(inner, std::numeric_limits<float>::min()));
        Value isZero = arith::CmpFOp::create(inner, arith::CmpFPredicate::OEQ,
                                             args[0], number(inner, 0));
        return arith::SelectOp::create(inner, isZero, number(inner, 1), least);
      });
}

Value attune::invert(TileBuilder &b, Value numbers) {
  return map(b, numbers.getType(), numbers,
             [](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
               return arith::DivFOp::create(inner, number(inner, 1), args[0]);
             });
}

/// What is beyond the largest number is that.
static Value saturate(ImplicitLocOpBuilder &inner, Value value, double most) {
  // Not every chip takes infinities to the largest number.
  Value largest = number(inner, most);
  Value isBeyond =
      arith::CmpFOp::create(inner, arith::CmpFPredicate::OGT,
                            math::AbsFOp::create(inner, value), largest);
  return arith::SelectOp::create(
      inner, isBeyond, math::CopySignOp::create(inner, largest, value), value);
}

/// An i32 whose lowest bits are those of the nearest integer from `least` to
/// `largest`, the even one of two: a float whose unit is 1 has them there. NaN
/// becomes 0.
static Value roundToInteger(ImplicitLocOpBuilder &inner, Value value,
                            double least, double largest) {
  constexpr double kLarge = 0x1.8p23;
  Value isNumber =
      arith::CmpFOp::create(inner, arith::CmpFPredicate::ORD, value, value);
  Value known =
      arith::SelectOp::create(inner, isNumber, value, number(inner, 0));
  Value bounded = arith::MinNumFOp::create(
      inner, number(inner, largest),
      arith::MaxNumFOp::create(inner, known, number(inner, least)));
  Value sum = arith::AddFOp::create(inner, bounded, number(inner, kLarge));
  return arith::BitcastOp::create(inner, inner.getI32Type(), sum);
}

Value attune::roundToNarrow(TileBuilder &b, ValueRange rows, Value factors,
                            Value zeros, Type narrow) {
  auto type = cast<TileType>(rows[0].getType());
  bool isPacked = rows.size() == 2;
  bool isFloat = isa<FloatType>(narrow);
  double largest = attn::getLargestNumber(narrow, isPacked),
         least = zeros ? attn::getLeastNumber(isPacked) : -largest;
  SmallVector<Value, 4> inputs(rows);
  inputs.push_back(b.broadcast(factors, type));
  if (zeros)
    inputs.push_back(b.broadcast(zeros, type));
  return map(
      b, type.withElementType(narrow), inputs,
      [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
        SmallVector<Value, 2> values;
        for (Value element : args.take_front(rows.size())) {
          Value factor = args[rows.size()];
          Value scaled =
              zeros ? math::FmaOp::create(inner, element, factor,
                                          args[rows.size() + 1])
                          .getResult()
                    : arith::MulFOp::create(inner, element, factor).getResult();
          values.push_back(isFloat
                               ? saturate(inner, scaled, largest)
                               : roundToInteger(inner, scaled, least, largest));
        }
        if (isFloat)
          return arith::TruncFOp::create(inner, narrow, values[0]);
        Value bits = values[0];
        if (isPacked) {
          auto word = [&](int64_t value) -> Value {
            return arith::ConstantIntOp::create(inner, value, 32);
          };
          bits = arith::OrIOp::create(
              inner, arith::AndIOp::create(inner, bits, word(15)),
              arith::ShLIOp::create(inner, values[1], word(4)));
        }
        return arith::TruncIOp::create(inner, narrow, bits);
      });
}

Value attune::loadResultScales(TileBuilder &b, Value scales, int64_t headPos,
                               int64_t rows, HeadOfRow getHead) {
  bool isShared = cast<MemRefType>(scales.getType()).getDimSize(headPos) == 1;
  return b.map(TileType::get({rows}, b.getF32Type()), ValueRange(),
               [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
                 SmallVector<Value, 4> place(
                     4, arith::ConstantIndexOp::create(inner, loc, 0));
                 if (!isShared)
                   place[headPos] = getHead(inner, loc, args[0]);
                 return memref::LoadOp::create(inner, loc, scales, place);
               });
}

Value attune::sumRows(TileBuilder &b, ValueRange parts) {
  Value sums;
  for (Value part : parts) {
    int64_t rows = cast<TileType>(part.getType()).getShape()[0];
    sums =
        tile::ReduceOp::create(b, TileType::get({rows}, b.getF32Type()),
                               tile::ReductionKind::Add, widen(b, part), sums);
  }
  return sums;
}

Value attune::widen(TileBuilder &b, Value tile) {
  Type f32 = b.getF32Type();
  auto type = cast<TileType>(tile.getType());
  if (type.getElementType() == f32)
    return tile;
  return map(b, type.withElementType(f32), tile,
             [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
               return arith::ExtFOp::create(inner, f32, args[0]);
             });
}

HalfRows::HalfRows(TileBuilder &b, ArrayRef<Value> rows,
                   ArrayRef<int64_t> units) {
  SmallVector<Value, 2> singles;
  Value amounts;
  for (Value part : rows) {
    singles.push_back(widen(b, part));
    Value own = findAmounts(b, singles.back());
    amounts = amounts ? takeLarger(b, amounts, own) : own;
  }
  // Powers of 2 as bits: the exponent alone, up to that whose reciprocal is
  // normal. Rows of numbers that are not become 0, as their products would.
  constexpr int32_t kExponent = 0x7f800000, kLargest = 0x7e800000,
                    kLargestOfUnits = 0x7a000000, kReciprocal = 0x7f000000;
  auto mapBits = [&](Value numbers,
                     function_ref<Value(ImplicitLocOpBuilder &, Value)> body) {
    return map(b, numbers.getType(), numbers,
               [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
                 Value bits = arith::BitcastOp::create(
                     inner, inner.getI32Type(), args[0]);
                 return arith::BitcastOp::create(inner, inner.getF32Type(),
                                                 body(inner, bits));
               });
  };
  auto word = [](ImplicitLocOpBuilder &inner, int32_t bits) -> Value {
    return arith::ConstantOp::create(inner, inner.getI32IntegerAttr(bits));
  };
  factors = mapBits(amounts, [&](ImplicitLocOpBuilder &inner, Value bits) {
    Value exponent = arith::AndIOp::create(inner, bits, word(inner, kExponent));
    // What the units of the other operand make of it is a float as well.
    return arith::MinUIOp::create(
               inner, exponent,
               word(inner, units.empty() ? kLargest : kLargestOfUnits))
        .getResult();
  });
  Value reciprocals =
      mapBits(factors, [&](ImplicitLocOpBuilder &inner, Value bits) {
        return arith::SubIOp::create(inner, word(inner, kReciprocal), bits)
            .getResult();
      });
  Type f16 = b.getF16Type();
  for (Value part : singles) {
    part = b.scaleRows(part, reciprocals);
    if (!units.empty())
      part = scaleForUnits(b, part, units);
    parts.push_back(
        map(b, cast<TileType>(part.getType()).withElementType(f16), part,
            [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
              return arith::TruncFOp::create(inner, f16, args[0]);
            }));
  }
  if (units.empty())
    return;
  factors = map(b, factors.getType(), factors,
                [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
                  return arith::MulFOp::create(
                      inner, args[0], number(inner, getUnitOfScaled(units)));
                });
  biases = sumRows(b, llvm::map_to_vector<2>(parts, [&](Value part) {
                     return getBiases(b, widen(b, part), units);
                   }));
}

LaneRows::LaneRows(int64_t width, unsigned bits, int64_t lanes) {
  constexpr int64_t kReadBits = 128;
  int64_t run = kReadBits / bits;
  columns = std::max<int64_t>(llvm::PowerOf2Ceil(width), run);
  rows = lanes / std::min(columns / run, lanes);
}
