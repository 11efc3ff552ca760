// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Divides the iterations of a loop among the teams of a role.

#include "attune/Dialect/Tile/IR/Warps.h"
#include "attune/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace attune::tile {
#define GEN_PASS_DEF_TILETAKETURNSPASS
#include "attune/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attune::tile

using namespace mlir;
using namespace attune;
using namespace attune::tile;

namespace {
struct TileTakeTurns : tile::impl::TileTakeTurnsPassBase<TileTakeTurns> {
  void runOnOperation() override;
};
} // namespace

/// Moves what `value` is computed from, in its own block, in front of `point`.
static LogicalResult moveArithmetic(Value value, Operation *point) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != point->getBlock() || op->isBeforeInBlock(point))
    return success();
  if (op->getNumRegions() != 0 || !isMemoryEffectFree(op))
    return op->emitOpError()
           << "expects a count that a loop with '"
           << TileDialect::kTakeTurnsAttrName
           << "' carries to follow by arithmetic, but got it of this";
  for (Value operand : op->getOperands())
    if (failed(moveArithmetic(operand, point)))
      return failure();
  op->moveBefore(point);
  return success();
}

/// Lets a team get its elements once the one before has got all of its own: who
/// waits for a barrier must know that the phase before has ended. `inTurn` is
/// what a team does in its turn.
static void goInOrder(Block *inTurn, Location loc, int64_t teams) {
  Operation *last = nullptr;
  for (Operation &op : *inTurn) {
    WalkResult gets = op.walk([](GetOp) { return WalkResult::interrupt(); });
    if (gets.wasInterrupted())
      last = &op;
  }
  if (!last)
    return;
  OpBuilder b = OpBuilder::atBlockBegin(inTurn);
  PingPongWaitOp::create(b, loc, teams);
  b.setInsertionPointAfter(last);
  PingPongArriveOp::create(b, loc, teams);
  b.setInsertionPoint(inTurn->getParentOp()->getParentOp());
  PingPongInitOp::create(b, loc, teams);
}

/// Puts all of an iteration into the branch of the team whose turn it is, but
/// for the counts that it carries.
static LogicalResult takeTurns(scf::ForOp loop, int64_t teams) {
  Location loc = loop.getLoc();
  for (Value carried : loop.getInitArgs())
    if (!isa<IndexType, TokenType>(carried.getType()))
      return loop.emitOpError()
             << "expects to carry counts and tokens alone where it is '"
             << TileDialect::kTakeTurnsAttrName << "', but got "
             << carried.getType();
  IRRewriter b(loop);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  auto countOn = [&](OpBuilder &inner, Location,
                     ArrayRef<BlockArgument> added) -> SmallVector<Value> {
    Value one = arith::ConstantIndexOp::create(inner, loc, 1);
    return {arith::AddIOp::create(inner, loc, added.front(), one)};
  };
  loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      b, zero, /*replaceInitOperandUsesInLoop=*/false, countOn));
  Block *body = loop.getBody();
  Operation *yield = body->getTerminator();
  b.setInsertionPointToStart(body);
  auto turn = IsTurnOp::create(b, loc, loop.getRegionIterArgs().back());
  SmallVector<Value> results, others;
  SmallVector<unsigned> places;
  for (auto [i, value] : llvm::enumerate(yield->getOperands())) {
    if (value.getType().isIndex()) {
      if (failed(moveArithmetic(value, turn)))
        return failure();
      continue;
    }
    places.push_back(i);
    results.push_back(value);
    others.push_back(loop.getRegionIterArg(i));
  }
  b.setInsertionPoint(yield);
  auto branch = scf::IfOp::create(b, loc, ValueRange(results).getTypes(), turn,
                                  /*withElseRegion=*/!results.empty());
  Block *then = branch.thenBlock();
  Operation *end = results.empty() ? then->getTerminator() : nullptr;
  then->getOperations().splice(
      end ? end->getIterator() : then->end(), body->getOperations(),
      std::next(turn->getIterator()), branch->getIterator());
  goInOrder(then, loc, teams);
  if (results.empty())
    return success();
  b.setInsertionPointToEnd(then);
  scf::YieldOp::create(b, loc, results);
  b.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(b, loc, others);
  for (auto [place, result] : llvm::zip_equal(places, branch.getResults()))
    yield->setOperand(place, result);
  return success();
}

void TileTakeTurns::runOnOperation() {
  SmallVector<scf::ForOp> loops;
  getOperation().walk([&](scf::ForOp loop) {
    if (!loop->removeAttr(TileDialect::kTakeTurnsAttrName))
      return;
    if (RoleAttr role = getRole(loop); role && role.getTeams() > 1)
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops)
    if (failed(takeTurns(loop, getRole(loop).getTeams())))
      return signalPassFailure();
}
