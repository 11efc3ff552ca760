// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Canonical form of attention ops: no clause, region or result that changes
// nothing, one spelling for equal masks, and constants inside the regions that
// use them.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace attune::attn;

/// With equal static lengths the two alignments say the same, unless batches
/// have lengths of their own.
static bool hasOneDiagonal(AttentionOpInterface op) {
  return ShapedType::isStatic(op.getSeqQ()) && op.getSeqQ() == op.getSeqK() &&
         !op.hasLengths();
}

/// A score region that yields its score, and a mask region that yields true.
template <typename OpT>
static LogicalResult eraseIdleRegions(OpT op, PatternRewriter &rewriter) {
  auto getYielded = [](Region &region) {
    return cast<YieldOp>(region.front().getTerminator()).getValue();
  };
  Region *idle = nullptr;
  if (op.hasScore() &&
      getYielded(op.getScore()) == op.getScore().getArgument(0))
    idle = &op.getScore();
  else if (op.hasMask() && matchPattern(getYielded(op.getMask()), m_One()))
    idle = &op.getMask();
  if (!idle)
    return rewriter.notifyMatchFailure(
        op, "every region changes a score or hides a key");
  rewriter.modifyOpInPlace(op, [&] { rewriter.eraseBlock(&idle->front()); });
  return success();
}

template <typename OpT>
static LogicalResult simplifyBands(OpT op, PatternRewriter &rewriter) {
  CausalAttr causal = op.getCausalAttr();
  WindowAttr window = op.getWindowAttr();
  if (hasOneDiagonal(op)) {
    if (causal)
      causal = CausalAttr::get(op.getContext(), Alignment::TopLeft);
    if (window)
      window = WindowAttr::get(op.getContext(), window.getLeft(),
                               window.getRight(), Alignment::TopLeft);
  }
  if (window && window.getRight() == 0) {
    bool isCausal = causal && causal.getAlignment() == window.getAlignment();
    if (!causal || isCausal) {
      // The right side of the window says what causal says: causal says it.
      causal = CausalAttr::get(op.getContext(), window.getAlignment());
      window = WindowAttr::get(op.getContext(), window.getLeft(), -1,
                               window.getAlignment());
    }
  } else if (window && window.getRight() > 0 && causal &&
             causal.getAlignment() == window.getAlignment()) {
    window = WindowAttr::get(op.getContext(), window.getLeft(), -1,
                             window.getAlignment());
  }
  if (window && window.getLeft() < 0 && window.getRight() < 0)
    window = nullptr;
  if (causal == op.getCausalAttr() && window == op.getWindowAttr())
    return rewriter.notifyMatchFailure(
        op, "causal and window are in canonical form");
  rewriter.modifyOpInPlace(op, [&] {
    op.setCausalAttr(causal);
    op.setWindowAttr(window);
  });
  return success();
}

/// Moves scalar constants into the regions, where they are no captures.
template <typename OpT>
static LogicalResult sinkConstants(OpT op, PatternRewriter &rewriter) {
  bool changed = false;
  for (Region *region : {&op.getScore(), &op.getMask()}) {
    if (region->empty())
      continue;
    rewriter.setInsertionPointToStart(&region->front());
    for (Operation &user : region->front())
      for (OpOperand &operand : user.getOpOperands()) {
        Operation *constant = operand.get().getDefiningOp();
        if (!constant || region->isAncestor(constant->getParentRegion()) ||
            !isRegionScalar(operand.get().getType()) ||
            !matchPattern(constant, m_Constant()))
          continue;
        Value clone = rewriter.clone(*constant)->getResult(0);
        rewriter.modifyOpInPlace(&user, [&] { operand.set(clone); });
        changed = true;
      }
  }
  if (!changed)
    return rewriter.notifyMatchFailure(op, "regions capture no constants");
  return success();
}

/// A logarithm that nobody reads is not computed.
static LogicalResult dropUnusedLse(AttentionOp op, PatternRewriter &rewriter) {
  if (!op.getLse() || !op.getLse().use_empty())
    return rewriter.notifyMatchFailure(op, "no lse, or one that is used");
  OperationState state(op.getLoc(), op->getName());
  state.addOperands(op.getOperands());
  state.addTypes(op.getResult().getType());
  state.addAttributes(op->getAttrs());
  state.attributes.erase(op.getReturnLseAttrName());
  for (unsigned i = 0; i < op->getNumRegions(); ++i)
    state.addRegion();
  Operation *without = rewriter.create(state);
  for (auto [from, to] :
       llvm::zip_equal(op->getRegions(), without->getRegions()))
    rewriter.inlineRegionBefore(from, to, to.end());
  rewriter.replaceAllUsesWith(op.getResult(), without->getResult(0));
  rewriter.eraseOp(op);
  return success();
}

void AttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *) {
  patterns.add(eraseIdleRegions<AttentionOp>);
  patterns.add(simplifyBands<AttentionOp>);
  patterns.add(sinkConstants<AttentionOp>);
  patterns.add(dropUnusedLse);
}

void AttentionGradOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                  MLIRContext *) {
  patterns.add(eraseIdleRegions<AttentionGradOp>);
  patterns.add(simplifyBands<AttentionGradOp>);
  patterns.add(sinkConstants<AttentionGradOp>);
}
