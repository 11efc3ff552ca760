// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers of an op's dropout.

#include "attune/Dialect/Attn/IR/Dropout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace attune;
using namespace attune::attn;

static int64_t roundToThreshold(AttentionOpInterface op) {
  double probability = op.getDropoutProbabilityAttr().getValueAsDouble();
  return std::min<int64_t>(std::lround(probability * kDropoutSteps),
                           kDropoutSteps - 1);
}

float Dropout::getScale(AttentionOpInterface op) {
  return static_cast<float>(kDropoutSteps) /
         static_cast<float>(kDropoutSteps - roundToThreshold(op));
}

Dropout::Dropout(OpBuilder &builder, Location loc, AttentionOpInterface op,
                 llvm::function_ref<Value(int64_t)> load)
    : threshold(roundToThreshold(op)) {
  ImplicitLocOpBuilder b(loc, builder);
  auto narrow = [&](Value number) -> Value {
    return arith::TruncIOp::create(b, b.getI32Type(), number);
  };
  Value number = load(0);
  seed.key[0] = narrow(number);
  seed.key[1] = narrow(arith::ShRUIOp::create(
      b, number, arith::ConstantOp::create(b, b.getI64IntegerAttr(32))));
  seed.offset = narrow(load(1));
}

Value Dropout::getHead(OpBuilder &builder, Location loc, Value b, Value h,
                       Value heads) {
  Value first = arith::MulIOp::create(builder, loc, b, heads);
  return arith::IndexCastOp::create(
      builder, loc, builder.getI32Type(),
      arith::AddIOp::create(builder, loc, first, h));
}

Value Dropout::isKept(OpBuilder &builder, Location loc, Value b, Value h,
                      Value heads, Value m, Value n) const {
  return Philox(loc, builder)
      .isKept(seed, getHead(builder, loc, b, h, heads), m, n, threshold);
}
