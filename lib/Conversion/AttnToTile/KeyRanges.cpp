// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interval analysis of mask regions. Every comparison is brought to the form
// `n <= t(m)` or `n >= t(m)` with t linear in m; over the rows of a tile t has
// its extremes at the first or the last row. The looser extreme bounds what may
// be visible, the tighter one what certainly is.
//
// That holds for integers without end, so each step is held against the width
// of its type. Where a value that the region captures might make a sum wrap
// around, the bounds stand under the assumption, tested by the kernel, that it
// does not.

#include "KeyRanges.h"
#include "attune/Conversion/RegionClone.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/ShapedOpInterfaces.h"
#include "llvm/ADT/DynamicAPInt.h"

using namespace mlir;
using namespace attune;

namespace {

/// No dimension is longer, and index arithmetic may be no wider.
constexpr int64_t kMaxPosition = std::numeric_limits<int32_t>::max();

struct Interval {
  DynamicAPInt low, high;

  bool fits(unsigned bits) const {
    Interval all = getSigned(bits);
    return low >= all.low && high <= all.high;
  }
  /// All that a signed integer of `bits` bits may be.
  static Interval getSigned(unsigned bits) {
    return {DynamicAPInt(APInt::getSignedMinValue(bits)),
            DynamicAPInt(APInt::getSignedMaxValue(bits))};
  }
};

/// n * key + m * row + rest + constant. A null rest is 0.
struct Linear {
  DynamicAPInt key, row;
  Value rest;
  Interval restRange;
  DynamicAPInt constant;

  bool dependsOnPosition() const { return key != 0 || row != 0; }
  bool isConstant() const { return !dependsOnPosition() && !rest; }
};

class Analyzer {
public:
  Analyzer(OpBuilder &builder, Location loc, Region &mask,
           const MaskedRows &rows, int64_t numKeys, const IRMapping &mapping)
      : builder(builder), loc(loc), block(mask.front()), rows(rows),
        numKeys(numKeys), mapping(mapping) {}

  KeyRanges analyze(Value condition, bool negate);
  /// The ranges where what was assumed holds, and nothing known elsewhere.
  KeyRanges guard(KeyRanges ranges);

private:
  static KeyRanges unknown() { return {{Value(), Value()}, std::nullopt}; }
  KeyRanges compare(arith::CmpIOp op, bool negate);
  KeyRanges intersect(const KeyRanges &a, const KeyRanges &b);
  KeyRanges unite(const KeyRanges &a, const KeyRanges &b);

  /// `value` as a sum that holds for all positions; nothing if it is no such
  /// sum or may wrap around.
  std::optional<Linear> linearize(Value value);
  /// linearize() for what depends on positions, before any check.
  std::optional<Linear> linearizeOp(Operation *op);
  /// a + sign * b.
  Linear add(const Linear &a, const Linear &b, int64_t sign);
  std::optional<Linear> multiply(Linear a, Linear b);
  Interval getRange(const Linear &linear);
  /// All values of the sum fit in `bits`, and so do those of its parts in the
  /// arithmetic of the kernel.
  bool fits(const Linear &linear, unsigned bits);
  /// Bounds what is captured such that sums of a few do not wrap around in
  /// `bits`, and assumes that it is so.
  Linear assumeSmall(const Linear &linear, unsigned bits);
  /// Bounds a sum that is compared with another one such that their difference
  /// does not wrap around and keeps its sign. Nothing where that cannot be.
  std::optional<Linear> saturate(const Linear &linear);
  /// What is known of a value that depends on neither m nor n.
  ConstantIntRanges inferRange(Value value);
  /// A copy outside the region of a value that depends on neither m nor n, as
  /// an index; null if it does or cannot be copied.
  Value hoist(Value value);
  bool dependsOnPosition(Value value);

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value constant(const DynamicAPInt &value) {
    return constant(static_cast<int64_t>(value));
  }
  Value plus(Value a, Value b) {
    return builder.createOrFold<arith::AddIOp>(loc, a, b);
  }
  Value minus(Value a, Value b) {
    return builder.createOrFold<arith::SubIOp>(loc, a, b);
  }
  Value smallest(Value a, Value b) {
    return builder.createOrFold<arith::MinSIOp>(loc, a, b);
  }
  Value largest(Value a, Value b) {
    return builder.createOrFold<arith::MaxSIOp>(loc, a, b);
  }

  OpBuilder &builder;
  Location loc;
  Block &block;
  MaskedRows rows;
  int64_t numKeys;
  IRMapping mapping;
  /// An i1; null where nothing is assumed.
  Value assumption;
};

} // namespace

/// The position arguments of a mask region are its last two.
static bool isRowArgument(BlockArgument argument) {
  return argument.getArgNumber() == 2;
}
static bool isKeyArgument(BlockArgument argument) {
  return argument.getArgNumber() == 3;
}

bool Analyzer::dependsOnPosition(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == &block &&
           (isRowArgument(argument) || isKeyArgument(argument));
  Operation *op = value.getDefiningOp();
  return op->getBlock() == &block &&
         llvm::any_of(op->getOperands(), [&](Value operand) {
           return dependsOnPosition(operand);
         });
}

Value Analyzer::hoist(Value value) {
  if (dependsOnPosition(value))
    return {};
  std::function<void(Value)> copy = [&](Value current) {
    Operation *op = current.getDefiningOp();
    if (mapping.contains(current) || !op || op->getBlock() != &block)
      return;
    for (Value operand : op->getOperands())
      copy(operand);
    cloneOntoBuffers(builder, *op, mapping);
  };
  copy(value);
  Value copied = mapping.lookupOrDefault(value);
  if (copied.getType().isIndex())
    return copied;
  return builder.createOrFold<arith::IndexCastOp>(loc, builder.getIndexType(),
                                                  copied);
}

ConstantIntRanges Analyzer::inferRange(Value value) {
  unsigned bits = ConstantIntRanges::getStorageBitwidth(value.getType());
  auto argument = dyn_cast<BlockArgument>(value);
  bool isIndexOfHead = argument && argument.getOwner() == &block;
  Operation *op = value.getDefiningOp();
  if (isIndexOfHead || isa_and_nonnull<ShapedDimOpInterface>(op))
    return ConstantIntRanges::fromSigned(APInt::getZero(bits),
                                         APInt(bits, kMaxPosition));
  ConstantIntRanges range = ConstantIntRanges::maxRange(bits);
  auto inferrable = dyn_cast_or_null<InferIntRangeInterface>(op);
  if (!inferrable || !llvm::all_of(op->getOperandTypes(), [](Type type) {
        return type.isIntOrIndex();
      }))
    return range;
  inferrable.inferResultRanges(
      llvm::map_to_vector(op->getOperands(),
                          [&](Value operand) { return inferRange(operand); }),
      [&](Value result, const ConstantIntRanges &inferred) {
        if (result == value)
          range = inferred;
      });
  return range;
}

Interval Analyzer::getRange(const Linear &linear) {
  Interval sum{linear.constant, linear.constant};
  auto include = [&](const DynamicAPInt &a, const DynamicAPInt &b) {
    sum.low += std::min(a, b);
    sum.high += std::max(a, b);
  };
  auto lastOf = [](int64_t length) {
    return ShapedType::isDynamic(length) ? kMaxPosition : length;
  };
  include(DynamicAPInt(0), linear.key * lastOf(numKeys));
  include(DynamicAPInt(0), linear.row * lastOf(rows.count));
  include(linear.restRange.low, linear.restRange.high);
  return sum;
}

bool Analyzer::fits(const Linear &linear, unsigned bits) {
  constexpr unsigned kIndexBits = 64;
  auto part = [](const DynamicAPInt &value) { return Interval{value, value}; };
  return getRange(linear).fits(bits) && part(linear.key).fits(kIndexBits) &&
         part(linear.row).fits(kIndexBits) &&
         part(linear.constant).fits(kIndexBits) &&
         linear.restRange.fits(kIndexBits);
}

Linear Analyzer::assumeSmall(const Linear &linear, unsigned bits) {
  constexpr unsigned kRoom = 4;
  unsigned smallBits = std::max(bits, kRoom + 1) - kRoom;
  if (!linear.rest || linear.dependsOnPosition() ||
      linear.restRange.fits(smallBits))
    return linear;
  Interval range = Interval::getSigned(smallBits);
  Value atLeast = builder.createOrFold<arith::CmpIOp>(
      loc, arith::CmpIPredicate::sge, linear.rest, constant(range.low));
  Value atMost = builder.createOrFold<arith::CmpIOp>(
      loc, arith::CmpIPredicate::sle, linear.rest, constant(range.high));
  for (Value test : {atLeast, atMost})
    assumption =
        assumption ? builder.createOrFold<arith::AndIOp>(loc, assumption, test)
                   : test;
  Linear small = linear;
  small.restRange = {std::max(range.low, linear.restRange.low),
                     std::min(range.high, linear.restRange.high)};
  return small;
}

std::optional<Linear> Analyzer::saturate(const Linear &linear) {
  // What is cut remains beyond all that is not.
  constexpr unsigned kSumBits = 61, kCutBits = kSumBits + 1;
  if (getRange(linear).fits(kSumBits))
    return linear;
  if (linear.dependsOnPosition())
    return std::nullopt;
  Interval range = Interval::getSigned(kCutBits);
  if (!linear.rest)
    return Linear{
        {}, {}, Value(), {}, linear.constant > 0 ? range.high : range.low};
  return Linear{
      {},
      {},
      smallest(largest(linear.rest, constant(range.low)), constant(range.high)),
      range,
      {}};
}

Linear Analyzer::add(const Linear &a, const Linear &b, int64_t sign) {
  Linear sum{a.key + b.key * sign, a.row + b.row * sign, a.rest, a.restRange,
             a.constant + b.constant * sign};
  if (!b.rest)
    return sum;
  Value left = a.rest ? a.rest : constant(0);
  sum.rest = sign > 0 ? plus(left, b.rest) : minus(left, b.rest);
  sum.restRange.low += sign > 0 ? b.restRange.low : -b.restRange.high;
  sum.restRange.high += sign > 0 ? b.restRange.high : -b.restRange.low;
  return sum;
}

std::optional<Linear> Analyzer::multiply(Linear a, Linear b) {
  if (!a.isConstant())
    std::swap(a, b);
  if (!a.isConstant() || !Interval{a.constant, a.constant}.fits(64))
    return std::nullopt;
  Linear scaled{b.key * a.constant,
                b.row * a.constant,
                Value(),
                {},
                b.constant * a.constant};
  if (!b.rest)
    return scaled;
  scaled.rest =
      builder.createOrFold<arith::MulIOp>(loc, b.rest, constant(a.constant));
  DynamicAPInt low = b.restRange.low * a.constant,
               high = b.restRange.high * a.constant;
  scaled.restRange = {std::min(low, high), std::max(low, high)};
  return scaled;
}

std::optional<Linear> Analyzer::linearizeOp(Operation *op) {
  if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(op))
    return linearize(op->getOperand(0));
  if (isa<arith::IndexCastUIOp, arith::ExtUIOp>(op)) {
    // A negative number would become a large one.
    std::optional<Linear> input = linearize(op->getOperand(0));
    return input && getRange(*input).low >= 0 ? input : std::nullopt;
  }
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return std::nullopt;
  std::optional<Linear> left = linearize(op->getOperand(0)),
                        right = linearize(op->getOperand(1));
  if (!left || !right)
    return std::nullopt;
  unsigned bits =
      ConstantIntRanges::getStorageBitwidth(op->getResult(0).getType());
  left = assumeSmall(*left, bits);
  right = assumeSmall(*right, bits);
  if (isa<arith::MulIOp>(op))
    return multiply(*left, *right);
  return add(*left, *right, isa<arith::AddIOp>(op) ? 1 : -1);
}

std::optional<Linear> Analyzer::linearize(Value value) {
  APInt literal;
  if (matchPattern(value, m_ConstantInt(&literal)))
    return Linear{{}, {}, Value(), {}, DynamicAPInt(literal)};
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == &block) {
    if (isKeyArgument(argument))
      return Linear{DynamicAPInt(1), {}, Value(), {}, {}};
    if (isRowArgument(argument))
      return Linear{{}, DynamicAPInt(1), Value(), {}, {}};
  }
  constexpr unsigned kIndexBits = 64;
  unsigned bits = ConstantIntRanges::getStorageBitwidth(value.getType());
  if (!dependsOnPosition(value)) {
    if (bits <= 1 || bits > kIndexBits)
      return std::nullopt;
    ConstantIntRanges range = inferRange(value);
    return Linear{{},
                  {},
                  hoist(value),
                  {DynamicAPInt(range.smin()), DynamicAPInt(range.smax())},
                  {}};
  }
  std::optional<Linear> sum = linearizeOp(value.getDefiningOp());
  return sum && fits(*sum, bits) ? sum : std::nullopt;
}

/// The predicate that holds for (b, a) where `predicate` holds for (a, b).
static arith::CmpIPredicate swapOperands(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::slt:
    return arith::CmpIPredicate::sgt;
  case arith::CmpIPredicate::sle:
    return arith::CmpIPredicate::sge;
  case arith::CmpIPredicate::sgt:
    return arith::CmpIPredicate::slt;
  case arith::CmpIPredicate::sge:
    return arith::CmpIPredicate::sle;
  default:
    return predicate;
  }
}

KeyRanges Analyzer::compare(arith::CmpIOp op, bool negate) {
  std::optional<Linear> left = linearize(op.getLhs()),
                        right = linearize(op.getRhs());
  if (left && right) {
    left = saturate(*left);
    right = saturate(*right);
  }
  if (!left || !right)
    return unknown();
  arith::CmpIPredicate predicate =
      negate ? arith::invertPredicate(op.getPredicate()) : op.getPredicate();
  // left REL right, brought to n REL bound(m).
  Linear bound = add(*right, *left, -1);
  if (bound.key == 1) {
    bound = add(*left, *right, -1);
    predicate = swapOperands(predicate);
  }
  if (bound.key != -1)
    return unknown();
  bound.key = 0;
  // Room for the key after it.
  constexpr unsigned kBoundBits = 63;
  if (!fits(bound, kBoundBits))
    return unknown();
  auto boundAt = [&](Value row) {
    Value sum = constant(bound.constant);
    if (bound.row != 0)
      sum = plus(sum, builder.createOrFold<arith::MulIOp>(loc, row,
                                                          constant(bound.row)));
    return bound.rest ? plus(sum, bound.rest) : sum;
  };
  bool grows = bound.row >= 0;
  auto lowest = [&] { return boundAt(grows ? rows.first : rows.last); };
  auto highest = [&] { return boundAt(grows ? rows.last : rows.first); };
  Value one = constant(1);
  switch (predicate) {
  case arith::CmpIPredicate::slt:
    return {{Value(), highest()}, KeyInterval{Value(), lowest()}};
  case arith::CmpIPredicate::sle:
    return {{Value(), plus(highest(), one)},
            KeyInterval{Value(), plus(lowest(), one)}};
  case arith::CmpIPredicate::sgt:
    return {{plus(lowest(), one), Value()},
            KeyInterval{plus(highest(), one), Value()}};
  case arith::CmpIPredicate::sge:
    return {{lowest(), Value()}, KeyInterval{highest(), Value()}};
  case arith::CmpIPredicate::eq:
    return {{lowest(), plus(highest(), one)}, std::nullopt};
  default:
    return unknown();
  }
}

KeyRanges Analyzer::intersect(const KeyRanges &a, const KeyRanges &b) {
  auto both = [&](const KeyInterval &x, const KeyInterval &y) -> KeyInterval {
    Value begin = x.begin && y.begin ? largest(x.begin, y.begin)
                                     : (x.begin ? x.begin : y.begin);
    Value end =
        x.end && y.end ? smallest(x.end, y.end) : (x.end ? x.end : y.end);
    return {begin, end};
  };
  KeyRanges result{both(a.visible, b.visible), std::nullopt};
  if (a.full && b.full)
    result.full = both(*a.full, *b.full);
  return result;
}

KeyRanges Analyzer::unite(const KeyRanges &a, const KeyRanges &b) {
  KeyRanges result;
  if (a.visible.begin && b.visible.begin)
    result.visible.begin = smallest(a.visible.begin, b.visible.begin);
  if (a.visible.end && b.visible.end)
    result.visible.end = largest(a.visible.end, b.visible.end);
  // Two intervals make one only where they certainly touch: open to the same
  // side.
  if (a.full && b.full && !a.full->begin && !b.full->begin)
    result.full = KeyInterval{Value(), a.full->end && b.full->end
                                           ? largest(a.full->end, b.full->end)
                                           : Value()};
  else if (a.full && b.full && !a.full->end && !b.full->end)
    result.full = KeyInterval{a.full->begin && b.full->begin
                                  ? smallest(a.full->begin, b.full->begin)
                                  : Value(),
                              Value()};
  else
    result.full = a.full ? a.full : b.full;
  return result;
}

KeyRanges Analyzer::analyze(Value condition, bool negate) {
  APInt literal;
  if (matchPattern(condition, m_ConstantInt(&literal))) {
    if (literal.isZero() == negate)
      return {{Value(), Value()}, KeyInterval{Value(), Value()}};
    return {{constant(0), constant(0)}, std::nullopt};
  }
  Operation *op = condition.getDefiningOp();
  if (!op || op->getBlock() != &block)
    return unknown();
  if (auto comparison = dyn_cast<arith::CmpIOp>(op))
    return compare(comparison, negate);
  if (isa<arith::AndIOp, arith::OrIOp>(op)) {
    KeyRanges left = analyze(op->getOperand(0), negate),
              right = analyze(op->getOperand(1), negate);
    return isa<arith::AndIOp>(op) != negate ? intersect(left, right)
                                            : unite(left, right);
  }
  if (isa<arith::XOrIOp>(op)) {
    for (auto [value, other] :
         {std::pair(op->getOperand(0), op->getOperand(1)),
          std::pair(op->getOperand(1), op->getOperand(0))})
      if (matchPattern(other, m_ConstantInt(&literal)))
        return analyze(value, negate != !literal.isZero());
    return unknown();
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    KeyRanges whenTrue = intersect(analyze(select.getCondition(), false),
                                   analyze(select.getTrueValue(), negate));
    KeyRanges whenFalse = intersect(analyze(select.getCondition(), true),
                                    analyze(select.getFalseValue(), negate));
    return unite(whenTrue, whenFalse);
  }
  return unknown();
}

KeyRanges Analyzer::guard(KeyRanges ranges) {
  if (!assumption)
    return ranges;
  auto select = [&](Value known, int64_t otherwise) -> Value {
    if (!known)
      return {};
    return builder.createOrFold<arith::SelectOp>(loc, assumption, known,
                                                 constant(otherwise));
  };
  ranges.visible = {select(ranges.visible.begin, 0),
                    select(ranges.visible.end, kMaxPosition)};
  if (ranges.full) {
    Value end = ranges.full->end ? ranges.full->end : constant(kMaxPosition);
    ranges.full->end = select(end, 0);
  }
  return ranges;
}

KeyRanges attune::analyzeKeyRanges(OpBuilder &builder, Location loc,
                                   Region &mask, const MaskedRows &rows,
                                   int64_t numKeys, const IRMapping &mapping) {
  Analyzer analyzer(builder, loc, mask, rows, numKeys, mapping);
  return analyzer.guard(
      analyzer.analyze(mask.front().getTerminator()->getOperand(0),
                       /*negate=*/false));
}
