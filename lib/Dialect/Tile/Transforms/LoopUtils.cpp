// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LoopUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attune;

Value tile::getLastIteration(OpBuilder &b, scf::ForOp loop) {
  Location loc = loop.getLoc();
  // The first one plus whole steps.
  Value distance = arith::SubIOp::create(
      b, loc,
      b.createOrFold<arith::SubIOp>(loc, loop.getUpperBound(),
                                    loop.getLowerBound()),
      arith::ConstantIndexOp::create(b, loc, 1));
  Value steps = b.createOrFold<arith::DivUIOp>(loc, distance, loop.getStep());
  return b.createOrFold<arith::AddIOp>(
      loc, loop.getLowerBound(),
      b.createOrFold<arith::MulIOp>(loc, steps, loop.getStep()));
}

tile::MmaAsyncOp tile::issueMma(OpBuilder &b, MmaOp mma, Value lhs, Value rhs,
                                Value acc) {
  return MmaAsyncOp::create(
      b, mma.getLoc(), PendingType::getOf(acc.getType()), lhs, rhs, acc,
      mma.getTransposeLhsAttr(), mma.getTransposeRhsAttr(), mma.getScopeAttr(),
      mma.getWarpsNAttr(), mma.getAtomAttr(), mma.getReplicasAttr(),
      mma.getPackedRhsAttr(), mma.getUnitExponentsAttr(),
      /*terms=*/DenseI64ArrayAttr());
}

std::optional<int64_t>
tile::foldSum(ArrayRef<std::pair<Value, int64_t>> terms) {
  llvm::SmallDenseMap<Value, int64_t> times;
  int64_t sum = 0;
  SmallVector<std::pair<Value, int64_t>> open(terms);
  while (!open.empty()) {
    auto [value, factor] = open.pop_back_val();
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant))) {
      sum += factor * constant.getSExtValue();
    } else if (auto add = value.getDefiningOp<arith::AddIOp>()) {
      open.append({{add.getLhs(), factor}, {add.getRhs(), factor}});
    } else if (auto subtract = value.getDefiningOp<arith::SubIOp>()) {
      open.append({{subtract.getLhs(), factor}, {subtract.getRhs(), -factor}});
    } else {
      times[value] += factor;
    }
  }
  if (llvm::any_of(times, [](auto &term) { return term.second != 0; }))
    return std::nullopt;
  return sum;
}

void tile::replaceLoop(scf::ForOp loop,
                       function_ref<SmallVector<Value>(OpBuilder &)> emit,
                       function_ref<void(OpBuilder &)> emitElse) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  Value any =
      b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt,
                                    loop.getLowerBound(), loop.getUpperBound());
  if (matchPattern(any, m_One())) {
    loop.replaceAllUsesWith(emit(b));
  } else {
    auto guard = scf::IfOp::create(b, loc, loop.getResultTypes(), any,
                                   /*withElseRegion=*/true);
    b.setInsertionPointToStart(guard.thenBlock());
    scf::YieldOp::create(b, loc, emit(b));
    b.setInsertionPointToStart(guard.elseBlock());
    if (emitElse)
      emitElse(b);
    scf::YieldOp::create(b, loc, loop.getInitArgs());
    loop.replaceAllUsesWith(guard.getResults());
  }
  loop.erase();
}
