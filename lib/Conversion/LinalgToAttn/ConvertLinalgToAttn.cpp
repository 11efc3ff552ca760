// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replaces attention that is spelled out in linalg by attn.attention.

#include "Layout.h"
#include "Score.h"
#include "attune/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

namespace attune {
#define GEN_PASS_DEF_CONVERTLINALGTOATTNPASS
#include "attune/Conversion/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;
using namespace attune::raising;

/// Erases `op` and what it alone has used.
static void eraseDead(RewriterBase &rewriter, Operation *op) {
  llvm::SetVector<Operation *> next;
  next.insert(op);
  while (!next.empty()) {
    Operation *dead = next.pop_back_val();
    if (!isOpTriviallyDead(dead))
      continue;
    llvm::SetVector<Value> used(dead->operand_begin(), dead->operand_end());
    getUsedValuesDefinedAbove(dead->getRegions(), used);
    for (Value value : used)
      if (Operation *definition = value.getDefiningOp())
        next.insert(definition);
    rewriter.eraseOp(dead);
  }
}

/// Gives false, with the reason where there is one, if `op` is not the second
/// contraction of attention.
static bool raise(RewriterBase &rewriter, linalg::LinalgOp op, Mismatch &why) {
  ElementBuilder elements(op.getContext());
  std::optional<AttentionMatch> match = matchAttention(elements, op, why);
  if (!match)
    return false;
  std::optional<Layout> layout = Layout::get(*match, elements, why);
  if (!layout)
    return false;
  std::optional<Score> score = Score::get(*match, *layout, elements);
  if (!score || !score->hasFiniteScale()) {
    why = {op, score ? "expects a finite scale"
                     : "expects scores that are indexed by batch, head, query "
                       "and key"};
    return false;
  }
  Operation *replaced = match->result.tensor.getDefiningOp();
  // All that attention reads stands before the contraction; but a sink, which
  // is part of a sum, may divide the result.
  Operation *place = match->softmax.sink ? replaced : op;
  Value lse = match->lse ? match->lse->tensor : Value();
  auto isTooEarly = [&](Operation *user) {
    return user->getBlock() == place->getBlock() &&
           user->isBeforeInBlock(place);
  };
  if (lse && llvm::any_of(lse.getUsers(), isTooEarly)) {
    why = {lse.getDefiningOp(),
           "expects the logarithm of the sum to be used behind the "
           "contraction with values"};
    return false;
  }
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(place);
  Value query = layout->makeQuery(rewriter, loc),
        key = layout->makeKey(rewriter, loc),
        value = layout->makeValue(rewriter, loc),
        sinks = layout->makeSinks(rewriter, loc);
  auto attention = attn::AttentionOp::create(rewriter, loc, query, key, value,
                                             layout->getOrder(),
                                             /*returnLse=*/lse != nullptr);
  if (sinks)
    attention.getSinksMutable().assign(sinks);
  score->apply(rewriter, attention);
  rewriter.setInsertionPointAfter(attention);
  Value result = layout->restoreResult(rewriter, loc, attention.getResult());
  if (lse) {
    Operation *logarithm = lse.getDefiningOp();
    rewriter.replaceAllUsesWith(
        lse, layout->restoreLse(rewriter, loc, attention.getLse()));
    eraseDead(rewriter, logarithm);
  }
  rewriter.replaceAllUsesWith(match->result.tensor, result);
  eraseDead(rewriter, replaced);
  return true;
}

namespace {
struct ConvertLinalgToAttn
    : attune::impl::ConvertLinalgToAttnPassBase<ConvertLinalgToAttn> {
  void runOnOperation() override;
};
} // namespace

void ConvertLinalgToAttn::runOnOperation() {
  IRRewriter rewriter(&getContext());
  SmallVector<linalg::LinalgOp> ops;
  getOperation()->walk([&](linalg::LinalgOp op) {
    if (op.getNumReductionLoops() != 0)
      ops.push_back(op);
  });
  // The last first: what is erased stands before it.
  bool changed = false;
  llvm::SmallPtrSet<Operation *, 16> erased;
  struct Listener : RewriterBase::Listener {
    explicit Listener(llvm::SmallPtrSetImpl<Operation *> &erased)
        : erased(erased) {}
    void notifyOperationErased(Operation *op) override { erased.insert(op); }
    llvm::SmallPtrSetImpl<Operation *> &erased;
  } listener(erased);
  rewriter.setListener(&listener);
  for (linalg::LinalgOp op : ops) {
    if (erased.contains(op))
      continue;
    Mismatch why;
    if (raise(rewriter, op, why))
      changed = true;
    else if (!why.reason.empty())
      why.op->emitRemark("is no attention that can be raised: ") << why.reason;
  }
  if (!changed)
    markAllAnalysesPreserved();
}
