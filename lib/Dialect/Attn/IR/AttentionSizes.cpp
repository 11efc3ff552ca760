// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes that are known when the op runs: what is asserted of them in front of
// it, and checks of those that have to agree. Checks say what the verifier says
// of static sizes, under the same ids.

#include "attune/Dialect/Attn/IR/SizeFacts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"
#include <numeric>

using namespace mlir;
using namespace attune::attn;

//===----------------------------------------------------------------------===//
// What is asserted
//===----------------------------------------------------------------------===//

static bool isAsserted(Value condition, Operation *before) {
  return llvm::any_of(condition.getUsers(), [&](Operation *user) {
    if (!isa<cf::AssertOp>(user))
      return false;
    Operation *place = user->getBlock()->findAncestorOpInBlock(*before);
    return place && user->isBeforeInBlock(place);
  });
}

/// A constant that a size may be compared with or divided by.
static std::optional<int64_t> getNumber(Value value) {
  APInt number;
  if (!matchPattern(value, m_ConstantInt(&number)) || number.isNegative() ||
      number.getActiveBits() > 31)
    return std::nullopt;
  return number.getSExtValue();
}

/// The predicate of the same comparison with its operands swapped.
static arith::CmpIPredicate swapOperands(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::ult:
  case P::slt:
    return P::ugt;
  case P::ule:
  case P::sle:
    return P::uge;
  case P::ugt:
  case P::sgt:
    return P::ult;
  case P::uge:
  case P::sge:
    return P::ule;
  default:
    return predicate;
  }
}

/// Adds what an asserted comparison of the size says. A size is not negative,
/// so signed and unsigned comparisons say the same.
static void addComparison(SizeFacts &facts, arith::CmpIOp compare, Value size) {
  using P = arith::CmpIPredicate;
  P predicate = compare.getPredicate();
  std::optional<int64_t> bound = getNumber(compare.getRhs());
  if (compare.getLhs() != size) {
    predicate = swapOperands(predicate);
    bound = getNumber(compare.getLhs());
  }
  if (!bound)
    return;
  if (llvm::is_contained({P::eq, P::ule, P::sle}, predicate))
    facts.max = std::min(facts.max, *bound);
  if (llvm::is_contained({P::ult, P::slt}, predicate))
    facts.max = std::min(facts.max, *bound - 1);
  if (llvm::is_contained({P::eq, P::uge, P::sge}, predicate))
    facts.min = std::max(facts.min, *bound);
  if (llvm::is_contained({P::ugt, P::sgt}, predicate))
    facts.min = std::max(facts.min, *bound + 1);
}

/// Adds what is asserted of `size`: comparisons with constants, and that the
/// remainder of a division by a constant is 0.
static void addAssertions(SizeFacts &facts, Value size, Operation *before) {
  for (Operation *user : size.getUsers()) {
    if (auto compare = dyn_cast<arith::CmpIOp>(user)) {
      if (isAsserted(compare, before))
        addComparison(facts, compare, size);
      continue;
    }
    if (!isa<arith::RemUIOp, arith::RemSIOp>(user) ||
        user->getOperand(0) != size)
      continue;
    std::optional<int64_t> by = getNumber(user->getOperand(1));
    for (Operation *other : user->getResult(0).getUsers()) {
      auto compare = dyn_cast<arith::CmpIOp>(other);
      if (by.value_or(0) != 0 && compare &&
          compare.getPredicate() == arith::CmpIPredicate::eq &&
          matchPattern(compare.getRhs(), m_Zero()) &&
          isAsserted(compare, before))
        facts.divisor = std::lcm(facts.divisor, *by);
    }
  }
}

static SizeFacts getFacts(AttentionOpInterface op, int64_t size,
                          ArrayRef<Value> tensors) {
  if (ShapedType::isStatic(size))
    return {std::max<int64_t>(1, size), size, size};
  SizeFacts facts;
  for (Value tensor : tensors)
    for (Operation *user : tensor.getUsers())
      if (auto dim = dyn_cast<tensor::DimOp>(user);
          dim && dim.getConstantIndex() == op.getSeqPos())
        addAssertions(facts, dim, op);
  return facts;
}

/// What is known of the lengths of batches where that is known of the tensor's.
static SizeFacts forEachLength(SizeFacts facts, Value lengths, Value starts) {
  return lengths || starts ? SizeFacts{1, 0, facts.max} : facts;
}

SizeFacts attune::attn::getQueryFacts(AttentionOpInterface op) {
  return forEachLength(getFacts(op, op.getSeqQ(), {op.getQuery()}),
                       op.getQueryLengths(), op.getQueryStarts());
}

SizeFacts attune::attn::getKeyFacts(AttentionOpInterface op) {
  if (op.getPages() && ShapedType::isDynamic(op.getSeqK()))
    return forEachLength(SizeFacts{op.getPageSize()}, op.getKeyLengths(),
                         /*starts=*/Value());
  return forEachLength(getFacts(op, op.getSeqK(), {op.getKey(), op.getValue()}),
                       op.getKeyLengths(), op.getKeyStarts());
}

OpFoldResult attune::attn::getKeyCount(OpBuilder &builder,
                                       AttentionOpInterface op) {
  if (ShapedType::isStatic(op.getSeqK()))
    return builder.getIndexAttr(op.getSeqK());
  Location loc = op.getLoc();
  if (!op.getPages())
    return tensor::getMixedSize(builder, loc, op.getKey(), op.getSeqPos());
  Value most = tensor::DimOp::create(builder, loc, op.getPages(), 1);
  Value page = arith::ConstantIndexOp::create(builder, loc, op.getPageSize());
  return arith::MulIOp::create(builder, loc, most, page).getResult();
}

int64_t attune::attn::detail::getSeqKDivisor(Operation *op) {
  return getKeyFacts(AttentionOpInterface(op)).divisor;
}

BlockArgument attune::attn::getBatchArgument(Region &region) {
  // Behind the score, which masks do not have.
  constexpr unsigned kOfScore = 5;
  return region.getArgument(region.getNumArguments() == kOfScore ? 1 : 0);
}

OpFoldResult attune::attn::getBatchCount(OpBuilder &builder,
                                         AttentionOpInterface op) {
  if (ShapedType::isStatic(op.getBatch()))
    return builder.getIndexAttr(op.getBatch());
  Location loc = op.getLoc();
  Value starts = op.getQueryStarts();
  if (!starts)
    return tensor::getMixedSize(builder, loc, op.getQuery(), op.getBatchPos());
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value count = tensor::DimOp::create(builder, loc, starts, 0);
  return arith::SubIOp::create(builder, loc, count, one).getResult();
}

/// An element of lengths or starts within 0 and `size`.
static Value clamp(ImplicitLocOpBuilder &b, Value element, Value size) {
  Value number = arith::IndexCastOp::create(b, b.getIndexType(), element);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  return arith::MinSIOp::create(b, arith::MaxSIOp::create(b, number, zero),
                                size);
}

Value attune::attn::clampStart(ImplicitLocOpBuilder &b, Value start,
                               Value size) {
  return clamp(b, start, size);
}

BatchRows attune::attn::getBatchRows(ImplicitLocOpBuilder &b, Value starts,
                                     Value lengths, Value batch, Value size,
                                     EmitLoad load) {
  BatchRows rows{{}, size, size};
  if (starts) {
    rows.first = clampStart(b, load(starts, batch), size);
    Value next =
        arith::AddIOp::create(b, batch, arith::ConstantIndexOp::create(b, 1));
    Value end = clampStart(b, load(starts, next), size);
    Value zero = arith::ConstantIndexOp::create(b, 0);
    rows.length = rows.room = arith::MaxSIOp::create(
        b, arith::SubIOp::create(b, end, rows.first), zero);
  }
  if (lengths)
    rows.length = clamp(b, load(lengths, batch), rows.room);
  return rows;
}

//===----------------------------------------------------------------------===//
// What is checked
//===----------------------------------------------------------------------===//

StringRef attune::attn::getPositionsName(char position) {
  switch (position) {
  case 'b':
    return "batches";
  case 'h':
    return "heads of query";
  case 'm':
    return "queries";
  default:
    return "keys";
  }
}

SmallVector<TableSize> attune::attn::getTableSizes(AttentionOpInterface op) {
  SmallVector<TableSize> sizes;
  for (Region *region : {&op.getScore(), &op.getMask()}) {
    constexpr StringRef names = "bhmn";
    // The score comes first where there is one.
    unsigned first = region == &op.getScore() ? 1 : 0;
    region->walk([&](tensor::ExtractOp extract) {
      for (auto [dim, index] : llvm::enumerate(extract.getIndices())) {
        auto argument = dyn_cast<BlockArgument>(index);
        if (argument && argument.getParentRegion() == region &&
            argument.getArgNumber() >= first)
          sizes.push_back({extract.getTensor(), static_cast<int64_t>(dim),
                           names[argument.getArgNumber() - first]});
      }
    });
  }
  return sizes;
}

SmallVector<BlockList, 4> attune::attn::getBlockLists(AttentionOpInterface op) {
  SmallVector<BlockList, 4> lists{
      {"counts of blocks", op.getBlockCounts()},
      {"indices of blocks", op.getBlockIndices()},
      {"counts of full blocks", op.getFullBlockCounts()},
      {"indices of full blocks", op.getFullBlockIndices()}};
  llvm::erase_if(lists, [](const BlockList &list) { return !list.tensor; });
  return lists;
}

namespace {
/// A size of a tensor, and how a message calls the tensor.
struct NamedDim {
  StringRef name;
  Value tensor;
  int64_t dim;

  bool isDynamic() const {
    return cast<RankedTensorType>(tensor.getType()).isDynamicDim(dim);
  }
};

/// Emits checks in front of an op.
class SizeChecks {
public:
  using Describe = function_ref<std::string(Operation *, StringRef)>;
  SizeChecks(OpBuilder &builder, Location loc, Operation *checked,
             Describe describe)
      : b(loc, builder), checked(checked), describe(describe) {}

  Value emitSize(NamedDim size) {
    return b.createOrFold<tensor::DimOp>(size.tensor, size.dim);
  }
  void expect(arith::CmpIPredicate predicate, Value left, Value right,
              const Twine &message) {
    Value holds = arith::CmpIOp::create(b, predicate, left, right);
    cf::AssertOp::create(b, holds, describe(checked, message.str()));
  }
  void expectEqual(NamedDim left, NamedDim right, StringRef what);

  ImplicitLocOpBuilder b;

private:
  Operation *checked;
  Describe describe;
};

class CheckEmitter : private SizeChecks {
public:
  CheckEmitter(OpBuilder &builder, Location loc, AttentionOpInterface op,
               Describe describe)
      : SizeChecks(builder, loc, op, describe), op(op) {}

  void emit();
  /// That starts rise from 0 to a place that there is.
  void emitStarts();

private:
  void expectMultiple(NamedDim left, NamedDim right);
  void expectBatches();
  void expectStarts(StringRef name, Value starts, Value places);
  void expectElements(const TableSize &size);
  void expectBlocks(const BlockList &list);
  void expectScales(const Scales &scales, StringRef what, Value numbers);

  AttentionOpInterface op;
};
} // namespace

// Who reports a failed assertion can name the numbers that its condition
// compares, in that order. Canonicalization puts constants last, so messages
// name what is dynamic first.

void SizeChecks::expectEqual(NamedDim left, NamedDim right, StringRef what) {
  if (!left.isDynamic())
    std::swap(left, right);
  if (!left.isDynamic() || left.tensor == right.tensor)
    return;
  expect(arith::CmpIPredicate::eq, emitSize(left), emitSize(right),
         "expects " + left.name + " and " + right.name + " to have one " +
             what);
}

void CheckEmitter::expectMultiple(NamedDim left, NamedDim right) {
  if ((!left.isDynamic() && !right.isDynamic()) || left.tensor == right.tensor)
    return;
  Value one = arith::ConstantIndexOp::create(b, 1),
        zero = arith::ConstantIndexOp::create(b, 0);
  Value heads = emitSize(left), groups = emitSize(right);
  if (right.isDynamic())
    expect(arith::CmpIPredicate::uge, groups,
           arith::MinUIOp::create(b, heads, one),
           "expects " + right.name + " to have a head where " + left.name +
               " has heads");
  Value rest =
      arith::RemUIOp::create(b, heads, arith::MaxUIOp::create(b, groups, one));
  expect(arith::CmpIPredicate::eq, rest, zero,
         "expects the heads of " + left.name +
             " to be a multiple of those of " + right.name);
}

void CheckEmitter::expectElements(const TableSize &size) {
  NamedDim table{"", size.table, size.dim};
  OpFoldResult needed;
  auto sizeOfQuery = [&](int64_t dim) {
    return tensor::getMixedSize(b, b.getLoc(), op.getQuery(), dim);
  };
  switch (size.position) {
  case 'b':
    needed = getBatchCount(b, op);
    break;
  case 'h':
    needed = sizeOfQuery(op.getHeadPos());
    break;
  case 'm':
    needed = sizeOfQuery(op.getSeqPos());
    break;
  default:
    needed = getKeyCount(b, op);
  }
  std::string name = "dimension " + std::to_string(size.dim) +
                     " of a tensor that a region reads";
  StringRef positions = getPositionsName(size.position);
  if (table.isDynamic())
    expect(arith::CmpIPredicate::uge, emitSize(table),
           getValueOrCreateConstantIndexOp(b, b.getLoc(), needed),
           "expects " + name +
               " to have at least as many elements as there "
               "are " +
               positions);
  else if (auto value = dyn_cast<Value>(needed))
    expect(arith::CmpIPredicate::ule, value, emitSize(table),
           "expects no more " + positions + " than elements of " + name);
}

void CheckEmitter::expectBlocks(const BlockList &list) {
  auto type = cast<RankedTensorType>(list.tensor.getType());
  auto expectShared = [&](int64_t dim, NamedDim all, StringRef what) {
    if (type.getDimSize(dim) != 1)
      expectEqual({list.name, list.tensor, dim}, all, what);
  };
  expectShared(0, {"query", op.getQuery(), op.getBatchPos()}, "batch size");
  expectShared(1, {"query", op.getQuery(), op.getHeadPos()}, "number of heads");
  NamedDim blocks{list.name, list.tensor, 2},
      length{"query", op.getQuery(), op.getSeqPos()};
  if (blocks.isDynamic() || length.isDynamic()) {
    Value size = arith::ConstantIndexOp::create(b, op.getListedQueries());
    Value needed = b.createOrFold<arith::CeilDivUIOp>(emitSize(length), size);
    Value there = emitSize(blocks);
    std::string text = "expects " + list.name.str() + " to have a place for " +
                       "each block of " +
                       std::to_string(op.getListedQueries()) + " queries";
    if (!blocks.isDynamic())
      std::swap(there, needed);
    expect(arith::CmpIPredicate::eq, there, needed, text);
  }
  if (type.getRank() == 4 && type.isDynamicDim(3))
    expect(arith::CmpIPredicate::uge, emitSize({list.name, list.tensor, 3}),
           arith::ConstantIndexOp::create(b, 1),
           "expects " + list.name + " to have room for at least 1 block");
}

void CheckEmitter::expectScales(const Scales &scales, StringRef what,
                                Value numbers) {
  std::string name = (what + " of " + scales.name).str();
  for (int64_t dim = 0; dim < 4; ++dim) {
    NamedDim all{scales.name, scales.operand, dim}, size{name, numbers, dim};
    if (scales.isShared(dim) || (!all.isDynamic() && !size.isDynamic()))
      continue;
    Value block = arith::ConstantIndexOp::create(b, scales.getBlock(dim));
    Value needed = b.createOrFold<arith::CeilDivUIOp>(emitSize(all), block);
    Value there = emitSize(size);
    if (!size.isDynamic())
      std::swap(there, needed);
    expect(arith::CmpIPredicate::eq, there, needed,
           "expects " + name + " to have an element for each " +
               std::to_string(scales.getBlock(dim)) + " along dimension " +
               std::to_string(dim));
  }
}

/// That all operands are of as many batches.
void CheckEmitter::expectBatches() {
  SmallVector<NamedDim> batches, starts;
  int64_t position = op.getBatchPos();
  if (!op.getQueryStarts())
    batches.push_back({"query", op.getQuery(), position});
  if (!op.getKeyStarts() && !op.getPages()) { // attention_c3
    batches.push_back({"key", op.getKey(), position});
    batches.push_back({"value", op.getValue(), position});
  }
  if (op.getPages()) { // attention_c24
    batches.push_back({"pages", op.getPages(), 0});
    expectEqual({"key", op.getKey(), position},
                {"value", op.getValue(), position}, "number of pages");
  }
  for (auto [name, lengths] :
       {std::pair<StringRef, Value>{"query lengths", op.getQueryLengths()},
        {"key lengths", op.getKeyLengths()}}) // attention_c23
    if (lengths)
      batches.push_back({name, lengths, 0});
  for (auto [name, tensor] :
       {std::pair<StringRef, Value>{"query starts", op.getQueryStarts()},
        {"key starts", op.getKeyStarts()}}) // attention_c25
    if (tensor)
      starts.push_back({name, tensor, 0});
  for (const NamedDim &other : ArrayRef(batches).drop_front(!batches.empty()))
    expectEqual(batches.front(), other, "batch size");
  for (const NamedDim &start : starts) {
    if (start.isDynamic())
      expect(arith::CmpIPredicate::uge, emitSize(start),
             arith::ConstantIndexOp::create(b, 2),
             "expects " + start.name + " to have at least 2 elements");
    if (start.tensor != starts.front().tensor)
      expectEqual(starts.front(), start, "number of batches");
  }
  if (starts.empty() || batches.empty() ||
      (!starts.front().isDynamic() && !batches.front().isDynamic()))
    return;
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value needed = arith::AddIOp::create(b, emitSize(batches.front()), one);
  expect(arith::CmpIPredicate::eq, emitSize(starts.front()), needed,
         "expects " + starts.front().name +
             " to have one element more than there are batches of " +
             batches.front().name);
}

void CheckEmitter::expectStarts(StringRef name, Value starts, Value places) {
  Value zero = arith::ConstantIndexOp::create(b, 0),
        one = arith::ConstantIndexOp::create(b, 1);
  auto load = [&](Value place) -> Value {
    return arith::IndexCastOp::create(
        b, b.getIndexType(), tensor::ExtractOp::create(b, starts, place));
  };
  expect(arith::CmpIPredicate::eq, load(zero), zero,
         "expects the first of " + name + " to be 0");
  Value count = b.createOrFold<tensor::DimOp>(starts, 0);
  auto loop = scf::ForOp::create(b, one, count, one);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value place = loop.getInductionVar();
    Value before = arith::SubIOp::create(b, place, one);
    expect(arith::CmpIPredicate::sge, load(place), load(before),
           "expects no element of " + name + " below the one before it");
  }
  Value last = arith::SubIOp::create(b, count, one);
  expect(arith::CmpIPredicate::sle, load(last), places,
         "expects " + name + " to end within the tensor");
}

void CheckEmitter::emitStarts() {
  if (Value starts = op.getQueryStarts())
    expectStarts("query starts", starts,
                 b.createOrFold<tensor::DimOp>(op.getQuery(), op.getSeqPos()));
  if (Value starts = op.getKeyStarts())
    expectStarts("key starts", starts,
                 b.createOrFold<tensor::DimOp>(op.getKey(), op.getSeqPos()));
}

void CheckEmitter::emit() {
  auto sizesAt = [&](int64_t dim) {
    return std::array<NamedDim, 3>{NamedDim{"query", op.getQuery(), dim},
                                   NamedDim{"key", op.getKey(), dim},
                                   NamedDim{"value", op.getValue(), dim}};
  };
  auto heads = sizesAt(op.getHeadPos()), length = sizesAt(op.getSeqPos());
  expectBatches();
  expectEqual(heads[1], heads[2], "number of heads"); // attention_c4
  expectEqual(length[1], length[2], "length");        // attention_c5
  expectMultiple(heads[0], heads[1]);                 // attention_c7
  if (op.getAlibiSlopes())                            // attention_c10
    expectEqual(heads[0], {"alibi slopes", op.getAlibiSlopes(), 0},
                "number of heads");
  if (op.getSinks()) // attention_c11
    expectEqual(heads[0], {"sinks", op.getSinks(), 0}, "number of heads");
  for (const TableSize &size : getTableSizes(op)) // attention_c20
    expectElements(size);
  for (const BlockList &list : getBlockLists(op)) // attention_c22
    expectBlocks(list);
  if (auto forward = dyn_cast<AttentionOp>(*op)) // attention_c27
    for (const Scales &scales : getScales(forward)) {
      expectScales(scales, "scales", scales.scales);
      if (scales.zeros)
        expectScales(scales, "zero points", scales.zeros);
    }
}

namespace {
template <typename OpT>
struct RuntimeVerification
    : RuntimeVerifiableOpInterface::ExternalModel<RuntimeVerification<OpT>,
                                                  OpT> {
  void generateRuntimeVerification(
      Operation *op, OpBuilder &builder, Location loc,
      function_ref<std::string(Operation *, StringRef)> describe) const {
    CheckEmitter checks(builder, loc, cast<OpT>(op), describe);
    checks.emit();
    checks.emitStarts();
  }
};

/// Parts and their logarithms are of as many batches, heads and queries as the
/// first part is.
struct MergeVerification
    : RuntimeVerifiableOpInterface::ExternalModel<MergeVerification, MergeOp> {
  void generateRuntimeVerification(
      Operation *op, OpBuilder &builder, Location loc,
      function_ref<std::string(Operation *, StringRef)> describe) const {
    auto merge = cast<MergeOp>(op);
    SizeChecks checks(builder, loc, op, describe);
    Value first = merge.getParts().front();
    const std::tuple<int64_t, int64_t, StringRef> dims[] = {
        {merge.getBatchPos(), 0, "batch size"},
        {merge.getHeadPos(), 1, "number of heads"},
        {merge.getSeqPos(), 2, "length"}};
    for (auto [number, part, lse] :
         llvm::enumerate(merge.getParts(), merge.getLses())) {
      std::string name = "part " + std::to_string(number),
                  ofName = "lse of " + name;
      for (auto [ofPart, ofLse, what] : dims) {
        if (part != first)
          checks.expectEqual({"part 0", first, ofPart}, {name, part, ofPart},
                             what); // merge_c4
        checks.expectEqual({"part 0", first, ofPart}, {ofName, lse, ofLse},
                           what); // merge_c7
      }
    }
  }
};
} // namespace

void attune::attn::emitSizeChecks(OpBuilder &builder, AttentionOpInterface op) {
  CheckEmitter(builder, op.getLoc(), op, [](Operation *, StringRef message) {
    return message.str();
  }).emit();
}

void AttnDialect::attachRuntimeVerification() {
  AttentionOp::attachInterface<RuntimeVerification<AttentionOp>>(*getContext());
  AttentionGradOp::attachInterface<RuntimeVerification<AttentionGradOp>>(
      *getContext());
  MergeOp::attachInterface<MergeVerification>(*getContext());
}
