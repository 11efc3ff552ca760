// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MMAs, maps and reductions.

#include "LoopEmitter.h"
#include "attune/Dialect/Tile/IR/Widening.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attune;

template <typename OpTy> LogicalResult LoopEmitter::emitMultiply(OpTy op) {
  Type type = tile::PendingType::getOf(op.getAcc().getType())
                  .getTile()
                  .getElementType();
  for (Value operand : {op.getLhs(), op.getRhs()}) {
    Type from = cast<tile::TileType>(operand.getType()).getElementType();
    if (!isa<FloatType>(type) || (from != type && !tile::canWiden(from, type)))
      return op.emitOpError() << "expects floats of the accumulator that are "
                                 "as the operands or wider, but got "
                              << from << " and " << type;
  }
  auto extend = [&](Value element) {
    return tile::widen(builder, builder.getLoc(), element, type);
  };
  Value lhs = read(op.getLhs()), rhs = read(op.getRhs()),
        acc = read(op.getAcc()), result = define(op.getResult());
  ArrayRef<int64_t> exponents = op.getUnitExponents();
  // Column `column` of twice as many as there are bytes in a row.
  auto loadPacked = [&](Value column, int64_t bytes,
                        function_ref<Value(Value)> loadByte) -> Value {
    Value byte =
        loadByte(arith::RemUIOp::create(builder, column, index(bytes)));
    Value isUpper = arith::CmpIOp::create(builder, arith::CmpIPredicate::uge,
                                          column, index(bytes));
    auto unpack = [&](bool upper) {
      if (exponents.empty())
        return tile::unpack(builder, builder.getLoc(), byte, upper);
      return tile::unpackNaturals(builder, builder.getLoc(), byte, upper,
                                  exponents[upper ? 1 : 0], type);
    };
    return arith::SelectOp::create(builder, isUpper, unpack(true),
                                   unpack(false));
  };
  auto accTile = tile::PendingType::getOf(op.getAcc().getType()).getTile();
  std::pair<int64_t, int64_t> terms = op.getTermRange();
  forEach(accTile.getShape(), [&](ValueRange indices) {
    Value i = indices[0], j = indices[1];
    auto loop =
        scf::ForOp::create(builder, index(terms.first), index(terms.second),
                           index(1), ValueRange(load(acc, indices)));
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      Value k = loop.getInductionVar();
      Value left = op.getTransposeLhs() ? load(lhs, {k, i}) : load(lhs, {i, k});
      auto loadRight = [&](Value column) {
        return load(rhs, {op.getTransposeRhs() ? j : k, column});
      };
      Value column = op.getTransposeRhs() ? k : j;
      Value right =
          op.getPackedRhs()
              ? loadPacked(column, op.getRhs().getType().getShape()[1],
                           loadRight)
              : loadRight(column);
      Value product =
          arith::MulFOp::create(builder, extend(left), extend(right));
      scf::YieldOp::create(builder,
                           Value(arith::AddFOp::create(
                               builder, loop.getRegionIterArg(0), product)));
    }
    store(loop.getResult(0), result, indices);
  });
  return success();
}

void LoopEmitter::emitMap(tile::MapOp op) {
  SmallVector<Value> inputs;
  for (Value input : op.getInputs())
    inputs.push_back(read(input));
  Value result = define(op.getResult());
  Block &body = op.getBody().front();
  forEach(op.getResult().getType().getShape(), [&](ValueRange indices) {
    IRMapping mapping;
    for (auto [argument, input] : llvm::zip(body.getArguments(), inputs))
      mapping.map(argument, load(input, indices));
    for (auto [argument, index] : llvm::zip_equal(
             body.getArguments().drop_front(inputs.size()), indices))
      mapping.map(argument, index);
    for (Operation &nested : body.without_terminator()) {
      if (auto draw = dyn_cast<tile::IsKeptOp>(nested))
        mapping.map(draw.getResult(),
                    tile::IsKeptOp::expand(builder, draw, [&](Value operand) {
                      return mapping.lookupOrDefault(operand);
                    }));
      else
        builder.clone(nested, mapping);
    }
    Value value = cast<tile::YieldOp>(body.getTerminator()).getValue();
    store(mapping.lookupOrDefault(value), result, indices);
  });
}

void LoopEmitter::emitSwapColumns(tile::SwapColumnsOp op) {
  Value input = read(op.getInput()), result = define(op.getResult());
  Value stride = index(static_cast<int64_t>(op.getStride()));
  forEach(op.getResult().getType().getShape(), [&](ValueRange indices) {
    Value column = indices[1];
    Value parity = arith::RemUIOp::create(
        builder, arith::DivUIOp::create(builder, column, stride), index(2));
    Value isFirst = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                          parity, index(0));
    Value partner = arith::SelectOp::create(
        builder, isFirst, arith::AddIOp::create(builder, column, stride),
        arith::SubIOp::create(builder, column, stride));
    store(load(input, {indices[0], partner}), result, indices);
  });
}

void LoopEmitter::emitAny(tile::AnyOp op) {
  Value input = read(op.getInput()),
        any = allocate(MemRefType::get({}, builder.getI1Type()));
  store(zero(builder.getI1Type()), any, {});
  forEach(op.getInput().getType().getShape(), [&](ValueRange indices) {
    store(arith::OrIOp::create(builder, load(any, {}), load(input, indices)),
          any, {});
  });
  op.getResult().replaceAllUsesWith(load(any, {}));
}

LogicalResult LoopEmitter::emitReduce(tile::ReduceOp op) {
  tile::TileType type = op.getResult().getType();
  ArrayRef<int64_t> shape = type.getShape();
  if (!isa<FloatType>(type.getElementType()))
    return op.emitOpError()
           << "expects floats, but got " << type.getElementType();
  auto dim = static_cast<int64_t>(op.getDim());
  int64_t columns = op.getInput().getType().getShape()[dim],
          groups = shape.size() == 2 ? shape[1] : 1;
  if (groups > columns)
    return op.emitOpError() << "expects at most a group for each of the "
                            << columns << " columns, but got " << groups;
  Value input = read(op.getInput()), result = define(op.getResult());
  // What goes, column or row, is called column here. Group g has the columns g,
  // g + groups, ...
  auto element = [&](Value row, Value column) {
    return load(input,
                dim == 1 ? ValueRange{row, column} : ValueRange{column, row});
  };
  auto combine = [&](Value left, Value right) -> Value {
    switch (op.getKind()) {
    case tile::ReductionKind::Add:
      return arith::AddFOp::create(builder, left, right);
    case tile::ReductionKind::Max:
      return arith::MaxNumFOp::create(builder, left, right);
    }
    llvm_unreachable("all kinds are covered");
  };
  Value init = op.getInit() ? read(op.getInit()) : Value();
  forEach(shape, [&](ValueRange indices) {
    Value row = indices[0], first = groups > 1 ? indices[1] : index(0);
    Value next = arith::AddIOp::create(builder, first, index(groups));
    Value start = element(row, first);
    if (init)
      start = combine(load(init, indices), start);
    auto loop = scf::ForOp::create(builder, next, index(columns), index(groups),
                                   ValueRange(start));
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      Value next = element(row, loop.getInductionVar());
      scf::YieldOp::create(builder, combine(loop.getRegionIterArg(0), next));
    }
    store(loop.getResult(0), result, indices);
  });
  return success();
}

template LogicalResult LoopEmitter::emitMultiply(tile::MmaOp op);
template LogicalResult LoopEmitter::emitMultiply(tile::MmaAsyncOp op);

SmallVector<Value> LoopEmitter::findByThreads(tile::TileType type,
                                              ValueRange indices) {
  int64_t columns = type.getShape()[1];
  // Without a layout, as one thread would.
  if (!type.getLayout())
    return SmallVector<Value>(indices);
  tile::LayoutAttr layout = type.getRegisterLayout();
  auto times = [&](Value number, int64_t factor) -> Value {
    return arith::MulIOp::create(builder, number, index(factor));
  };
  auto plus = [&](Value left, Value right) -> Value {
    return arith::AddIOp::create(builder, left, right);
  };
  auto divide = [&](Value number, int64_t by) -> Value {
    return arith::DivUIOp::create(builder, number, index(by));
  };
  auto modulo = [&](Value number, int64_t by) -> Value {
    return arith::RemUIOp::create(builder, number, index(by));
  };
  // The digits of a number whose modes give the coordinates.
  auto find = [&](ArrayRef<tile::Mode> modes) {
    Value number = index(0);
    int64_t below = 1;
    for (const tile::Mode &mode : modes) {
      if (mode.stride)
        number = plus(
            number,
            times(modulo(divide(indices[mode.dim], mode.stride), mode.extent),
                  below));
      below *= mode.extent;
    }
    return number;
  };
  int64_t run = layout.getRunByThreads(
              type.getElementType().getIntOrFloatBitWidth() / 8),
          registers = layout.getNumRegisters(), lanes = layout.getNumLanes();
  Value reg = find(layout.getRegisters());
  Value place = times(find(layout.getWarps()), registers * lanes);
  place = plus(place, times(divide(reg, run), lanes * run));
  place = plus(place, times(find(layout.getLanes()), run));
  place = plus(place, modulo(reg, run));
  return {divide(place, columns), modulo(place, columns)};
}
