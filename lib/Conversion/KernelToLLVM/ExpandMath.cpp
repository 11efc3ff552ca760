// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expansions of math functions for f32, on scalars and vectors alike. Errors
// are those of the hardware's exp2 and log2, near 2^-22: far below the rounding
// of 16-bit operands.

#include "ExpandMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;

static Value splat(OpBuilder &b, Location loc, Type type, double value) {
  FloatAttr scalar = b.getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(b, loc,
                                     DenseElementsAttr::get(vector, scalar));
  return arith::ConstantOp::create(b, loc, scalar);
}

/// The value of a constant, of each element.
static std::optional<double> getConstant(Value value) {
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return std::nullopt;
  if (auto splat = dyn_cast<SplatElementsAttr>(constant))
    constant = splat.getSplatValue<Attribute>();
  auto scalar = dyn_cast<FloatAttr>(constant);
  return scalar ? std::optional(scalar.getValueAsDouble()) : std::nullopt;
}

/// A product as a constant and what it is multiplied by; null if it is none.
static std::pair<double, Value> splitFactor(Value product) {
  if (auto op = product.getDefiningOp<arith::MulFOp>()) {
    if (std::optional<double> factor = getConstant(op.getRhs()))
      return {*factor, op.getLhs()};
    if (std::optional<double> factor = getConstant(op.getLhs()))
      return {*factor, op.getRhs()};
  }
  return {1, nullptr};
}

/// `x` times the factor of an expansion, in one product with a constant that
/// `x` has: that rounds once less.
static Value scale(OpBuilder &b, Location loc, Value x, double factor) {
  if (auto [own, rest] = splitFactor(x); rest) {
    factor *= own;
    x = rest;
  }
  return arith::MulFOp::create(b, loc, x, splat(b, loc, x.getType(), factor));
}

static Value exp2(OpBuilder &b, Location loc, Value x) {
  return math::Exp2Op::create(b, loc, x, arith::FastMathFlags::afn);
}

static Value log2(OpBuilder &b, Location loc, Value x) {
  return math::Log2Op::create(b, loc, x, arith::FastMathFlags::afn);
}

static bool isApproximate(arith::FastMathFlags flags) {
  return bitEnumContainsAll(flags, arith::FastMathFlags::afn);
}

static constexpr double kLog2E = 1.4426950408889634074;
static constexpr double kLog2Of10 = 3.3219280948873623479;

namespace {

// Pattern: exp(x) -> exp2(x * log2 e)
struct ExpPattern : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &b) const override {
    Location loc = op.getLoc();
    b.replaceOp(op, exp2(b, loc, scale(b, loc, op.getOperand(), kLog2E)));
    return success();
  }
};

// Pattern: log(x) -> log2(x) / log2 e, and so for base 10
template <typename LogOp> struct LogPattern : OpRewritePattern<LogOp> {
  LogPattern(MLIRContext *context, double base2)
      : OpRewritePattern<LogOp>(context), base2(base2) {}
  LogicalResult matchAndRewrite(LogOp op, PatternRewriter &b) const override {
    Location loc = op.getLoc();
    Value log = log2(b, loc, op.getOperand());
    b.replaceOpWithNewOp<arith::MulFOp>(op, log,
                                        splat(b, loc, op.getType(), 1 / base2));
    return success();
  }
  double base2;
};

// Pattern: tanh(x) -> 1 - 2 / (exp2(2 x log2 e) + 1), which saturates at both
// ends; 1 + tanh(x) -> 2 / (exp2(-2 x log2 e) + 1), as in GELU, which is exact
// where tanh is near -1
struct TanhPattern : OpRewritePattern<math::TanhOp> {
  TanhPattern(MLIRContext *context, bool hasTanh)
      : OpRewritePattern(context), hasTanh(hasTanh) {}
  LogicalResult matchAndRewrite(math::TanhOp op,
                                PatternRewriter &b) const override {
    if (hasTanh && isApproximate(op.getFastmath()))
      return b.notifyMatchFailure(op, "is an instruction");
    Location loc = op.getLoc();
    Type type = op.getType();
    auto divide = [&](double factor) -> Value {
      Value power =
          exp2(b, loc, scale(b, loc, op.getOperand(), factor * kLog2E));
      return arith::DivFOp::create(
          b, loc, splat(b, loc, type, 2),
          arith::AddFOp::create(b, loc, power, splat(b, loc, type, 1)),
          arith::FastMathFlags::arcp | arith::FastMathFlags::afn);
    };
    auto sum = op->hasOneUse() ? dyn_cast<arith::AddFOp>(*op->user_begin())
                               : arith::AddFOp();
    if (sum &&
        (getConstant(sum.getLhs()) == 1 || getConstant(sum.getRhs()) == 1)) {
      b.replaceOp(sum, divide(-2));
      b.eraseOp(op);
      return success();
    }
    b.replaceOpWithNewOp<arith::SubFOp>(op, splat(b, loc, type, 1), divide(2));
    return success();
  }
  bool hasTanh;
};

// Pattern: (x * c) * (d / y) -> x * ((c d) / y), which is as exact for powers
// of two: those of a GELU cancel
struct ScaledQuotientPattern : OpRewritePattern<arith::MulFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::MulFOp op,
                                PatternRewriter &b) const override {
    for (auto [scaled, divided] :
         {std::pair(op.getLhs(), op.getRhs()), {op.getRhs(), op.getLhs()}}) {
      auto quotient = divided.getDefiningOp<arith::DivFOp>();
      auto [factor, x] = splitFactor(scaled);
      if (!x || !quotient || !quotient->hasOneUse())
        continue;
      std::optional<double> dividend = getConstant(quotient.getLhs());
      if (!dividend || !isSmallPowerOf2(factor) || !isSmallPowerOf2(*dividend))
        continue;
      Location loc = op.getLoc();
      Value rest = arith::DivFOp::create(
          b, loc, splat(b, loc, op.getType(), factor * *dividend),
          quotient.getRhs(), quotient.getFastmath());
      b.replaceOpWithNewOp<arith::MulFOp>(op, x, rest, op.getFastmath());
      return success();
    }
    return b.notifyMatchFailure(op, "is no product of x * c and d / y");
  }

private:
  /// Of which a product overflows or is denormal only where its factors are
  /// far from 1 as well.
  static bool isSmallPowerOf2(double factor) {
    int exponent;
    return std::frexp(factor, &exponent) == 0.5 && std::abs(exponent) <= 8;
  }
};

/// exp2 and log2 become instructions only where an approximation is allowed.
template <typename MathOp>
struct AllowApproximationPattern : OpRewritePattern<MathOp> {
  using OpRewritePattern<MathOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(MathOp op, PatternRewriter &b) const override {
    if (isApproximate(op.getFastmath()))
      return b.notifyMatchFailure(op, "is approximate already");
    b.modifyOpInPlace(op, [&] {
      op.setFastmath(op.getFastmath() | arith::FastMathFlags::afn);
    });
    return success();
  }
};

} // namespace

void attune::populateExpandMathPatterns(RewritePatternSet &patterns,
                                        bool hasTanh) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ExpPattern, ScaledQuotientPattern>(context);
  patterns.add<TanhPattern>(context, hasTanh);
  patterns.add<LogPattern<math::LogOp>>(context, kLog2E);
  patterns.add<LogPattern<math::Log10Op>>(context, kLog2Of10);
  patterns.add<AllowApproximationPattern<math::Exp2Op>,
               AllowApproximationPattern<math::Log2Op>,
               AllowApproximationPattern<math::SinOp>,
               AllowApproximationPattern<math::CosOp>>(context);
  math::populateExpansionPatterns(patterns, {"sinh", "cosh", "tan", "asinh",
                                             "acosh", "atanh", "powf", "fpowi",
                                             "round", "ctlz", "clampf"});
  populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
    return llvm::is_contained({"math.erf", "math.erfc", "math.atan",
                               "math.atan2", "math.asin", "math.acos",
                               "math.expm1", "math.log1p", "math.cbrt"},
                              name);
  });
}
