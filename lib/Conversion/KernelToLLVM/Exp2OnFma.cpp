// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A part of the elements of an exp2 by multiplies and adds, which otherwise
// wait while a few special function units are busy (Cody and Waite, 1980; Shah
// et al., FlashAttention-4, 2026).

#include "ExpandMath.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace attune;

static Value constant(ImplicitLocOpBuilder &b, double value) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
}

/// 2^x = 2^n p(x - n) with n the integer next to x, for x <= 127. The relative
/// error is below 7.6e-5, where bf16 rounds by up to 2^-9 and f16 by 2^-12. 0
/// for x < -126.5; NaN for NaN.
static Value exp2(ImplicitLocOpBuilder &b, Value x) {
  constexpr int kMantissaBits = 23, kBias = 127;
  // Adding 1.5 * 2^23 rounds to an integer, and leaves its digits as the last
  // ones of the mantissa. With the bias, these are the exponent of 2^n.
  constexpr double kRound = 3 << (kMantissaBits - 1);
  // The least n makes an exponent of 0, that of the number 0.
  Value clamped = arith::MaximumFOp::create(b, x, constant(b, -kBias));
  Value magic = constant(b, kRound + kBias);
  Value rounded = arith::AddFOp::create(b, clamped, magic);
  Value n = arith::SubFOp::create(b, rounded, magic);
  Value rest = arith::SubFOp::create(b, clamped, n);
  // Smallest largest relative error on [-1/2, 1/2], by Remez' algorithm.
  Value p = constant(b, 0.05517166852951050);
  for (double coefficient :
       {0.2426111251115799, 0.6932609677314758, 0.9999280571937561})
    p = math::FmaOp::create(b, p, rest, constant(b, coefficient));
  Value bits = arith::BitcastOp::create(b, b.getI32Type(), rounded);
  Value power = arith::BitcastOp::create(
      b, b.getF32Type(),
      arith::ShLIOp::create(
          b, bits, arith::ConstantIntOp::create(b, kMantissaBits, 32)));
  return arith::MulFOp::create(b, p, power);
}

namespace {

// Pattern: exp2(v) {tile.fma_share = n} -> for n of 16 elements a polynomial
struct Exp2OnFmaPattern : OpRewritePattern<math::Exp2Op> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::Exp2Op op,
                                PatternRewriter &rewriter) const override {
    auto share =
        op->getAttrOfType<IntegerAttr>(tile::TileDialect::kFmaShareAttrName);
    auto type = dyn_cast<VectorType>(op.getType());
    if (!share || !type || type.getRank() != 1 || type.isScalable() ||
        !type.getElementType().isF32())
      return rewriter.notifyMatchFailure(op, "no vector that is to be shared");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> elements;
    // Spread evenly, so that both units are busy all the time.
    constexpr int64_t kWhole = 16;
    for (int64_t i = 0; i < type.getNumElements(); ++i) {
      Value x = vector::ExtractOp::create(b, op.getOperand(), i);
      bool isShared = (i + 1) * share.getInt() % kWhole < share.getInt();
      elements.push_back(
          isShared ? exp2(b, x)
                   : math::Exp2Op::create(b, x, op.getFastmath()).getResult());
    }
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, elements);
    return success();
  }
};

} // namespace

void attune::populateExp2OnFmaPatterns(RewritePatternSet &patterns) {
  patterns.add<Exp2OnFmaPattern>(patterns.getContext());
}
