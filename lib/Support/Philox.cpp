// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Philox 4x32-10 on values of 32 bits.
//
// The lane of an MMA whose queries are rows has, of a key's group, the bits 0
// and 3 of the key and bit 3 of the query in its registers; where keys are
// rows, it is the other way round. So of 16 weights that have these four bits
// for themselves a lane has 8 in both. A word is selected by the two bits 0, of
// which a lane knows one before it runs, and a byte by the two bits 3, which it
// both knows.

#include "attune/Support/Philox.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attune;

static constexpr uint32_t kFactors[] = {0xD2511F53, 0xCD9E8D57},
                          kSteps[] = {0x9E3779B9, 0xBB67AE85};
static constexpr int kRounds = 10;

Value Philox::word(uint32_t value) {
  return arith::ConstantOp::create(
      *this, getI32IntegerAttr(static_cast<int32_t>(value)));
}

Value Philox::index(int64_t value) {
  return arith::ConstantIndexOp::create(*this, value);
}

Value Philox::toWord(Value index) {
  return arith::IndexCastOp::create(*this, getI32Type(), index);
}

Value Philox::select(Value condition, Value ifTrue, Value ifFalse) {
  return arith::SelectOp::create(*this, condition, ifTrue, ifFalse);
}

std::pair<Value, Value> Philox::multiply(Value factor, Value number) {
  auto product = arith::MulUIExtendedOp::create(*this, factor, number);
  return {product.getHigh(), product.getLow()};
}

Value Philox::mix(Value first, Value second, Value key) {
  return arith::XOrIOp::create(
      *this, arith::XOrIOp::create(*this, first, second), key);
}

Value Philox::hasBit(Value position, int64_t bit) {
  Value rest = arith::AndIOp::create(*this, position, index(bit));
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::ne, toWord(rest),
                               word(0));
}

Philox::State Philox::mixUp(const PhiloxSeed &seed, Value head, Value query,
                            Value key) {
  State state{{key, head, query, seed.offset}, {seed.key[0], seed.key[1]}};
  auto &[counter, keys] = state;
  Value factors[] = {word(kFactors[0]), word(kFactors[1])},
        steps[] = {word(kSteps[0]), word(kSteps[1])};
  for (int round = 1; round < kRounds; ++round) {
    auto [high0, low0] = multiply(factors[0], counter[0]);
    auto [high1, low1] = multiply(factors[1], counter[2]);
    counter = {mix(high1, counter[1], keys[0]), low1,
               mix(high0, counter[3], keys[1]), low0};
    for (auto [roundKey, step] : llvm::zip_equal(keys, steps))
      roundKey = arith::AddIOp::create(*this, roundKey, step);
  }
  return state;
}

Philox::Words Philox::draw(const PhiloxSeed &seed, Value head, Value query,
                           Value key) {
  auto [counter, keys] = mixUp(seed, head, query, key);
  auto [high0, low0] = multiply(word(kFactors[0]), counter[0]);
  auto [high1, low1] = multiply(word(kFactors[1]), counter[2]);
  return {mix(high1, counter[1], keys[0]), low1,
          mix(high0, counter[3], keys[1]), low0};
}

Value Philox::isKept(const PhiloxSeed &seed, Value head, Value query, Value key,
                     int64_t threshold) {
  Value group = index(~(kWordBit | kByteBit));
  Value queries = toWord(arith::AndIOp::create(*this, query, group)),
        keys = toWord(arith::AndIOp::create(*this, key, group));
  State state = mixUp(seed, head, queries, keys);
  Value isUpper = hasBit(query, kWordBit), isOdd = hasBit(key, kWordBit);
  const Words &counter = state.counter;
  // Of the last round, one product has the word.
  auto [high, low] =
      multiply(select(isUpper, word(kFactors[0]), word(kFactors[1])),
               select(isUpper, counter[0], counter[2]));
  Value number = select(isOdd, low,
                        mix(high, select(isUpper, counter[3], counter[1]),
                            select(isUpper, state.keys[1], state.keys[0])));
  // The byte becomes the highest one: what is below changes no comparison.
  Value left = arith::AddIOp::create(
      *this,
      arith::MulIOp::create(
          *this, toWord(arith::AndIOp::create(*this, query, index(kByteBit))),
          word(2)),
      toWord(arith::AndIOp::create(*this, key, index(kByteBit))));
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::uge,
                               arith::ShLIOp::create(*this, number, left),
                               word(static_cast<uint32_t>(threshold) << 24));
}

Value Philox::compareBytes(Value word, int64_t threshold) {
  constexpr uint32_t kEach = 0x01010101, kUpper = 0x80;
  auto dropped = static_cast<uint32_t>(threshold);
  bool isLow = dropped <= kUpper;
  // What carries into the highest bit of a byte goes no further.
  Value rest = arith::AndIOp::create(*this, word, this->word(0x7f * kEach));
  Value sum = arith::AddIOp::create(
      *this, rest,
      this->word(((isLow ? kUpper : 2 * kUpper) - dropped) * kEach));
  if (isLow)
    return arith::OrIOp::create(*this, sum, word);
  return arith::AndIOp::create(*this, sum, word);
}
