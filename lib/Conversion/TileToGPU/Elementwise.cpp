// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.map and tile.fill: work on registers alone.

#include "RegionVectorizer.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;

namespace {

struct FillPattern : KernelPattern<tile::FillOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::FillOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<vector::BroadcastOp>(
        op, laneVectorType(op.getResult().getType()), adaptor.getValue());
    return success();
  }
};

struct MapPattern : KernelPattern<tile::MapOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::MapOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

} // namespace

/// How many registers are worked out at once: all of them, but for random
/// numbers, of which one call after the other is made, or two by lanes that
/// share these, for its state takes more registers than what is left of it.
static int64_t getStep(tile::MapOp op, int64_t count) {
  constexpr int64_t kShareCall = 8;
  bool draws = llvm::any_of(op.getBody().front(), [](Operation &inner) {
    return isa<tile::IsKeptOp>(inner);
  });
  if (!draws)
    return count;
  tile::TileType type = op.getResult().getType();
  bool shares =
      findLanePair(type.getRegisterLayout(), type.getRank()).has_value();
  if (shares && count % (2 * kShareCall) == 0)
    return 2 * kShareCall;
  return count % kShareCall == 0 ? kShareCall : count;
}

LogicalResult
MapPattern::matchAndRewrite(tile::MapOp op, OpAdaptor adaptor,
                            ConversionPatternRewriter &rewriter) const {
  tile::TileType type = op.getResult().getType();
  VectorType all = laneVectorType(type);
  int64_t count = all.getNumElements(), step = getStep(op, count);
  Value result;
  for (int64_t first = 0; first < count; first += step) {
    SmallVector<Value> inputs(adaptor.getInputs());
    if (step < count)
      for (Value &input : inputs)
        input = vector::ExtractStridedSliceOp::create(
            rewriter, op.getLoc(), input, first, step, /*stride=*/1);
    RegionVectorizer vectorizer(rewriter, type, first, step);
    if (failed(vectorizer.run(op, inputs, context)))
      return failure();
    if (step == count) {
      result = vectorizer.result;
      break;
    }
    if (!result)
      result = arith::ConstantOp::create(rewriter, op.getLoc(),
                                         rewriter.getZeroAttr(all));
    result = vector::InsertStridedSliceOp::create(
        rewriter, op.getLoc(), vectorizer.result, result, first, /*strides=*/1);
  }
  rewriter.replaceOp(op, result);
  return success();
}

void attune::populateElementwisePatterns(TypeConverter &converter,
                                         RewritePatternSet &patterns,
                                         const KernelContext &context) {
  patterns.add<FillPattern, MapPattern>(converter, patterns.getContext(),
                                        context);
}
