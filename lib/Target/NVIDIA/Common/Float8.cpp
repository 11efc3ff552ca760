// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floats of 8 bits by cvt.rn.f16x2.e4m3x2 and cvt.rn.f16x2.e5m2x2, and to these
// by cvt.rn.satfinite.e4m3x2.f32 and so on, two at a time, on chips that have
// them (PTX ISA, "cvt").

#include "NVIDIA.h"
#include "attune/Target/TargetModel.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace {
// Pattern: arith.extf of vectors of 8-bit floats -> nvvm.convert.f8x2.to.f16x2
// of pairs, and on from there
struct ExtendPairsPattern : ConvertOpToLLVMPattern<arith::ExtFOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(arith::ExtFOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getIn().getType());
    if (!type || type.getRank() != 1 || type.getNumElements() % 2 != 0 ||
        !isa<Float8E4M3FNType, Float8E5M2Type>(type.getElementType()))
      return rewriter.notifyMatchFailure(op, "no pairs of 8-bit floats");
    Type to = cast<VectorType>(op.getType()).getElementType();
    if (!to.isF16() && !to.isBF16() && !to.isF32())
      return rewriter.notifyMatchFailure(op, "of more than 32 bits");
    rewriter.replaceOp(op,
                       widen(rewriter, op.getLoc(), adaptor.getIn(), type, to));
    return success();
  }

private:
  static Value shuffle(OpBuilder &b, Location loc, Value first, Value second,
                       ArrayRef<int32_t> elements) {
    return LLVM::ShuffleVectorOp::create(b, loc, first, second, elements);
  }

  static Value widen(OpBuilder &b, Location loc, Value bits, VectorType type,
                     Type to) {
    auto count = static_cast<int32_t>(type.getNumElements());
    auto pairType = VectorType::get(2, b.getF16Type());
    SmallVector<Value> pairs;
    for (int32_t first = 0; first < count; first += 2) {
      Value pair =
          count == 2 ? bits : shuffle(b, loc, bits, bits, {first, first + 1});
      pairs.push_back(NVVM::ConvertF8x2ToF16x2Op::create(
          b, loc, pairType, pair, /*relu=*/false, type.getElementType()));
    }
    Value halves = concatenate(b, loc, pairs);
    if (to.isF16())
      return halves;
    auto singleType = VectorType::get(count, b.getF32Type());
    Value singles = LLVM::FPExtOp::create(b, loc, singleType, halves);
    if (to.isF32())
      return singles;
    // Of these numbers all that is not 0 is in the upper half; those of a pair
    // are taken at once.
    constexpr int32_t kUpperHalves = 0x7632;
    Value words = LLVM::BitcastOp::create(
              b, loc, VectorType::get(count, b.getI32Type()), singles),
          selector = LLVM::ConstantOp::create(
              b, loc, b.getI32IntegerAttr(kUpperHalves)),
          packed = LLVM::PoisonOp::create(
              b, loc, VectorType::get(count / 2, b.getI32Type()));
    auto number = [&](int32_t value) -> Value {
      return LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
    };
    for (int32_t i = 0; i < count; i += 2) {
      Value low = LLVM::ExtractElementOp::create(b, loc, words, number(i)),
            high = LLVM::ExtractElementOp::create(b, loc, words, number(i + 1));
      Value pair =
          NVVM::PermuteOp::create(b, loc, b.getI32Type(), low, high, selector,
                                  NVVM::PermuteMode::DEFAULT);
      packed =
          LLVM::InsertElementOp::create(b, loc, packed, pair, number(i / 2));
    }
    return LLVM::BitcastOp::create(
        b, loc, VectorType::get(count, b.getBF16Type()), packed);
  }

  /// One vector of those of a pair each.
  static Value concatenate(OpBuilder &b, Location loc, ArrayRef<Value> pairs) {
    if (pairs.size() == 1)
      return pairs.front();
    auto type =
        VectorType::get(2 * static_cast<int64_t>(pairs.size()), b.getF16Type());
    Value whole = LLVM::PoisonOp::create(b, loc, type);
    for (auto [number, pair] : llvm::enumerate(pairs))
      for (int32_t i = 0; i < 2; ++i) {
        Value from = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(i)),
              place = LLVM::ConstantOp::create(
                  b, loc,
                  b.getI32IntegerAttr(static_cast<int32_t>(2 * number) + i));
        Value element = LLVM::ExtractElementOp::create(b, loc, pair, from);
        whole = LLVM::InsertElementOp::create(b, loc, whole, element, place);
      }
    return whole;
  }
};

// Pattern: arith.truncf of vectors of f32 to 8-bit floats ->
// nvvm.convert.f32x2.to.f8x2 of pairs
struct TruncatePairsPattern : ConvertOpToLLVMPattern<arith::TruncFOp> {
  using ConvertOpToLLVMPattern<arith::TruncFOp>::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(arith::TruncFOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || type.getRank() != 1 || type.getNumElements() % 2 != 0 ||
        !isa<Float8E4M3FNType, Float8E5M2Type>(type.getElementType()) ||
        !getElementTypeOrSelf(op.getIn().getType()).isF32())
      return rewriter.notifyMatchFailure(op, "no pairs of 8-bit floats of f32");
    Location loc = op.getLoc();
    auto constant = [&](int64_t value) -> Value {
      return LLVM::ConstantOp::create(rewriter, loc,
                                      rewriter.getI32IntegerAttr(value));
    };
    int64_t count = type.getNumElements() / 2;
    Value whole = LLVM::PoisonOp::create(
        rewriter, loc, VectorType::get(count, rewriter.getI16Type()));
    for (int64_t i = 0; i < count; ++i) {
      Value low = LLVM::ExtractElementOp::create(rewriter, loc, adaptor.getIn(),
                                                 constant(2 * i)),
            high = LLVM::ExtractElementOp::create(
                rewriter, loc, adaptor.getIn(), constant(2 * i + 1));
      Value pair = NVVM::ConvertF32x2ToF8x2Op::create(
          rewriter, loc, rewriter.getI16Type(), high, low,
          NVVM::FPRoundingMode::RN, NVVM::SaturationMode::SATFINITE,
          /*relu=*/false, type.getElementType());
      whole = LLVM::InsertElementOp::create(rewriter, loc, whole, pair,
                                            constant(i));
    }
    rewriter.replaceOpWithNewOp<LLVM::BitcastOp>(
        op, getTypeConverter()->convertType(type), whole);
    return success();
  }
};
} // namespace

void attune::nvidia::populateFloat8Conversions(LLVMTypeConverter &converter,
                                               RewritePatternSet &patterns,
                                               StringRef chip) {
  constexpr unsigned kFirst = 89;
  if (getCapability(chip) >= kFirst)
    patterns.add<ExtendPairsPattern, TruncatePairsPattern>(converter,
                                                           kTargetBenefit);
}
