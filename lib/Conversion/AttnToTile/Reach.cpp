// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Reach.h"
#include "Views.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace attune;

LastBox::LastBox(ImplicitLocOpBuilder &b, Value length, int64_t size) {
  Value rows = constant(b, size);
  Value boxes = b.createOrFold<arith::CeilDivUIOp>(length, rows);
  Value after = b.createOrFold<arith::MulIOp>(boxes, rows);
  first = arith::SubIOp::create(b, after, rows);
  moved = arith::SubIOp::create(b, after, length);
}

Value LastBox::selectInLast(OpBuilder &b, Location loc, Value place,
                            Value other) const {
  Value isLast =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, place, first);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  return arith::SelectOp::create(b, loc, isLast, other, zero);
}

bool attune::endsWithBlock(Value length, int64_t block) {
  std::optional<int64_t> known = getConstantIntValue(length);
  return known && *known % block == 0;
}

Value attune::hideBeyond(TileBuilder &b, Value scores,
                         ArrayRef<Reach> reaches) {
  auto type = cast<tile::TileType>(scores.getType());
  Value exist;
  auto require = [&](Value fits) {
    exist = exist ? arith::AndIOp::create(b, exist, fits).getResult() : fits;
  };
  for (const Reach &reach : reaches) {
    if (reach.length) {
      Value after =
          arith::AddIOp::create(b, reach.first, constant(b, reach.count));
      require(arith::CmpIOp::create(b, arith::CmpIPredicate::sle, after,
                                    reach.length));
    }
    if (reach.least)
      require(arith::CmpIOp::create(b, arith::CmpIPredicate::sge, reach.first,
                                    reach.least));
  }
  if (!exist)
    return scores;
  auto branch = scf::IfOp::create(b, type, exist, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, scores);
  b.setInsertionPointToStart(branch.elseBlock());
  Value hidden =
      b.map(type, scores,
            [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
              Value score = args[0];
              for (const Reach &reach : reaches) {
                Value position = arith::AddIOp::create(inner, loc, reach.first,
                                                       args[1 + reach.dim]);
                auto keepIf = [&](arith::CmpIPredicate predicate, Value bound) {
                  if (!bound)
                    return;
                  Value exists = arith::CmpIOp::create(inner, loc, predicate,
                                                       position, bound);
                  score = arith::SelectOp::create(
                      inner, loc, exists, score,
                      constantF32(inner, loc,
                                  -std::numeric_limits<double>::infinity()));
                };
                keepIf(arith::CmpIPredicate::slt, reach.length);
                keepIf(arith::CmpIPredicate::sge, reach.least);
              }
              return score;
            });
  scf::YieldOp::create(b, hidden);
  return branch.getResult(0);
}
