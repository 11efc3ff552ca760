// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two contractions around softmax, and what becomes of the second one.

#include "AttentionMatch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace attune::raising;

namespace {
class Matcher {
public:
  Matcher(ElementBuilder &elements, linalg::LinalgOp op, Mismatch &why)
      : elements(elements), why(why) {
    found.second = op;
  }

  std::optional<AttentionMatch> match();

private:
  LogicalResult fail(Operation *op, const Twine &reason) {
    why = {op, reason.str()};
    return failure();
  }
  LogicalResult matchSecond();
  LogicalResult matchScore();
  LogicalResult matchFirst(const Element *load);
  LogicalResult followOperand(const Element *load, bool takesScales,
                              TensorRead &operand);
  std::optional<TensorRead> follow(Operation *user, const TensorRead &read);
  bool isDivision(const TensorRead &quotient, const TensorRead &dividend);
  LogicalResult followResult();
  LogicalResult followSum(const Softmax &softmax);
  LogicalResult followOtherSums();
  LogicalResult checkUses();
  LogicalResult checkTypes();

  ElementBuilder &elements;
  Mismatch &why;
  AttentionMatch found;
  const Element *values = nullptr;
  /// What divides the second contraction by the sum of exponentials.
  Operation *division = nullptr;
};
} // namespace

bool TensorRead::coversTensor() const {
  auto type = cast<RankedTensorType>(tensor.getType());
  return !type.getEncoding() &&
         llvm::all_of(llvm::zip_equal(indices, type.getShape()), [](auto pair) {
           auto [index, size] = pair;
           std::optional<SmallVector<Digit>> digits = index.getDigits();
           if (!digits)
             return false;
           int64_t covered = 1;
           for (const Digit &digit : *digits)
             covered = multiplySizes(covered, digit.size);
           return covered == size || ShapedType::isDynamic(covered) ||
                  ShapedType::isDynamic(size);
         });
}

static void getFactors(const Element *element,
                       SmallVectorImpl<const Element *> &factors) {
  if (!element->isOp("arith.mulf")) {
    factors.push_back(element);
    return;
  }
  for (const Element *operand : element->operands)
    getFactors(operand, factors);
}

LogicalResult Matcher::matchSecond() {
  linalg::LinalgOp op = found.second;
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() == 0 ||
      op->getNumResults() != 1)
    return failure();
  AffineMap map = op.getIndexingMapMatchingResult(op->getResult(0));
  if (!map.isProjectedPermutation())
    return failure();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  found.result.tensor = op->getResult(0);
  for (unsigned dim = 0; dim < map.getNumResults(); ++dim) {
    unsigned loop = map.getDimPosition(dim);
    found.result.indices.push_back(
        IndexSum::get(elements.getVariable(op, loop), ranges[loop]));
  }
  std::optional<ReductionOfElements> sum = elements.getSum(
      elements.makeLoad(found.result.tensor, found.result.indices),
      /*inlined=*/false);
  if (!sum || sum->variables.size() != 1)
    return failure();
  SmallVector<const Element *> factors;
  getFactors(sum->term, factors);
  if (factors.size() != 2 || !factors[0]->isLoad() || !factors[1]->isLoad())
    return failure();
  for (unsigned place : {0, 1}) {
    const Element *weights = factors[place];
    std::optional<SmallVector<IndexSum>> indices = weights->getIndices();
    if (!indices)
      return failure();
    found.weights = {weights->value, *indices};
    if (std::optional<Softmax> softmax =
            matchSoftmax(elements, elements.get(weights->value, *indices), op,
                         sum->variables[0], sum->sizes[0], why)) {
      found.softmax = *softmax;
      values = factors[1 - place];
      if (sum->init->getFloat() != 0.0)
        return fail(op, "expects the sum over values to begin with 0");
      return success();
    }
    if (!why.reason.empty())
      return failure();
  }
  return failure();
}

/// The tensor that a load of a contraction's operand comes from: through what
/// only moves, repeats and widens it, and through factors that are the same
/// everywhere.
LogicalResult Matcher::followOperand(const Element *load, bool takesScales,
                                     TensorRead &operand) {
  SmallVector<const Element *> scales;
  auto getWidth = [](Value tensor) {
    return getElementTypeOrSelf(tensor.getType()).getIntOrFloatBitWidth();
  };
  unsigned width = getWidth(load->value);
  bool isFound = false;
  while (load) {
    std::optional<SmallVector<IndexSum>> indices = load->getIndices();
    if (!indices)
      break;
    // A wider tensor would leave out a rounding.
    TensorRead read{load->value, *indices};
    if (read.coversTensor() && getWidth(load->value) <= width) {
      width = getWidth(load->value);
      operand = read;
      llvm::append_range(found.scales, scales);
      scales.clear();
      isFound = true;
    }
    const Element *source = elements.getOneLevel(load->value, *indices);
    const Element *next = nullptr;
    SmallVector<const Element *> factors;
    if (source->isOp("arith.divf") && !source->operands[1]->dependsOnAny()) {
      factors.push_back(
          elements.makeOp("arith.divf", source->type,
                          {elements.makeFloat(1.0), source->operands[1]}));
      source = source->operands[0];
    }
    getFactors(source, factors);
    for (const Element *factor : factors) {
      const Element *value = factor;
      // A factor may have been broadcast by an op of its own.
      if (factor->isLoad())
        if (auto at = factor->getIndices())
          value = elements.get(factor->value, *at);
      if (takesScales && !value->dependsOnAny())
        scales.push_back(value);
      else if (!next && factor->isLoad() && factor != load)
        next = factor;
      else
        next = nullptr, source = nullptr;
      if (!source)
        break;
    }
    load = source ? next : nullptr;
  }
  return success(isFound);
}

LogicalResult Matcher::matchFirst(const Element *load) {
  std::optional<ReductionOfElements> sum =
      elements.getSum(load, /*inlined=*/false);
  if (!sum || !load->dependsOn(found.softmax.keys))
    return failure();
  SmallVector<const Element *> factors;
  getFactors(sum->term, factors);
  if (factors.size() != 2 || !factors[0]->isLoad() || !factors[1]->isLoad())
    return failure();
  if (factors[0]->dependsOn(found.softmax.keys))
    std::swap(factors[0], factors[1]);
  if (factors[0]->dependsOn(found.softmax.keys) ||
      !factors[1]->dependsOn(found.softmax.keys))
    return failure();
  found.first = sum->op;
  found.dot = load;
  found.headDims = sum->variables;
  found.scales.clear();
  // What is added to the dot products is a part of the score.
  if (sum->init->getFloat() != 0.0) {
    const Element *both =
        elements.makeOp("arith.addf", load->type, {load, sum->init});
    found.softmax.score = elements.replace(found.softmax.score, load, both);
  }
  if (failed(followOperand(factors[0], /*takesScales=*/true, found.query)) ||
      failed(followOperand(factors[1], /*takesScales=*/true, found.key)) ||
      failed(followOperand(values, /*takesScales=*/false, found.value)))
    return fail(sum->op, "expects operands whose dimensions are loops of the "
                         "contractions");
  return success();
}

LogicalResult Matcher::matchScore() {
  found.softmax.score->find([&](const Element *element) {
    return (element->isLoad() && succeeded(matchFirst(element))) ||
           !why.reason.empty();
  });
  if (!why.reason.empty())
    return failure();
  if (found.dot)
    return success();
  // Exponentials alone are anybody's.
  if (!found.softmax.isDivided)
    return failure();
  return fail(found.second, "expects the softmax of a function of dot products "
                            "of queries and keys, but got no contraction");
}

/// Whoever else reads scores or weights needs them in memory, and so does a
/// score that reads other scores.
LogicalResult Matcher::checkUses() {
  if (found.first->getBlock() != found.second->getBlock())
    return fail(found.second, "expects both contractions in one block");
  SmallVector<Operation *> next{found.first};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!next.empty()) {
    Operation *op = next.pop_back_val();
    bool isReplaced = op == found.second || op == division ||
                      (found.lse && op == found.lse->tensor.getDefiningOp());
    if (isReplaced || isa<tensor::DimOp>(op) || isOpTriviallyDead(op) ||
        !seen.insert(op).second)
      continue;
    if (op->getBlock() != found.second->getBlock() ||
        op->hasTrait<OpTrait::IsTerminator>() || !isMemoryEffectFree(op))
      return fail(op, "expects scores and weights to be used by the attention "
                      "alone, but got a use by '" +
                          op->getName().getStringRef() + "'");
    // What reads in the body of another op is a part of that.
    for (Operation *user : op->getUsers()) {
      Operation *whole = op->getBlock()->findAncestorOpInBlock(*user);
      next.push_back(whole ? whole : user);
    }
  }
  auto readsOther = [&](const Element *element) {
    return element != found.dot && element->isLoad() &&
           seen.contains(element->value.getDefiningOp());
  };
  const Element *other = found.softmax.score->find(readsOther);
  if (!other && found.softmax.sink)
    other = found.softmax.sink->find(readsOther);
  if (other)
    return fail(other->value.getDefiningOp(),
                "expects each score to be a function of its own dot product, "
                "but got one of several");
  return success();
}

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << "'" << type << "'";
  return text;
}

/// The result of `op`, of which each element is computed from one of the tensor
/// that is read, or from those along the loops that it reduces.
static std::optional<TensorRead> readThrough(linalg::LinalgOp op,
                                             const TensorRead &read) {
  OpOperand *input = llvm::find_if(op->getOpOperands(), [&](auto &operand) {
    return operand.get() == read.tensor;
  });
  AffineMap in = op.getMatchingIndexingMap(input),
            out = op.getIndexingMapMatchingResult(op->getResult(0));
  // A dimension of size 1 may be indexed by 0.
  if (!op.isDpsInput(input) ||
      !in.isProjectedPermutation(/*allowZeroInResults=*/true) ||
      !out.isProjectedPermutation() ||
      out.getNumResults() != op.getNumParallelLoops())
    return std::nullopt;
  SmallVector<IndexSum> loops(op.getNumLoops());
  llvm::SmallBitVector isKnown(op.getNumLoops());
  for (auto [index, expression] :
       llvm::zip_equal(read.indices, in.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expression)) {
      loops[dim.getPosition()] = index;
      isKnown.set(dim.getPosition());
    }
  for (auto [loop, range] : llvm::enumerate(op.getStaticLoopRanges()))
    if (!isKnown.test(loop) && range != 1)
      return std::nullopt;
  TensorRead result{op->getResult(0), {}};
  for (unsigned dim = 0; dim < out.getNumResults(); ++dim)
    result.indices.push_back(loops[out.getDimPosition(dim)]);
  return result;
}

/// The result of `user`, where its elements are those of the tensor that is
/// read, or each computed from one of them.
std::optional<TensorRead> Matcher::follow(Operation *user,
                                          const TensorRead &read) {
  if (user->getNumResults() != 1 ||
      user->getBlock() != found.second->getBlock() ||
      !isa<RankedTensorType>(user->getResult(0).getType()))
    return std::nullopt;
  if (auto op = dyn_cast<linalg::LinalgOp>(user);
      op && op.hasPureTensorSemantics() &&
      op.getNumParallelLoops() == op.getNumLoops())
    return readThrough(op, read);
  std::optional<SmallVector<IndexSum>> moved;
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(user))
    moved = expandIndices(read.indices, expand.getResultType().getShape(),
                          expand.getReassociationIndices());
  else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(user))
    moved = collapseIndices(read.indices, collapse.getSrcType().getShape(),
                            collapse.getReassociationIndices());
  else if (OpTrait::hasElementwiseMappableTraits(user))
    moved = read.indices;
  if (!moved)
    return std::nullopt;
  return TensorRead{user->getResult(0), *moved};
}

/// Whether one tensor is the other one divided by the sum of exponentials.
bool Matcher::isDivision(const TensorRead &quotient,
                         const TensorRead &dividend) {
  auto isDividend = [&](const Element *element) {
    return element->isLoad() && element->value == dividend.tensor;
  };
  auto expand = [&](const Element *element) {
    auto indices = element->isLoad() ? element->getIndices() : std::nullopt;
    return indices ? elements.get(element->value, *indices) : element;
  };
  const Element *element =
      elements.getOneLevel(quotient.tensor, quotient.indices);
  const Element *divisor = nullptr;
  if (element->isOp("arith.divf") && isDividend(element->operands[0]))
    divisor = expand(element->operands[1]);
  if (element->isOp("arith.mulf"))
    for (unsigned place : {0, 1})
      if (isDividend(element->operands[place]))
        divisor = getReciprocal(expand(element->operands[1 - place]));
  return divisor &&
         succeeded(matchDivisor(elements, found.softmax, divisor, why));
}

/// Goes on to the last tensor that is the result, divided by the sum if the
/// weights were not, in another order, shape or element type: the one that has
/// the type of the operands.
LogicalResult Matcher::followResult() {
  TensorRead current = found.result;
  Type type = found.query.getElementType();
  bool isFound = false;
  while (true) {
    bool isClean = llvm::all_of(current.indices, [](const IndexSum &index) {
      return index.getDigits().has_value();
    });
    if (isClean && found.softmax.isDivided &&
        current.getElementType() == type) {
      found.result = current;
      isFound = true;
    }
    Operation *user = nullptr;
    bool isOnlyUser = true;
    for (Operation *other : current.tensor.getUsers())
      if (!isa<tensor::DimOp>(other)) {
        isOnlyUser &= !user || user == other;
        user = other;
      }
    if (!user || !isOnlyUser)
      break;
    std::optional<TensorRead> next = follow(user, current);
    if (!next)
      break;
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user)) {
      const Element *element =
          elements.getOneLevel(next->tensor, next->indices);
      if (!element->isLoad() || element->value != current.tensor) {
        if (found.softmax.isDivided || !isDivision(*next, current))
          break;
        division = user;
      }
    }
    current = *next;
  }
  if (isFound)
    return success();
  if (!why.reason.empty())
    return failure();
  if (!found.softmax.isDivided)
    return fail(found.second,
                "expects exponentials to be divided by their sum, before or "
                "behind the contraction with values");
  return fail(found.second, "expects the result to be rounded to the type "
                            "of the operands, " +
                                print(type) + ", but got " +
                                print(found.result.getElementType()));
}

/// Finds the last tensor that is the logarithm of the sum of exponentials.
LogicalResult Matcher::followSum(const Softmax &softmax) {
  const Element *sum = softmax.sum;
  if (!sum)
    return success();
  auto getFactor = [&](const TensorRead &read) {
    return matchLogSumExp(softmax, elements.get(read.tensor, read.indices));
  };
  auto isLse = [&](const TensorRead &read) {
    return read.getElementType().isF32() && getFactor(read) == 1;
  };
  SmallVector<TensorRead> next{{sum->value, *sum->getIndices()}};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!next.empty() && !found.lse) {
    TensorRead read = next.pop_back_val();
    std::optional<double> factor = getFactor(read);
    if (factor && *factor != 1)
      return fail(read.tensor.getDefiningOp(),
                  "expects the natural logarithm of the sum of exponentials, "
                  "but got " +
                      Twine(std::to_string(*factor)) + " times that");
    if (isLse(read))
      found.lse = read;
    for (Operation *user : read.tensor.getUsers())
      if (seen.insert(user).second)
        if (std::optional<TensorRead> result = follow(user, read))
          next.push_back(*result);
  }
  while (found.lse && found.lse->tensor.hasOneUse()) {
    std::optional<TensorRead> moved =
        follow(*found.lse->tensor.user_begin(), *found.lse);
    if (!moved || !isLse(*moved))
      break;
    found.lse = moved;
  }
  return success();
}

/// The same of sums that the weights are not divided by: whoever wants the
/// logarithm may add up once more, of scores less another maximum.
LogicalResult Matcher::followOtherSums() {
  std::optional<SmallVector<IndexSum>> indices = found.dot->getIndices();
  if (!indices)
    return success();
  SmallVector<TensorRead> next{{found.dot->value, *indices}};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!next.empty() && !found.lse) {
    TensorRead read = next.pop_back_val();
    for (Operation *user : read.tensor.getUsers()) {
      if (!seen.insert(user).second)
        continue;
      if (std::optional<TensorRead> result = follow(user, read)) {
        next.push_back(*result);
        continue;
      }
      auto op = dyn_cast<linalg::LinalgOp>(user);
      std::optional<TensorRead> sum;
      if (op && op.hasPureTensorSemantics() && op->getNumResults() == 1)
        sum = readThrough(op, read);
      if (!sum)
        continue;
      std::optional<Softmax> other =
          matchOtherSum(elements, found.softmax,
                        elements.makeLoad(sum->tensor, sum->indices));
      if (other && failed(followSum(*other)))
        return failure();
    }
  }
  return success();
}

LogicalResult Matcher::checkTypes() {
  Type type = found.query.getElementType(), key = found.key.getElementType(),
       value = found.value.getElementType();
  bool isKeyOther = key != type;
  if (isKeyOther || value != type)
    return fail(found.second,
                "expects query and " + Twine(isKeyOther ? "key" : "value") +
                    " to have one element type, but got " + print(type) +
                    " and " + print(isKeyOther ? key : value));
  if (!type.isF16() && !type.isBF16() && !type.isF32())
    return fail(found.second,
                "expects operands of f16, bf16 or f32, but got " + print(type));
  return success();
}

std::optional<AttentionMatch> Matcher::match() {
  if (failed(matchSecond()) || failed(matchScore()) || failed(checkTypes()) ||
      failed(followResult()) || failed(followSum(found.softmax)) ||
      failed(followOtherSums()))
    return std::nullopt;
  // Weights may be what alone reads the logarithm.
  std::optional<TensorRead> lse;
  std::swap(lse, found.lse);
  if (lse && succeeded(checkUses()))
    return found;
  found.lse = lse;
  why = {};
  if (failed(checkUses()))
    return std::nullopt;
  return found;
}

std::optional<AttentionMatch>
attune::raising::matchAttention(ElementBuilder &elements, linalg::LinalgOp op,
                                Mismatch &why) {
  return Matcher(elements, op, why).match();
}
