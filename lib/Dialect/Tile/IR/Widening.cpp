// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attune/Dialect/Tile/IR/Widening.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

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
