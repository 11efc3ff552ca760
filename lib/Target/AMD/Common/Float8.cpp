// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floats of 8 bits by v_cvt_pk_fp8_f32 and v_cvt_pk_bf8_f32, two at a time.
// They are those that the chip's matrix instructions take.

#include "AMD.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace attune;

namespace {
// Pattern: arith.truncf of vectors of f32 to 8-bit floats ->
// rocdl.cvt.pk.fp8.f32 or rocdl.cvt.pk.bf8.f32 of pairs
struct TruncatePairsPattern : ConvertOpToLLVMPattern<arith::TruncFOp> {
  TruncatePairsPattern(LLVMTypeConverter &converter, tile::TargetAttr target)
      : ConvertOpToLLVMPattern(converter, kTargetBenefit), target(target) {}

  LogicalResult
  matchAndRewrite(arith::TruncFOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || type.getRank() != 1 || type.getNumElements() % 2 != 0 ||
        !multiplies(type.getElementType()) ||
        !getElementTypeOrSelf(op.getIn().getType()).isF32())
      return rewriter.notifyMatchFailure(op, "no pairs of 8-bit floats of f32");
    Location loc = op.getLoc();
    auto constant = [&](int64_t value) -> Value {
      return LLVM::ConstantOp::create(rewriter, loc,
                                      rewriter.getI32IntegerAttr(value));
    };
    bool isBF8 = isa<Float8E5M2Type, Float8E5M2FNUZType>(type.getElementType());
    int64_t pairs = type.getNumElements() / 2;
    auto words =
        VectorType::get(llvm::divideCeil(pairs, 2), rewriter.getI32Type());
    Value whole = LLVM::PoisonOp::create(rewriter, loc, words), word;
    for (int64_t i = 0; i < pairs; ++i) {
      Value low = LLVM::ExtractElementOp::create(rewriter, loc, adaptor.getIn(),
                                                 constant(2 * i)),
            high = LLVM::ExtractElementOp::create(
                rewriter, loc, adaptor.getIn(), constant(2 * i + 1));
      bool isUpper = i % 2 != 0;
      if (!isUpper)
        word = LLVM::PoisonOp::create(rewriter, loc, rewriter.getI32Type());
      word = isBF8 ? ROCDL::CvtPkBf8F32Op::create(rewriter, loc,
                                                  rewriter.getI32Type(), low,
                                                  high, word, isUpper)
                         .getResult()
                   : ROCDL::CvtPkFp8F32Op::create(rewriter, loc,
                                                  rewriter.getI32Type(), low,
                                                  high, word, isUpper)
                         .getResult();
      whole = LLVM::InsertElementOp::create(rewriter, loc, whole, word,
                                            constant(i / 2));
    }
    auto bytes =
        VectorType::get(4 * words.getNumElements(), rewriter.getI8Type());
    Value result = LLVM::BitcastOp::create(rewriter, loc, bytes, whole);
    if (pairs % 2 != 0) {
      SmallVector<int32_t> kept(static_cast<size_t>(2 * pairs));
      std::iota(kept.begin(), kept.end(), 0);
      result =
          LLVM::ShuffleVectorOp::create(rewriter, loc, result, result, kept);
    }
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  /// Whether bits are those of this type: what the chip multiplies is what its
  /// instructions round to.
  bool multiplies(Type type) const {
    return type.getIntOrFloatBitWidth() == 8 &&
           llvm::any_of(target.getMma(), [&](tile::MmaAtomAttr atom) {
             return atom.getLhsType() == type;
           });
  }

  tile::TargetAttr target;
};
} // namespace

void amd::populateFloat8Conversions(LLVMTypeConverter &converter,
                                    RewritePatternSet &patterns,
                                    tile::TargetAttr target) {
  patterns.add<TruncatePairsPattern>(converter, target);
}
