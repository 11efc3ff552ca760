// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011), on values of 32 bits.
//
// The lane of an MMA whose queries are rows has, of a key's group, the bits 0
// and 3 of the key and bit 3 of the query in its registers; where keys are
// rows, it is the other way round. So of 16 weights that have these four bits
// for themselves a lane has 8 in both. A word is selected by the two bits 0, of
// which a lane knows one before it runs, and a byte by the two bits 3, which it
// both knows.

#include "attune/Dialect/Attn/IR/Dropout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace attune::attn;

static constexpr int64_t kSteps = 256;

/// How many of kSteps are dropped.
static int64_t getThreshold(AttentionOpInterface op) {
  double probability = op.getDropoutProbabilityAttr().getValueAsDouble();
  return std::min<int64_t>(std::lround(probability * kSteps), kSteps - 1);
}

float Dropout::getScale(AttentionOpInterface op) {
  return static_cast<float>(kSteps) /
         static_cast<float>(kSteps - getThreshold(op));
}

namespace {
class Philox : public ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;
  using Words = std::array<Value, 4>;

  Value word(uint32_t value) {
    return arith::ConstantOp::create(
        *this, getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(*this, value);
  }
  Value toWord(Value index) {
    return arith::IndexCastOp::create(*this, getI32Type(), index);
  }
  Value select(Value condition, Value ifTrue, Value ifFalse) {
    return arith::SelectOp::create(*this, condition, ifTrue, ifFalse);
  }
  /// The upper and the lower half of a product.
  std::pair<Value, Value> multiply(Value factor, Value number) {
    auto product = arith::MulUIExtendedOp::create(*this, factor, number);
    return {product.getHigh(), product.getLow()};
  }
  Value mix(Value first, Value second, Value key) {
    return arith::XOrIOp::create(
        *this, arith::XOrIOp::create(*this, first, second), key);
  }
  /// The word of the number 2 * isUpper + isOdd.
  Value draw(Words counter, Value key0, Value key1, Value isUpper, Value isOdd);
  /// Whether a bit of an index is set.
  Value hasBit(Value position, int64_t bit) {
    Value rest = arith::AndIOp::create(*this, position, index(bit));
    return arith::CmpIOp::create(*this, arith::CmpIPredicate::ne, toWord(rest),
                                 word(0));
  }
};
} // namespace

Value Philox::draw(Words counter, Value key0, Value key1, Value isUpper,
                   Value isOdd) {
  constexpr int kRounds = 10;
  Value factors[] = {word(0xD2511F53), word(0xCD9E8D57)},
        steps[] = {word(0x9E3779B9), word(0xBB67AE85)};
  for (int round = 1; round < kRounds; ++round) {
    auto [high0, low0] = multiply(factors[0], counter[0]);
    auto [high1, low1] = multiply(factors[1], counter[2]);
    counter = {mix(high1, counter[1], key0), low1, mix(high0, counter[3], key1),
               low0};
    key0 = arith::AddIOp::create(*this, key0, steps[0]);
    key1 = arith::AddIOp::create(*this, key1, steps[1]);
  }
  // Of the last round, one product has the word.
  auto [high, low] = multiply(select(isUpper, factors[0], factors[1]),
                              select(isUpper, counter[0], counter[2]));
  return select(isOdd, low,
                mix(high, select(isUpper, counter[3], counter[1]),
                    select(isUpper, key1, key0)));
}

Dropout::Dropout(OpBuilder &builder, Location loc, AttentionOpInterface op,
                 llvm::function_ref<Value(int64_t)> load)
    : threshold(getThreshold(op)) {
  Philox b(loc, builder);
  auto narrow = [&](Value number) -> Value {
    return arith::TruncIOp::create(b, b.getI32Type(), number);
  };
  Value number = load(0);
  seed[0] = narrow(number);
  seed[1] = narrow(arith::ShRUIOp::create(
      b, number, arith::ConstantOp::create(b, b.getI64IntegerAttr(32))));
  offset = narrow(load(1));
}

Value Dropout::isKept(OpBuilder &builder, Location loc, Value b, Value h,
                      Value heads, Value m, Value n) const {
  constexpr int64_t kWordBit = 1, kByteBit = 8;
  Philox p(loc, builder);
  Value group = p.index(~(kWordBit | kByteBit));
  Value queries = p.toWord(arith::AndIOp::create(p, m, group)),
        keys = p.toWord(arith::AndIOp::create(p, n, group));
  Value head =
      p.toWord(arith::AddIOp::create(p, arith::MulIOp::create(p, b, heads), h));
  Value word = p.draw({keys, head, queries, offset}, seed[0], seed[1],
                      p.hasBit(m, kWordBit), p.hasBit(n, kWordBit));
  // The byte becomes the highest one: what is below changes no comparison.
  Value left = arith::AddIOp::create(
      p,
      arith::MulIOp::create(
          p, p.toWord(arith::AndIOp::create(p, m, p.index(kByteBit))),
          p.word(2)),
      p.toWord(arith::AndIOp::create(p, n, p.index(kByteBit))));
  return arith::CmpIOp::create(p, arith::CmpIPredicate::uge,
                               arith::ShLIOp::create(p, word, left),
                               p.word(static_cast<uint32_t>(threshold) << 24));
}
