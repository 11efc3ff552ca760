// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interval analysis of mask regions. Every comparison is brought to the form
// `n <= t(m)` or `n >= t(m)` with t linear in m; over the rows of a tile t has
// its extremes at the first or the last row. The looser extreme bounds what may
// be visible, the tighter one what certainly is.

#include "KeyRanges.h"
#include "RegionClone.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attune;

namespace {

/// n * key + m * row + rest + constant. A null rest is 0.
struct Linear {
  int64_t key = 0;
  int64_t row = 0;
  Value rest;
  int64_t constant = 0;
};

class Analyzer {
public:
  Analyzer(OpBuilder &builder, Location loc, Region &mask, Value firstRow,
           Value lastRow, const IRMapping &mapping)
      : builder(builder), loc(loc), block(mask.front()), firstRow(firstRow),
        lastRow(lastRow), mapping(mapping) {}

  KeyRanges analyze(Value condition, bool negate);

private:
  static KeyRanges unknown() { return {{Value(), Value()}, std::nullopt}; }
  KeyRanges compare(arith::CmpIOp op, bool negate);
  KeyRanges intersect(const KeyRanges &a, const KeyRanges &b);
  KeyRanges unite(const KeyRanges &a, const KeyRanges &b);

  std::optional<Linear> linearize(Value value);
  std::optional<Linear> add(const Linear &a, const Linear &b, int64_t sign);
  /// A copy outside the region of a value that depends on neither m nor n, as
  /// an index; null if it does or cannot be copied.
  Value hoist(Value value);
  bool dependsOnPosition(Value value);

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
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
  Value firstRow, lastRow;
  IRMapping mapping;
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

std::optional<Linear> Analyzer::add(const Linear &a, const Linear &b,
                                    int64_t sign) {
  Linear sum{a.key + sign * b.key, a.row + sign * b.row, a.rest,
             a.constant + sign * b.constant};
  if (b.rest) {
    Value left = a.rest ? a.rest : constant(0);
    sum.rest = sign > 0 ? plus(left, b.rest) : minus(left, b.rest);
  }
  return sum;
}

std::optional<Linear> Analyzer::linearize(Value value) {
  APInt literal;
  if (matchPattern(value, m_ConstantInt(&literal))) {
    if (literal.getSignificantBits() > 64)
      return std::nullopt;
    return Linear{0, 0, Value(), literal.getSExtValue()};
  }
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == &block) {
    if (isKeyArgument(argument))
      return Linear{1, 0, Value(), 0};
    if (isRowArgument(argument))
      return Linear{0, 1, Value(), 0};
  }
  if (!dependsOnPosition(value)) {
    if (!value.getType().isIntOrIndex() || value.getType().isInteger(1))
      return std::nullopt;
    return Linear{0, 0, hoist(value), 0};
  }
  // Positions fit in 31 bits; what is computed in fewer wraps around.
  constexpr unsigned kPositionBits = 32;
  if (!value.getType().isIndex() &&
      value.getType().getIntOrFloatBitWidth() < kPositionBits)
    return std::nullopt;
  Operation *op = value.getDefiningOp();
  if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(op))
    return linearize(op->getOperand(0));
  if (isa<arith::IndexCastUIOp, arith::ExtUIOp>(op)) {
    // A negative number would become a large one.
    std::optional<Linear> input = linearize(op->getOperand(0));
    bool certainlyPositive = input && input->key >= 0 && input->row >= 0 &&
                             !input->rest && input->constant >= 0;
    return certainlyPositive ? input : std::nullopt;
  }
  if (isa<arith::AddIOp, arith::SubIOp>(op)) {
    std::optional<Linear> left = linearize(op->getOperand(0)),
                          right = linearize(op->getOperand(1));
    if (!left || !right)
      return std::nullopt;
    return add(*left, *right, isa<arith::AddIOp>(op) ? 1 : -1);
  }
  if (isa<arith::MulIOp>(op)) {
    std::optional<Linear> left = linearize(op->getOperand(0)),
                          right = linearize(op->getOperand(1));
    if (!left || !right)
      return std::nullopt;
    if (left->key || left->row || left->rest)
      std::swap(left, right);
    if (left->key || left->row || left->rest)
      return std::nullopt;
    int64_t factor = left->constant;
    Linear scaled{right->key * factor, right->row * factor, Value(),
                  right->constant * factor};
    if (right->rest)
      scaled.rest = builder.createOrFold<arith::MulIOp>(loc, right->rest,
                                                        constant(factor));
    return scaled;
  }
  return std::nullopt;
}

KeyRanges Analyzer::compare(arith::CmpIOp op, bool negate) {
  std::optional<Linear> left = linearize(op.getLhs()),
                        right = linearize(op.getRhs());
  if (!left || !right)
    return unknown();
  std::optional<Linear> difference = add(*left, *right, -1);
  arith::CmpIPredicate predicate =
      negate ? arith::invertPredicate(op.getPredicate()) : op.getPredicate();
  // difference REL 0, brought to n REL bound(m).
  if (difference->key != 1 && difference->key != -1)
    return unknown();
  if (difference->key == -1) {
    std::optional<Linear> flipped = add(Linear{}, *difference, -1);
    difference = flipped;
    switch (predicate) {
    case arith::CmpIPredicate::slt:
      predicate = arith::CmpIPredicate::sgt;
      break;
    case arith::CmpIPredicate::sle:
      predicate = arith::CmpIPredicate::sge;
      break;
    case arith::CmpIPredicate::sgt:
      predicate = arith::CmpIPredicate::slt;
      break;
    case arith::CmpIPredicate::sge:
      predicate = arith::CmpIPredicate::sle;
      break;
    default:
      break;
    }
  }
  // bound(m) = -(row * m + rest + constant), at the first and the last row.
  auto boundAt = [&](Value row) {
    Value bound = constant(-difference->constant);
    if (difference->row != 0)
      bound = minus(bound, builder.createOrFold<arith::MulIOp>(
                               loc, row, constant(difference->row)));
    if (difference->rest)
      bound = minus(bound, difference->rest);
    return bound;
  };
  bool grows = difference->row <= 0;
  auto lowest = [&] { return boundAt(grows ? firstRow : lastRow); };
  auto highest = [&] { return boundAt(grows ? lastRow : firstRow); };
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

KeyRanges attune::analyzeKeyRanges(OpBuilder &builder, Location loc,
                                   Region &mask, Value firstRow, Value lastRow,
                                   const IRMapping &mapping) {
  Analyzer analyzer(builder, loc, mask, firstRow, lastRow, mapping);
  return analyzer.analyze(mask.front().getTerminator()->getOperand(0),
                          /*negate=*/false);
}
