// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.convert_layout: the cheapest of four ways. Registers are renamed where
// lanes hold the same elements before and after, or exchanged for lanes, or
// gathered from two lanes, or fetched from other lanes one by one. And
// tile.deinterleave, which renames.

#include "KernelContext.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;

namespace {

struct ConvertLayoutPattern : KernelPattern<tile::ConvertLayoutOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::ConvertLayoutOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct ExchangeLayoutPattern : KernelPattern<tile::ConvertLayoutOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::ConvertLayoutOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

/// Each of two lanes sends all of its registers.
struct GatherLayoutPattern : KernelPattern<tile::ConvertLayoutOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::ConvertLayoutOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

/// One shuffle for each register.
struct ShuffleLayoutPattern : KernelPattern<tile::ConvertLayoutOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::ConvertLayoutOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct DeinterleavePattern : KernelPattern<tile::DeinterleaveOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::DeinterleaveOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

} // namespace

LogicalResult ConvertLayoutPattern::matchAndRewrite(
    tile::ConvertLayoutOp op, OpAdaptor adaptor,
    ConversionPatternRewriter &rewriter) const {
  tile::TileType to = op.getResult().getType();
  auto order =
      tile::findRenaming(op.getInput().getType().getRegisterLayout(), to);
  if (!order)
    return rewriter.notifyMatchFailure(op, "a lane lacks an element");
  Location loc = op.getLoc();
  Value input = adaptor.getInput();
  constexpr unsigned kPairBits = 16;
  unsigned bits = to.getElementType().getIntOrFloatBitWidth();
  bool movesPairs = 2 * bits == kPairBits && order->size() % 2 == 0;
  for (size_t i = 0; movesPairs && i < order->size(); i += 2)
    movesPairs = (*order)[i] % 2 == 0 && (*order)[i + 1] == (*order)[i] + 1;
  if (!movesPairs) {
    rewriter.replaceOpWithNewOp<vector::ShuffleOp>(op, laneVectorType(to),
                                                   input, input, *order);
    return success();
  }
  // Back ends have pairs from their instructions, and would take bytes apart.
  SmallVector<int64_t> ofPairs;
  for (size_t i = 0; i < order->size(); i += 2)
    ofPairs.push_back((*order)[i] / 2);
  auto pairs =
      VectorType::get(cast<VectorType>(input.getType()).getNumElements() / 2,
                      rewriter.getIntegerType(kPairBits));
  input = vector::BitCastOp::create(rewriter, loc, pairs, input);
  input = vector::ShuffleOp::create(rewriter, loc, input, input, ofPairs);
  rewriter.replaceOpWithNewOp<vector::BitCastOp>(op, laneVectorType(to), input);
  return success();
}

LogicalResult DeinterleavePattern::matchAndRewrite(
    tile::DeinterleaveOp op, OpAdaptor adaptor,
    ConversionPatternRewriter &rewriter) const {
  auto parts = static_cast<int64_t>(op.getParts().size());
  auto found = op.getInput().getType().getRegisterLayout().deinterleave(
      op.getDim(), op.getBlock(), parts);
  if (!found)
    return rewriter.notifyMatchFailure(op, "threads hold parts of parts");
  int64_t apart = found->second;
  SmallVector<Value> results;
  for (auto [i, part] : llvm::enumerate(op.getParts())) {
    VectorType type = laneVectorType(cast<tile::TileType>(part.getType()));
    SmallVector<int64_t> order;
    for (int64_t reg = 0; reg < type.getNumElements(); ++reg)
      order.push_back((reg / apart * parts + static_cast<int64_t>(i)) * apart +
                      reg % apart);
    results.push_back(vector::ShuffleOp::create(rewriter, op.getLoc(), type,
                                                adaptor.getInput(),
                                                adaptor.getInput(), order));
  }
  rewriter.replaceOp(op, results);
  return success();
}

static constexpr int64_t kWordBits = 32;

LogicalResult
ExchangeLayoutPattern::matchAndRewrite(tile::ConvertLayoutOp op,
                                       OpAdaptor adaptor,
                                       ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  tile::TileType from = op.getInput().getType(), to = op.getResult().getType();
  auto exchange = tile::findLaneExchange(from, to);
  if (!exchange)
    return b.notifyMatchFailure(
        op, "lanes differ in more than an exchange with registers");
  int64_t count = from.getRegisterLayout().getNumRegisters(),
          perWord = kWordBits / to.getElementType().getIntOrFloatBitWidth();
  auto wordsType = VectorType::get(count / perWord, b.getI32Type());
  Value input =
      vector::BitCastOp::create(b, loc, wordsType, adaptor.getInput());
  SmallVector<Value> words;
  for (int64_t i = 0; i < wordsType.getNumElements(); ++i)
    words.push_back(vector::ExtractOp::create(b, loc, input, i));
  Value lane = arith::IndexCastOp::create(b, loc, b.getI32Type(),
                                          laneNumber(b, loc, context));
  auto literal = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, loc, value, kWordBits);
  };
  Value width = literal(context.target.getLanes());
  for (const tile::LaneExchange::Step &step : exchange->steps) {
    Value mask = literal(step.laneBit);
    Value own = arith::AndIOp::create(b, loc, lane, mask);
    Value isUpper = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, own,
                                          literal(0));
    auto stride = static_cast<size_t>(step.registerStride / perWord);
    for (size_t low = 0; low < words.size(); ++low) {
      if (low / stride % 2 != 0)
        continue;
      Value &first = words[low], &second = words[low + stride];
      Value sent = arith::SelectOp::create(b, loc, isUpper, first, second);
      Value received = gpu::ShuffleOp::create(b, loc, sent, mask, width,
                                              gpu::ShuffleMode::XOR)
                           .getShuffleResult();
      first = arith::SelectOp::create(b, loc, isUpper, received, first);
      second = arith::SelectOp::create(b, loc, isUpper, second, received);
    }
  }
  Value result = vector::FromElementsOp::create(b, loc, wordsType, words);
  result = vector::BitCastOp::create(
      b, loc, cast<VectorType>(adaptor.getInput().getType()), result);
  b.replaceOpWithNewOp<vector::ShuffleOp>(op, laneVectorType(to), result,
                                          result, exchange->order);
  return success();
}

LogicalResult
GatherLayoutPattern::matchAndRewrite(tile::ConvertLayoutOp op,
                                     OpAdaptor adaptor,
                                     ConversionPatternRewriter &b) const {
  tile::TileType from = op.getInput().getType(), to = op.getResult().getType();
  auto gathering = tile::findLaneGathering(from, to);
  if (!gathering)
    return b.notifyMatchFailure(
        op, "lanes differ in more than what two of them gather");
  auto [lower, upper] = context.model->emitBothOfPair(
      b, op.getLoc(), adaptor.getInput(), gathering->laneBit);
  if (!lower)
    return b.notifyMatchFailure(op, "no instruction gives both what they have");
  b.replaceOpWithNewOp<vector::ShuffleOp>(op, laneVectorType(to), lower, upper,
                                          gathering->order);
  return success();
}

LogicalResult
ShuffleLayoutPattern::matchAndRewrite(tile::ConvertLayoutOp op,
                                      OpAdaptor adaptor,
                                      ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  tile::TileType to = op.getResult().getType();
  auto shuffles = tile::findLaneShuffles(op.getInput().getType(), to);
  if (!shuffles)
    return b.notifyMatchFailure(
        op, "no single register of another lane holds the element");
  Value lane = laneNumber(b, loc, context);
  Value narrowLane = arith::IndexCastOp::create(b, loc, b.getI32Type(), lane);
  Value width =
      arith::ConstantIntOp::create(b, loc, context.target.getLanes(), 32);
  SmallVector<Value> elements;
  for (const tile::LaneShuffle &shuffle : *shuffles) {
    Value kept = arith::AndIOp::create(
        b, loc, narrowLane,
        arith::ConstantIntOp::create(b, loc, shuffle.keep, 32));
    Value origin = arith::OrIOp::create(
        b, loc, kept, arith::ConstantIntOp::create(b, loc, shuffle.set, 32));
    Value element =
        vector::ExtractOp::create(b, loc, adaptor.getInput(), shuffle.reg);
    elements.push_back(
        shuffleElement(b, loc, element, origin, width, gpu::ShuffleMode::IDX));
  }
  b.replaceOpWithNewOp<vector::FromElementsOp>(op, laneVectorType(to),
                                               elements);
  return success();
}

void attune::populateLayoutPatterns(TypeConverter &converter,
                                    RewritePatternSet &patterns,
                                    const KernelContext &context) {
  MLIRContext *mlirContext = patterns.getContext();
  patterns.add<ShuffleLayoutPattern, DeinterleavePattern>(converter,
                                                          mlirContext, context);
  patterns.add<ExchangeLayoutPattern, GatherLayoutPattern>(
      converter, mlirContext, context, /*benefit=*/2);
  patterns.add<ConvertLayoutPattern>(converter, mlirContext, context,
                                     /*benefit=*/3);
}
