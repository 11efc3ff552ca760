// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interval analysis of mask regions. Every comparison is brought to the form
// `x <= t(y)` or `x >= t(y)` with t linear in y, where y are the positions of a
// block of queries or keys and x those of the other dimension; over a block t
// has its extremes at the first or the last position. The looser extreme bounds
// what may be visible, the tighter one what certainly is.
//
// That holds for integers without end, so each step is held against the width
// of its type. Where a value that the region captures might make a sum wrap
// around, the bounds stand under the assumption, tested by the kernel, that it
// does not.

#include "MaskRanges.h"
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

/// Sums of so many bits are compared as they are.
constexpr unsigned kSumBits = 61;

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

/// x * along + y * across + rest + constant, with y in the block and x along
/// the other dimension. A null rest is 0.
struct Linear {
  DynamicAPInt along, across;
  Value rest;
  Interval restRange;
  DynamicAPInt constant;

  bool dependsOnPosition() const { return along != 0 || across != 0; }
  bool isConstant() const { return !dependsOnPosition() && !rest; }
};

class Analyzer {
public:
  Analyzer(OpBuilder &builder, Location loc, Region &mask,
           const MaskBlock &positions, int64_t otherLength,
           const IRMapping &mapping)
      : builder(builder), loc(loc), block(mask.front()), positions(positions),
        otherLength(otherLength), mapping(mapping) {}

  MaskRanges analyze(Value condition, bool negate);
  /// The ranges where what was assumed holds, and nothing known elsewhere.
  MaskRanges guard(MaskRanges ranges);

private:
  static MaskRanges unknown() { return {{Value(), Value()}, std::nullopt}; }
  MaskRanges compare(arith::CmpIOp op, bool negate);
  /// Of x REL bound(y).
  MaskRanges getRanges(arith::CmpIPredicate predicate, const Linear &bound);
  /// Everything where `ranges` have 0, nothing where they have not.
  MaskRanges extendZero(const MaskRanges &ranges);
  MaskRanges intersect(const MaskRanges &a, const MaskRanges &b);
  MaskRanges unite(const MaskRanges &a, const MaskRanges &b);
  /// The union of two intervals where they touch, else one that is not empty.
  MaskInterval uniteFull(MaskInterval a, MaskInterval b);

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
  bool isCut(const Linear &linear);
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
  MaskBlock positions;
  int64_t otherLength;
  IRMapping mapping;
  /// An i1; null where nothing is assumed.
  Value assumption;
};

} // namespace

static bool isPosition(BlockArgument argument, MaskDim dim) {
  return argument.getArgNumber() == static_cast<unsigned>(dim);
}

bool Analyzer::dependsOnPosition(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == &block &&
           (isPosition(argument, MaskDim::Query) ||
            isPosition(argument, MaskDim::Key));
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
  include(DynamicAPInt(0), linear.along * lastOf(otherLength));
  include(DynamicAPInt(0), linear.across * lastOf(positions.length));
  include(linear.restRange.low, linear.restRange.high);
  return sum;
}

bool Analyzer::fits(const Linear &linear, unsigned bits) {
  constexpr unsigned kIndexBits = 64;
  auto part = [](const DynamicAPInt &value) { return Interval{value, value}; };
  return getRange(linear).fits(bits) && part(linear.along).fits(kIndexBits) &&
         part(linear.across).fits(kIndexBits) &&
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

bool Analyzer::isCut(const Linear &linear) {
  return !getRange(linear).fits(kSumBits);
}

std::optional<Linear> Analyzer::saturate(const Linear &linear) {
  // What is cut remains beyond all that is not.
  constexpr unsigned kCutBits = kSumBits + 1;
  if (!isCut(linear))
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
  Linear sum{a.along + b.along * sign, a.across + b.across * sign, a.rest,
             a.restRange, a.constant + b.constant * sign};
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
  Linear scaled{b.along * a.constant,
                b.across * a.constant,
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
    if (isPosition(argument, positions.dim))
      return Linear{{}, DynamicAPInt(1), Value(), {}, {}};
    if (dependsOnPosition(argument))
      return Linear{DynamicAPInt(1), {}, Value(), {}, {}};
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

MaskRanges Analyzer::compare(arith::CmpIOp op, bool negate) {
  std::optional<Linear> left = linearize(op.getLhs()),
                        right = linearize(op.getRhs());
  bool areBothCut = false;
  if (left && right) {
    areBothCut = isCut(*left) && isCut(*right);
    left = saturate(*left);
    right = saturate(*right);
  }
  if (!left || !right)
    return unknown();
  arith::CmpIPredicate predicate =
      negate ? arith::invertPredicate(op.getPredicate()) : op.getPredicate();
  // left REL right, brought to x REL bound(y).
  Linear bound = add(*right, *left, -1);
  if (bound.along == 1) {
    bound = add(*left, *right, -1);
    predicate = swapOperands(predicate);
  }
  // 0 REL bound(y) says the same of every x. What is left of two sums that are
  // both cut does not tell which one is larger.
  bool isOfBlock = bound.along == 0;
  if (isOfBlock ? areBothCut : bound.along != -1)
    return unknown();
  bound.along = 0;
  // Room for the position after it.
  constexpr unsigned kBoundBits = 63;
  if (!fits(bound, kBoundBits))
    return unknown();
  MaskRanges ranges = getRanges(predicate, bound);
  return isOfBlock ? extendZero(ranges) : ranges;
}

MaskRanges Analyzer::getRanges(arith::CmpIPredicate predicate,
                               const Linear &bound) {
  auto boundAt = [&](Value position) {
    Value sum = constant(bound.constant);
    if (bound.across != 0)
      sum = plus(sum, builder.createOrFold<arith::MulIOp>(
                          loc, position, constant(bound.across)));
    return bound.rest ? plus(sum, bound.rest) : sum;
  };
  bool grows = bound.across >= 0;
  auto lowest = [&] {
    return boundAt(grows ? positions.first : positions.last);
  };
  auto highest = [&] {
    return boundAt(grows ? positions.last : positions.first);
  };
  Value one = constant(1);
  switch (predicate) {
  case arith::CmpIPredicate::slt:
    return {{Value(), highest()}, MaskInterval{Value(), lowest()}};
  case arith::CmpIPredicate::sle:
    return {{Value(), plus(highest(), one)},
            MaskInterval{Value(), plus(lowest(), one)}};
  case arith::CmpIPredicate::sgt:
    return {{plus(lowest(), one), Value()},
            MaskInterval{plus(highest(), one), Value()}};
  case arith::CmpIPredicate::sge:
    return {{lowest(), Value()}, MaskInterval{highest(), Value()}};
  case arith::CmpIPredicate::eq:
    return {{lowest(), plus(highest(), one)}, std::nullopt};
  default:
    return unknown();
  }
}

MaskRanges Analyzer::extendZero(const MaskRanges &ranges) {
  auto compareZero = [&](arith::CmpIPredicate test, Value bound) {
    return builder.createOrFold<arith::CmpIOp>(loc, test, constant(0), bound);
  };
  auto containsZero = [&](const MaskInterval &interval) -> Value {
    Value inside = arith::ConstantIntOp::create(builder, loc, 1, 1);
    if (interval.begin)
      inside = compareZero(arith::CmpIPredicate::sge, interval.begin);
    if (interval.end)
      inside = builder.createOrFold<arith::AndIOp>(
          loc, inside, compareZero(arith::CmpIPredicate::slt, interval.end));
    return inside;
  };
  auto select = [&](Value inside, int64_t then, int64_t otherwise) {
    return builder.createOrFold<arith::SelectOp>(loc, inside, constant(then),
                                                 constant(otherwise));
  };
  Value seen = containsZero(ranges.visible);
  MaskRanges extended{
      {select(seen, 0, kMaxPosition), select(seen, kMaxPosition, 0)},
      std::nullopt};
  if (ranges.full) {
    Value full = containsZero(*ranges.full);
    extended.full = MaskInterval{select(full, 0, kMaxPosition),
                                 select(full, kMaxPosition, 0)};
  }
  return extended;
}

MaskRanges Analyzer::intersect(const MaskRanges &a, const MaskRanges &b) {
  auto both = [&](const MaskInterval &x,
                  const MaskInterval &y) -> MaskInterval {
    Value begin = x.begin && y.begin ? largest(x.begin, y.begin)
                                     : (x.begin ? x.begin : y.begin);
    Value end =
        x.end && y.end ? smallest(x.end, y.end) : (x.end ? x.end : y.end);
    return {begin, end};
  };
  MaskRanges result{both(a.visible, b.visible), std::nullopt};
  if (a.full && b.full)
    result.full = both(*a.full, *b.full);
  return result;
}

MaskInterval Analyzer::uniteFull(MaskInterval a, MaskInterval b) {
  if (!a.begin || !a.end)
    std::swap(a, b);
  // Two that are open to opposite sides.
  if (!a.begin || !a.end)
    return b;
  auto test = [&](arith::CmpIPredicate predicate, Value left, Value right) {
    return builder.createOrFold<arith::CmpIOp>(loc, predicate, left, right);
  };
  Value lastBegin = b.begin ? largest(a.begin, b.begin) : a.begin;
  Value firstEnd = b.end ? smallest(a.end, b.end) : a.end;
  Value touch = test(arith::CmpIPredicate::sle, lastBegin, firstEnd);
  Value isFirst = test(arith::CmpIPredicate::slt, a.begin, a.end);
  auto choose = [&](Value hull, Value first, Value second) {
    Value one =
        builder.createOrFold<arith::SelectOp>(loc, isFirst, first, second);
    return builder.createOrFold<arith::SelectOp>(loc, touch, hull, one);
  };
  Value begin = b.begin ? b.begin : constant(0);
  Value end = b.end ? b.end : constant(kMaxPosition);
  return {choose(smallest(a.begin, begin), a.begin, begin),
          choose(largest(a.end, end), a.end, end)};
}

MaskRanges Analyzer::unite(const MaskRanges &a, const MaskRanges &b) {
  MaskRanges result;
  if (a.visible.begin && b.visible.begin)
    result.visible.begin = smallest(a.visible.begin, b.visible.begin);
  if (a.visible.end && b.visible.end)
    result.visible.end = largest(a.visible.end, b.visible.end);
  // Two intervals certainly make one where they are open to the same side.
  if (a.full && b.full && !a.full->begin && !b.full->begin)
    result.full = MaskInterval{Value(), a.full->end && b.full->end
                                            ? largest(a.full->end, b.full->end)
                                            : Value()};
  else if (a.full && b.full && !a.full->end && !b.full->end)
    result.full = MaskInterval{a.full->begin && b.full->begin
                                   ? smallest(a.full->begin, b.full->begin)
                                   : Value(),
                               Value()};
  else if (a.full && b.full)
    result.full = uniteFull(*a.full, *b.full);
  else
    result.full = a.full ? a.full : b.full;
  return result;
}

MaskRanges Analyzer::analyze(Value condition, bool negate) {
  APInt literal;
  if (matchPattern(condition, m_ConstantInt(&literal))) {
    if (literal.isZero() == negate)
      return {{Value(), Value()}, MaskInterval{Value(), Value()}};
    return {{constant(0), constant(0)}, std::nullopt};
  }
  Operation *op = condition.getDefiningOp();
  if (!op || op->getBlock() != &block)
    return unknown();
  if (auto comparison = dyn_cast<arith::CmpIOp>(op))
    return compare(comparison, negate);
  if (isa<arith::AndIOp, arith::OrIOp>(op)) {
    MaskRanges left = analyze(op->getOperand(0), negate),
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
    MaskRanges whenTrue = intersect(analyze(select.getCondition(), false),
                                    analyze(select.getTrueValue(), negate));
    MaskRanges whenFalse = intersect(analyze(select.getCondition(), true),
                                     analyze(select.getFalseValue(), negate));
    return unite(whenTrue, whenFalse);
  }
  return unknown();
}

MaskRanges Analyzer::guard(MaskRanges ranges) {
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

MaskRanges attune::analyzeMaskRanges(OpBuilder &builder, Location loc,
                                     Region &mask, const MaskBlock &positions,
                                     int64_t otherLength,
                                     const IRMapping &mapping) {
  Analyzer analyzer(builder, loc, mask, positions, otherLength, mapping);
  return analyzer.guard(
      analyzer.analyze(mask.front().getTerminator()->getOperand(0),
                       /*negate=*/false));
}
