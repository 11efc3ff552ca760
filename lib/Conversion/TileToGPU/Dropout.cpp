// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.is_kept: random bits for the registers of a thread.
//
// A lane of an MMA has half of the 16 elements that a call of Philox has
// numbers for, and the lane beside it, whose coordinates differ in one bit 0,
// the other half. So of two calls each of the lanes makes one, and they
// exchange halves. Where it is known at run time alone whether elements of a
// call are beside each other, it is asked. Four bytes are compared at once, and
// stay where they are until a weight asks for its bit.

#include "RegionVectorizer.h"
#include "attune/Support/Philox.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attune;

/// Numbers of lanes and registers have digits of their own for the bits that a
/// call shares, and so no carry reaches these.
std::optional<LanePair> attune::findLanePair(tile::LayoutAttr layout,
                                             int64_t rank) {
  constexpr int64_t kDims = 2, kGroup = 2 * kByteBit;
  if (!layout || rank != kDims)
    return std::nullopt;
  uint64_t bits[kDims] = {}, ofRegisters[kDims] = {};
  bool isApart = true;
  auto take = [&](ArrayRef<tile::Mode> modes, uint64_t *taken) {
    for (const tile::Mode &mode : modes) {
      if (mode.extent == 1 || mode.stride % kGroup == 0)
        continue;
      auto extent = static_cast<uint64_t>(mode.extent),
           stride = static_cast<uint64_t>(mode.stride);
      uint64_t own = (extent - 1) * stride;
      isApart &= llvm::isPowerOf2_64(extent) && llvm::isPowerOf2_64(stride) &&
                 !(bits[mode.dim] & own);
      bits[mode.dim] |= own;
      if (taken)
        taken[mode.dim] |= own;
    }
  };
  take(layout.getRegisters(), ofRegisters);
  take(layout.getLanes(), nullptr);
  take(layout.getWarps(), nullptr);
  if (!isApart || !(ofRegisters[0] & ofRegisters[1] & kByteBit))
    return std::nullopt;
  int64_t distance = 1;
  for (const tile::Mode &mode : layout.getLanes()) {
    bool ofOther = ofRegisters[1 - mode.dim] & kWordBit;
    if (mode.extent > 1 && mode.stride == kWordBit && ofOther &&
        llvm::isPowerOf2_64(distance))
      return LanePair{mode.dim, distance};
    distance *= mode.extent;
  }
  return std::nullopt;
}

LogicalResult RegionVectorizer::draw(tile::IsKeptOp op,
                                     const KernelContext &context) {
  if (drawInPairs(op, context))
    return success();
  // Each for itself: the scalars of the arithmetic are converted.
  expansions.push_back(std::make_unique<Block>());
  Block *block = expansions.back().get();
  OpBuilder inner(op.getContext());
  inner.setInsertionPointToEnd(block);
  Value isKept =
      tile::IsKeptOp::expand(inner, op, [](Value operand) { return operand; });
  for (Operation &scalar : *block)
    if (failed(convert(scalar, context)))
      return failure();
  map(op.getResult(), Lanewise(known.lookup(isKept)));
  return success();
}

namespace {
/// The calls of pairs of lanes, for registers that are in groups of 8.
struct PairedCalls {
  Philox b;
  PhiloxSeed seed;
  Value head, query, key;
  /// Whether this is the lane of a pair with bit 0.
  Value isOdd;
  bool laneHasQuery;
  int64_t distance, lanes, threshold;
  using Group = std::pair<int32_t, int32_t>;

  /// What a lane has of its two words of the first group, and of the second
  /// one, if there is one.
  SmallVector<Value, 4> draw(Group first, std::optional<Group> second);
  /// The words of all groups.
  SmallVector<Value> drawAll(ArrayRef<Group> groups);
  /// The same where `starts` is true, and elsewhere, with a byte for each
  /// register in the same place, by a call for each element.
  SmallVector<Value> drawWhere(Value starts, ArrayRef<Group> groups,
                               const Lanewise &queries, const Lanewise &keys,
                               ArrayRef<std::pair<unsigned, unsigned>> places);

private:
  SmallVector<Value> drawEach(const Lanewise &queries, const Lanewise &keys,
                              ArrayRef<std::pair<unsigned, unsigned>> places,
                              size_t count);
  Value choose(Value ifOdd, Value ifEven) {
    return b.createOrFold<arith::SelectOp>(isOdd, ifOdd, ifEven);
  }
  /// The number plus one offset in the lane without the bit, and another one in
  /// that with it.
  Value add(Value number, int32_t even, int32_t odd) {
    if (even != odd)
      number = arith::AddIOp::create(
          b, number,
          choose(b.word(static_cast<uint32_t>(odd - even)), b.word(0)));
    if (even)
      number =
          arith::AddIOp::create(b, number, b.word(static_cast<uint32_t>(even)));
    return number;
  }
};
} // namespace

SmallVector<Value, 4> PairedCalls::draw(Group first,
                                        std::optional<Group> second) {
  Group other = second.value_or(first);
  Philox::Words words = b.draw(seed, head, add(query, first.first, other.first),
                               add(key, first.second, other.second));
  SmallVector<Value, 4> own;
  for (bool inRegister : {false, true}) {
    auto find = [&](bool inLane) {
      return words[laneHasQuery ? getWordNumber(inLane, inRegister)
                                : getWordNumber(inRegister, inLane)];
    };
    Value ofEven = find(false), ofOdd = find(true);
    if (!second) {
      own.push_back(choose(ofOdd, ofEven));
      continue;
    }
    Value given = gpu::ShuffleOp::create(b, choose(ofEven, ofOdd), distance,
                                         lanes, gpu::ShuffleMode::XOR)
                      .getShuffleResult();
    own.insert(own.begin() + inRegister, choose(given, ofEven));
    own.push_back(choose(ofOdd, given));
  }
  for (Value &word : own)
    word = b.compareBytes(word, threshold);
  return own;
}

SmallVector<Value> PairedCalls::drawAll(ArrayRef<Group> groups) {
  SmallVector<Value> words;
  for (size_t i = 0; i < groups.size(); i += 2)
    llvm::append_range(words, draw(groups[i], i + 1 < groups.size()
                                                  ? std::optional(groups[i + 1])
                                                  : std::nullopt));
  return words;
}

// Blocks start at such a place, but for those that end with the last row.
SmallVector<Value>
PairedCalls::drawWhere(Value starts, ArrayRef<Group> groups,
                       const Lanewise &queries, const Lanewise &keys,
                       ArrayRef<std::pair<unsigned, unsigned>> places) {
  SmallVector<Type> types(2 * groups.size(), b.getI32Type());
  auto branch = scf::IfOp::create(b, types, starts, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, drawAll(groups));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, drawEach(queries, keys, places, types.size()));
  return branch.getResults();
}

SmallVector<Value>
PairedCalls::drawEach(const Lanewise &queries, const Lanewise &keys,
                      ArrayRef<std::pair<unsigned, unsigned>> places,
                      size_t count) {
  constexpr unsigned kByte = 8, kBit = 0x80;
  SmallVector<Value> words(count, b.word(0));
  auto find = [&](const Lanewise &position, size_t reg) -> Value {
    auto offset = static_cast<uint32_t>(position.offsets[reg]);
    Value number = arith::AddIOp::create(b, position.base, b.word(offset));
    return arith::IndexCastOp::create(b, b.getIndexType(), number);
  };
  for (auto [reg, place] : llvm::enumerate(places)) {
    Value isKept =
        b.isKept(seed, head, find(queries, reg), find(keys, reg), threshold);
    Value bit = arith::SelectOp::create(
        b, isKept, b.word(kBit << kByte * place.second), b.word(0));
    words[place.first] = arith::OrIOp::create(b, words[place.first], bit);
  }
  return words;
}

Value RegionVectorizer::findOwnPlace(const Lanewise &position,
                                     tile::IsKeptOp op) {
  auto indices = op->getBlock()->getArguments().take_back(rank);
  std::optional<Lanewise> own =
      findPosition(indices[llvm::countr_zero(position.dims)], Everywhere);
  bool isFurther = own && position.base && own->offsets == position.offsets;
  return isFurther ? own->base : Value();
}

/// Whether none of the bits differ between places of a query and a key and the
/// thread's own places in the tile.
static Value startsWithGroup(Philox b, Value query, Value ownQuery, Value key,
                             Value ownKey, uint32_t bits) {
  Value differs =
      arith::OrIOp::create(b, arith::XOrIOp::create(b, query, ownQuery),
                           arith::XOrIOp::create(b, key, ownKey));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                               arith::AndIOp::create(b, differs, b.word(bits)),
                               b.word(0));
}

bool RegionVectorizer::drawInPairs(tile::IsKeptOp op,
                                   const KernelContext &context) {
  constexpr uint64_t kInGroup = kWordBit | kByteBit, kOfGroup = 15;
  std::optional<LanePair> pair = findLanePair(layout, rank);
  if (!pair || findVaries({op.getHead(), op.getSeed0(), op.getSeed1(),
                           op.getOffset()}) != Nowhere)
    return false;
  std::optional<Lanewise> query = findPosition(op.getQuery(), Everywhere),
                          key = findPosition(op.getKey(), Everywhere);
  if (!query || !key || (query->dims | key->dims) != Everywhere ||
      query->dims == Everywhere || key->dims == Everywhere)
    return false;
  bool isAligned = !((query->rest | key->rest) & kOfGroup);
  Value ownQuery = isAligned ? Value() : findOwnPlace(*query, op),
        ownKey = isAligned ? Value() : findOwnPlace(*key, op);
  if (!isAligned && (!ownQuery || !ownKey))
    return false;
  bool laneHasQuery = query->dims == 1u << pair->dim;
  Philox b(loc, this->b);
  auto toGroup = [&](Value base) -> Value {
    if (!base)
      return b.word(0);
    return arith::AndIOp::create(b, base,
                                 b.word(~static_cast<uint32_t>(kInGroup)));
  };
  Value bit = arith::AndIOp::create(b, (laneHasQuery ? query : key)->base,
                                    b.word(kWordBit));
  PairedCalls calls{
      b,
      {{lookup(op.getSeed0(), Nowhere), lookup(op.getSeed1(), Nowhere)},
       lookup(op.getOffset(), Nowhere)},
      lookup(op.getHead(), Nowhere),
      toGroup(query->base),
      toGroup(key->base),
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bit, b.word(0)),
      laneHasQuery,
      pair->distance,
      context.target.getLanes(),
      static_cast<int64_t>(op.getThreshold())};

  SmallVector<PairedCalls::Group> groups;
  DrawnBits bits;
  auto has = [](int32_t offset, int64_t bit) { return (offset & bit) != 0; };
  auto without = static_cast<int32_t>(~kInGroup);
  for (auto [ofQuery, ofKey] : llvm::zip_equal(query->offsets, key->offsets)) {
    PairedCalls::Group group(ofQuery & without, ofKey & without);
    auto number =
        static_cast<unsigned>(llvm::find(groups, group) - groups.begin());
    if (number == groups.size())
      groups.push_back(group);
    bool upper = has(laneHasQuery ? ofKey : ofQuery, kWordBit);
    bits.places.emplace_back(
        2 * number + unsigned(upper),
        getByteNumber(has(ofQuery, kByteBit), has(ofKey, kByteBit)));
  }
  if (isAligned)
    bits.words = calls.drawAll(groups);
  else
    bits.words = calls.drawWhere(
        startsWithGroup(b, query->base, ownQuery, key->base, ownKey, kOfGroup),
        groups, *query, *key, bits.places);
  SmallVector<Value> flags;
  for (auto [word, byte] : bits.places)
    flags.push_back(arith::CmpIOp::create(
        b, arith::CmpIPredicate::ne,
        arith::AndIOp::create(b, bits.words[word], b.word(0x80u << 8 * byte)),
        b.word(0)));
  Value isKept = vector::FromElementsOp::create(
      b, vectorType(b.getI1Type(), Everywhere), flags);
  map(op.getResult(), {isKept, Everywhere});
  drawn[op.getResult()] = std::move(bits);
  return true;
}

/// What is kept, and with another sign what is not: the bit becomes the sign's.
static Value negateDropped(Philox b, Value numbers, const DrawnBits &bits) {
  constexpr unsigned kByte = 8, kHighest = 3;
  auto type = cast<VectorType>(numbers.getType());
  auto words = type.clone(b.getI32Type());
  SmallVector<Value> signs;
  for (auto [word, byte] : bits.places) {
    Value isKept = arith::ShLIOp::create(b, bits.words[word],
                                         b.word(kByte * (kHighest - byte)));
    Value isDropped = arith::XOrIOp::create(b, isKept, b.word(~0u));
    signs.push_back(arith::AndIOp::create(b, isDropped, b.word(1u << 31)));
  }
  Value changed =
      arith::XOrIOp::create(b, vector::BitCastOp::create(b, words, numbers),
                            vector::FromElementsOp::create(b, words, signs));
  return vector::BitCastOp::create(b, type, changed);
}

/// Numbers of 16 bits that are rounded from what is kept, or from 0, are
/// cleared two at a time when they are rounded.
Value RegionVectorizer::takeKept(Operation &op, const KernelContext &context) {
  auto round = dyn_cast<arith::TruncFOp>(op);
  auto choice = round ? round.getIn().getDefiningOp<arith::SelectOp>()
                      : dyn_cast<arith::SelectOp>(op);
  auto found = choice ? drawn.find(choice.getCondition()) : drawn.end();
  if (found == drawn.end())
    return {};
  const DrawnBits &bits = found->second;
  auto negated = choice.getFalseValue().getDefiningOp<arith::NegFOp>();
  Value kept = choice.getTrueValue();
  if (!round)
    return negated && negated.getOperand() == kept && kept.getType().isF32()
               ? negateDropped(Philox(loc, b), lookup(kept, Everywhere), bits)
               : Value();
  int64_t count = getNumElements(Everywhere);
  if (round.getType().getIntOrFloatBitWidth() != 16 || count % 2 != 0 ||
      !matchPattern(choice.getFalseValue(), m_PosZeroFloat()))
    return {};
  Value rounded =
      createOnVectors(op, lookup(kept, Everywhere), Everywhere)->getResult(0);
  auto words = VectorType::get(count / 2, b.getI32Type());
  SmallVector<Value> masks;
  for (int64_t i = 0; i < count; i += 2) {
    auto [low, lowByte] = bits.places[i];
    auto [high, highByte] = bits.places[i + 1];
    masks.push_back(context.model->emitSigns(b, loc, bits.words[low], lowByte,
                                             bits.words[high], highByte));
  }
  Value cleared = arith::AndIOp::create(
      b, loc, vector::BitCastOp::create(b, loc, words, rounded),
      vector::FromElementsOp::create(b, loc, words, masks));
  return vector::BitCastOp::create(b, loc, rounded.getType(), cleared);
}
