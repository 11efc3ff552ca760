// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interval analysis of mask regions. Every comparison is brought to the form
// `sum >= 0` and solved for x, the position along the other dimension: minima
// and maxima become several comparisons, quotients by d comparisons with
// multiples of d, until x stands alone, as in `x <= t(y)`. Over a block of
// positions y, t has a least and a largest value. The looser one bounds what
// may be visible, the tighter one what certainly is.

#include "attune/Dialect/Attn/Analysis/MaskRanges.h"
#include "MaskSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attune;
using Kind = Atom::Kind;

/// Conditions are taken apart into at most so many.
static constexpr int64_t kMaxConditions = 256;

/// What fits in so many bits has room for the position after it.
static constexpr unsigned kBoundBits = 63;

namespace {

class Analyzer {
public:
  Analyzer(OpBuilder &builder, Location loc, Block &block, MaskSums &sums)
      : builder(builder), loc(loc), block(block), sums(sums) {}

  MaskRanges analyze(Value condition, bool negate);
  /// The ranges where what was assumed holds, and nothing known elsewhere.
  MaskRanges guard(MaskRanges ranges);

private:
  static MaskRanges unknown() { return {{Value(), Value()}, {}, {}}; }
  static MaskRanges everything() {
    return {{Value(), Value()}, MaskInterval{Value(), Value()}, {}};
  }
  MaskRanges nothing() { return {{constant(0), constant(0)}, {}, {}}; }

  MaskRanges compare(arith::CmpIOp op, bool negate);
  /// Where a <= b of numbers that count as unsigned, or a + 1 <= b.
  MaskRanges compareUnsigned(const Sum &a, const Sum &b, int64_t distance);
  /// Where sum >= 0.
  MaskRanges solve(const Sum &sum);
  /// The same where `term` of the sum depends on x, and is not x.
  MaskRanges solveFor(const Sum::Term &term, const Sum &sum);
  /// The same where x alone depends on x.
  MaskRanges solveLinear(const Sum &sum);
  /// What is the same for every x: whether it is visible, and whether full.
  MaskRanges extend(Value visible, Value full);
  MaskRanges intersect(const MaskRanges &a, const MaskRanges &b);
  MaskRanges unite(const MaskRanges &a, const MaskRanges &b);
  /// The union of two intervals where they touch, else the larger one.
  MaskInterval uniteFull(MaskInterval a, MaskInterval b);
  /// What lies between two intervals.
  std::optional<MaskInterval> findHole(const MaskInterval &a,
                                       const MaskInterval &b);

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
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
  MaskSums &sums;
  int64_t conditions = 0;
};

} // namespace

MaskRanges Analyzer::compare(arith::CmpIOp op, bool negate) {
  std::optional<Sum> left = sums.get(op.getLhs()),
                     right = sums.get(op.getRhs());
  // What is left of two sums that are both cut does not tell which one is
  // larger.
  if (!left || !right || (sums.isCut(*left) && sums.isCut(*right)))
    return unknown();
  left = sums.saturate(*left);
  right = sums.saturate(*right);
  if (!left || !right)
    return unknown();
  Sum ahead = *right - *left, behind = *left - *right;
  switch (negate ? arith::invertPredicate(op.getPredicate())
                 : op.getPredicate()) {
  case arith::CmpIPredicate::sle:
    return solve(ahead);
  case arith::CmpIPredicate::slt:
    return solve(ahead + -1);
  case arith::CmpIPredicate::sge:
    return solve(behind);
  case arith::CmpIPredicate::sgt:
    return solve(behind + -1);
  case arith::CmpIPredicate::eq:
    return intersect(solve(ahead), solve(behind));
  case arith::CmpIPredicate::ne:
    return unite(solve(ahead + -1), solve(behind + -1));
  case arith::CmpIPredicate::ule:
    return compareUnsigned(*left, *right, 0);
  case arith::CmpIPredicate::ult:
    return compareUnsigned(*left, *right, 1);
  case arith::CmpIPredicate::uge:
    return compareUnsigned(*right, *left, 0);
  case arith::CmpIPredicate::ugt:
    return compareUnsigned(*right, *left, 1);
  }
  llvm_unreachable("all predicates are covered");
}

MaskRanges Analyzer::compareUnsigned(const Sum &a, const Sum &b,
                                     int64_t distance) {
  // A negative number is larger than all that are not.
  bool mayANegative = sums.getRange(a).low < 0,
       mayBNegative = sums.getRange(b).low < 0;
  if (mayANegative && mayBNegative)
    return unknown();
  MaskRanges asSigned = solve(b - a + -distance);
  if (mayANegative)
    return intersect(solve(a), asSigned);
  return mayBNegative ? unite(solve(-b + -1), asSigned) : asSigned;
}

MaskRanges Analyzer::solve(const Sum &sum) {
  if (++conditions > kMaxConditions)
    return unknown();
  NumberRange range = sums.getRange(sum);
  if (range.low >= 0)
    return everything();
  if (range.high < 0)
    return nothing();
  // What splits comes first, so that at most one quotient is left.
  const Sum::Term *last = nullptr;
  for (const Sum::Term &term : sum.terms) {
    if (!term.atom->dependsOnAlong || term.atom->kind == Kind::Along)
      continue;
    if (term.atom->kind == Kind::Largest || term.atom->kind == Kind::Choice)
      return solveFor(term, sum);
    last = &term;
  }
  return last ? solveFor(*last, sum) : solveLinear(sum);
}

MaskRanges Analyzer::solveFor(const Sum::Term &term, const Sum &sum) {
  const Atom &atom = *term.atom;
  const DynamicAPInt &factor = term.factor;
  Sum rest = sum - Sum(atom) * factor;
  auto replace = [&](size_t operand) {
    return solve(atom.operands[operand] * factor + rest);
  };
  switch (atom.kind) {
  case Kind::Largest:
    return factor > 0 ? unite(replace(0), replace(1))
                      : intersect(replace(0), replace(1));
  case Kind::Choice:
    return unite(intersect(analyze(atom.value, /*negate=*/false), replace(0)),
                 intersect(analyze(atom.value, /*negate=*/true), replace(1)));
  case Kind::Quotient: {
    DynamicAPInt size = abs(factor);
    bool canDivide = size == 1 || !rest.dependsOnAlong();
    if (!canDivide || !sums.fits(rest, kBoundBits))
      return unknown();
    // e / d >= -q where d * q + e >= 0, and e / d <= q where e < d * (q + 1).
    Sum bound = sums.divide(rest, size) * atom.divisor;
    return solve(factor > 0 ? atom.operands[0] + bound
                            : bound - atom.operands[0] + Sum(atom.divisor - 1));
  }
  default:
    return unknown();
  }
}

MaskRanges Analyzer::solveLinear(const Sum &sum) {
  DynamicAPInt factor(0);
  for (const Sum::Term &term : sum.terms)
    if (term.atom == sums.getAlong())
      factor = term.factor;
  Sum rest = sum - Sum(*sums.getAlong()) * factor;
  if (!sums.fits(rest, kBoundBits) || !sums.fits(-rest, kBoundBits))
    return unknown();
  if (factor == 0) {
    auto mayHold = [&](bool largest) {
      return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sge,
                                                 sums.emit(rest, largest),
                                                 constant(0));
    };
    return extend(mayHold(/*largest=*/true), mayHold(/*largest=*/false));
  }
  // x <= floor(rest / -factor), or x >= ceil(-rest / factor): what follows the
  // last one is the first that fits no more.
  auto boundAt = [&](bool largest) -> Value {
    if (factor < 0)
      return sums.emit(sums.divide(rest, -factor) + 1, largest);
    return sums.emit(-sums.divide(rest, factor), !largest);
  };
  if (factor < 0)
    return {{Value(), boundAt(/*largest=*/true)},
            MaskInterval{Value(), boundAt(/*largest=*/false)},
            {}};
  return {{boundAt(/*largest=*/true), Value()},
          MaskInterval{boundAt(/*largest=*/false), Value()},
          {}};
}

MaskRanges Analyzer::extend(Value visible, Value full) {
  auto choose = [&](Value holds) -> MaskInterval {
    auto select = [&](int64_t then, int64_t otherwise) {
      return builder.createOrFold<arith::SelectOp>(loc, holds, constant(then),
                                                   constant(otherwise));
    };
    return {select(0, kMaxPosition), select(kMaxPosition, 0)};
  };
  return {choose(visible), choose(full), {}};
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
  MaskRanges result{both(a.visible, b.visible), {}, a.hole ? a.hole : b.hole};
  if (a.full && b.full)
    result.full = both(*a.full, *b.full);
  return result;
}

MaskInterval Analyzer::uniteFull(MaskInterval a, MaskInterval b) {
  for (MaskInterval *interval : {&a, &b}) {
    interval->begin = interval->begin ? interval->begin : constant(0);
    interval->end = interval->end ? interval->end : constant(kMaxPosition);
  }
  auto test = [&](arith::CmpIPredicate predicate, Value left, Value right) {
    return builder.createOrFold<arith::CmpIOp>(loc, predicate, left, right);
  };
  Value touch = test(arith::CmpIPredicate::sle, largest(a.begin, b.begin),
                     smallest(a.end, b.end));
  auto getSize = [&](const MaskInterval &interval) {
    return builder.createOrFold<arith::SubIOp>(loc, interval.end,
                                               interval.begin);
  };
  Value isLarger = test(arith::CmpIPredicate::sge, getSize(a), getSize(b));
  auto choose = [&](Value hull, Value first, Value second) {
    Value one =
        builder.createOrFold<arith::SelectOp>(loc, isLarger, first, second);
    return builder.createOrFold<arith::SelectOp>(loc, touch, hull, one);
  };
  return {choose(smallest(a.begin, b.begin), a.begin, b.begin),
          choose(largest(a.end, b.end), a.end, b.end)};
}

std::optional<MaskInterval> Analyzer::findHole(const MaskInterval &a,
                                               const MaskInterval &b) {
  // An empty interval is as good as one at its begin.
  auto getEnd = [&](const MaskInterval &interval) {
    return interval.begin && interval.end
               ? largest(interval.begin, interval.end)
               : interval.end;
  };
  Value endA = getEnd(a), endB = getEnd(b);
  if ((!endA && !endB) || (!a.begin && !b.begin))
    return std::nullopt;
  Value begin = endA && endB ? smallest(endA, endB) : (endA ? endA : endB);
  Value end = a.begin && b.begin ? largest(a.begin, b.begin)
                                 : (a.begin ? a.begin : b.begin);
  std::optional<int64_t> knownBegin = getConstantIntValue(begin),
                         knownEnd = getConstantIntValue(end);
  if (begin == end || (knownBegin && knownEnd && *knownBegin >= *knownEnd))
    return std::nullopt;
  return MaskInterval{begin, end};
}

MaskRanges Analyzer::unite(const MaskRanges &a, const MaskRanges &b) {
  MaskRanges result;
  if (a.visible.begin && b.visible.begin)
    result.visible.begin = smallest(a.visible.begin, b.visible.begin);
  if (a.visible.end && b.visible.end)
    result.visible.end = largest(a.visible.end, b.visible.end);
  result.hole = findHole(a.visible, b.visible);
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
  if (matchPattern(condition, m_ConstantInt(&literal)))
    return literal.isZero() == negate ? everything() : nothing();
  if (++conditions > kMaxConditions)
    return unknown();
  Operation *op = condition.getDefiningOp();
  auto comparison = dyn_cast_if_present<arith::CmpIOp>(op);
  bool isComparison = comparison && op->getBlock() == &block;
  if (!isComparison && !sums.dependsOnPosition(condition)) {
    Value holds = builder.createOrFold<arith::CmpIOp>(
        loc, negate ? arith::CmpIPredicate::eq : arith::CmpIPredicate::ne,
        sums.hoist(condition), constant(0));
    return extend(holds, holds);
  }
  if (isComparison) {
    size_t before = sums.countObstacles();
    MaskRanges ranges = compare(comparison, negate);
    if (!ranges.visible.begin && !ranges.visible.end && !ranges.full &&
        sums.countObstacles() == before)
      sums.blame(op, "bounds no range of positions");
    return ranges;
  }
  if (isa<arith::AndIOp, arith::OrIOp>(op)) {
    MaskRanges left = analyze(op->getOperand(0), negate),
               right = analyze(op->getOperand(1), negate);
    return isa<arith::AndIOp>(op) != negate ? intersect(left, right)
                                            : unite(left, right);
  }
  if (isa<arith::XOrIOp>(op))
    for (auto [value, other] :
         {std::pair(op->getOperand(0), op->getOperand(1)),
          std::pair(op->getOperand(1), op->getOperand(0))})
      if (matchPattern(other, m_ConstantInt(&literal)))
        return analyze(value, negate != !literal.isZero());
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    MaskRanges whenTrue = intersect(analyze(select.getCondition(), false),
                                    analyze(select.getTrueValue(), negate));
    MaskRanges whenFalse = intersect(analyze(select.getCondition(), true),
                                     analyze(select.getFalseValue(), negate));
    return unite(whenTrue, whenFalse);
  }
  sums.blame(op, "is no comparison, nor made of such");
  return unknown();
}

MaskRanges Analyzer::guard(MaskRanges ranges) {
  Value assumption = sums.getAssumption();
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
  if (ranges.hole)
    ranges.hole->end = select(ranges.hole->end, 0);
  return ranges;
}

MaskRanges attune::analyzeMaskRanges(OpBuilder &builder, Location loc,
                                     Region &mask, const MaskBlock &positions,
                                     int64_t otherLength,
                                     const IRMapping &mapping, MaskCloner clone,
                                     SmallVectorImpl<MaskObstacle> *obstacles) {
  MaskSums sums(builder, loc, mask.front(), positions, otherLength, mapping,
                clone, obstacles);
  Analyzer analyzer(builder, loc, mask.front(), sums);
  return analyzer.guard(
      analyzer.analyze(mask.front().getTerminator()->getOperand(0),
                       /*negate=*/false));
}

/// Whether a number is a sum of positions and constants.
static bool isSumOfPositions(Value number, Block &block) {
  if (auto argument = dyn_cast<BlockArgument>(number))
    return argument.getOwner() == &block;
  Operation *op = number.getDefiningOp();
  if (matchPattern(op, m_Constant()))
    return true;
  return op->getBlock() == &block &&
         isa<arith::AddIOp, arith::SubIOp, arith::IndexCastOp, arith::ExtSIOp>(
             op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isSumOfPositions(operand, block);
         });
}

static bool isMutual(Value condition, Block &block) {
  if (matchPattern(condition, m_Constant()))
    return true;
  Operation *op = condition.getDefiningOp();
  if (!op || op->getBlock() != &block)
    return false;
  if (isa<arith::AndIOp>(op))
    return isMutual(op->getOperand(0), block) &&
           isMutual(op->getOperand(1), block);
  auto comparison = dyn_cast<arith::CmpIOp>(op);
  using Predicate = arith::CmpIPredicate;
  constexpr Predicate known[] = {Predicate::eq, Predicate::slt, Predicate::sle,
                                 Predicate::sgt, Predicate::sge};
  return comparison && llvm::is_contained(known, comparison.getPredicate()) &&
         isSumOfPositions(comparison.getLhs(), block) &&
         isSumOfPositions(comparison.getRhs(), block);
}

bool attune::areRangesMutual(Region &mask) {
  Block &block = mask.front();
  return isMutual(block.getTerminator()->getOperand(0), block);
}
