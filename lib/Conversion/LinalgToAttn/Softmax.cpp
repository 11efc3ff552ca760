// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Softmax in expressions: exponentials, their sum, and what cancels out.

#include "Softmax.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
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
            std::optional<ReductionOfElements> sum =
                elements.getSum(part, /*inlined=*/true);
            return sum && sum->term->isOp("math.exp");
          }))
        return true;
    }
    return false;
  });
}

/// Whether `weights` is read from a slice of a softmax.
static bool isPartOfSoftmax(ElementBuilder &elements, const Element *weights) {
  auto slice = weights->isLoad()
                   ? weights->value.getDefiningOp<tensor::ExtractSliceOp>()
                   : tensor::ExtractSliceOp();
  std::optional<SmallVector<IndexSum>> indices =
      slice ? weights->getIndices() : std::nullopt;
  if (!indices || slice.getDroppedDims().any())
    return false;
  // Where it begins makes no difference.
  return findSoftmax(elements, elements.get(slice.getSource(), *indices));
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

static bool isPredicate(const Element *comparison,
                        ArrayRef<arith::CmpFPredicate> predicates) {
  auto predicate =
      comparison->attributes.getAs<arith::CmpFPredicateAttr>("predicate");
  return llvm::is_contained(predicates, predicate.getValue());
}

/// Whether `condition` is `element` == `least`, a number that no element is
/// below; or not `element` != `least`.
static bool isComparedWith(const Element *condition, const Element *element,
                           double least) {
  using P = arith::CmpFPredicate;
  bool isInverse = condition->isOp("arith.xori") &&
                   condition->operands[1]->getBool() == true;
  if (isInverse)
    condition = condition->operands[0];
  if (!condition->isOp("arith.cmpf") ||
      condition->operands[1]->getFloat() != least)
    return false;
  // f64 is what Python's numbers are.
  const Element *compared = condition->operands[0];
  if (compared->isOp("arith.extf"))
    compared = compared->operands[0];
  return compared == element &&
         (isInverse ? isPredicate(condition, {P::UNE, P::ONE, P::UGT, P::OGT})
                    : isPredicate(condition, {P::OEQ, P::UEQ, P::OLE, P::ULE}));
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

/// The terms of `element`.
static void getAddends(const Element *element,
                       SmallVectorImpl<const Element *> &addends) {
  if (element->isOp("arith.addf"))
    for (const Element *operand : element->operands)
      getAddends(operand, addends);
  else
    addends.push_back(element);
}

/// `score` without what is subtracted from it and cancels out, also from what
/// is chosen beside -inf.
static const Element *takeShifts(ElementBuilder &elements, Softmax &softmax,
                                 const Element *score) {
  constexpr double least = -std::numeric_limits<double>::infinity();
  if (score->isOp("arith.subf") &&
      !score->operands[1]->dependsOn(softmax.keys)) {
    softmax.shifts.push_back(score->operands[1]);
    return takeShifts(elements, softmax, score->operands[0]);
  }
  if (score->isOp("arith.select"))
    for (unsigned place : {1, 2})
      if (score->operands[3 - place]->getFloat() == least) {
        SmallVector<const Element *, 4> operands(score->operands);
        operands[place] = takeShifts(elements, softmax, operands[place]);
        return elements.makeOp("arith.select", score->type, operands);
      }
  return score;
}

/// Of a sum of exponentials, the absolute value is nothing.
static const Element *skipAbs(const Element *element) {
  return element->isOp("math.absf") ? element->operands[0] : element;
}

/// exp(score - c - log(divisor)) as exp(score - c) and the divisor; null if
/// there is no such logarithm.
static std::pair<const Element *, const Element *>
takeLogarithm(ElementBuilder &elements, const Element *exponent) {
  if (!exponent->isOp("arith.subf"))
    return {nullptr, nullptr};
  const Element *rest = exponent->operands[0], *divisor = nullptr;
  SmallVector<const Element *> addends;
  getAddends(exponent->operands[1], addends);
  auto *logarithm = llvm::find_if(
      addends, [](const Element *addend) { return addend->isOp("math.log"); });
  if (logarithm != addends.end()) {
    divisor = skipAbs((*logarithm)->operands[0]);
    addends.erase(logarithm);
  } else {
    std::tie(rest, divisor) = takeLogarithm(elements, rest);
    addends = {exponent->operands[1]};
  }
  if (divisor)
    for (const Element *addend : addends)
      rest = elements.makeOp(*exponent->name, exponent->attributes, rest->type,
                             {rest, addend});
  return {rest, divisor};
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

/// sum_n exp(...) of `softmax`, which may run over a sink as well.
static LogicalResult matchSum(ElementBuilder &elements, Softmax &softmax,
                              const Element *load,
                              const ReductionOfElements &terms,
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
  // Where the sum is 0, all exponentials are, and any divisor will do.
  const Element *total = divisor;
  if (divisor->isOp("arith.select") && divisor->operands[1]->getFloat() > 0.0 &&
      isComparedWith(divisor->operands[0], divisor->operands[2], 0))
    total = divisor->operands[2];
  SmallVector<const Element *> addends, others;
  getAddends(total, addends);
  std::optional<ReductionOfElements> sum;
  const Element *load = nullptr;
  for (const Element *addend : addends) {
    std::optional<ReductionOfElements> found =
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
  softmax.score =
      takeShifts(elements, softmax, softmax.exponential->operands[0]);
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
  softmax.score =
      takeShifts(elements, softmax, elements.get(named.getInput(), *indices));
  softmax.isDivided = true;
  if (!*isWider)
    return success();
  place = IndexSum(first == 0 ? softmax.size : 0);
  softmax.sink = elements.get(named.getInput(), *indices);
  return takeSinkShifts(softmax, named, why);
}

/// exp(x) as a quotient, if x subtracts the logarithm of the divisor; or no
/// quotient at all.
static LogicalResult matchExponential(ElementBuilder &elements,
                                      Softmax &softmax, const Element *weights,
                                      Mismatch &why) {
  auto [exponent, divisor] = takeLogarithm(elements, weights->operands[0]);
  softmax.exponential =
      divisor ? elements.makeOp(*weights->name, weights->attributes,
                                weights->type, {exponent})
              : weights;
  softmax.score =
      takeShifts(elements, softmax, softmax.exponential->operands[0]);
  return success(!divisor ||
                 succeeded(matchDivisor(elements, softmax, divisor, why)));
}

/// Takes from the outside of `weights` what puts zeros in place of some: of
/// single ones into the exponentials, of whole rows into `isEmpty`.
static const Element *takeZeros(ElementBuilder &elements,
                                const Softmax &softmax, const Element *weights,
                                SmallVectorImpl<const Element *> &isEmpty) {
  while (weights->isOp("arith.select")) {
    unsigned place = weights->operands[1]->getFloat() == 0.0 ? 2 : 1;
    if (weights->operands[3 - place]->getFloat() != 0.0)
      break;
    const Element *condition = weights->operands[0];
    const Element *kept = weights->operands[place];
    if (place == 1)
      condition = elements.makeNot(condition);
    // Only a row of zeros can be no number.
    bool isNaN =
        condition->isOp("arith.cmpf") && condition->operands[0] == kept &&
        condition->operands[1] == kept &&
        isPredicate(condition,
                    {arith::CmpFPredicate::UNE, arith::CmpFPredicate::UNO});
    bool isQuotient = kept->isOp("arith.divf") || kept->isOp("arith.mulf");
    if (isNaN) {
      weights = kept;
    } else if (!condition->dependsOn(softmax.keys)) {
      isEmpty.push_back(condition);
      weights = kept;
    } else if (isQuotient && kept->operands[0]->isOp("math.exp")) {
      SmallVector<const Element *, 4> choice(weights->operands);
      choice[place] = kept->operands[0];
      const Element *powers = elements.makeOp(
          *weights->name, weights->attributes, weights->type, choice);
      weights = elements.makeOp(*kept->name, kept->attributes, kept->type,
                                {powers, kept->operands[1]});
    } else {
      break;
    }
  }
  return weights;
}

/// What a reduction over all keys by `combiner`, which `load` reads, has of the
/// key; null for anything else.
static const Element *getTerm(ElementBuilder &elements, const Softmax &softmax,
                              const Element *load, StringRef combiner) {
  auto terms = elements.getReduction(load, combiner, /*inlined=*/true);
  if (!terms || terms->variables.size() != 1 || terms->sizes[0] != softmax.size)
    return nullptr;
  IndexSum key = IndexSum::get(softmax.keys, softmax.size);
  return elements.substitute(terms->term, [&](unsigned variable) {
    return variable == terms->variables[0] ? &key : nullptr;
  });
}

/// Whether all scores for which `isEmpty` holds are -inf.
static bool hidesAll(ElementBuilder &elements, const Softmax &softmax,
                     const Element *isEmpty) {
  constexpr double least = -std::numeric_limits<double>::infinity();
  bool isInverse = isEmpty->isOp("arith.xori");
  const Element *load = isInverse ? isEmpty->operands[0] : isEmpty;
  if (isEmpty->isOp("arith.cmpf")) {
    const Element *compared = isEmpty->operands[0];
    bool isSum = compared == softmax.sum && !softmax.sink;
    return (isSum && isComparedWith(isEmpty, compared, 0)) ||
           (isComparedWith(isEmpty, compared, least) &&
            (getTerm(elements, softmax, compared, "arith.maximumf") ==
                 softmax.score ||
             getTerm(elements, softmax, compared, "arith.maxnumf") ==
                 softmax.score));
  }
  const Element *hidden =
      getTerm(elements, softmax, load, isInverse ? "arith.ori" : "arith.andi");
  if (!hidden)
    return false;
  if (isInverse)
    hidden = elements.makeNot(hidden);
  const Element *score = softmax.score;
  if (isComparedWith(hidden, score, least))
    return true;
  if (!score->isOp("arith.select"))
    return false;
  return (hidden == score->operands[0] &&
          score->operands[1]->getFloat() == least) ||
         (hidden == elements.makeNot(score->operands[0]) &&
          score->operands[2]->getFloat() == least);
}

std::optional<Softmax>
attune::raising::matchSoftmax(ElementBuilder &elements, const Element *weights,
                              linalg::LinalgOp contraction, unsigned keys,
                              int64_t size, Mismatch &why) {
  Softmax softmax;
  softmax.keys = keys;
  softmax.size = size;
  SmallVector<const Element *> isEmpty;
  weights = takeZeros(elements, softmax, weights, isEmpty);
  const Element *found = weights;
  if (!weights->isOp("math.exp"))
    found = findSoftmax(elements, weights);
  if (!found && isPartOfSoftmax(elements, weights))
    (void)fail(why, weights->value.getDefiningOp(),
               "expects the weights of all keys, but got a part of them whose "
               "size is not known");
  if (!found)
    return std::nullopt;
  LogicalResult matched = failure();
  if (found != weights)
    (void)fail(why, contraction,
               "expects softmax to be an operand of the contraction with "
               "values, but got '" +
                   (weights->name ? weights->name->getStringRef()
                                  : StringRef("a load")) +
                   "' between");
  else if (found->isOp("math.exp"))
    matched = matchExponential(elements, softmax, found, why);
  else if (found->isLoad())
    matched = matchNamed(elements, softmax, found, why);
  else
    matched = matchQuotient(elements, softmax, found, why);
  bool isSplit = !found->isLoad() && !found->isOp("math.exp");
  if (failed(matched) && why.reason.empty() && isSplit)
    (void)fail(why, contraction,
               "expects exponentials to be divided by their sum");
  if (failed(matched))
    return std::nullopt;
  for (const Element *condition : isEmpty)
    if (!hidesAll(elements, softmax, condition)) {
      (void)fail(why, contraction,
                 "expects weights to be replaced by 0 only where all keys are "
                 "hidden");
      return std::nullopt;
    }
  return softmax;
}

std::optional<Softmax> attune::raising::matchOtherSum(ElementBuilder &elements,
                                                      const Softmax &softmax,
                                                      const Element *load) {
  std::optional<ReductionOfElements> sum =
      elements.getSum(load, /*inlined=*/true);
  // With a sink, the logarithm is one of both.
  if (!sum || sum->init->getFloat() != 0.0 || softmax.sink)
    return std::nullopt;
  const Element *term = getTerm(elements, softmax, load, "arith.addf");
  if (!term || !term->isOp("math.exp"))
    return std::nullopt;
  Softmax other = softmax;
  other.shifts.clear();
  other.exponential = term;
  other.divisor = other.sum = load;
  if (takeShifts(elements, other, term->operands[0]) != softmax.score)
    return std::nullopt;
  return other;
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
    if (base->isOp("math.log") && skipAbs(base->operands[0]) == softmax.divisor)
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
