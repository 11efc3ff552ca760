// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds layout conversions into what produces their input.

#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Dialect/Tile/Transforms/Passes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace attune::tile {
#define GEN_PASS_DEF_TILEREMOVELAYOUTCONVERSIONSPASS
#include "attune/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attune::tile

using namespace mlir;
using namespace attune;
using namespace attune::tile;

namespace {

// Pattern: convert_layout(producer) -> producer with the other layout
template <typename ProducerOp>
struct FoldIntoProducerPattern : OpRewritePattern<ConvertLayoutOp> {
  using OpRewritePattern<ConvertLayoutOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvertLayoutOp op,
                                PatternRewriter &rewriter) const override {
    auto producer = op.getInput().getDefiningOp<ProducerOp>();
    if (!producer)
      return rewriter.notifyMatchFailure(op, "another kind of producer");
    if (!producer->hasOneUse())
      return rewriter.notifyMatchFailure(op, "the producer has other users");
    // What lies by threads was written in one layout.
    if constexpr (std::is_same_v<ProducerOp, LoadOp>)
      if (producer.getByThreads())
        return rewriter.notifyMatchFailure(op, "the tile lies by threads");
    Operation *copy = rewriter.clone(*producer);
    // A producer stays where it is: memory may change between it and its use.
    rewriter.moveOpAfter(copy, producer);
    copy->getResult(0).setType(op.getResult().getType());
    rewriter.replaceOp(op, copy->getResult(0));
    return success();
  }
};

// Pattern: convert_layout(convert_layout(x)) -> convert_layout(x)
struct MergeConversionsPattern : OpRewritePattern<ConvertLayoutOp> {
  using OpRewritePattern<ConvertLayoutOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvertLayoutOp op,
                                PatternRewriter &rewriter) const override {
    auto first = op.getInput().getDefiningOp<ConvertLayoutOp>();
    if (!first)
      return rewriter.notifyMatchFailure(op, "the input is not a conversion");
    rewriter.replaceOpWithNewOp<ConvertLayoutOp>(op, op.getType(),
                                                 first.getInput());
    return success();
  }
};

struct TileRemoveLayoutConversions
    : tile::impl::TileRemoveLayoutConversionsPassBase<
          TileRemoveLayoutConversions> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns
        .add<FoldIntoProducerPattern<ReadOp>, FoldIntoProducerPattern<LoadOp>,
             FoldIntoProducerPattern<FillOp>, MergeConversionsPattern>(
            &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
