// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes scale, softcap and masks out of a score. What is left is the score
// region.

#include "Score.h"
#include "ElementEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attune;
using namespace attune::raising;

/// Whether a score hides its key: -inf, or a finite number that is written for
/// it. Nothing is left of exp(-1e9) beside any other score; -65504 is the
/// lowest f16.
static bool isHiding(double score) { return score <= -1e9 || score == -65504; }

static bool isHiding(const Element *element) {
  std::optional<double> value = element->getFloat();
  return value && isHiding(*value);
}

std::optional<Score> Score::get(const AttentionMatch &match,
                                const Layout &layout,
                                ElementBuilder &elements) {
  Score result(layout, elements);
  auto translate = [&](const Element *element) {
    return elements.substitute(
        element, [&](unsigned loop) { return layout.getIndex(loop); });
  };
  result.dot = translate(match.dot);
  result.score = translate(match.softmax.score);
  if (!result.dot || !result.score)
    return std::nullopt;
  for (const Element *factor : match.scales)
    if (std::optional<double> value = factor->getFloat())
      result.scale *= *value;
    else
      result.score =
          elements.replace(result.score, result.dot,
                           elements.makeOp("arith.mulf", result.dot->type,
                                           {result.dot, factor}));
  result.score = result.takeMasks(result.score);
  result.takeScale();
  result.chooseBands();
  return result;
}

/// A term that hides keys: gives what it adds to visible ones.
const Element *Score::takeBias(const Element *bias) {
  if (bias->isLoad())
    if (const Element *condition = getDiagonal(bias, /*isMask=*/false)) {
      addCondition(condition);
      return nullptr;
    }
  if (!bias->isOp("arith.select"))
    return bias;
  const Element *condition = bias->operands[0], *left = bias->operands[1];
  if (isHiding(left)) {
    condition = elements->makeNot(condition);
    left = bias->operands[2];
  } else if (!isHiding(bias->operands[2])) {
    return bias;
  }
  addCondition(condition);
  left = takeBias(left);
  return left && left->getFloat() == 0.0 ? nullptr : left;
}

/// Takes masks from the outside to the inside, through what leaves a hidden
/// score hidden.
const Element *Score::takeMasks(const Element *score) {
  if (score->isOp("arith.select")) {
    const Element *condition = score->operands[0], *left = score->operands[1];
    if (isHiding(left)) {
      condition = elements->makeNot(condition);
      left = score->operands[2];
    } else if (!isHiding(score->operands[2])) {
      return score;
    }
    // A region of the mask knows no scores.
    if (!left->contains(dot) || condition->contains(dot))
      return score;
    addCondition(condition);
    return takeMasks(left);
  }
  if (score->isOp("arith.mulf") || score->isOp("arith.divf")) {
    const Element *inner = score->operands[0], *factor = score->operands[1];
    if (score->isOp("arith.mulf") && inner->getFloat())
      std::swap(inner, factor);
    return factor->getFloat() > 0.0
               ? elements->makeOp(*score->name, score->attributes, score->type,
                                  {takeMasks(inner), factor})
               : score;
  }
  if (score->isOp("arith.addf"))
    for (unsigned place : {0, 1}) {
      const Element *inner = score->operands[place],
                    *bias = score->operands[1 - place];
      if (!inner->contains(dot) || bias->contains(dot))
        continue;
      inner = takeMasks(inner);
      bias = takeBias(bias);
      return bias ? elements->makeOp(*score->name, score->attributes,
                                     score->type, {inner, bias})
                  : inner;
    }
  return score;
}

/// The product of the dot product with constants, and a softcap around that.
void Score::takeScale() {
  argument = dot;
  auto getOnlyUser = [&](const Element *used) -> const Element * {
    const Element *user = nullptr;
    llvm::SmallPtrSet<const Element *, 32> seen;
    SmallVector<const Element *> next{score};
    while (!next.empty()) {
      const Element *element = next.pop_back_val();
      if (!seen.insert(element).second)
        continue;
      for (const Element *operand : element->operands) {
        if (operand == used && user)
          return nullptr;
        if (operand == used)
          user = element;
      }
      llvm::append_range(next, element->operands);
    }
    return user;
  };
  auto getFactor = [&](const Element *user,
                       const Element *used) -> std::optional<double> {
    if (user && user->isOp("arith.mulf"))
      return user->operands[user->operands[0] == used ? 1 : 0]->getFloat();
    if (user && user->isOp("arith.divf") && user->operands[0] == used)
      if (std::optional<double> divisor = user->operands[1]->getFloat())
        return 1 / *divisor;
    return std::nullopt;
  };
  while (argument != score) {
    const Element *user = getOnlyUser(argument);
    std::optional<double> factor = getFactor(user, argument);
    if (!factor)
      break;
    scale *= *factor;
    argument = user;
  }
  const Element *bounded = argument == score ? nullptr : getOnlyUser(argument);
  if (!bounded || !bounded->isOp("math.tanh") || bounded == score)
    return;
  const Element *product = getOnlyUser(bounded);
  std::optional<double> factor = getFactor(product, bounded);
  if (!factor || !(*factor > 0) || !std::isfinite(*factor))
    return;
  softcap = factor;
  scale *= *factor;
  argument = product;
}

/// n <= m + offset, or n >= m + offset.
const Element *Score::makeBand(int64_t offset, bool isUpper) const {
  MLIRContext *context = elements->getContext();
  auto getIndex = [&](Position position, int64_t added) {
    IndexSum index =
        IndexSum::get(layout->getVariable(position), layout->getSize(position));
    return elements->makeIndex(index.plus(IndexSum(added)),
                               IndexType::get(context));
  };
  auto predicate = arith::CmpIPredicateAttr::get(
      context, isUpper ? arith::CmpIPredicate::sle : arith::CmpIPredicate::sge);
  NamedAttrList attributes;
  attributes.set("predicate", predicate);
  return elements->makeOp(
      OperationName("arith.cmpi", context), attributes.getDictionary(context),
      IntegerType::get(context, 1),
      {getIndex(Position::Key, 0), getIndex(Position::Query, offset)});
}

/// The condition that a constant of truth values (a mask), or of 0 and -inf,
/// stands for, if its visible keys end with a diagonal.
const Element *Score::getDiagonal(const Element *load, bool isMask) const {
  DenseElementsAttr dense;
  std::optional<SmallVector<IndexSum>> indices = load->getIndices();
  if (!indices || !matchPattern(load->value, m_Constant(&dense)))
    return nullptr;
  int64_t m = -1, n = -1;
  int64_t queries = layout->getSize(Position::Query),
          keys = layout->getSize(Position::Key);
  ArrayRef<int64_t> shape = dense.getType().getShape();
  for (size_t dim = 0; dim < indices->size(); ++dim) {
    // It may be a part of a larger mask.
    auto is = [&](Position position) {
      return (*indices)[dim] == IndexSum::get(layout->getVariable(position),
                                              layout->getSize(position));
    };
    if (is(Position::Query) && m < 0)
      m = dim;
    else if (is(Position::Key) && n < 0)
      n = dim;
    else if (shape[dim] != 1)
      return nullptr;
  }
  if (m < 0 || n < 0 || ShapedType::isDynamic(queries) ||
      ShapedType::isDynamic(keys))
    return nullptr;
  auto visible = llvm::to_vector_of<bool, 0>(llvm::map_range(
      dense.getValues<Attribute>(), [&](Attribute value) -> bool {
        if (auto integer = dyn_cast<IntegerAttr>(value))
          return !integer.getValue().isZero();
        return cast<FloatAttr>(value).getValueAsDouble() == 0;
      }));
  if (!isMask)
    for (Attribute value : dense.getValues<Attribute>()) {
      auto number = dyn_cast<FloatAttr>(value);
      if (!number || (number.getValueAsDouble() != 0 &&
                      !isHiding(number.getValueAsDouble())))
        return nullptr;
    }
  auto isVisible = [&](int64_t query, int64_t key) {
    return visible[m < n ? query * shape[n] + key : key * shape[m] + query];
  };
  std::optional<int64_t> offset;
  for (int64_t query = 0; query < queries && !offset; ++query)
    for (int64_t key = 1; key < keys && !offset; ++key)
      if (isVisible(query, key - 1) && !isVisible(query, key))
        offset = key - 1 - query;
  for (int64_t query = 0; query < queries && offset; ++query)
    for (int64_t key = 0; key < keys && offset; ++key)
      if (isVisible(query, key) != (key <= query + *offset))
        offset.reset();
  return offset ? makeBand(*offset, /*isUpper=*/true) : nullptr;
}

void Score::addCondition(const Element *condition) {
  if (condition->isOp("arith.andi")) {
    for (const Element *operand : condition->operands)
      addCondition(operand);
    return;
  }
  if (condition->getBool() == true || takeBand(condition))
    return;
  if (condition->isLoad())
    if (const Element *band = getDiagonal(condition, /*isMask=*/true))
      if (takeBand(band))
        return;
  if (!llvm::is_contained(conditions, condition))
    conditions.push_back(condition);
}

/// A comparison of n - m with a constant.
bool Score::takeBand(const Element *condition) {
  using P = arith::CmpIPredicate;
  if (!condition->isOp("arith.cmpi") ||
      condition->operands[0]->kind != Element::Kind::Index ||
      condition->operands[1]->kind != Element::Kind::Index)
    return false;
  IndexSum difference =
      condition->operands[0]->index.plus(condition->operands[1]->index, -1);
  P predicate =
      condition->attributes.getAs<arith::CmpIPredicateAttr>("predicate")
          .getValue();
  auto getWhole = [&](Position position) {
    return IndexSum::get(layout->getVariable(position),
                         layout->getSize(position));
  };
  IndexSum band = getWhole(Position::Key).plus(getWhole(Position::Query), -1);
  int64_t constant = difference.getConstant();
  IndexSum linear = difference.plus(IndexSum(-constant));
  if (band.getTerms().size() != 2)
    return false;
  // n - m + constant, or m - n + constant, beside 0.
  bool isNegated = linear == band.times(-1);
  if (!isNegated && !(linear == band))
    return false;
  bool isLess = predicate == P::sle || predicate == P::slt;
  bool isGreater = predicate == P::sge || predicate == P::sgt;
  if (!isLess && !isGreater)
    return false;
  // As n - m <= bound, or n - m >= bound.
  int64_t bound = isNegated ? constant : -constant;
  bool isUpper = isLess != isNegated;
  if (predicate == P::slt || predicate == P::sgt)
    bound += isUpper ? -1 : 1;
  if (isUpper)
    upper = upper ? std::min(*upper, bound) : bound;
  else
    lower = lower ? std::max(*lower, bound) : bound;
  return true;
}

/// Says bands as `causal` and `window` where these can say it.
void Score::chooseBands() {
  MLIRContext *context = elements->getContext();
  int64_t queries = layout->getSize(Position::Query),
          keys = layout->getSize(Position::Key);
  int64_t origin = 0;
  auto alignment = attn::Alignment::TopLeft;
  bool areKnown = ShapedType::isStatic(queries) && ShapedType::isStatic(keys);
  if (upper && *upper != 0 && areKnown && *upper == keys - queries) {
    origin = *upper;
    alignment = attn::Alignment::BottomRight;
  }
  int64_t left = -1, right = -1;
  if (upper && *upper >= origin) {
    right = *upper - origin;
    upper.reset();
  }
  if (lower && *lower <= origin) {
    left = origin - *lower;
    lower.reset();
  }
  if (right == 0) {
    causal = attn::CausalAttr::get(context, alignment);
    right = -1;
  }
  if (left >= 0 || right >= 0)
    window = attn::WindowAttr::get(context, left, right, alignment);
  if (upper)
    conditions.push_back(makeBand(*upper, /*isUpper=*/true));
  if (lower)
    conditions.push_back(makeBand(*lower, /*isUpper=*/false));
}

void Score::apply(RewriterBase &rewriter, attn::AttentionOp op) const {
  OpBuilder::InsertionGuard guard(rewriter);
  // Rounding of constants alone, as of log2(e), makes no other scale.
  double usual = op.getEffectiveScale();
  if (std::abs(scale - usual) > 1e-6 * usual)
    op.setScaleAttr(rewriter.getF32FloatAttr(static_cast<float>(scale)));
  if (softcap)
    op.setSoftcapAttr(rewriter.getF32FloatAttr(static_cast<float>(*softcap)));
  if (causal)
    op.setCausalAttr(causal);
  if (window)
    op.setWindowAttr(window);
  if (score != argument) {
    Block *block = op.createScoreBlock(rewriter);
    rewriter.setInsertionPointToEnd(block);
    ElementEmitter emitter(rewriter, op.getLoc(), *layout,
                           block->getArguments().drop_front());
    emitter.map(argument, block->getArgument(0));
    attn::YieldOp::create(rewriter, op.getLoc(), emitter.emit(score));
  }
  if (!conditions.empty()) {
    Block *block = op.createMaskBlock(rewriter);
    rewriter.setInsertionPointToEnd(block);
    ElementEmitter emitter(rewriter, op.getLoc(), *layout,
                           block->getArguments());
    Value visible;
    for (const Element *condition : conditions) {
      Value value = emitter.emit(condition);
      visible = visible ? rewriter.createOrFold<arith::AndIOp>(op.getLoc(),
                                                               visible, value)
                        : value;
    }
    attn::YieldOp::create(rewriter, op.getLoc(), visible);
  }
}
