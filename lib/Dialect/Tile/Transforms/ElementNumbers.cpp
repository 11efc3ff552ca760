// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ElementNumbers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace attune::tile;

Value ElementNumbers::addCarried(
    scf::ForOp &loop, Value initial,
    function_ref<Value(OpBuilder &, Value)> getNext) {
  // A loop that carries more is another loop, and its counts are others.
  Block *old = loop.getBody();
  SmallVector<std::pair<Block *, unsigned>> known;
  for (auto [block, counter] : counters)
    if (auto argument = cast<BlockArgument>(counter);
        argument.getOwner() == old)
      known.push_back({block, argument.getArgNumber()});
  IRRewriter rewriter(loop);
  auto yield = [&](OpBuilder &b, Location,
                   ArrayRef<BlockArgument> added) -> SmallVector<Value> {
    return {getNext(b, added.front())};
  };
  loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, initial, /*replaceInitOperandUsesInLoop=*/false, yield));
  for (auto [block, number] : known) {
    counters.erase(block);
    counters[block == old ? loop.getBody() : block] =
        loop.getBody()->getArgument(number);
  }
  return loop.getRegionIterArgs().back();
}

/// Adds to `loop` a count that starts at 0 and grows by what `increment`
/// returns in each iteration; returns the count before it.
Value ElementNumbers::addCounter(scf::ForOp &loop,
                                 function_ref<Value(OpBuilder &)> increment) {
  OpBuilder before(loop);
  Location loc = loop.getLoc();
  Value zero = arith::ConstantIndexOp::create(before, loc, 0);
  return addCarried(loop, zero, [&](OpBuilder &b, Value count) -> Value {
    return arith::AddIOp::create(b, loc, count, increment(b));
  });
}

Value ElementNumbers::get(OpBuilder &b, Location loc, scf::ForOp loop) {
  if (!loop)
    return arith::ConstantIndexOp::create(b, loc, 0);
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  Value counter = counters.lookup(loop.getBody());
  // Blocks are visited one by one; another step needs a count of its own.
  if (step != 1) {
    if (counter)
      return counter;
    counter = addCounter(loop, [&](OpBuilder &inner) -> Value {
      return arith::ConstantIndexOp::create(inner, loc, 1);
    });
    return counters[loop.getBody()] = counter;
  }
  Value iteration = b.createOrFold<arith::SubIOp>(loc, loop.getInductionVar(),
                                                  loop.getLowerBound());
  auto outer = loop->getParentOfType<scf::ForOp>();
  if (!outer)
    return iteration;
  if (!counter) {
    counter = addCounter(outer, [&](OpBuilder &inner) -> Value {
      return inner.createOrFold<arith::SubIOp>(loc, loop.getUpperBound(),
                                               loop.getLowerBound());
    });
    counters[loop.getBody()] = counter;
  }
  return b.createOrFold<arith::AddIOp>(loc, counter, iteration);
}
