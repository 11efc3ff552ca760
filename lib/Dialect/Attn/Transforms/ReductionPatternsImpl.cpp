// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass applies patterns until none matches, and asks whether the outcome is
// interesting only then. So this pattern asks by itself after each change, and
// takes those back that make the case uninteresting.

#include "attune/Dialect/Attn/Transforms/ReductionPatternsImpl.h"
#include "attune/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Reducer/ReductionPatternInterface.h"
#include "mlir/Reducer/Tester.h"

using namespace mlir;
using namespace attune;

namespace {

struct LeaveOutPattern : OpRewritePattern<attn::AttentionOp> {
  LeaveOutPattern(MLIRContext *context, const Tester &tester)
      : OpRewritePattern(context), tester(tester) {}

  LogicalResult matchAndRewrite(attn::AttentionOp op,
                                PatternRewriter &b) const override {
    for (Region *region : {&op.getMask(), &op.getScore()})
      if (succeeded(leaveOut(op, *region, b)))
        return success();
    for (const MutableOperandRange &operand :
         {op.getAlibiSlopesMutable(), op.getSinksMutable(),
          op.getQueryLengthsMutable(), op.getKeyLengthsMutable(),
          op.getQueryStartsMutable(), op.getKeyStartsMutable()})
      if (succeeded(leaveOut(op, operand, b)))
        return success();
    for (bool full : {true, false})
      if (succeeded(leaveOutLists(op, full, b)))
        return success();
    if (succeeded(leaveOutDropout(op, b)))
      return success();
    for (StringAttr name : {op.getCausalAttrName(), op.getWindowAttrName(),
                            op.getSoftcapAttrName(), op.getScaleAttrName(),
                            op.getScheduleAttrName()})
      if (succeeded(leaveOut(op, name, b)))
        return success();
    return b.notifyMatchFailure(op, "has nothing more to leave out");
  }

private:
  /// Keeps what `b` has begun to modify if it is interesting; else calls
  /// `restore`.
  LogicalResult keepIfInteresting(attn::AttentionOp op, PatternRewriter &b,
                                  function_ref<void()> restore) const {
    ModuleOp module = op->getParentOfType<ModuleOp>();
    while (auto outer = module->getParentOfType<ModuleOp>())
      module = outer;
    if (tester.isInteresting(module).first == Tester::Interestingness::True) {
      b.finalizeOpModification(op);
      return success();
    }
    restore();
    b.cancelOpModification(op);
    return failure();
  }

  LogicalResult leaveOut(attn::AttentionOp op, Region &region,
                         PatternRewriter &b) const {
    if (region.empty())
      return failure();
    b.startOpModification(op);
    Region kept;
    kept.takeBody(region);
    return keepIfInteresting(op, b, [&] { region.takeBody(kept); });
  }

  LogicalResult leaveOut(attn::AttentionOp op, MutableOperandRange operand,
                         PatternRewriter &b) const {
    if (operand.empty())
      return failure();
    b.startOpModification(op);
    Value kept = operand[0].get();
    operand.clear();
    return keepIfInteresting(op, b, [&] { operand.assign(kept); });
  }

  /// Leaves out the lists of full blocks, or those of others.
  LogicalResult leaveOutLists(attn::AttentionOp op, bool full,
                              PatternRewriter &b) const {
    if (!(full ? op.getFullBlockCounts() : op.getBlockCounts()) ||
        (!full && op.getFullBlockCounts()))
      return failure();
    b.startOpModification(op);
    SmallVector<Value> operands(op->getOperands());
    attn::AttentionOp::Properties properties = op.getProperties();
    if (full) {
      op.getFullBlockCountsMutable().clear();
      op.getFullBlockIndicesMutable().clear();
    } else {
      op.getBlockCountsMutable().clear();
      op.getBlockIndicesMutable().clear();
      op.removeBlockSizesAttr();
    }
    return keepIfInteresting(op, b, [&] {
      op->setOperands(operands);
      op.getProperties() = properties;
    });
  }

  LogicalResult leaveOutDropout(attn::AttentionOp op,
                                PatternRewriter &b) const {
    if (!op.getDropout())
      return failure();
    b.startOpModification(op);
    Value kept = op.getDropout();
    FloatAttr probability = op.getDropoutProbabilityAttr();
    op.getDropoutMutable().clear();
    op.removeDropoutProbabilityAttr();
    return keepIfInteresting(op, b, [&] {
      op.getDropoutMutable().assign(kept);
      op.setDropoutProbabilityAttr(probability);
    });
  }

  LogicalResult leaveOut(attn::AttentionOp op, StringAttr name,
                         PatternRewriter &b) const {
    Attribute kept = op->getAttr(name);
    if (!kept)
      return failure();
    b.startOpModification(op);
    op->removeAttr(name);
    return keepIfInteresting(op, b, [&] { op->setAttr(name, kept); });
  }

  const Tester &tester;
};

struct AttnReductionPatterns : DialectReductionPatternInterface {
  explicit AttnReductionPatterns(Dialect *dialect)
      : DialectReductionPatternInterface(dialect) {}
  void populateReductionPatterns(RewritePatternSet &) const override {}
  void populateReductionPatternsWithTester(RewritePatternSet &patterns,
                                           Tester &tester) const override {
    patterns.add<LeaveOutPattern>(patterns.getContext(), tester);
  }
};

} // namespace

void attn::registerReductionPatterns(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, AttnDialect *dialect) {
    dialect->addInterfaces<AttnReductionPatterns>();
  });
}
