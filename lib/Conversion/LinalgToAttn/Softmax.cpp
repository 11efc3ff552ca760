// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Softmax in expressions: exponentials, their sum, and what cancels out.

#include "Softmax.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune::raising;

static LogicalResult fail(Mismatch &why, Operation *op, const Twine &reason) {
  why = {op, reason.str()};
  return failure();
}

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
      if (factor->find([&](const Element *part) {
            std::optional<SumOfElements> sum =
                elements.getSum(part, /*inlined=*/true);
            return sum && sum->term->isOp("math.exp");
          }))
        return true;
    }
    return false;
  });
}

const Element *attune::raising::getReciprocal(const Element *factor) {
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

/// `element` as a constant times something else.
static std::pair<double, const Element *> splitFactor(const Element *element) {
  double factor = 1;
  while (true) {
    std::optional<double> constant;
    bool isProduct = element->isOp("arith.mulf");
    if (isProduct && (constant = element->operands[0]->getFloat())) {
      factor *= *constant;
      element = element->operands[1];
    } else if ((isProduct || element->isOp("arith.divf")) &&
               (constant = element->operands[1]->getFloat())) {
      factor *= isProduct ? *constant : 1 / *constant;
      element = element->operands[0];
    } else {
      return {factor, element};
    }
  }
}

/// Whether rounding of constants alone keeps the numbers apart.
static bool isNear(double a, double b) {
  return std::abs(a - b) <= 1e-6 * std::abs(b);
}

/// Takes from the score what cancels out.
static void takeShifts(Softmax &softmax) {
  while (softmax.score->isOp("arith.subf") &&
         !softmax.score->operands[1]->dependsOn(softmax.keys)) {
    softmax.shifts.push_back(softmax.score->operands[1]);
    softmax.score = softmax.score->operands[0];
  }
}

/// Takes the same from the sink.
static LogicalResult takeSinkShifts(Softmax &softmax, Operation *op,
                                    Mismatch &why) {
  for (const Element *shift : softmax.shifts) {
    if (!softmax.sink->isOp("arith.subf") || softmax.sink->operands[1] != shift)
      return fail(why, op,
                  "expects the same to be subtracted from scores and sink");
    softmax.sink = softmax.sink->operands[0];
  }
  auto [factor, sink] = splitFactor(softmax.sink);
  if (isNear(factor, 1))
    softmax.sink = sink;
  return success();
}

/// The column of a softmax over one column more than there are keys, if
/// `getColumn` of the key is `weight` behind or before it.
static const Element *
findColumn(const Softmax &softmax, const Element *weight,
           llvm::function_ref<const Element *(const IndexSum &)> getColumn) {
  for (int64_t first : {0, 1}) {
    IndexSum key = IndexSum::get(softmax.keys, softmax.size);
    if (getColumn(key.plus(IndexSum(first))) == weight)
      return getColumn(IndexSum(first == 0 ? softmax.size : 0));
  }
  return nullptr;
}

static std::string printCount(int64_t count) {
  return ShapedType::isDynamic(count) ? "`?`" : std::to_string(count);
}

/// Whether softmax runs over one more than the keys; failure for any other
/// number than that of the keys.
static FailureOr<bool> hasColumn(const Softmax &softmax, int64_t columns,
                                 Operation *op, Mismatch &why) {
  if (columns == softmax.size)
    return false;
  if (ShapedType::isStatic(columns) && columns == softmax.size + 1)
    return true;
  return fail(why, op,
              "expects the softmax over " + printCount(softmax.size) +
                  " keys, but got over " + printCount(columns));
}

/// The terms of `element`, and what reductions among them begin with.
static void getAddends(ElementBuilder &elements, const Element *element,
                       SmallVectorImpl<const Element *> &addends) {
  if (element->isOp("arith.addf"))
    for (const Element *operand : element->operands)
      getAddends(elements, operand, addends);
  else
    addends.push_back(element);
}

/// sum_n exp(...) of `softmax`, which may run over a sink as well.
static LogicalResult matchSum(ElementBuilder &elements, Softmax &softmax,
                              const Element *load, const SumOfElements &terms,
                              const Element *&sinkTerm, Mismatch &why) {
  Operation *op = terms.op;
  if (load->dependsOn(softmax.keys) || terms.variables.size() != 1)
    return fail(why, op,
                "expects the softmax over keys, but got over " +
                    nameDimension(op));
  auto getColumn = [&](const IndexSum &index) {
    return elements.substitute(terms.term, [&](unsigned variable) {
      return variable == terms.variables[0] ? &index : nullptr;
    });
  };
  FailureOr<bool> isWider = hasColumn(softmax, terms.sizes[0], op, why);
  if (failed(isWider))
    return failure();
  const Element *column =
      *isWider ? findColumn(softmax, softmax.exponential, getColumn) : nullptr;
  bool isOwn = *isWider
                   ? column != nullptr
                   : getColumn(IndexSum::get(softmax.keys, softmax.size)) ==
                         softmax.exponential;
  if (!isOwn)
    return fail(why, op,
                "expects exponentials to be divided by their own sum, but got "
                "the sum of another function");
  if (column && sinkTerm)
    return fail(why, op, "expects one sink, but got several");
  if (column)
    sinkTerm = column;
  softmax.sum = load;
  return success();
}

LogicalResult attune::raising::matchDivisor(ElementBuilder &elements,
                                            Softmax &softmax,
                                            const Element *divisor,
                                            Mismatch &why) {
  SmallVector<const Element *> addends, others;
  getAddends(elements, divisor, addends);
  std::optional<SumOfElements> sum;
  const Element *load = nullptr;
  for (const Element *addend : addends) {
    std::optional<SumOfElements> found =
        elements.getSum(addend, /*inlined=*/true);
    if (!found || sum) {
      others.push_back(addend);
      continue;
    }
    sum = found;
    load = addend;
    if (sum->init->getFloat() != 0.0)
      others.push_back(sum->init);
  }
  if (!sum)
    return failure();
  if (others.size() > 1)
    return fail(why, sum->op, "expects one sink, but got several");
  const Element *sinkTerm = others.empty() ? nullptr : others[0];
  if (failed(matchSum(elements, softmax, load, *sum, sinkTerm, why)))
    return failure();
  if (sinkTerm) {
    std::optional<double> constant = sinkTerm->getFloat();
    if (sinkTerm->isOp("math.exp"))
      softmax.sink = sinkTerm->operands[0];
    else if (constant && *constant > 0)
      softmax.sink = elements.makeFloat(std::log(*constant));
    else
      return fail(why, sum->op,
                  "expects the sum of exponentials to begin with 0, or with "
                  "the exponential of a sink");
    if (failed(takeSinkShifts(softmax, sum->op, why)))
      return failure();
  }
  softmax.divisor = divisor;
  softmax.isDivided = true;
  return success();
}

/// exp(x) / divisor, or exp(x) * (1 / divisor).
static LogicalResult matchQuotient(ElementBuilder &elements, Softmax &softmax,
                                   const Element *weights, Mismatch &why) {
  const Element *divisor = nullptr;
  if (weights->isOp("arith.divf")) {
    softmax.exponential = weights->operands[0];
    divisor = weights->operands[1];
  } else if (weights->isOp("arith.mulf")) {
    for (unsigned place : {0, 1})
      if (const Element *reciprocal = getReciprocal(weights->operands[place])) {
        softmax.exponential = weights->operands[1 - place];
        divisor = reciprocal;
      }
  }
  if (!divisor || !softmax.exponential->isOp("math.exp"))
    return failure();
  softmax.score = softmax.exponential->operands[0];
  takeShifts(softmax);
  return matchDivisor(elements, softmax, divisor, why);
}

static LogicalResult matchNamed(ElementBuilder &elements, Softmax &softmax,
                                const Element *load, Mismatch &why) {
  auto named = load->value.getDefiningOp<linalg::SoftmaxOp>();
  std::optional<SmallVector<IndexSum>> indices = load->getIndices();
  if (!indices || !named.hasPureTensorSemantics())
    return failure();
  auto type = cast<RankedTensorType>(load->value.getType());
  IndexSum &place = (*indices)[named.getDimension()];
  IndexSum keys = IndexSum::get(softmax.keys, softmax.size);
  int64_t first = place.getConstant();
  if (!(place.plus(IndexSum(-first)) == keys))
    return fail(why, named,
                "expects the softmax over keys, but got over " +
                    nameDimension(named));
  FailureOr<bool> isWider =
      hasColumn(softmax, type.getDimSize(named.getDimension()), named, why);
  if (failed(isWider))
    return failure();
  softmax.score = elements.get(named.getInput(), *indices);
  takeShifts(softmax);
  softmax.isDivided = true;
  if (!*isWider)
    return success();
  place = IndexSum(first == 0 ? softmax.size : 0);
  softmax.sink = elements.get(named.getInput(), *indices);
  return takeSinkShifts(softmax, named, why);
}

std::optional<Softmax>
attune::raising::matchSoftmax(ElementBuilder &elements, const Element *weights,
                              linalg::LinalgOp contraction, unsigned keys,
                              int64_t size, Mismatch &why) {
  Softmax softmax;
  softmax.keys = keys;
  softmax.size = size;
  if (weights->isOp("math.exp")) {
    softmax.exponential = weights;
    softmax.score = weights->operands[0];
    takeShifts(softmax);
    return softmax;
  }
  const Element *found = findSoftmax(elements, weights);
  if (!found)
    return std::nullopt;
  if (found != weights) {
    (void)fail(why, contraction,
               "expects softmax to be an operand of the contraction with "
               "values, but got '" +
                   (weights->name ? weights->name->getStringRef()
                                  : StringRef("a load")) +
                   "' between");
    return std::nullopt;
  }
  if (found->isLoad())
    return succeeded(matchNamed(elements, softmax, found, why))
               ? std::optional(softmax)
               : std::nullopt;
  if (succeeded(matchQuotient(elements, softmax, found, why)))
    return softmax;
  if (why.reason.empty())
    (void)fail(why, contraction,
               "expects exponentials to be divided by their sum");
  return std::nullopt;
}

std::optional<double> attune::raising::matchLogSumExp(const Softmax &softmax,
                                                      const Element *element) {
  // log(divisor) and the shifts, each with a coefficient.
  SmallVector<std::pair<double, const Element *>> shifts;
  for (const Element *shift : softmax.shifts)
    shifts.push_back(splitFactor(shift));
  double logarithm = 0;
  SmallVector<double> coefficients(shifts.size(), 0);
  SmallVector<std::pair<double, const Element *>> next{{1, element}};
  while (!next.empty()) {
    auto [outer, part] = next.pop_back_val();
    auto [inner, base] = splitFactor(part);
    double factor = outer * inner;
    auto *shift = llvm::find_if(
        shifts, [base = base](auto other) { return other.second == base; });
    if (base->isOp("math.log") && base->operands[0] == softmax.divisor)
      logarithm += factor;
    else if (shift != shifts.end())
      coefficients[shift - shifts.begin()] += factor / shift->first;
    else if (base->isOp("arith.addf") || base->isOp("arith.subf")) {
      next.push_back({factor, base->operands[0]});
      next.push_back(
          {base->isOp("arith.subf") ? -factor : factor, base->operands[1]});
    } else
      return std::nullopt;
  }
  if (logarithm == 0 || !llvm::all_of(coefficients, [&](double coefficient) {
        return isNear(coefficient, logarithm);
      }))
    return std::nullopt;
  return isNear(logarithm, 1) ? 1 : logarithm;
}
