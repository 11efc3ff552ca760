// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rounding to 16 bits where nobody asks for what becomes of NaN: half of a unit
// is added to the bits, and what is below a unit is cut off. As LLVM rounds to
// bf16 on chips without an instruction for it, it takes five and a half; to
// f16, one and a half, of which none is issued together with another.

#include "AMD.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;
using namespace attune;

namespace {

struct LooseRoundingPattern : ConvertOpToLLVMPattern<arith::TruncFOp> {
  LooseRoundingPattern(LLVMTypeConverter &converter, bool addsPairs)
      : ConvertOpToLLVMPattern(converter, kTargetBenefit),
        addsPairs(addsPairs) {}

  LogicalResult matchAndRewrite(arith::TruncFOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!op->hasAttr(tile::TileDialect::kLooseRoundingAttrName) || !type ||
        type.getRank() != 1 || type.isScalable() ||
        !getElementTypeOrSelf(op.getIn().getType()).isF32())
      return b.notifyMatchFailure(op, "is no loose rounding of floats");
    bool isEven = type.getNumElements() % 2 == 0;
    if (!type.getElementType().isBF16() &&
        !(isEven && type.getElementType().isF16()))
      return b.notifyMatchFailure(op, "is not to bf16, nor of pairs to f16");
    Location loc = op.getLoc();
    bool inPairs = addsPairs && isEven;
    Value kept = type.getElementType().isBF16()
                     ? cutToBF16(b, loc, adaptor.getIn(), inPairs)
                     : cutToF16(b, loc, adaptor.getIn(), inPairs);
    b.replaceOpWithNewOp<LLVM::BitcastOp>(op, type, kept);
    return success();
  }

  /// `half` is added to the bits of each number. In pairs, the lower one
  /// carries into the upper one for NaN alone.
  static Value addHalf(OpBuilder &b, Location loc, Value numbers, uint64_t half,
                       bool inPairs) {
    constexpr int64_t kWordBits = 32;
    int64_t count = cast<VectorType>(numbers.getType()).getNumElements();
    auto words = inPairs ? VectorType::get(count / 2, b.getI64Type())
                         : VectorType::get(count, b.getI32Type());
    if (inPairs)
      half |= half << kWordBits;
    Attribute splat =
        b.getIntegerAttr(words.getElementType(), static_cast<int64_t>(half));
    Value bits = LLVM::BitcastOp::create(b, loc, words, numbers);
    Value added = LLVM::ConstantOp::create(
        b, loc, words, SplatElementsAttr::get(words, splat));
    return LLVM::AddOp::create(b, loc, bits, added);
  }

  // Pattern: truncf x {tile.loose_rounding} : f32 to bf16
  //       -> the upper half of bits(x) + 0x8000
  static Value cutToBF16(OpBuilder &b, Location loc, Value numbers,
                         bool inPairs) {
    int64_t count = cast<VectorType>(numbers.getType()).getNumElements();
    Value sum = addHalf(b, loc, numbers, /*half=*/0x8000, inPairs);
    auto halves = VectorType::get(2 * count, b.getI16Type());
    Value parts = LLVM::BitcastOp::create(b, loc, halves, sum);
    SmallVector<int32_t> upper;
    for (int64_t i = 0; i < count; ++i)
      upper.push_back(static_cast<int32_t>(2 * i + 1));
    return LLVM::ShuffleVectorOp::create(b, loc, parts, parts, upper);
  }

  // Pattern: truncf x {tile.loose_rounding} : f32 to f16
  //       -> cvt.pkrtz of the floats of bits(x) + 0x1000
  // Below the normal numbers of f16 its unit is larger than that, and what is
  // cut off may be all of one.
  static Value cutToF16(OpBuilder &b, Location loc, Value numbers,
                        bool inPairs) {
    auto type = cast<VectorType>(numbers.getType());
    Value sum = addHalf(b, loc, numbers, /*half=*/0x1000, inPairs);
    Value floats = LLVM::BitcastOp::create(b, loc, type, sum);
    auto constant = [&](int64_t value) {
      return LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                      b.getI32IntegerAttr(value));
    };
    auto at = [&](int64_t i) {
      return LLVM::ExtractElementOp::create(b, loc, floats, constant(i));
    };
    Type pair = VectorType::get(2, b.getF16Type());
    Value words = LLVM::PoisonOp::create(
        b, loc, VectorType::get(type.getNumElements() / 2, b.getI32Type()));
    for (int64_t i = 0; i < type.getNumElements(); i += 2) {
      Value cut = ROCDL::CvtPkRtz::create(b, loc, pair, at(i), at(i + 1));
      Value word = LLVM::BitcastOp::create(b, loc, b.getI32Type(), cut);
      words =
          LLVM::InsertElementOp::create(b, loc, words, word, constant(i / 2));
    }
    return words;
  }

  bool addsPairs;
};

} // namespace

void amd::populateLooseRoundingPatterns(LLVMTypeConverter &converter,
                                        RewritePatternSet &patterns,
                                        bool addsPairs) {
  patterns.add<LooseRoundingPattern>(converter, addsPairs);
}
