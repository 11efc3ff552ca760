// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attune-expand-float8: numbers of 8 bits become wider ones, and f32 becomes
// floats of 8, by arithmetic on their bits, without subnormal numbers of f32,
// which GPUs may take for 0.

#include "ExpandMath.h"
#include "attune/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace attune {
#define GEN_PASS_DEF_ATTUNEEXPANDFLOAT8PASS
#include "attune/Conversion/Passes.h.inc"
} // namespace attune

using namespace mlir;

namespace {
/// Makes ops on values of one shape.
class BitBuilder : public ImplicitLocOpBuilder {
public:
  BitBuilder(Location loc, OpBuilder &builder, Type shape)
      : ImplicitLocOpBuilder(loc, builder), shape(shape) {}

  Type with(Type element) {
    if (auto vector = dyn_cast<VectorType>(shape))
      return vector.clone(element);
    return element;
  }
  Value constant(TypedAttr element) {
    if (auto vector = dyn_cast<VectorType>(with(element.getType())))
      return arith::ConstantOp::create(
          *this, DenseElementsAttr::get(vector, Attribute(element)));
    return arith::ConstantOp::create(*this, element);
  }
  Value word(int64_t value) { return constant(getI32IntegerAttr(value)); }
  Value cast(Type element, Value value) {
    return arith::BitcastOp::create(*this, with(element), value);
  }
  Value compare(arith::CmpIPredicate predicate, Value left, int64_t right) {
    return arith::CmpIOp::create(*this, predicate, left, word(right));
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(*this, condition, yes, no);
  }

private:
  Type shape;
};
} // namespace

/// f8E5M2 is the upper half of an f16.
static Value toHalf(BitBuilder &b, Value bits) {
  Value wide = arith::ExtUIOp::create(b, b.with(b.getI16Type()), bits);
  Value half =
      arith::ShLIOp::create(b, wide, b.constant(b.getI16IntegerAttr(8)));
  return b.cast(b.getF16Type(), half);
}

/// The others, whose numbers are finite.
static Value toSingle(BitBuilder &b, Value bits, FloatType type) {
  const llvm::fltSemantics &format = type.getFloatSemantics();
  constexpr int64_t kBias = 127, kMantissa = 23;
  int64_t mantissa = APFloat::semanticsPrecision(format) - 1,
          minExponent = APFloat::semanticsMinExponent(format),
          bias = 1 - minExponent;
  Value word = arith::ExtUIOp::create(b, b.with(b.getI32Type()), bits);
  Value magnitude = arith::AndIOp::create(b, word, b.word(0x7f));
  Value sign = arith::ShLIOp::create(
      b, arith::AndIOp::create(b, word, b.word(0x80)), b.word(24));
  // A subnormal number gets an implicit one like that of the least normal
  // ones, which is subtracted.
  Value isSubnormal =
      b.compare(arith::CmpIPredicate::ult, magnitude, int64_t(1) << mantissa);
  Value exponent =
      b.select(isSubnormal, b.word((kBias - bias + 1) << kMantissa),
               b.word((kBias - bias) << kMantissa));
  Value number = arith::AddIOp::create(
      b, arith::ShLIOp::create(b, magnitude, b.word(kMantissa - mantissa)),
      exponent);
  Value one = b.select(isSubnormal,
                       b.constant(b.getF32FloatAttr(
                           std::ldexp(1.0f, static_cast<int>(minExponent)))),
                       b.constant(b.getF32FloatAttr(0)));
  Value positive =
      arith::SubFOp::create(b, b.cast(b.getF32Type(), number), one);
  Value result =
      arith::OrIOp::create(b, b.cast(b.getI32Type(), positive), sign);
  bool isUnsignedZero = isa<Float8E4M3FNUZType, Float8E5M2FNUZType>(type);
  Value isNaN = isUnsignedZero
                    ? b.compare(arith::CmpIPredicate::eq, word, 0x80)
                    : b.compare(arith::CmpIPredicate::eq, magnitude, 0x7f);
  constexpr int64_t kNaN = 0x7fc00000;
  return b.cast(b.getF32Type(), b.select(isNaN, b.word(kNaN), result));
}

/// The upper half of an f32 of at most 8 significant bits, exactly.
static Value toBFloat(BitBuilder &b, Value single) {
  Value half =
      arith::ShRUIOp::create(b, b.cast(b.getI32Type(), single), b.word(16));
  return b.cast(b.getBF16Type(),
                arith::TruncIOp::create(b, b.with(b.getI16Type()), half));
}

/// 128 less than a natural number, which is the lowest bits of a power of 2
/// whose unit is 1.
static Value toHalfOfNatural(BitBuilder &b, Value natural) {
  constexpr int16_t kPower = 0x6400; // 1024
  Value bits = arith::OrIOp::create(
      b, arith::ExtUIOp::create(b, b.with(b.getI16Type()), natural),
      b.constant(b.getI16IntegerAttr(kPower)));
  return arith::SubFOp::create(
      b, b.cast(b.getF16Type(), bits),
      b.constant(b.getFloatAttr(b.getF16Type(), 1024 + 128)));
}

static Value toFloatOfNatural(BitBuilder &b, Value natural, Type to) {
  constexpr int64_t kPower = 0x4b000000; // 2^23
  Value bits = arith::OrIOp::create(
      b, arith::ExtUIOp::create(b, b.with(b.getI32Type()), natural),
      b.word(kPower));
  Value single =
      arith::SubFOp::create(b, b.cast(b.getF32Type(), bits),
                            b.constant(b.getF32FloatAttr(0x1p23f + 128)));
  return to.isF32() ? single : toBFloat(b, single);
}

/// A number to nearest, halfway to even, and to the largest what is beyond it.
static Value toNarrow(BitBuilder &b, Value number, FloatType type) {
  const llvm::fltSemantics &format = type.getFloatSemantics();
  constexpr int64_t kBias = 127, kMantissa = 23, kInfinity = 0x7f800000;
  int64_t mantissa = APFloat::semanticsPrecision(format) - 1,
          minExponent = APFloat::semanticsMinExponent(format),
          bias = 1 - minExponent, dropped = kMantissa - mantissa,
          half = int64_t(1) << (dropped - 1);
  auto bitsOf = [](double value) -> int64_t {
    return llvm::bit_cast<int32_t>(static_cast<float>(value));
  };
  auto add = [&](Value left, Value right) -> Value {
    return arith::AddIOp::create(b, left, right);
  };
  Value bits = b.cast(b.getI32Type(), number);
  Value all = arith::AndIOp::create(b, bits, b.word(0x7fffffff));
  Value magnitude = arith::MinUIOp::create(
      b, all, b.word(bitsOf(APFloat::getLargest(format).convertToDouble())));
  Value isOdd = arith::AndIOp::create(
      b, arith::ShRUIOp::create(b, magnitude, b.word(dropped)), b.word(1));
  Value rounded = arith::ShRUIOp::create(
      b, add(magnitude, add(isOdd, b.word(half - 1))), b.word(dropped));
  Value normal =
      add(rounded, b.word((bias - kBias) * (int64_t(1) << mantissa)));
  // A subnormal number is a multiple of the least one, which is the last bit of
  // what is added.
  double large = std::ldexp(1.0, static_cast<int>(minExponent + dropped));
  Value sum = arith::AddFOp::create(
      b, b.cast(b.getF32Type(), magnitude),
      b.constant(b.getF32FloatAttr(static_cast<float>(large))));
  Value subnormal = add(b.cast(b.getI32Type(), sum), b.word(-bitsOf(large)));
  Value isSubnormal =
      b.compare(arith::CmpIPredicate::ult, magnitude,
                bitsOf(std::ldexp(1.0, static_cast<int>(minExponent))));
  Value code = b.select(isSubnormal, subnormal, normal);
  Value sign = arith::AndIOp::create(
      b, arith::ShRUIOp::create(b, bits, b.word(24)), b.word(0x80));
  Value isNaN = b.compare(arith::CmpIPredicate::ugt, all, kInfinity);
  // Those without a negative zero have the NaN in its place.
  bool isUnsignedZero = isa<Float8E4M3FNUZType, Float8E5M2FNUZType>(type);
  if (isUnsignedZero)
    sign =
        b.select(b.compare(arith::CmpIPredicate::eq, code, 0), b.word(0), sign);
  Value result = b.select(isNaN, b.word(isUnsignedZero ? 0x80 : 0x7f),
                          arith::OrIOp::create(b, code, sign));
  return b.cast(type,
                arith::TruncIOp::create(b, b.with(b.getI8Type()), result));
}

static bool isFloat8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type, Float8E4M3FNUZType,
             Float8E5M2FNUZType>(type);
}

namespace {
// Pattern: arith.truncf of f32 to a float of 8 bits -> its bits, rounded
struct TruncatePattern : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    Type to = getElementTypeOrSelf(op.getType());
    if (!isFloat8(to) || !getElementTypeOrSelf(op.getIn().getType()).isF32())
      return rewriter.notifyMatchFailure(op, "other floats");
    BitBuilder b(op.getLoc(), rewriter, op.getType());
    rewriter.replaceOp(op, toNarrow(b, op.getIn(), cast<FloatType>(to)));
    return success();
  }
};

// Pattern: arith.extf of a float of 8 bits -> its bits, moved
struct ExtendPattern : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    auto from = cast<FloatType>(getElementTypeOrSelf(op.getIn().getType())),
         to = cast<FloatType>(getElementTypeOrSelf(op.getType()));
    if (!isFloat8(from))
      return rewriter.notifyMatchFailure(op, "other floats");
    BitBuilder b(op.getLoc(), rewriter, op.getType());
    Value bits = b.cast(b.getI8Type(), op.getIn());
    Value wide =
        isa<Float8E5M2Type>(from) ? toHalf(b, bits) : toSingle(b, bits, from);
    if (isa<Float8E5M2Type>(from) && !to.isF16())
      wide = arith::ExtFOp::create(b, b.with(b.getF32Type()), wide);
    if (to.isBF16()) {
      wide = toBFloat(b, wide);
    } else if (to.isF16() && !isa<Float8E5M2Type>(from)) {
      wide = arith::TruncFOp::create(b, op.getType(), wide);
    } else if (to.isF64()) {
      wide = arith::ExtFOp::create(b, op.getType(), wide);
    }
    rewriter.replaceOp(op, wide);
    return success();
  }
};

// Pattern: arith.sitofp of i8 -> its bits, moved
struct IntegerPattern : OpRewritePattern<arith::SIToFPOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::SIToFPOp op,
                                PatternRewriter &rewriter) const override {
    Type to = getElementTypeOrSelf(op.getType());
    if (!getElementTypeOrSelf(op.getIn().getType()).isInteger(8) ||
        !isa<Float16Type, BFloat16Type, Float32Type>(to))
      return rewriter.notifyMatchFailure(op, "no bytes, or other floats");
    BitBuilder b(op.getLoc(), rewriter, op.getType());
    Value natural = arith::XOrIOp::create(
        b, op.getIn(), b.constant(b.getIntegerAttr(b.getI8Type(), 0x80)));
    rewriter.replaceOp(op, to.isF16() ? toHalfOfNatural(b, natural)
                                      : toFloatOfNatural(b, natural, to));
    return success();
  }
};

struct AttuneExpandFloat8
    : attune::impl::AttuneExpandFloat8PassBase<AttuneExpandFloat8> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    attune::populateExpandFloat8Patterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

void attune::populateExpandFloat8Patterns(RewritePatternSet &patterns,
                                          PatternBenefit benefit) {
  patterns.add<ExtendPattern, IntegerPattern, TruncatePattern>(
      patterns.getContext(), benefit);
}
