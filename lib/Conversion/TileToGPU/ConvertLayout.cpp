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
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune;

namespace {

struct ConvertLayoutPattern : KernelPattern<tile::ConvertLayoutOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::ConvertLayoutOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

/// Exchanges registers for lanes: where the layouts differ in which digits of a
/// position are those of lanes and which those of registers, one step for each
/// binary digit moves half of the registers to the lane whose number differs
/// in that digit.
struct ExchangeLayoutPattern : KernelPattern<tile::ConvertLayoutOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::ConvertLayoutOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

/// Gives two lanes, whose numbers differ in one binary digit, what both of them
/// hold: each sends all of its registers.
struct GatherLayoutPattern : KernelPattern<tile::ConvertLayoutOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::ConvertLayoutOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

/// Exchanges elements between the lanes of a warp, one shuffle for each
/// register.
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

/// Puts registers into the order of another layout with the same lanes and
/// warps. Null if a lane lacks an element.
static Value renameRegisters(OpBuilder &b, Location loc, Value input,
                             tile::LayoutAttr source, tile::TileType to) {
  tile::LayoutAttr destination = to.getRegisterLayout();
  SmallVector<int64_t> order;
  for (int64_t reg = 0; reg < destination.getNumRegisters(); ++reg) {
    order.push_back(findRegister(
        source, destination.getRegisterCoordinates(reg, to.getRank())));
    if (order.back() < 0)
      return Value();
  }
  return vector::ShuffleOp::create(b, loc, laneVectorType(to), input, input,
                                   order);
}

LogicalResult ConvertLayoutPattern::matchAndRewrite(
    tile::ConvertLayoutOp op, OpAdaptor adaptor,
    ConversionPatternRewriter &rewriter) const {
  tile::TileType to = op.getResult().getType();
  tile::LayoutAttr source = op.getInput().getType().getRegisterLayout(),
                   destination = to.getRegisterLayout();
  if (source.getLanes() != destination.getLanes() ||
      source.getWarps() != destination.getWarps())
    return rewriter.notifyMatchFailure(op, "lanes or warps differ");
  Value renamed =
      renameRegisters(rewriter, op.getLoc(), adaptor.getInput(), source, to);
  if (!renamed)
    return rewriter.notifyMatchFailure(op, "a lane lacks an element");
  rewriter.replaceOp(op, renamed);
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

/// The coordinates of a lane's part of a layout.
static SmallVector<int64_t, 2> lanePart(tile::LayoutAttr layout, int64_t lane) {
  auto lanes =
      tile::LayoutAttr::get(layout.getContext(), layout.getLanes(), {}, {});
  return lanes.getRegisterCoordinates(lane, 2);
}

namespace {
/// The registers whose numbers have this binary digit set change places with
/// the lanes whose numbers have that one set.
struct Exchange {
  int64_t laneBit;
  /// How far apart two registers are that differ in the digit.
  int64_t registerStride;
};
} // namespace

/// Takes the binary digit that adds `step` to a coordinate out of a mode and
/// gives it another meaning. Returns the distance of registers that differ in
/// it, or 0 if there is no such digit.
static int64_t replaceDigit(SmallVectorImpl<tile::Mode> &modes, int64_t dim,
                            int64_t step, int64_t newDim, int64_t newStep) {
  int64_t stride = 1;
  for (auto [i, mode] : llvm::enumerate(modes)) {
    for (int64_t low = 1; mode.dim == dim && mode.extent % (2 * low) == 0;
         low *= 2) {
      if (mode.stride * low != step)
        continue;
      tile::Mode whole = mode;
      modes[i] = {low, whole.dim, whole.stride};
      modes.insert(modes.begin() + i + 1,
                   {tile::Mode{2, newDim, newStep},
                    tile::Mode{whole.extent / (2 * low), whole.dim,
                               whole.stride * 2 * low}});
      return stride * low;
    }
    stride *= mode.extent;
  }
  return 0;
}

/// The exchanges that bring `source` to a layout with the lanes of
/// `destination`, which is returned; null if there are none.
static tile::LayoutAttr findExchanges(tile::LayoutAttr source,
                                      tile::LayoutAttr destination,
                                      SmallVectorImpl<Exchange> &exchanges) {
  SmallVector<tile::Mode> registers(source.getRegisters());
  for (int64_t bit = 1; bit < destination.getNumLanes(); bit *= 2) {
    SmallVector<int64_t, 2> from = lanePart(source, bit),
                            to = lanePart(destination, bit);
    if (from == to)
      continue;
    auto isOneDim = [](ArrayRef<int64_t> step) {
      return (step[0] == 0) != (step[1] == 0);
    };
    if (!isOneDim(from) || !isOneDim(to))
      return {};
    int64_t dim = to[0] ? 0 : 1, newDim = from[0] ? 0 : 1;
    int64_t stride =
        replaceDigit(registers, dim, to[dim], newDim, from[newDim]);
    if (!stride)
      return {};
    exchanges.push_back({bit, stride});
  }
  return tile::LayoutAttr::getNormal(source.getContext(), registers,
                                     destination.getLanes(),
                                     destination.getWarps());
}

LogicalResult
ExchangeLayoutPattern::matchAndRewrite(tile::ConvertLayoutOp op,
                                       OpAdaptor adaptor,
                                       ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  tile::TileType to = op.getResult().getType();
  tile::LayoutAttr source = op.getInput().getType().getRegisterLayout(),
                   destination = to.getRegisterLayout();
  if (source.getWarps() != destination.getWarps() ||
      source.getNumLanes() != destination.getNumLanes() ||
      !llvm::isPowerOf2_64(source.getNumLanes()))
    return b.notifyMatchFailure(op, "warps differ");
  SmallVector<Exchange> exchanges;
  tile::LayoutAttr exchanged = findExchanges(source, destination, exchanges);
  if (!exchanged)
    return b.notifyMatchFailure(
        op, "lanes differ in more than an exchange with registers");
  // Shuffles move whole registers.
  constexpr int64_t kWordBits = 32;
  int64_t count = source.getNumRegisters(),
          bits = to.getElementType().getIntOrFloatBitWidth(),
          perWord = kWordBits / bits;
  if (bits > kWordBits || count % perWord != 0 ||
      llvm::any_of(exchanges, [&](const Exchange &exchange) {
        return exchange.registerStride % perWord != 0;
      }))
    return b.notifyMatchFailure(op, "elements that share a register part");

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
  for (const Exchange &exchange : exchanges) {
    Value mask = literal(exchange.laneBit);
    Value own = arith::AndIOp::create(b, loc, lane, mask);
    Value isUpper = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, own,
                                          literal(0));
    auto stride = static_cast<size_t>(exchange.registerStride / perWord);
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
  result = renameRegisters(b, loc, result, exchanged, to);
  if (!result)
    return b.notifyMatchFailure(op, "a lane lacks an element");
  b.replaceOp(op, result);
  return success();
}

/// The one lane digit in which the layouts differ, by whose lanes the source
/// divides what the destination repeats; 0 if there is another difference.
static int64_t findGathered(tile::LayoutAttr source,
                            tile::LayoutAttr destination) {
  int64_t found = 0;
  for (int64_t bit = 1; bit < destination.getNumLanes(); bit *= 2) {
    SmallVector<int64_t, 2> from = lanePart(source, bit),
                            to = lanePart(destination, bit);
    if (from == to)
      continue;
    if (found || to[0] || to[1])
      return 0;
    found = bit;
  }
  return found;
}

LogicalResult
GatherLayoutPattern::matchAndRewrite(tile::ConvertLayoutOp op,
                                     OpAdaptor adaptor,
                                     ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  tile::TileType to = op.getResult().getType();
  tile::LayoutAttr source = op.getInput().getType().getRegisterLayout(),
                   destination = to.getRegisterLayout();
  if (source.getWarps() != destination.getWarps() ||
      source.getNumLanes() != destination.getNumLanes())
    return b.notifyMatchFailure(op, "warps differ");
  int64_t laneBit = findGathered(source, destination);
  if (!laneBit)
    return b.notifyMatchFailure(
        op, "lanes differ in more than what two of them gather");
  constexpr int64_t kWordBits = 32;
  int64_t count = source.getNumRegisters(),
          bits = to.getElementType().getIntOrFloatBitWidth();
  if (bits > kWordBits || count * bits % kWordBits != 0)
    return b.notifyMatchFailure(op, "elements that are no whole words");
  // The first `count` elements of both together are those of the lane whose
  // digit is 0.
  SmallVector<int64_t, 2> step = lanePart(source, laneBit);
  SmallVector<int64_t> order;
  for (int64_t reg = 0; reg < destination.getNumRegisters(); ++reg) {
    SmallVector<int64_t, 2> at = destination.getRegisterCoordinates(reg, 2);
    int64_t found = findRegister(source, at);
    if (found < 0) {
      found = findRegister(source, {at[0] - step[0], at[1] - step[1]});
      if (found < 0)
        return b.notifyMatchFailure(op, "neither lane holds the element");
      found += count;
    }
    order.push_back(found);
  }
  auto wordsType = VectorType::get(count * bits / kWordBits, b.getI32Type());
  Value own = vector::BitCastOp::create(b, loc, wordsType, adaptor.getInput());
  auto literal = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, loc, value, kWordBits);
  };
  Value lane = arith::IndexCastOp::create(b, loc, b.getI32Type(),
                                          laneNumber(b, loc, context));
  Value digit = arith::AndIOp::create(b, loc, lane, literal(laneBit));
  Value isUpper = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, digit,
                                        literal(0));
  SmallVector<Value> lower, upper;
  for (int64_t i = 0; i < wordsType.getNumElements(); ++i) {
    Value sent = vector::ExtractOp::create(b, loc, own, i);
    Value received = gpu::ShuffleOp::create(b, loc, sent, literal(laneBit),
                                            literal(context.target.getLanes()),
                                            gpu::ShuffleMode::XOR)
                         .getShuffleResult();
    lower.push_back(arith::SelectOp::create(b, loc, isUpper, received, sent));
    upper.push_back(arith::SelectOp::create(b, loc, isUpper, sent, received));
  }
  auto asElements = [&](ArrayRef<Value> words) -> Value {
    Value joined = vector::FromElementsOp::create(b, loc, wordsType, words);
    return vector::BitCastOp::create(b, loc, adaptor.getInput().getType(),
                                     joined);
  };
  b.replaceOpWithNewOp<vector::ShuffleOp>(
      op, laneVectorType(to), asElements(lower), asElements(upper), order);
  return success();
}

namespace {
/// Where each lane finds the element of one register: always in the same
/// register of the source, of lane `(own lane & keep) | set`.
struct ShuffleSource {
  int64_t reg;
  int64_t keep;
  int64_t set;
};
} // namespace

static std::optional<ShuffleSource> findShuffle(tile::LayoutAttr source,
                                                tile::LayoutAttr destination,
                                                int64_t reg) {
  int64_t lanes = destination.getNumLanes();
  SmallVector<int64_t, 2> offset = destination.getRegisterCoordinates(reg, 2);
  for (int64_t from = 0; from < source.getNumRegisters(); ++from) {
    SmallVector<int64_t, 2> sourceOffset =
        source.getRegisterCoordinates(from, 2);
    SmallVector<int64_t> origin;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      SmallVector<int64_t, 2> own = lanePart(destination, lane);
      auto holds = [&](int64_t candidate) {
        SmallVector<int64_t, 2> theirs = lanePart(source, candidate);
        return sourceOffset[0] + theirs[0] == offset[0] + own[0] &&
               sourceOffset[1] + theirs[1] == offset[1] + own[1];
      };
      int64_t found = holds(lane) ? lane : -1;
      for (int64_t candidate = 0; candidate < lanes && found < 0; ++candidate)
        if (holds(candidate))
          found = candidate;
      if (found < 0)
        break;
      origin.push_back(found);
    }
    if (static_cast<int64_t>(origin.size()) != lanes)
      continue;
    ShuffleSource shuffle{from, 0, origin.front()};
    for (int64_t bit = 1; bit < lanes; bit *= 2)
      if ((origin[bit] & bit) && !(origin.front() & bit))
        shuffle.keep |= bit;
    bool fits = true;
    for (int64_t lane = 0; lane < lanes; ++lane)
      fits &= origin[lane] == ((lane & shuffle.keep) | shuffle.set);
    if (fits)
      return shuffle;
  }
  return std::nullopt;
}

LogicalResult
ShuffleLayoutPattern::matchAndRewrite(tile::ConvertLayoutOp op,
                                      OpAdaptor adaptor,
                                      ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  tile::TileType from = op.getInput().getType(), to = op.getResult().getType();
  tile::LayoutAttr source = from.getRegisterLayout(),
                   destination = to.getRegisterLayout();
  if (source.getWarps() != destination.getWarps() ||
      source.getNumLanes() != destination.getNumLanes())
    return b.notifyMatchFailure(op, "warps differ");
  unsigned bits = to.getElementType().getIntOrFloatBitWidth();
  if (bits != 16 && bits != 32)
    return b.notifyMatchFailure(op, "elements are neither 16 nor 32 bits wide");
  SmallVector<ShuffleSource> shuffles;
  for (int64_t reg = 0; reg < destination.getNumRegisters(); ++reg) {
    std::optional<ShuffleSource> shuffle =
        findShuffle(source, destination, reg);
    if (!shuffle)
      return b.notifyMatchFailure(
          op, "no single register of another lane holds the element");
    shuffles.push_back(*shuffle);
  }
  Value lane = laneNumber(b, loc, context);
  Value narrowLane = arith::IndexCastOp::create(b, loc, b.getI32Type(), lane);
  Value width =
      arith::ConstantIntOp::create(b, loc, context.target.getLanes(), 32);
  SmallVector<Value> elements;
  for (const ShuffleSource &shuffle : shuffles) {
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
