// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attune/Dialect/Tile/IR/Widening.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cmath>

using namespace mlir;

bool attune::tile::canWiden(Type from, Type to) {
  return from.isIntOrFloat() && isa<FloatType>(to) &&
         from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth();
}

Value attune::tile::widen(OpBuilder &builder, Location loc, Value value,
                          Type type) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == type)
    return value;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(type);
  if (from.isInteger())
    return arith::SIToFPOp::create(builder, loc, type, value);
  return arith::ExtFOp::create(builder, loc, type, value);
}

Value attune::tile::unpack(OpBuilder &builder, Location loc, Value bytes,
                           bool upper) {
  constexpr int64_t kBits = 4;
  Value count = arith::ConstantOp::create(
      builder, loc,
      isa<VectorType>(bytes.getType())
          ? TypedAttr(DenseElementsAttr::get(cast<VectorType>(bytes.getType()),
                                             APInt(8, kBits)))
          : builder.getI8IntegerAttr(kBits));
  if (!upper)
    bytes = arith::ShLIOp::create(builder, loc, bytes, count);
  return arith::ShRSIOp::create(builder, loc, bytes, count);
}

Value attune::tile::unpackNaturals(OpBuilder &builder, Location loc,
                                   Value bytes, bool upper, int64_t exponent,
                                   Type type) {
  Value integers = unpack(builder, loc, bytes, upper);
  if (auto vector = dyn_cast<VectorType>(bytes.getType()))
    type = vector.clone(type);
  auto constant = [&](Type of, Attribute value) -> Value {
    if (auto vector = dyn_cast<VectorType>(of))
      value = DenseElementsAttr::get(vector, value);
    return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(value));
  };
  Value more = constant(integers.getType(), builder.getI8IntegerAttr(8));
  Value naturals = arith::UIToFPOp::create(
      builder, loc, type, arith::AddIOp::create(builder, loc, integers, more));
  Value unit = constant(
      type, builder.getFloatAttr(getElementTypeOrSelf(type),
                                 std::ldexp(1.0, static_cast<int>(exponent))));
  return arith::MulFOp::create(builder, loc, naturals, unit);
}
