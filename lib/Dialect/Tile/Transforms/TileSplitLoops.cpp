// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Index-set splitting on a range test.

#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace attune::tile {
#define GEN_PASS_DEF_TILESPLITLOOPSPASS
#include "attune/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attune::tile

using namespace mlir;
using namespace attune;
using namespace attune::tile;

namespace {

/// `first <= iv < after` guards the then branch of `branch`.
struct RangeTest {
  scf::IfOp branch;
  /// `first <= iv` and `iv < after`.
  arith::CmpIOp atLeast, below;
  Value first, after;
};

/// Where a part of the loop lies.
enum class Part { Before, Inside, Behind };

struct TileSplitLoops : tile::impl::TileSplitLoopsPassBase<TileSplitLoops> {
  void runOnOperation() override;
};

} // namespace

/// The comparison `iv <predicate> other` where other is defined outside the
/// loop.
static arith::CmpIOp matchBound(scf::ForOp loop, Value condition,
                                arith::CmpIPredicate predicate) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != predicate ||
      compare.getLhs() != loop.getInductionVar() ||
      !loop.isDefinedOutsideOfLoop(compare.getRhs()))
    return {};
  return compare;
}

static std::optional<RangeTest> findRangeTest(scf::ForOp loop) {
  for (auto branch : loop.getBody()->getOps<scf::IfOp>()) {
    auto both = branch.getCondition().getDefiningOp<arith::AndIOp>();
    if (!both)
      continue;
    arith::CmpIOp atLeast =
        matchBound(loop, both.getLhs(), arith::CmpIPredicate::sge);
    arith::CmpIOp below =
        matchBound(loop, both.getRhs(), arith::CmpIPredicate::slt);
    if (atLeast && below)
      return RangeTest{branch, atLeast, below, atLeast.getRhs(),
                       below.getRhs()};
  }
  return std::nullopt;
}

/// Clones the loop over [begin, end), one part of it, with the test decided for
/// whoever asks.
static scf::ForOp cloneDecided(OpBuilder &builder, scf::ForOp loop,
                               const RangeTest &test, Part part, Value begin,
                               Value end, ValueRange initial) {
  IRMapping mapping;
  auto copy = cast<scf::ForOp>(builder.clone(*loop, mapping));
  copy.getLowerBoundMutable().assign(begin);
  copy.getUpperBoundMutable().assign(end);
  copy.getInitArgsMutable().assign(initial);
  auto branch =
      cast<scf::IfOp>(mapping.lookup(scf::IfOp(test.branch).getOperation()));
  Block *taken = part == Part::Inside ? branch.thenBlock() : branch.elseBlock();
  if (taken) {
    Operation *yield = taken->getTerminator();
    branch.replaceAllUsesWith(SmallVector<Value>(yield->getOperands()));
    yield->erase();
    branch->getBlock()->getOperations().splice(branch->getIterator(),
                                               taken->getOperations());
  }
  branch.erase();
  auto decide = [&](arith::CmpIOp compare, bool holds) {
    if (compare->hasOneUse())
      return;
    Value answer = mapping.lookup(compare.getResult());
    OpBuilder inner(answer.getDefiningOp());
    answer.replaceAllUsesWith(
        arith::ConstantIntOp::create(inner, loop.getLoc(), holds, 1));
  };
  decide(test.atLeast, part != Part::Before);
  if (part != Part::Before)
    decide(test.below, part == Part::Inside);
  return copy;
}

static bool isSame(Value a, Value b) {
  return a == b || isEqualConstantIntOrValue(OpFoldResult(a), OpFoldResult(b));
}

/// Whether the loop, from `lower` on, is known to start inside of a range that
/// starts at `first`.
static bool startsInside(Value first, Value lower) {
  std::optional<int64_t> a = getConstantIntValue(first),
                         b = getConstantIntValue(lower);
  return isSame(first, lower) || (a && b && *a <= *b);
}

static void split(scf::ForOp loop, const RangeTest &test) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
  auto clamp = [&](Value value, Value lowest) {
    Value raised = b.createOrFold<arith::MaxSIOp>(loc, value, lowest);
    return b.createOrFold<arith::MinSIOp>(loc, raised, upper);
  };
  bool hasHead = !startsInside(test.first, lower),
       hasTail = !isSame(test.after, upper);
  Value first = hasHead ? clamp(test.first, lower) : lower;
  Value after = hasTail ? clamp(test.after, first) : upper;
  SmallVector<Value> state(loop.getInitArgs());
  auto append = [&](Part part, Value begin, Value end) {
    scf::ForOp copy = cloneDecided(b, loop, test, part, begin, end, state);
    state.assign(copy.getResults().begin(), copy.getResults().end());
  };
  if (hasHead)
    append(Part::Before, lower, first);
  append(Part::Inside, first, after);
  if (hasTail)
    append(Part::Behind, after, upper);
  loop.replaceAllUsesWith(state);
  loop.erase();
}

void TileSplitLoops::runOnOperation() {
  SmallVector<scf::ForOp> loops;
  getOperation().walk([&](scf::ForOp loop) {
    if (loop->removeAttr(TileDialect::kSplitAttrName))
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops)
    if (std::optional<RangeTest> test = findRangeTest(loop))
      split(loop, *test);
}
