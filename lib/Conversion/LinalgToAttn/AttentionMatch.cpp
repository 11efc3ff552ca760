// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Softmax and the two contractions around it, found in expressions.

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
  LogicalResult matchSoftmax(const Element *weights);
  LogicalResult matchQuotient(const Element *weights);
  LogicalResult matchSum(const Element *sum, const Element *exponential);
  LogicalResult matchScore();
  LogicalResult matchFirst(const Element *load);
  LogicalResult followOperand(const Element *load, bool takesScales,
                              TensorRead &operand);
  LogicalResult followResult();
  LogicalResult checkUses();
  LogicalResult checkTypes();

  ElementBuilder &elements;
  Mismatch &why;
  AttentionMatch found;
  const Element *values = nullptr;
};
} // namespace

/// The quotient of an exponential and a sum of exponentials, or softmax, that
/// `root` is or is computed from.
static const Element *findSoftmax(ElementBuilder &elements,
                                  const Element *root) {
  return root->find([&](const Element *element) {
    if (element->isLoad())
      return element->value.getDefiningOp<linalg::SoftmaxOp>() != nullptr;
    if (!element->isOp("arith.divf") && !element->isOp("arith.mulf"))
      return false;
    for (unsigned place : {0, 1}) {
      const Element *factor = element->operands[place];
      if (!element->operands[1 - place]->isOp("math.exp"))
        continue;
      if (factor->isOp("arith.divf"))
        factor = factor->operands[1];
      std::optional<SumOfElements> sum =
          elements.getSum(factor, /*inlined=*/true);
      if (sum && sum->term->isOp("math.exp"))
        return true;
    }
    return false;
  });
}

/// Whether `factor` is 1 / x, and x.
static const Element *getReciprocal(const Element *factor) {
  return factor->isOp("arith.divf") && factor->operands[0]->getFloat() == 1.0
             ? factor->operands[1]
             : nullptr;
}

/// The dimension of its operand that a reduction or softmax runs over.
static std::string nameDimension(Operation *op) {
  if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op))
    return "dimension " + std::to_string(softmax.getDimension());
  auto structured = cast<linalg::LinalgOp>(op);
  AffineMap map =
      structured.getMatchingIndexingMap(structured.getDpsInputOperand(0));
  for (auto [position, expression] : llvm::enumerate(map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expression);
    if (dim && structured.getIteratorTypesArray()[dim.getPosition()] ==
                   utils::IteratorType::reduction)
      return "dimension " + std::to_string(position);
  }
  return "another dimension";
}

LogicalResult Matcher::matchSum(const Element *sum,
                                const Element *exponential) {
  std::optional<SumOfElements> terms = elements.getSum(sum, /*inlined=*/true);
  if (!terms)
    return failure();
  Operation *op = terms->op;
  if (sum->dependsOn(found.keys) || terms->variables.size() != 1)
    return fail(op, "expects the softmax over keys, but got over " +
                        nameDimension(op));
  if (terms->init->getFloat() != 0.0)
    return fail(op, "expects the sum of exponentials to begin with 0");
  auto isKeys = [&](const IndexSum::Term &term) {
    return term.digit.variable == found.keys;
  };
  // The keys as the second contraction counts them.
  const IndexSum *keys = nullptr;
  for (const IndexSum &index : found.weights.indices)
    if (index.getTerms().size() == 1 && isKeys(index.getTerms()[0]))
      keys = &index;
  const Element *term = elements.substitute(
      terms->term, [&](unsigned variable) -> const IndexSum * {
        return variable == terms->variables[0] ? keys : nullptr;
      });
  if (!keys || term != exponential)
    return fail(op, "expects exponentials to be divided by their own sum, but "
                    "got the sum of another function");
  return success();
}

/// exp(x) / sum exp(x), or exp(x) * (1 / sum exp(x)). What is subtracted from x
/// cancels out, if it is the same for all keys.
LogicalResult Matcher::matchQuotient(const Element *weights) {
  const Element *exponential = nullptr, *sum = nullptr;
  if (weights->isOp("arith.divf")) {
    exponential = weights->operands[0];
    sum = weights->operands[1];
  } else if (weights->isOp("arith.mulf")) {
    for (unsigned place : {0, 1})
      if (const Element *divisor = getReciprocal(weights->operands[place])) {
        exponential = weights->operands[1 - place];
        sum = divisor;
      }
  }
  if (!sum || !exponential->isOp("math.exp"))
    return failure();
  if (failed(matchSum(sum, exponential)))
    return failure();
  found.score = exponential->operands[0];
  if (found.score->isOp("arith.subf") &&
      !found.score->operands[1]->dependsOn(found.keys))
    found.score = found.score->operands[0];
  return success();
}

LogicalResult Matcher::matchSoftmax(const Element *weights) {
  const Element *softmax = findSoftmax(elements, weights);
  if (!softmax)
    return failure();
  Operation *op = found.second;
  if (softmax != weights)
    return fail(op, "expects softmax to be an operand of the contraction with "
                    "values, but got '" +
                        (weights->name ? weights->name->getStringRef()
                                       : StringRef("a load")) +
                        "' between");
  if (!softmax->isLoad()) {
    if (succeeded(matchQuotient(softmax)))
      return success();
    if (why.reason.empty())
      return fail(op, "expects exponentials to be divided by their sum");
    return failure();
  }
  auto named = softmax->value.getDefiningOp<linalg::SoftmaxOp>();
  std::optional<SmallVector<IndexSum>> indices = softmax->getIndices();
  if (!indices || !named.hasPureTensorSemantics())
    return failure();
  std::optional<SmallVector<Digit>> digits =
      (*indices)[named.getDimension()].getDigits();
  if (!digits || digits->size() != 1 || digits->front().stride != 1 ||
      digits->front().variable != found.keys)
    return fail(named, "expects the softmax over keys, but got over " +
                           nameDimension(named));
  found.score = elements.get(named.getInput(), *indices);
  return success();
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
  std::optional<SumOfElements> sum = elements.getSum(
      elements.makeLoad(found.result.tensor, found.result.indices),
      /*inlined=*/false);
  if (!sum || sum->variables.size() != 1)
    return failure();
  found.keys = sum->variables[0];
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
    if (succeeded(matchSoftmax(elements.get(weights->value, *indices)))) {
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
    auto type = cast<RankedTensorType>(load->value.getType());
    bool isClean =
        !type.getEncoding() &&
        llvm::all_of(llvm::zip_equal(*indices, type.getShape()), [](auto pair) {
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
    // A wider tensor would leave out a rounding.
    if (isClean && getWidth(load->value) <= width) {
      width = getWidth(load->value);
      operand = {load->value, *indices};
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
  std::optional<SumOfElements> sum = elements.getSum(load, /*inlined=*/false);
  if (!sum || !load->dependsOn(found.keys))
    return failure();
  SmallVector<const Element *> factors;
  getFactors(sum->term, factors);
  if (factors.size() != 2 || !factors[0]->isLoad() || !factors[1]->isLoad())
    return failure();
  if (factors[0]->dependsOn(found.keys))
    std::swap(factors[0], factors[1]);
  if (factors[0]->dependsOn(found.keys) || !factors[1]->dependsOn(found.keys))
    return failure();
  found.first = sum->op;
  found.dot = load;
  found.headDims = sum->variables;
  found.scales.clear();
  // What is added to the dot products is a part of the score.
  if (sum->init->getFloat() != 0.0) {
    const Element *both =
        elements.makeOp("arith.addf", load->type, {load, sum->init});
    found.score = elements.replace(found.score, load, both);
  }
  if (failed(followOperand(factors[0], /*takesScales=*/true, found.query)) ||
      failed(followOperand(factors[1], /*takesScales=*/true, found.key)) ||
      failed(followOperand(values, /*takesScales=*/false, found.value)))
    return fail(sum->op, "expects operands whose dimensions are loops of the "
                         "contractions");
  return success();
}

LogicalResult Matcher::matchScore() {
  found.score->find([&](const Element *element) {
    return (element->isLoad() && succeeded(matchFirst(element))) ||
           !why.reason.empty();
  });
  if (!why.reason.empty())
    return failure();
  if (found.dot)
    return success();
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
    if (op == found.second || isa<tensor::DimOp>(op) || isOpTriviallyDead(op) ||
        !seen.insert(op).second)
      continue;
    if (op->getBlock() != found.second->getBlock() ||
        op->hasTrait<OpTrait::IsTerminator>() || !isMemoryEffectFree(op))
      return fail(op, "expects scores and weights to be used by the attention "
                      "alone, but got a use by '" +
                          op->getName().getStringRef() + "'");
    llvm::append_range(next, op->getUsers());
  }
  const Element *other = found.score->find([&](const Element *element) {
    return element != found.dot && element->isLoad() &&
           seen.contains(element->value.getDefiningOp());
  });
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

/// Goes on to the last tensor that is the result in another order, shape or
/// element type: the one that has the type of the operands.
LogicalResult Matcher::followResult() {
  TensorRead current = found.result;
  Type type = found.query.getElementType();
  bool isFound = false;
  auto finish = [&]() -> LogicalResult {
    if (isFound)
      return success();
    return fail(found.second, "expects the result to be rounded to the type "
                              "of the operands, " +
                                  print(type) + ", but got " +
                                  print(found.result.getElementType()));
  };
  while (true) {
    bool isClean = llvm::all_of(current.indices, [](const IndexSum &index) {
      return index.getDigits().has_value();
    });
    if (isClean && current.getElementType() == type) {
      found.result = current;
      isFound = true;
    }
    Operation *user = nullptr;
    for (Operation *other : current.tensor.getUsers())
      if (!isa<tensor::DimOp>(other)) {
        if (user && user != other)
          return finish();
        user = other;
      }
    if (!user || user->getNumResults() != 1 ||
        user->getBlock() != found.second->getBlock())
      break;
    std::optional<SmallVector<IndexSum>> moved;
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(user)) {
      moved = expandIndices(current.indices, expand.getResultType().getShape(),
                            expand.getReassociationIndices());
    } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(user)) {
      moved = collapseIndices(current.indices, collapse.getSrcType().getShape(),
                              collapse.getReassociationIndices());
    } else if (isa<arith::ExtFOp, arith::TruncFOp>(user)) {
      moved = current.indices;
    } else if (auto op = dyn_cast<linalg::LinalgOp>(user);
               op && op.hasPureTensorSemantics() && op.getNumDpsInputs() == 1 &&
               op.getDpsInputOperand(0)->get() == current.tensor) {
      OpOperand *input = op.getDpsInputOperand(0);
      AffineMap in = op.getMatchingIndexingMap(input),
                out = op.getIndexingMapMatchingResult(user->getResult(0));
      if (!in.isPermutation() || !out.isPermutation())
        break;
      SmallVector<IndexSum> loops(op.getNumLoops());
      for (auto [dim, index] : llvm::enumerate(current.indices))
        loops[in.getDimPosition(dim)] = index;
      moved.emplace();
      for (unsigned dim = 0; dim < out.getNumResults(); ++dim)
        moved->push_back(loops[out.getDimPosition(dim)]);
      // It must do nothing else.
      const Element *element = elements.getOneLevel(user->getResult(0), *moved);
      if (!element->isLoad() || element->value != current.tensor)
        break;
    }
    if (!moved)
      break;
    current = {user->getResult(0), *moved};
  }
  return finish();
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
  if (failed(matchSecond()) || failed(matchScore()) || failed(checkUses()) ||
      failed(checkTypes()) || failed(followResult()))
    return std::nullopt;
  return found;
}

std::optional<AttentionMatch>
attune::raising::matchAttention(ElementBuilder &elements, linalg::LinalgOp op,
                                Mismatch &why) {
  return Matcher(elements, op, why).match();
}
