// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums hold for integers without end, so each step is held against the width of
// its type. Where a value that the region captures might make a sum wrap
// around, the sum stands under the assumption, tested by the kernel, that it
// does not.

#include "MaskSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ShapedOpInterfaces.h"

using namespace mlir;
using namespace attune;
using Kind = Atom::Kind;

/// Sums of so many bits are compared as they are.
static constexpr unsigned kSumBits = 61;
static constexpr unsigned kIndexBits = 64;

/// Sums of more atoms are not followed: what is emitted for one would grow with
/// the number of ways through the region.
static constexpr int64_t kMaxSize = 64;

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

bool Sum::dependsOnPosition() const {
  return llvm::any_of(terms, [](const Term &term) {
    return term.atom->dependsOnAlong || term.atom->dependsOnAcross;
  });
}

bool Sum::dependsOnAlong() const {
  return llvm::any_of(
      terms, [](const Term &term) { return term.atom->dependsOnAlong; });
}

Sum attune::operator+(const Sum &a, const Sum &b) {
  Sum sum = a;
  sum.constant += b.constant;
  for (const Sum::Term &term : b.terms) {
    auto *same = llvm::find_if(
        sum.terms, [&](const Sum::Term &t) { return t.atom == term.atom; });
    if (same == sum.terms.end()) {
      sum.terms.push_back(term);
      continue;
    }
    same->factor += term.factor;
    if (same->factor == 0)
      sum.terms.erase(same);
  }
  return sum;
}

Sum attune::operator*(const Sum &sum, const DynamicAPInt &factor) {
  if (factor == 0)
    return {};
  Sum scaled = sum;
  scaled.constant *= factor;
  for (Sum::Term &term : scaled.terms)
    term.factor *= factor;
  return scaled;
}

MaskSums::MaskSums(OpBuilder &builder, Location loc, Block &block,
                   const MaskBlock &positions, int64_t otherLength,
                   const IRMapping &mapping, MaskCloner clone,
                   SmallVectorImpl<MaskObstacle> *obstacles)
    : builder(builder), loc(loc), block(block), positions(positions),
      mapping(mapping), clone(clone), obstacles(obstacles) {
  auto addPosition = [&](Kind kind, int64_t length) {
    Atom position{kind, Value(), {}, {}, {}};
    position.range.high = ShapedType::isDynamic(length) ? kMaxPosition : length;
    (kind == Kind::Along ? position.dependsOnAlong : position.dependsOnAcross) =
        true;
    return &atoms.emplace_back(std::move(position));
  };
  along = addPosition(Kind::Along, otherLength);
  across = addPosition(Kind::Across, positions.length);
}

Sum MaskSums::add(Atom atom) {
  for (const Sum &operand : atom.operands)
    for (const Sum::Term &term : operand.terms) {
      atom.dependsOnAlong |= term.atom->dependsOnAlong;
      atom.dependsOnAcross |= term.atom->dependsOnAcross;
      atom.size += term.atom->size;
    }
  return Sum(atoms.emplace_back(std::move(atom)));
}

NumberRange MaskSums::getRange(const Sum &sum) const {
  NumberRange range{sum.constant, sum.constant};
  for (const auto &[atom, factor] : sum.terms) {
    DynamicAPInt low = atom->range.low * factor,
                 high = atom->range.high * factor;
    range.low += std::min(low, high);
    range.high += std::max(low, high);
  }
  return range;
}

bool MaskSums::fits(const Sum &sum, unsigned bits) const {
  auto part = [](const DynamicAPInt &value) {
    return NumberRange{value, value}.fits(kIndexBits);
  };
  return getRange(sum).fits(bits) && part(sum.constant) &&
         llvm::all_of(sum.terms,
                      [&](const Sum::Term &term) { return part(term.factor); });
}

Sum MaskSums::divide(const Sum &sum, const DynamicAPInt &divisor) {
  // What is a multiple of the divisor leaves the quotient.
  Sum quotient(floorDiv(sum.constant, divisor)),
      rest(mod(sum.constant, divisor));
  for (const Sum::Term &term : sum.terms) {
    bool isMultiple = mod(term.factor, divisor) == 0;
    Sum &part = isMultiple ? quotient : rest;
    part.terms.push_back(
        {term.atom, isMultiple ? term.factor / divisor : term.factor});
  }
  if (!fits(rest, kIndexBits)) {
    quotient = Sum();
    rest = sum;
  }
  NumberRange range = getRange(rest);
  Atom atom{Kind::Quotient,
            Value(),
            {rest},
            divisor,
            {floorDiv(range.low, divisor), floorDiv(range.high, divisor)}};
  if (atom.range.low == atom.range.high)
    return quotient + Sum(atom.range.low);
  return quotient + add(std::move(atom));
}

Sum MaskSums::truncate(const Sum &sum, const DynamicAPInt &divisor) {
  Sum down = divide(sum, divisor);
  if (getRange(sum).low >= 0)
    return down;
  Sum up = -divide(-sum, divisor);
  return largest(down, smallest(up, Sum()));
}

Sum MaskSums::largest(const Sum &a, const Sum &b) {
  NumberRange left = getRange(a), right = getRange(b);
  if (left.low >= right.high)
    return a;
  if (right.low >= left.high)
    return b;
  return add(
      {Kind::Largest,
       Value(),
       {a, b},
       {},
       {std::max(left.low, right.low), std::max(left.high, right.high)}});
}

std::optional<Sum> MaskSums::multiply(const Sum &a, const Sum &b) {
  if (!a.isConstant() && !b.isConstant())
    return std::nullopt;
  return a.isConstant() ? b * a.constant : a * b.constant;
}

//===----------------------------------------------------------------------===//
// Sums of a region
//===----------------------------------------------------------------------===//

void MaskSums::blame(Operation *op, StringRef reason) {
  if (obstacles && op && llvm::none_of(*obstacles, [&](const auto &obstacle) {
        return obstacle.op == op;
      }))
    obstacles->push_back({op, reason});
}

bool MaskSums::dependsOnPosition(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == &block &&
           argument.getArgNumber() >= static_cast<unsigned>(MaskDim::Query);
  Operation *op = value.getDefiningOp();
  if (op->getBlock() != &block)
    return false;
  if (auto it = depends.find(value); it != depends.end())
    return it->second;
  bool result = llvm::any_of(op->getOperands(), [&](Value operand) {
    return dependsOnPosition(operand);
  });
  depends[value] = result;
  return result;
}

Value MaskSums::hoist(Value value) {
  std::function<void(Value)> copy = [&](Value current) {
    Operation *op = current.getDefiningOp();
    if (mapping.contains(current) || !op || op->getBlock() != &block)
      return;
    for (Value operand : op->getOperands())
      copy(operand);
    clone(builder, *op, mapping);
  };
  copy(value);
  Value copied = mapping.lookupOrDefault(value);
  if (copied.getType().isIndex())
    return copied;
  return builder.createOrFold<arith::IndexCastOp>(loc, builder.getIndexType(),
                                                  copied);
}

ConstantIntRanges MaskSums::inferRange(Value value) {
  unsigned bits = ConstantIntRanges::getStorageBitwidth(value.getType());
  auto argument = dyn_cast<BlockArgument>(value);
  bool isIndexOfHead = argument && argument.getOwner() == &block;
  Operation *op = value.getDefiningOp();
  if (isIndexOfHead || isa_and_nonnull<ShapedDimOpInterface>(op))
    return ConstantIntRanges::fromSigned(APInt::getZero(bits),
                                         APInt(bits, kMaxPosition));
  if (auto it = inferred.find(value); it != inferred.end())
    return it->second;
  ConstantIntRanges range = ConstantIntRanges::maxRange(bits);
  auto inferrable = dyn_cast_or_null<InferIntRangeInterface>(op);
  if (!inferrable || !llvm::all_of(op->getOperandTypes(), [](Type type) {
        return type.isIntOrIndex();
      }))
    return range;
  inferrable.inferResultRanges(
      llvm::map_to_vector(op->getOperands(),
                          [&](Value operand) { return inferRange(operand); }),
      [&](Value result, const ConstantIntRanges &ofResult) {
        if (result == value)
          range = ofResult;
      });
  inferred.try_emplace(value, range);
  return range;
}

bool MaskSums::isFixed(const Sum &sum) const {
  return !sum.isConstant() &&
         llvm::all_of(sum.terms, [](const Sum::Term &term) {
           return term.atom->kind == Kind::Fixed;
         });
}

Sum MaskSums::assumeSmall(const Sum &sum, unsigned bits) {
  constexpr unsigned kRoom = 4;
  unsigned smallBits = std::max(bits, kRoom + 1) - kRoom;
  Sum rest = sum;
  rest.constant = 0;
  if (!isFixed(sum) || !fits(rest, kIndexBits) ||
      getRange(rest).fits(smallBits))
    return sum;
  NumberRange range = NumberRange::getSigned(smallBits);
  Value value = emit(rest, /*largest=*/false);
  Value atLeast = builder.createOrFold<arith::CmpIOp>(
      loc, arith::CmpIPredicate::sge, value, emitConstant(range.low));
  Value atMost = builder.createOrFold<arith::CmpIOp>(
      loc, arith::CmpIPredicate::sle, value, emitConstant(range.high));
  for (Value test : {atLeast, atMost})
    assumption =
        assumption ? builder.createOrFold<arith::AndIOp>(loc, assumption, test)
                   : test;
  NumberRange before = getRange(rest);
  return add({Kind::Fixed,
              value,
              {},
              {},
              {std::max(range.low, before.low),
               std::min(range.high, before.high)}}) +
         Sum(sum.constant);
}

bool MaskSums::isCut(const Sum &sum) const {
  return !getRange(sum).fits(kSumBits);
}

std::optional<Sum> MaskSums::saturate(const Sum &sum) {
  // What is cut remains beyond all that is not.
  if (!isCut(sum))
    return sum;
  NumberRange range = NumberRange::getSigned(kSumBits + 1);
  if (sum.isConstant())
    return Sum(sum.constant > 0 ? range.high : range.low);
  if (!isFixed(sum) || !fits(sum, kIndexBits))
    return std::nullopt;
  Value raised = builder.createOrFold<arith::MaxSIOp>(
      loc, emit(sum, /*largest=*/false), emitConstant(range.low));
  Value value = builder.createOrFold<arith::MinSIOp>(loc, raised,
                                                     emitConstant(range.high));
  return add({Kind::Fixed, value, {}, {}, range});
}

std::optional<Sum> MaskSums::getOfDivision(Operation *op, const Sum &dividend) {
  APInt literal;
  if (!matchPattern(op->getOperand(1), m_ConstantInt(&literal)))
    return std::nullopt;
  DynamicAPInt divisor(literal);
  unsigned bits = literal.getBitWidth();
  bool isShift = isa<arith::ShRSIOp, arith::ShRUIOp>(op);
  if (isa<arith::AndIOp>(op)) {
    // The low bits.
    if (literal.isZero() || !literal.isMask() || literal.isAllOnes())
      return std::nullopt;
    divisor += 1;
  } else if (isShift) {
    if (literal.uge(bits - 1))
      return std::nullopt;
    divisor = DynamicAPInt(APInt::getOneBitSet(bits, literal.getZExtValue()));
  }
  if (divisor <= 0)
    return std::nullopt;
  bool isNegative = getRange(dividend).low < 0;
  if (isNegative && !fits(-dividend, kIndexBits))
    return std::nullopt;
  if (isa<arith::FloorDivSIOp, arith::ShRSIOp>(op))
    return divide(dividend, divisor);
  if (isa<arith::DivSIOp>(op))
    return truncate(dividend, divisor);
  if (isa<arith::CeilDivSIOp>(op))
    return -divide(-dividend, divisor);
  bool isRemainder = isa<arith::RemSIOp, arith::RemUIOp, arith::AndIOp>(op);
  if (isNegative && !isa<arith::AndIOp>(op)) {
    // A negative number would become a large one, or leave a negative rest.
    return std::nullopt;
  }
  if (isa<arith::DivUIOp, arith::ShRUIOp>(op))
    return divide(dividend, divisor);
  if (isa<arith::CeilDivUIOp>(op))
    return -divide(-dividend, divisor);
  assert(isRemainder && "all divisions are covered");
  (void)isRemainder;
  if (!isNegative && getRange(dividend).high < divisor)
    return dividend;
  return add(
      {Kind::Remainder, Value(), {dividend}, divisor, {{}, divisor - 1}});
}

std::optional<Sum> MaskSums::getOfOp(Operation *op) {
  if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(op))
    return get(op->getOperand(0));
  if (isa<arith::IndexCastUIOp, arith::ExtUIOp>(op)) {
    // A negative number would become a large one.
    std::optional<Sum> input = get(op->getOperand(0));
    return input && getRange(*input).low >= 0 ? input : std::nullopt;
  }
  if (isa<math::AbsIOp>(op)) {
    std::optional<Sum> input = get(op->getOperand(0));
    return input && fits(-*input, kIndexBits)
               ? std::optional(largest(*input, -*input))
               : std::nullopt;
  }
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp,
          arith::CeilDivSIOp, arith::CeilDivUIOp, arith::RemSIOp,
          arith::RemUIOp, arith::ShRSIOp, arith::ShRUIOp, arith::AndIOp>(op)) {
    std::optional<Sum> dividend = get(op->getOperand(0));
    return dividend ? getOfDivision(op, *dividend) : std::nullopt;
  }
  bool isChoice = isa<arith::SelectOp>(op);
  bool isSum = isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op);
  bool isUnsigned = isa<arith::MaxUIOp, arith::MinUIOp>(op);
  if (!isChoice && !isSum && !isUnsigned &&
      !isa<arith::MaxSIOp, arith::MinSIOp>(op))
    return std::nullopt;
  std::optional<Sum> left = get(op->getOperand(isChoice ? 1 : 0)),
                     right = get(op->getOperand(isChoice ? 2 : 1));
  if (!left || !right)
    return std::nullopt;
  if (isChoice) {
    NumberRange a = getRange(*left), b = getRange(*right);
    return add({Kind::Choice,
                op->getOperand(0),
                {*left, *right},
                {},
                {std::min(a.low, b.low), std::max(a.high, b.high)}});
  }
  if (isSum) {
    unsigned bits =
        ConstantIntRanges::getStorageBitwidth(op->getResult(0).getType());
    left = assumeSmall(*left, bits);
    right = assumeSmall(*right, bits);
    if (isa<arith::MulIOp>(op))
      return multiply(*left, *right);
    return isa<arith::AddIOp>(op) ? *left + *right : *left - *right;
  }
  if (isUnsigned && (getRange(*left).low < 0 || getRange(*right).low < 0))
    return std::nullopt;
  bool isLargest = isa<arith::MaxSIOp, arith::MaxUIOp>(op);
  return isLargest ? largest(*left, *right) : smallest(*left, *right);
}

std::optional<Sum> MaskSums::get(Value value) {
  APInt literal;
  if (matchPattern(value, m_ConstantInt(&literal)))
    return Sum(DynamicAPInt(literal));
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && dependsOnPosition(argument))
    return Sum(argument.getArgNumber() == static_cast<unsigned>(positions.dim)
                   ? *across
                   : *along);
  if (auto it = known.find(value); it != known.end())
    return it->second;
  std::optional<Sum> sum;
  unsigned bits = ConstantIntRanges::getStorageBitwidth(value.getType());
  if (!dependsOnPosition(value)) {
    if (bits > 1 && bits <= kIndexBits) {
      ConstantIntRanges range = inferRange(value);
      sum = add({Kind::Fixed,
                 hoist(value),
                 {},
                 {},
                 {DynamicAPInt(range.smin()), DynamicAPInt(range.smax())}});
    }
  } else {
    Operation *op = value.getDefiningOp();
    size_t before = countObstacles();
    sum = getOfOp(op);
    if (!sum && countObstacles() == before)
      blame(op, "is not understood as a number made of positions");
    int64_t size = 0;
    if (sum)
      for (const Sum::Term &term : sum->terms)
        size += term.atom->size;
    if (sum && (size > kMaxSize || !fits(*sum, bits))) {
      blame(op, size > kMaxSize ? "is made of too many numbers"
                                : "may wrap around");
      sum = std::nullopt;
    }
  }
  known[value] = sum;
  return sum;
}

//===----------------------------------------------------------------------===//
// Extremes over the block
//===----------------------------------------------------------------------===//

Value MaskSums::emitConstant(const DynamicAPInt &value) {
  return arith::ConstantIndexOp::create(builder, loc,
                                        static_cast<int64_t>(value));
}

Value MaskSums::emitQuotient(Value dividend, const Atom &atom) {
  Value divisor = emitConstant(atom.divisor);
  if (getRange(atom.operands[0]).low >= 0)
    return builder.createOrFold<arith::DivUIOp>(loc, dividend, divisor);
  return builder.createOrFold<arith::FloorDivSIOp>(loc, dividend, divisor);
}

Value MaskSums::emit(const Atom &atom, bool largest) {
  switch (atom.kind) {
  case Kind::Along:
    break;
  case Kind::Across:
    return largest ? positions.last : positions.first;
  case Kind::Fixed:
    return atom.value;
  case Kind::Quotient:
    return emitQuotient(emit(atom.operands[0], largest), atom);
  case Kind::Remainder: {
    // All dividends of one quotient leave rests in their order.
    Value first = emit(atom.operands[0], /*largest=*/false),
          last = emit(atom.operands[0], /*largest=*/true);
    Value low = emitQuotient(first, atom), high = emitQuotient(last, atom);
    Value isOne = builder.createOrFold<arith::CmpIOp>(
        loc, arith::CmpIPredicate::eq, low, high);
    Value multiple = builder.createOrFold<arith::MulIOp>(
        loc, low, emitConstant(atom.divisor));
    Value rest = builder.createOrFold<arith::SubIOp>(
        loc, largest ? last : first, multiple);
    return builder.createOrFold<arith::SelectOp>(
        loc, isOne, rest,
        emitConstant(largest ? atom.range.high : atom.range.low));
  }
  case Kind::Largest:
  case Kind::Choice: {
    Value left = emit(atom.operands[0], largest),
          right = emit(atom.operands[1], largest);
    if (largest || atom.kind == Kind::Largest)
      return builder.createOrFold<arith::MaxSIOp>(loc, left, right);
    return builder.createOrFold<arith::MinSIOp>(loc, left, right);
  }
  }
  llvm_unreachable("the position along the other dimension has no extremes");
}

Value MaskSums::emit(const Sum &sum, bool largest) {
  Value total = emitConstant(sum.constant);
  auto addTerm = [&](const Sum::Term &term) {
    Value value = emit(*term.atom, largest == (term.factor > 0));
    if (term.factor == -1) {
      total = builder.createOrFold<arith::SubIOp>(loc, total, value);
      return;
    }
    if (term.factor != 1)
      value = builder.createOrFold<arith::MulIOp>(loc, value,
                                                  emitConstant(term.factor));
    total = builder.createOrFold<arith::AddIOp>(loc, total, value);
  };
  for (bool isAcross : {true, false})
    for (const Sum::Term &term : sum.terms)
      if ((term.atom == across) == isAcross)
        addTerm(term);
  return total;
}
