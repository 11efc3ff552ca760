// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expansions of math functions for f32, on scalars and vectors alike. Errors
// are those of the hardware's exp2 and log2, near 2^-22: far below the rounding
// of 16-bit operands.

#include "ExpandMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"

using namespace mlir;

static Value splat(OpBuilder &b, Location loc, Type type, double value) {
  FloatAttr scalar = b.getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(b, loc,
                                     DenseElementsAttr::get(vector, scalar));
  return arith::ConstantOp::create(b, loc, scalar);
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
    Value scaled = arith::MulFOp::create(b, loc, op.getOperand(),
                                         splat(b, loc, op.getType(), kLog2E));
    b.replaceOp(op, exp2(b, loc, scaled));
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
// ends
struct TanhPattern : OpRewritePattern<math::TanhOp> {
  TanhPattern(MLIRContext *context, bool hasTanh)
      : OpRewritePattern(context), hasTanh(hasTanh) {}
  LogicalResult matchAndRewrite(math::TanhOp op,
                                PatternRewriter &b) const override {
    if (hasTanh && isApproximate(op.getFastmath()))
      return b.notifyMatchFailure(op, "is an instruction");
    Location loc = op.getLoc();
    Type type = op.getType();
    Value scaled = arith::MulFOp::create(b, loc, op.getOperand(),
                                         splat(b, loc, type, 2 * kLog2E));
    Value denominator = arith::AddFOp::create(b, loc, exp2(b, loc, scaled),
                                              splat(b, loc, type, 1));
    Value quotient = arith::DivFOp::create(
        b, loc, splat(b, loc, type, 2), denominator,
        arith::FastMathFlags::arcp | arith::FastMathFlags::afn);
    b.replaceOpWithNewOp<arith::SubFOp>(op, splat(b, loc, type, 1), quotient);
    return success();
  }
  bool hasTanh;
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
  patterns.add<ExpPattern>(context);
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
