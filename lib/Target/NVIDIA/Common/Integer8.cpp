// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integers of 8 bits as floats of 16, two at a time: each becomes the lower
// byte of a float whose unit is 1, which is one prmt for both (PTX ISA,
// "prmt"), and what is too much is subtracted. Of bytes that hold two integers
// of 4 bits, one part is masked before; shifts are not needed, but for bf16.

#include "NVIDIA.h"
#include "attune/Target/TargetModel.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace {
/// What of a byte is an integer.
enum class Part { Whole, Lower, Upper };

/// Makes floats of four bytes, which are a word.
class BytesBuilder : public ImplicitLocOpBuilder {
public:
  BytesBuilder(Location loc, OpBuilder &builder, Type element, Part part)
      : ImplicitLocOpBuilder(loc, builder), element(element), part(part) {}

  /// The two from `first` on.
  Value widen(Value bytes, int32_t first) {
    if (part != Part::Whole)
      return toFloats(bytes, first);
    return element.isF16() ? toHalves(bytes, first) : toBFloats(bytes, first);
  }

private:
  /// 1024 and a natural number, of which 128 are too much: the sign is turned.
  Value toHalves(Value bytes, int32_t first) {
    constexpr uint8_t kUpper = 0x64;
    constexpr double kTooMuch = 1024 + 128;
    Value natural = cast(bytes.getType(),
                         LLVM::XOrOp::create(*this, cast(getI32Type(), bytes),
                                             word(0x80808080)));
    return LLVM::FSubOp::create(*this,
                                cast(pair(), spread(natural, first, kUpper)),
                                constant(kTooMuch));
  }

  /// 128 and the lower seven bits, less 128 and the sign's, which is 128 as
  /// well: bf16 has no bit more below the unit.
  Value toBFloats(Value bytes, int32_t first) {
    constexpr uint8_t kUpper = 0x43;
    Value both = cast(getI32Type(), spread(bytes, first, kUpper));
    Value lower = LLVM::AndOp::create(*this, both, word(0xff7fff7f)),
          sign = LLVM::AndOp::create(*this, both, word(0xff80ff80));
    // Ampere has no subtraction of them.
    Value negative = LLVM::XOrOp::create(*this, sign, word(0x80008000));
    return LLVM::FMAOp::create(*this, cast(pair(), lower), constant(1),
                               cast(pair(), negative));
  }

  /// 8 more than each integer of a part, which is natural, or 16 times that,
  /// above 1024 or 128: one fused operation makes it the integer.
  Value toFloats(Value bytes, int32_t first) {
    constexpr uint8_t kUpperOfHalf = 0x64, kUpperOfBFloat = 0x43;
    constexpr double kHalf = 1024, kBFloat = 128, kBias = 8, kUnits = 16;
    bool isHalf = element.isF16();
    // bf16 has 7 bits below the unit, which hold 16 times 8 no more.
    bool inPlace = part == Part::Upper && isHalf;
    Value all = cast(getI32Type(), bytes);
    if (part == Part::Upper && !inPlace)
      all = LLVM::LShrOp::create(*this, all, word(4));
    Value masked = LLVM::AndOp::create(*this, all,
                                       word(inPlace ? 0xf0f0f0f0 : 0x0f0f0f0f));
    Value natural =
        cast(bytes.getType(),
             LLVM::XOrOp::create(*this, masked,
                                 word(inPlace ? 0x80808080 : 0x08080808)));
    Value wide = cast(
        pair(), spread(natural, first, isHalf ? kUpperOfHalf : kUpperOfBFloat));
    double factor = inPlace ? 1 / kUnits : 1;
    return LLVM::FMAOp::create(
        *this, wide, constant(factor),
        constant(-(factor * (isHalf ? kHalf : kBFloat) + kBias)));
  }

  /// Bytes of a word below `upper`.
  Value spread(Value bytes, int32_t first, uint8_t upper) {
    Value fill = LLVM::ConstantOp::create(
        *this, DenseElementsAttr::get(::cast<ShapedType>(bytes.getType()),
                                      APInt(8, upper)));
    return LLVM::ShuffleVectorOp::create(*this, bytes, fill,
                                         {first, 4, first + 1, 4});
  }
  VectorType pair() { return VectorType::get(2, element); }
  Value constant(double value) {
    return LLVM::ConstantOp::create(
        *this, DenseElementsAttr::get(pair(), getFloatAttr(element, value)));
  }
  Value word(uint32_t bits) {
    return LLVM::ConstantOp::create(
        *this, getI32IntegerAttr(static_cast<int32_t>(bits)));
  }
  Value cast(Type type, Value value) {
    return LLVM::BitcastOp::create(*this, type, value);
  }

  Type element;
  Part part;
};
} // namespace

/// The value that is shifted by 4, if this is.
template <typename OpTy> static Value getShifted(Value value) {
  constexpr int64_t kBits = 4;
  auto shift = value.getDefiningOp<OpTy>();
  APInt count;
  return shift && matchPattern(shift.getRhs(), m_ConstantInt(&count)) &&
                 count == kBits
             ? shift.getLhs()
             : Value();
}

/// The bytes that hold `integers`, and where in them.
static std::pair<Value, Part> findBytes(Value integers) {
  Value upper = getShifted<arith::ShRSIOp>(integers);
  if (!upper)
    return {integers, Part::Whole};
  if (Value bytes = getShifted<arith::ShLIOp>(upper))
    return {bytes, Part::Lower};
  return {upper, Part::Upper};
}

namespace {
// Pattern: arith.sitofp of vectors of i8, or of halves of these, to f16 or bf16
// -> prmt and arithmetic of pairs
struct WidenBytesPattern : ConvertOpToLLVMPattern<arith::SIToFPOp> {
  using ConvertOpToLLVMPattern<arith::SIToFPOp>::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(arith::SIToFPOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    constexpr int64_t kBytes = 4;
    auto type = dyn_cast<VectorType>(op.getIn().getType());
    if (!type || type.getRank() != 1 || type.getNumElements() % kBytes != 0 ||
        !type.getElementType().isInteger(8))
      return rewriter.notifyMatchFailure(op, "no words of i8");
    auto to = cast<VectorType>(op.getType());
    if (!to.getElementType().isF16() && !to.getElementType().isBF16())
      return rewriter.notifyMatchFailure(op, "no floats of 16 bits");
    auto [stored, part] = findBytes(op.getIn());
    Value all = rewriter.getRemappedValue(stored);
    if (!all)
      return rewriter.notifyMatchFailure(op, "no bytes yet");
    BytesBuilder b(op.getLoc(), rewriter, to.getElementType(), part);
    Value whole = LLVM::PoisonOp::create(b, to);
    for (int64_t first = 0; first < type.getNumElements(); first += kBytes) {
      Value bytes = all;
      if (type.getNumElements() > kBytes) {
        auto begin = static_cast<int32_t>(first);
        bytes = LLVM::ShuffleVectorOp::create(
            b, bytes, bytes, {begin, begin + 1, begin + 2, begin + 3});
      }
      for (int32_t pair : {0, 2}) {
        Value wide = b.widen(bytes, pair);
        for (int32_t i : {0, 1}) {
          auto number = [&](int64_t value) -> Value {
            return LLVM::ConstantOp::create(
                b, b.getI32IntegerAttr(static_cast<int32_t>(value)));
          };
          Value element = LLVM::ExtractElementOp::create(b, wide, number(i));
          whole = LLVM::InsertElementOp::create(b, whole, element,
                                                number(first + pair + i));
        }
      }
    }
    rewriter.replaceOp(op, whole);
    return success();
  }
};
} // namespace

void attune::nvidia::populateInteger8Conversions(LLVMTypeConverter &converter,
                                                 RewritePatternSet &patterns) {
  patterns.add<WidenBytesPattern>(converter, kTargetBenefit);
}
