// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Reach.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace attune;

bool attune::endsWithBlock(Value length, int64_t block) {
  std::optional<int64_t> known = getConstantIntValue(length);
  return known && *known % block == 0;
}

Value attune::hideBeyond(TileBuilder &b, Value scores,
                         ArrayRef<Reach> reaches) {
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  };
  auto type = cast<tile::TileType>(scores.getType());
  Value exist;
  for (const Reach &reach : reaches) {
    Value after = arith::AddIOp::create(b, reach.first, constant(reach.count));
    Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::sle, after,
                                       reach.length);
    exist = exist ? arith::AndIOp::create(b, exist, fits).getResult() : fits;
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
                Value exists =
                    arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::slt,
                                          position, reach.length);
                score = arith::SelectOp::create(
                    inner, loc, exists, score,
                    TileBuilder::constant(
                        inner, loc, -std::numeric_limits<double>::infinity()));
              }
              return score;
            });
  scf::YieldOp::create(b, hidden);
  return branch.getResult(0);
}
