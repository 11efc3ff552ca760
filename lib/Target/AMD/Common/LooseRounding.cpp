// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rounding to bf16 where nobody asks for what becomes of NaN. As LLVM rounds on
// chips without an instruction for it, it takes five and a half.

#include "AMD.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace attune;

namespace {

// Pattern: truncf x {tile.loose_rounding} : f32 to bf16
//       -> the upper half of bits(x) + 0x8000
struct LooseRoundingPattern : ConvertOpToLLVMPattern<arith::TruncFOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!op->hasAttr(tile::TileDialect::kLooseRoundingAttrName) || !type ||
        type.getRank() != 1 || type.isScalable() ||
        !type.getElementType().isBF16() ||
        !getElementTypeOrSelf(op.getIn().getType()).isF32())
      return b.notifyMatchFailure(op, "is no loose rounding of floats to bf16");
    Location loc = op.getLoc();
    int64_t count = type.getNumElements();
    constexpr int32_t kHalf = 0x8000;
    auto words = VectorType::get(count, b.getI32Type()),
         halves = VectorType::get(2 * count, b.getI16Type());
    Value bits = LLVM::BitcastOp::create(b, loc, words, adaptor.getIn());
    Value half = LLVM::ConstantOp::create(b, loc, words,
                                          DenseElementsAttr::get(words, kHalf));
    Value sum = LLVM::AddOp::create(b, loc, bits, half);
    Value parts = LLVM::BitcastOp::create(b, loc, halves, sum);
    SmallVector<int32_t> upper;
    for (int64_t i = 0; i < count; ++i)
      upper.push_back(static_cast<int32_t>(2 * i + 1));
    Value kept = LLVM::ShuffleVectorOp::create(b, loc, parts, parts, upper);
    b.replaceOpWithNewOp<LLVM::BitcastOp>(op, type, kept);
    return success();
  }
};

} // namespace

void amd::populateLooseRoundingPatterns(LLVMTypeConverter &converter,
                                        RewritePatternSet &patterns) {
  patterns.add<LooseRoundingPattern>(converter, kTargetBenefit);
}
