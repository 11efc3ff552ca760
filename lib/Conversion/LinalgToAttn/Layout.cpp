// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorts the digits of loops into the dimensions of attention.

#include "Layout.h"
#include "Reshape.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attune::raising;

static int64_t getSizeOf(ArrayRef<Digit> digits) {
  int64_t size = 1;
  for (const Digit &digit : digits)
    size = multiplySizes(size, digit.size);
  return size;
}

int64_t Layout::getSize(Position position) const {
  switch (position) {
  case Position::Batch:
    return getSizeOf(batch);
  case Position::Head:
    return multiplySizes(getSizeOf(keyHeads), getSizeOf(group));
  case Position::Query:
    return getSizeOf(queries);
  case Position::Key:
    return getSizeOf(keys);
  }
  llvm_unreachable("a position of the regions");
}

void Layout::addCuts(const TensorRead &read) {
  for (const IndexSum &index : read.indices)
    for (const IndexSum::Term &term : index.getTerms()) {
      const Digit &digit = term.digit;
      cuts[digit.variable].push_back(digit.stride);
      if (ShapedType::isStatic(digit.size))
        cuts[digit.variable].push_back(digit.stride * digit.size);
    }
}

/// A digit as those that all tensors can be read by; nothing where two tensors
/// cut a loop at places that do not divide each other.
std::optional<DimDigits> Layout::refine(const Digit &digit) const {
  int64_t end = ShapedType::isDynamic(digit.size)
                    ? std::numeric_limits<int64_t>::max()
                    : digit.stride * digit.size;
  DimDigits parts;
  int64_t stride = digit.stride;
  for (int64_t cut : cuts.at(digit.variable)) {
    if (cut <= stride || cut >= end)
      continue;
    if (cut % stride != 0)
      return std::nullopt;
    parts.push_back({digit.variable, stride, cut / stride});
    stride = cut;
  }
  if (ShapedType::isStatic(digit.size) && end % stride != 0)
    return std::nullopt;
  parts.push_back({digit.variable, stride,
                   ShapedType::isDynamic(digit.size) ? ShapedType::kDynamic
                                                     : end / stride});
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::optional<TensorDigits> Layout::refine(const TensorRead &read) const {
  TensorDigits dims;
  for (const IndexSum &index : read.indices) {
    std::optional<SmallVector<Digit>> digits = index.getDigits();
    if (!digits)
      return std::nullopt;
    DimDigits &dim = dims.emplace_back();
    for (const Digit &digit : *digits)
      if (std::optional<DimDigits> parts = refine(digit))
        llvm::append_range(dim, *parts);
      else
        return std::nullopt;
  }
  return dims;
}

static DimDigits flatten(const TensorDigits &dims) {
  DimDigits all;
  for (const DimDigits &dim : dims)
    llvm::append_range(all, dim);
  return all;
}

/// Whether only the outermost size is unknown, so that the rest can be counted.
static bool canJoin(ArrayRef<Digit> digits) {
  return digits.empty() ||
         llvm::all_of(digits.drop_front(), [](const Digit &digit) {
           return ShapedType::isStatic(digit.size);
         });
}

// NOLINTNEXTLINE(readability-function-size): one rule after the other
bool Layout::classify(const AttentionMatch &match, Mismatch &why) {
  auto fail = [&](const Twine &reason) {
    why = {match.second, reason.str()};
    return false;
  };
  for (auto [read, dims] : llvm::zip_equal(reads, tensors)) {
    std::optional<TensorDigits> refined = refine(read);
    if (!refined)
      return fail("expects dimensions that are split alike in all tensors");
    dims = *refined;
  }
  auto isIn = [](ArrayRef<Digit> digits) {
    return [digits](const Digit &digit) {
      return llvm::is_contained(digits, digit);
    };
  };
  DimDigits inQuery, shared, inValue;
  for (const Digit &digit : flatten(tensors[0]))
    (llvm::is_contained(match.headDims, digit.variable) ? headDims : inQuery)
        .push_back(digit);
  DimDigits inKey, keyHeadDims;
  for (const Digit &digit : flatten(tensors[1]))
    if (llvm::is_contained(match.headDims, digit.variable))
      keyHeadDims.push_back(digit);
    else
      (digit.variable == match.softmax.keys ? keys : inKey).push_back(digit);
  std::optional<TensorDigits> weights = refine(match.weights);
  if (!weights)
    return fail("expects dimensions that are split alike in all tensors");
  for (const Digit &digit : flatten(tensors[2]))
    if (llvm::is_contained(inKey, digit))
      inValue.push_back(digit);
    else if (digit.variable != match.softmax.keys)
      valueDims.push_back(digit);
  if (!llvm::all_of(keyHeadDims, isIn(headDims)) ||
      keyHeadDims.size() != headDims.size())
    return fail("expects query and key to be summed over all of their head "
                "size");
  if (!llvm::all_of(inKey, isIn(inQuery)))
    return fail("expects queries for every batch and head of keys");
  if (inValue.size() != inKey.size() ||
      llvm::any_of(valueDims, isIn(flatten(*weights))))
    return fail("expects keys and values of the same batch and heads");
  llvm::sort(
      keys, [](const Digit &a, const Digit &b) { return a.stride > b.stride; });
  DimDigits inResult = flatten(tensors[3]);
  if (inResult.size() != inQuery.size() + valueDims.size() ||
      !llvm::all_of(inQuery, isIn(inResult)) ||
      !llvm::all_of(valueDims, isIn(inResult)))
    return fail("expects a result for each query and element of values");

  // Queries are what weights have next to the keys; other loops that keys do
  // not have are query heads of one group.
  for (const DimDigits &dim : llvm::reverse(*weights)) {
    if (llvm::any_of(dim, isIn(inKey)) ||
        llvm::any_of(dim, [&](const Digit &digit) {
          return digit.variable == match.softmax.keys;
        }))
      continue;
    queries = dim;
    break;
  }
  for (const Digit &digit : inQuery)
    if (llvm::is_contained(inKey, digit))
      shared.push_back(digit);
    else if (!llvm::is_contained(queries, digit))
      group.push_back(digit);
  // Of several loops that keys have, their heads are the one that the group is
  // a part of, or else the innermost one of the query.
  // A single one is that of heads in a dimension with the group, or behind a
  // batch of 1, or with a sink of its own.
  const Element *sink = match.softmax.sink;
  auto isHeadAlone = [&](const Digit &digit) {
    bool isBehindOne = false;
    for (const DimDigits &dim : tensors[0]) {
      if (llvm::is_contained(dim, digit))
        return isBehindOne || llvm::any_of(group, isIn(dim)) ||
               (sink && sink->dependsOn(digit.variable));
      isBehindOne |= dim.empty();
    }
    return false;
  };
  auto isAboveGroup = [&](const Digit &digit) {
    return llvm::any_of(group, [&](const Digit &inner) {
      return inner.variable == digit.variable &&
             ShapedType::isStatic(inner.size) &&
             inner.stride * inner.size == digit.stride;
    });
  };
  if (shared.size() > 1 || (shared.size() == 1 && isHeadAlone(shared[0]))) {
    auto *heads = llvm::find_if(shared, isAboveGroup);
    if (heads == shared.end())
      --heads;
    keyHeads.push_back(*heads);
    shared.erase(heads);
  }
  batch = shared;
  DimDigits allHeads = keyHeads;
  llvm::append_range(allHeads, group);
  for (ArrayRef<Digit> digits :
       {ArrayRef<Digit>(batch), ArrayRef<Digit>(allHeads),
        ArrayRef<Digit>(queries), ArrayRef<Digit>(keys)})
    if (!canJoin(digits))
      return fail("expects batch, heads and lengths of which at most one loop "
                  "has a size that is not known");
  for (ArrayRef<Digit> digits :
       {ArrayRef<Digit>(headDims), ArrayRef<Digit>(valueDims)})
    if (ShapedType::isDynamic(getSizeOf(digits)))
      return fail("expects head sizes that are known, but got `?`");
  return true;
}

/// What belongs to rows of scores: the logarithm of the sum, and sinks.
bool Layout::classifyRows(const AttentionMatch &match, Mismatch &why) {
  auto fail = [&](const Twine &reason) {
    why = {match.second, reason.str()};
    return false;
  };
  if (match.lse) {
    lse = *match.lse;
    std::optional<TensorDigits> digits = refine(lse);
    DimDigits rows = flatten(arrange(Tensor::Query, "bhs"));
    if (!digits || flatten(*digits).size() != rows.size() ||
        !llvm::all_of(flatten(*digits), [&](const Digit &digit) {
          return llvm::is_contained(rows, digit);
        }))
      return fail("expects one logarithm of the sum for each query");
    lseDigits = *digits;
  }
  const Element *sink = match.softmax.sink;
  if (!sink)
    return true;
  if ((constantSink = sink->getFloat()))
    return ShapedType::isStatic(getSize(Position::Head)) ||
           fail("expects a known number of heads with a constant sink");
  std::optional<SmallVector<IndexSum>> indices =
      sink->isLoad() ? sink->getIndices() : std::nullopt;
  if (!indices)
    return fail("expects a sink that is an element of a tensor");
  sinks = {sink->value, *indices};
  std::optional<TensorDigits> digits =
      sinks.coversTensor() ? refine(sinks) : std::nullopt;
  if (!digits || flatten(*digits) != flatten(arrange(Tensor::Query, "h")))
    return fail("expects a tensor with one sink for each head");
  sinkDigits = *digits;
  return true;
}

TensorDigits Layout::arrange(Tensor tensor, StringRef order) const {
  bool isOfKeys = tensor == Tensor::Key || tensor == Tensor::Value;
  bool isOfValue = tensor == Tensor::Value || tensor == Tensor::Result;
  TensorDigits dims;
  for (char letter : order) {
    DimDigits &dim = dims.emplace_back();
    if (letter == 'b') {
      dim = batch;
    } else if (letter == 'h') {
      dim = keyHeads;
      if (!isOfKeys)
        llvm::append_range(dim, group);
    } else if (letter == 's') {
      dim = isOfKeys ? keys : queries;
    } else {
      dim = isOfValue ? valueDims : headDims;
    }
  }
  return dims;
}

void Layout::chooseOrder() {
  std::string candidate = "bdhs";
  std::pair<int, int> best{-1, -1};
  SmallVector<std::string> candidates{"bhsd", "bshd"};
  do
    candidates.push_back(candidate);
  while (std::next_permutation(candidate.begin(), candidate.end()));
  for (const std::string &other : candidates) {
    // First no transposes, then no reshapes.
    std::pair<int, int> score{0, 0};
    for (Tensor tensor :
         {Tensor::Query, Tensor::Key, Tensor::Value, Tensor::Result}) {
      TensorDigits wanted = arrange(tensor, other);
      const TensorDigits &given = tensors[static_cast<unsigned>(tensor)];
      score.first += flatten(wanted) == flatten(given);
      score.second += wanted == given;
    }
    if (score > best) {
      best = score;
      order = other;
    }
  }
}

void Layout::numberLoops(ElementBuilder &elements, linalg::LinalgOp op) {
  DimDigits heads = keyHeads;
  llvm::append_range(heads, group);
  const DimDigits *positions[] = {&batch, &heads, &queries, &keys};
  for (auto [position, digits] : llvm::enumerate(positions)) {
    // Behind the variables of the loops.
    variables[position] = elements.getVariable(op, op.getNumLoops() + position);
    int64_t stride = 1;
    for (const Digit &digit : llvm::reverse(*digits)) {
      IndexSum part =
          IndexSum::get(Digit{variables[position], stride, digit.size});
      loops[digit.variable] = loops[digit.variable].plus(part, digit.stride);
      stride = multiplySizes(stride, digit.size);
    }
  }
}

std::optional<Layout> Layout::get(const AttentionMatch &match,
                                  ElementBuilder &elements, Mismatch &why) {
  Layout layout;
  layout.reads = {match.query, match.key, match.value, match.result};
  for (const TensorRead &read : layout.reads)
    layout.addCuts(read);
  layout.addCuts(match.weights);
  if (match.lse)
    layout.addCuts(*match.lse);
  for (auto &[variable, places] : layout.cuts) {
    llvm::sort(places);
    places.erase(llvm::unique(places), places.end());
  }
  if (!layout.classify(match, why) || !layout.classifyRows(match, why))
    return std::nullopt;
  layout.chooseOrder();
  layout.numberLoops(elements, match.second);
  return layout;
}

Value Layout::make(OpBuilder &builder, Location loc, Tensor tensor) const {
  unsigned place = static_cast<unsigned>(tensor);
  return rearrange(builder, loc, reads[place].tensor, tensors[place],
                   arrange(tensor, order));
}

Value Layout::makeQuery(OpBuilder &builder, Location loc) const {
  return make(builder, loc, Tensor::Query);
}
Value Layout::makeKey(OpBuilder &builder, Location loc) const {
  return make(builder, loc, Tensor::Key);
}
Value Layout::makeValue(OpBuilder &builder, Location loc) const {
  return make(builder, loc, Tensor::Value);
}

static Value castTo(OpBuilder &builder, Location loc, Value tensor, Type type) {
  if (tensor.getType() == type)
    return tensor;
  return tensor::CastOp::create(builder, loc, type, tensor);
}

Value Layout::restoreResult(OpBuilder &builder, Location loc,
                            Value result) const {
  Value restored = rearrange(builder, loc, result,
                             arrange(Tensor::Result, order), tensors[3]);
  return castTo(builder, loc, restored, reads[3].tensor.getType());
}

Value Layout::restoreLse(OpBuilder &builder, Location loc, Value result) const {
  Value restored =
      rearrange(builder, loc, result, arrange(Tensor::Query, "bhs"), lseDigits);
  return castTo(builder, loc, restored, lse.tensor.getType());
}

Value Layout::makeSinks(OpBuilder &builder, Location loc) const {
  if (constantSink) {
    auto type =
        RankedTensorType::get({getSize(Position::Head)}, builder.getF32Type());
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(type, static_cast<float>(*constantSink)));
  }
  if (!sinks.tensor)
    return {};
  Value tensor = rearrange(builder, loc, sinks.tensor, sinkDigits,
                           arrange(Tensor::Query, "h"));
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getElementType().isF32())
    return tensor;
  return arith::ExtFOp::create(builder, loc, type.clone(builder.getF32Type()),
                               tensor);
}
