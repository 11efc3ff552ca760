// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the bounds once, into a block of its own, and computes them for each
// block of queries.

#include "attune/Dialect/Attn/Analysis/VisibleKeys.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune;

namespace {
/// Integers as far as they are known.
using Numbers = llvm::DenseMap<Value, int64_t>;
} // namespace

SeenKeys::Blocks SeenKeys::countBlocks(int64_t size) const {
  // As convert-attn-to-tile numbers them: what is skipped or not masked is so
  // as a whole.
  KeyRange seen{visible.begin / size,
                llvm::divideCeilSigned(visible.end, size)};
  auto inside = [&](KeyRange range) {
    KeyRange whole{llvm::divideCeilSigned(range.begin, size), range.end / size};
    return KeyRange{std::max(whole.begin, seen.begin),
                    std::min(whole.end, seen.end)};
  };
  KeyRange skipped = inside(hole), unmasked = inside(full);
  KeyRange both{std::max(skipped.begin, unmasked.begin),
                std::min(skipped.end, unmasked.end)};
  return {seen.size() - skipped.size(), unmasked.size() - both.size()};
}

VisibleKeys::VisibleKeys(attn::AttentionOpInterface op, int64_t seqQ,
                         int64_t seqK)
    : seqK(seqK), ranges{{}, MaskInterval{}, {}} {
  Region &mask = op.getMask();
  if (mask.empty())
    return;
  code = std::make_shared<Region>();
  Block &block = code->emplaceBlock();
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&block);
  Location loc = op.getLoc();
  Type index = builder.getIndexType();
  Value first = block.addArgument(index, loc),
        last = block.addArgument(index, loc);
  // Nothing in the block refers to the op or its surroundings.
  IRMapping mapping;
  for (unsigned number : {0, 1})
    mapping.map(mask.getArgument(number), block.addArgument(index, loc));
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(mask, captured);
  for (Value value : captured) {
    if (matchPattern(value, m_Constant()))
      builder.clone(*value.getDefiningOp(), mapping);
    else
      mapping.map(value, block.addArgument(value.getType(), loc));
  }
  ranges = analyzeMaskRanges(
      builder, loc, mask, {MaskDim::Query, first, last, seqQ}, seqK, mapping,
      [](OpBuilder &to, Operation &from, IRMapping &map) {
        to.clone(from, map);
      },
      &obstacles);
}

/// What an op of the bounds makes of what is known.
static std::optional<int64_t> compute(Operation *op, const Numbers &numbers) {
  auto get = [&](unsigned operand) -> std::optional<int64_t> {
    auto it = numbers.find(op->getOperand(operand));
    return it == numbers.end() ? std::nullopt : std::optional(it->second);
  };
  APInt literal;
  if (matchPattern(op, m_ConstantInt(&literal)) && literal.getBitWidth() <= 64)
    return literal.getBitWidth() == 1 ? literal.getZExtValue()
                                      : literal.getSExtValue();
  if (isa<arith::SelectOp>(op)) {
    std::optional<int64_t> condition = get(0);
    return condition ? get(*condition ? 1 : 2) : std::nullopt;
  }
  // The bounds are indices; other types belong to what they are computed from.
  if (op->getNumOperands() != 2 ||
      !(op->getOperand(0).getType().isIndex() || isa<arith::AndIOp>(op)))
    return std::nullopt;
  std::optional<int64_t> a = get(0), b = get(1);
  if (!a || !b)
    return std::nullopt;
  if (isa<arith::DivUIOp, arith::FloorDivSIOp>(op) && *b <= 0)
    return std::nullopt;
  // Sums of bounds that hold fit; others may wrap around.
  auto wrapped = [](uint64_t value) { return static_cast<int64_t>(value); };
  uint64_t left = *a, right = *b;
  return llvm::TypeSwitch<Operation *, std::optional<int64_t>>(op)
      .Case([&](arith::AddIOp) { return wrapped(left + right); })
      .Case([&](arith::SubIOp) { return wrapped(left - right); })
      .Case([&](arith::MulIOp) { return wrapped(left * right); })
      .Case([&](arith::MinSIOp) { return std::min(*a, *b); })
      .Case([&](arith::MaxSIOp) { return std::max(*a, *b); })
      .Case([&](arith::DivUIOp) { return wrapped(left / right); })
      .Case(
          [&](arith::FloorDivSIOp) { return llvm::divideFloorSigned(*a, *b); })
      .Case([&](arith::AndIOp) { return *a & *b; })
      .Case([&](arith::CmpIOp compare) {
        return arith::applyCmpPredicate(compare.getPredicate(), APInt(64, left),
                                        APInt(64, right));
      })
      .Default(std::nullopt);
}

SeenKeys VisibleKeys::get(int64_t first, int64_t last) const {
  Numbers numbers;
  if (code) {
    Block &block = code->front();
    numbers[block.getArgument(0)] = first;
    numbers[block.getArgument(1)] = last;
    for (Operation &op : block)
      if (std::optional<int64_t> result = compute(&op, numbers))
        numbers[op.getResult(0)] = *result;
  }
  // An end that is not known: of what is seen it is the last one there is, of
  // what is seen by all or by none the first.
  bool isExact = true;
  auto getRange = [&](const MaskInterval &interval, int64_t otherBegin,
                      int64_t otherEnd) -> KeyRange {
    auto choose = [&](Value bound, int64_t open, int64_t otherwise) {
      if (!bound)
        return open;
      auto it = numbers.find(bound);
      isExact &= it != numbers.end();
      return std::clamp<int64_t>(it == numbers.end() ? otherwise : it->second,
                                 0, seqK);
    };
    return {choose(interval.begin, 0, otherBegin),
            choose(interval.end, seqK, otherEnd)};
  };
  SeenKeys keys{getRange(ranges.visible, 0, seqK), {0, 0}, {0, 0}};
  if (ranges.full)
    keys.full = getRange(*ranges.full, seqK, 0);
  if (ranges.hole)
    keys.hole = getRange(*ranges.hole, seqK, 0);
  keys.isExact = isExact;
  return keys;
}
