// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expressions in their simplest form: constants are folded, also through a
// choice between two of them, and integers that count are sums of indices.

#include "Element.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune::raising;

void Element::Profile(llvm::FoldingSetNodeID &id) const {
  id.AddInteger(static_cast<unsigned>(kind));
  id.AddPointer(type.getAsOpaquePointer());
  id.AddPointer(constant.getAsOpaquePointer());
  index.profile(id);
  id.AddPointer(value.getAsOpaquePointer());
  id.AddPointer(name ? name->getAsOpaquePointer() : nullptr);
  id.AddPointer(attributes.getAsOpaquePointer());
  for (const Element *operand : operands)
    id.AddPointer(operand);
}

std::optional<double> Element::getFloat() const {
  auto attribute = dyn_cast_or_null<FloatAttr>(constant);
  return attribute ? std::optional(attribute.getValueAsDouble()) : std::nullopt;
}

std::optional<bool> Element::getBool() const {
  auto attribute = dyn_cast_or_null<IntegerAttr>(constant);
  if (!attribute || !type.isInteger(1))
    return std::nullopt;
  return attribute.getValue().getBoolValue();
}

/// The value of a constant integer.
static std::optional<int64_t> getInteger(const Element *element) {
  if (element->kind == Element::Kind::Index && element->index.isConstant())
    return element->index.getConstant();
  auto attribute = dyn_cast_or_null<IntegerAttr>(element->constant);
  if (!attribute || attribute.getValue().getBitWidth() > 64)
    return std::nullopt;
  return attribute.getValue().getSExtValue();
}

static bool isConstant(const Element *element) {
  return element->kind == Element::Kind::Constant ||
         (element->kind == Element::Kind::Index && element->index.isConstant());
}

std::optional<SmallVector<IndexSum>> Element::getIndices() const {
  SmallVector<IndexSum> indices;
  for (const Element *operand : operands) {
    if (operand->kind != Kind::Index)
      return std::nullopt;
    indices.push_back(operand->index);
  }
  return indices;
}

const Element *
Element::find(llvm::function_ref<bool(const Element *)> predicate) const {
  llvm::SmallPtrSet<const Element *, 32> seen;
  SmallVector<const Element *> next{this};
  while (!next.empty()) {
    const Element *element = next.pop_back_val();
    if (!seen.insert(element).second)
      continue;
    if (predicate(element))
      return element;
    next.append(element->operands.rbegin(), element->operands.rend());
  }
  return nullptr;
}

bool Element::dependsOn(unsigned variable) const {
  return find([&](const Element *element) {
    return element->index.dependsOn(variable);
  });
}

bool Element::dependsOnAny() const {
  return find(
      [](const Element *element) { return !element->index.isConstant(); });
}

bool Element::contains(const Element *other) const {
  return find([&](const Element *element) { return element == other; });
}

const Element *ElementBuilder::unique(Element element) {
  llvm::FoldingSetNodeID id;
  element.Profile(id);
  void *place = nullptr;
  if (Element *found = known.FindNodeOrInsertPos(id, place))
    return found;
  elements.push_back(std::move(element));
  known.InsertNode(&elements.back(), place);
  return &elements.back();
}

bool attune::raising::isCounting(Type type) {
  return type.isIndex() ||
         (type.isInteger() && type.getIntOrFloatBitWidth() >= 32);
}

const Element *ElementBuilder::makeIndex(const IndexSum &index, Type type) {
  Element element{{}, Element::Kind::Index, type};
  element.index = index;
  return unique(std::move(element));
}

const Element *ElementBuilder::makeConstant(Attribute constant, Type type) {
  Element element{{}, Element::Kind::Constant, type};
  if (auto integer = dyn_cast<IntegerAttr>(constant);
      integer && isCounting(type) && integer.getValue().getBitWidth() <= 64)
    return makeIndex(IndexSum(integer.getValue().getSExtValue()), type);
  auto number = dyn_cast<FloatAttr>(constant);
  if (number && number.getType().getIntOrFloatBitWidth() <= 32)
    return makeFloat(number.getValueAsDouble());
  element.constant = constant;
  return unique(std::move(element));
}

const Element *ElementBuilder::makeFloat(double value) {
  Type type = Float32Type::get(context);
  Element element{{}, Element::Kind::Constant, type};
  element.constant = FloatAttr::get(type, value);
  return unique(std::move(element));
}

const Element *ElementBuilder::makeBool(bool value) {
  Element element{{}, Element::Kind::Constant, IntegerType::get(context, 1)};
  element.constant = IntegerAttr::get(element.type, value);
  return unique(std::move(element));
}

const Element *ElementBuilder::makeLoad(Value tensor,
                                        ArrayRef<IndexSum> indices) {
  Type type = cast<RankedTensorType>(tensor.getType()).getElementType();
  if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() <= 32)
    type = Float32Type::get(context);
  Element element{{}, Element::Kind::Load, type};
  element.value = tensor;
  for (const IndexSum &index : indices)
    element.operands.push_back(makeIndex(index, IndexType::get(context)));
  return unique(std::move(element));
}

const Element *ElementBuilder::makeOp(StringRef name, Type type,
                                      ArrayRef<const Element *> operands) {
  return makeOp(OperationName(name, context), DictionaryAttr::get(context),
                type, operands);
}

const Element *ElementBuilder::makeOp(OperationName name,
                                      DictionaryAttr attributes, Type type,
                                      ArrayRef<const Element *> operands) {
  if (const Element *folded =
          fold(name.getStringRef(), attributes, type, operands))
    return folded;
  Element element{{}, Element::Kind::Op, type};
  element.name = name;
  element.attributes = attributes;
  element.operands.assign(operands.begin(), operands.end());
  return unique(std::move(element));
}

static arith::CmpIPredicate getIntegerPredicate(DictionaryAttr attributes) {
  return attributes.getAs<arith::CmpIPredicateAttr>("predicate").getValue();
}

const Element *ElementBuilder::makeNot(const Element *condition) {
  Type type = condition->type;
  if (std::optional<bool> value = condition->getBool())
    return makeBool(!*value);
  if (condition->isOp("arith.cmpi")) {
    auto inverse = arith::CmpIPredicateAttr::get(
        context,
        arith::invertPredicate(getIntegerPredicate(condition->attributes)));
    NamedAttrList attributes(condition->attributes);
    attributes.set("predicate", inverse);
    return makeOp(*condition->name, attributes.getDictionary(context), type,
                  condition->operands);
  }
  if (condition->isOp("arith.xori") &&
      condition->operands[1]->getBool() == true)
    return condition->operands[0];
  bool isAnd = condition->isOp("arith.andi");
  if (isAnd || condition->isOp("arith.ori"))
    return makeOp(
        isAnd ? "arith.ori" : "arith.andi", type,
        {makeNot(condition->operands[0]), makeNot(condition->operands[1])});
  Element element{{}, Element::Kind::Op, type};
  element.name = OperationName("arith.xori", context);
  element.attributes = DictionaryAttr::get(context);
  element.operands = {condition, makeBool(true)};
  return unique(std::move(element));
}

/// Of floats.
static std::optional<double> computeFloat(StringRef name,
                                          ArrayRef<double> operands) {
  double a = operands[0], b = operands.back();
  return llvm::StringSwitch<std::optional<double>>(name)
      .Case("arith.addf", a + b)
      .Case("arith.subf", a - b)
      .Case("arith.mulf", a * b)
      .Case("arith.divf", a / b)
      .Case("arith.negf", -a)
      .Case("math.sqrt", std::sqrt(a))
      .Case("math.rsqrt", 1 / std::sqrt(a))
      .Cases({"arith.extf", "arith.truncf"}, a)
      .Default(std::nullopt);
}

static std::optional<bool> compareFloats(DictionaryAttr attributes, double a,
                                         double b) {
  using P = arith::CmpFPredicate;
  if (std::isnan(a) || std::isnan(b))
    return std::nullopt;
  switch (attributes.getAs<arith::CmpFPredicateAttr>("predicate").getValue()) {
  case P::OEQ:
  case P::UEQ:
    return a == b;
  case P::ONE:
  case P::UNE:
    return a != b;
  case P::OGT:
  case P::UGT:
    return a > b;
  case P::OGE:
  case P::UGE:
    return a >= b;
  case P::OLT:
  case P::ULT:
    return a < b;
  case P::OLE:
  case P::ULE:
    return a <= b;
  default:
    return std::nullopt;
  }
}

/// Whether lhs - rhs lies on one side of the comparison for all indices.
static std::optional<bool> compareIndices(arith::CmpIPredicate predicate,
                                          const IndexSum &lhs,
                                          const IndexSum &rhs) {
  IndexSum difference = lhs.plus(rhs, -1);
  constexpr int64_t unbounded = int64_t(1) << 60;
  int64_t low = difference.getConstant(), high = low;
  for (const IndexSum::Term &term : difference.getTerms()) {
    int64_t extent = ShapedType::isDynamic(term.digit.size)
                         ? unbounded
                         : term.factor * (term.digit.size - 1);
    if (ShapedType::isDynamic(term.digit.size))
      (term.factor > 0 ? high : low) += term.factor > 0 ? extent : -extent;
    else
      (term.factor > 0 ? high : low) += extent;
  }
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::slt:
    return high < 0   ? std::optional(true)
           : low >= 0 ? std::optional(false)
                      : std::nullopt;
  case P::sle:
    return high <= 0 ? std::optional(true)
           : low > 0 ? std::optional(false)
                     : std::nullopt;
  case P::sgt:
    return low > 0     ? std::optional(true)
           : high <= 0 ? std::optional(false)
                       : std::nullopt;
  case P::sge:
    return low >= 0   ? std::optional(true)
           : high < 0 ? std::optional(false)
                      : std::nullopt;
  case P::eq:
    return low == 0 && high == 0 ? std::optional(true)
           : low > 0 || high < 0 ? std::optional(false)
                                 : std::nullopt;
  case P::ne:
    return low == 0 && high == 0 ? std::optional(false)
           : low > 0 || high < 0 ? std::optional(true)
                                 : std::nullopt;
  default:
    return std::nullopt;
  }
}

std::optional<bool> ElementBuilder::isBelow(const IndexSum &index,
                                            int64_t bound) {
  return compareIndices(arith::CmpIPredicate::slt, index, IndexSum(bound));
}

/// The product with a constant; that of a difference as a difference, so that
/// what softmax subtracts stays to be seen.
const Element *ElementBuilder::makeProduct(const Element *element,
                                           double factor) {
  if (element->isOp("arith.subf"))
    return makeOp("arith.subf", element->type,
                  {makeProduct(element->operands[0], factor),
                   makeProduct(element->operands[1], factor)});
  return makeOp("arith.mulf", element->type, {element, makeFloat(factor)});
}

static bool mayBeNegative(const IndexSum &index) {
  return index.getConstant() < 0 ||
         llvm::any_of(
             index.getTerms(),
             [](const IndexSum::Term &term) { return term.factor < 0; });
}

/// The predicate for signed integers.
static arith::CmpIPredicate getSigned(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::ult:
    return P::slt;
  case P::ule:
    return P::sle;
  case P::ugt:
    return P::sgt;
  case P::uge:
    return P::sge;
  default:
    return predicate;
  }
}

/// Arithmetic of sums of indices, in small numbers that cannot wrap around.
static std::optional<IndexSum>
computeIndex(StringRef name, ArrayRef<const Element *> operands) {
  for (const Element *operand : operands)
    if (operand->kind != Element::Kind::Index ||
        std::abs(operand->index.getConstant()) > (int64_t(1) << 31))
      return std::nullopt;
  const IndexSum &a = operands[0]->index, &b = operands.back()->index;
  // What may be negative is another number where it is widened as unsigned.
  if ((name == "arith.index_castui" || name == "arith.extui") &&
      mayBeNegative(a))
    return std::nullopt;
  if (llvm::is_contained({"arith.index_cast", "arith.index_castui",
                          "arith.extsi", "arith.extui", "arith.trunci"},
                         name))
    return a;
  if (name == "arith.addi")
    return a.plus(b);
  if (name == "arith.subi")
    return a.plus(b, -1);
  if (name == "arith.muli" && b.isConstant())
    return a.times(b.getConstant());
  if (name == "arith.muli" && a.isConstant())
    return b.times(a.getConstant());
  bool isQuotient = llvm::is_contained(
      {"arith.divsi", "arith.divui", "arith.floordivsi"}, name);
  if (!isQuotient && name != "arith.remsi" && name != "arith.remui")
    return std::nullopt;
  auto divided = b.isConstant() ? a.divide(b.getConstant()) : std::nullopt;
  if (!divided)
    return std::nullopt;
  return isQuotient ? divided->first : divided->second;
}

/// The operand that is left where the other one changes nothing, but for the
/// sign of a zero; null if there is none.
static const Element *findNeutral(StringRef name, const Element *a,
                                  const Element *b) {
  bool isSum = name == "arith.addf", isProduct = name == "arith.mulf";
  if (isSum || name == "arith.subf") {
    if (b->getFloat() == 0.0)
      return a;
    return isSum && a->getFloat() == 0.0 ? b : nullptr;
  }
  if (!isProduct && name != "arith.divf")
    return nullptr;
  if (b->getFloat() == 1.0)
    return a;
  return isProduct && a->getFloat() == 1.0 ? b : nullptr;
}

// NOLINTNEXTLINE(readability-function-size): a list of folds, one op each
const Element *ElementBuilder::fold(StringRef name, DictionaryAttr attributes,
                                    Type type,
                                    ArrayRef<const Element *> operands) {
  const Element *a = operands.front(), *b = operands.back();
  if ((name == "arith.extf" || name == "arith.truncf") && a->type == type)
    return a;
  if (isCounting(type))
    if (std::optional<IndexSum> index = computeIndex(name, operands))
      return makeIndex(*index, type);
  if (const Element *kept = findNeutral(name, a, b))
    return kept;
  // Powers and logarithms of base 2 as natural ones, which attention has.
  if (name == "math.exp2" && isa<Float32Type>(type))
    return makeOp("math.exp", type, {makeProduct(a, llvm::numbers::ln2)});
  if (std::optional<double> base = a->getFloat();
      name == "math.powf" && isa<Float32Type>(type) && base && *base > 0)
    return makeOp("math.exp", type, {makeProduct(b, std::log(*base))});
  if (name == "math.log2" && isa<Float32Type>(type))
    return makeProduct(makeOp("math.log", type, {a}), llvm::numbers::log2e);
  if (name == "arith.cmpi" && a->kind == Element::Kind::Index &&
      b->kind == Element::Kind::Index) {
    // What is not negative has one order.
    arith::CmpIPredicate predicate = getIntegerPredicate(attributes),
                         asSigned = getSigned(predicate);
    if (asSigned != predicate && !mayBeNegative(a->index) &&
        !mayBeNegative(b->index)) {
      NamedAttrList changed(attributes);
      changed.set("predicate",
                  arith::CmpIPredicateAttr::get(context, asSigned));
      return makeOp(OperationName(name, context),
                    changed.getDictionary(context), type, operands);
    }
    if (std::optional<bool> result =
            compareIndices(getIntegerPredicate(attributes), a->index, b->index))
      return makeBool(*result);
  }
  if (name == "arith.select") {
    const Element *whenTrue = operands[1];
    if (std::optional<bool> value = a->getBool())
      return *value ? whenTrue : b;
    if (whenTrue == b)
      return b;
    if (whenTrue->getBool() == true && b->getBool() == false)
      return a;
    if (whenTrue->getBool() == false && b->getBool() == true)
      return makeNot(a);
    if (whenTrue->getBool() == false)
      return makeOp("arith.andi", type, {makeNot(a), b});
    if (b->getBool() == false)
      return makeOp("arith.andi", type, {a, whenTrue});
    // What the same condition has chosen before.
    if (whenTrue->isOp(name) && whenTrue->operands[0] == a)
      return makeOp(name, type, {a, whenTrue->operands[1], b});
    if (b->isOp(name) && b->operands[0] == a)
      return makeOp(name, type, {a, whenTrue, b->operands[2]});
    // A term of a sum that is left out is the exponential of -inf.
    const Element *least = makeFloat(-std::numeric_limits<double>::infinity());
    if (whenTrue->isOp("math.exp") && b->getFloat() == 0.0)
      return makeOp("math.exp", type,
                    {makeOp(name, type, {a, whenTrue->operands[0], least})});
    if (b->isOp("math.exp") && whenTrue->getFloat() == 0.0)
      return makeOp("math.exp", type,
                    {makeOp(name, type, {a, least, b->operands[0]})});
    return nullptr;
  }
  // A truth value as a number chooses between two.
  bool isUnsigned = name == "arith.extui" || name == "arith.uitofp";
  if (a->type.isInteger(1) && !isConstant(a) &&
      (isUnsigned || name == "arith.extsi" || name == "arith.sitofp")) {
    auto number = [&](int64_t value) {
      return isa<FloatType>(type)
                 ? makeConstant(FloatAttr::get(type, double(value)), type)
                 : makeConstant(IntegerAttr::get(type, value), type);
    };
    return makeOp("arith.select", type,
                  {a, number(isUnsigned ? 1 : -1), number(0)});
  }
  if (type.isInteger(1) && operands.size() == 2) {
    for (auto [value, other] : {std::pair(a, b), std::pair(b, a)}) {
      std::optional<bool> constant = value->getBool();
      if (!constant)
        continue;
      if (name == "arith.xori")
        return *constant ? makeNot(other) : other;
      if (name == "arith.andi")
        return *constant ? other : value;
      if (name == "arith.ori")
        return *constant ? value : other;
      if (name == "arith.cmpi" &&
          getIntegerPredicate(attributes) == arith::CmpIPredicate::eq)
        return *constant ? other : makeNot(other);
      if (name == "arith.cmpi" &&
          getIntegerPredicate(attributes) == arith::CmpIPredicate::ne)
        return *constant ? makeNot(other) : other;
    }
  }
  if (llvm::all_of(operands, isConstant)) {
    SmallVector<double> numbers;
    for (const Element *operand : operands)
      if (std::optional<double> number = operand->getFloat())
        numbers.push_back(*number);
    if (numbers.size() == operands.size()) {
      if (name == "arith.cmpf") {
        std::optional<bool> result =
            compareFloats(attributes, numbers[0], numbers[1]);
        return result ? makeBool(*result) : nullptr;
      }
      std::optional<double> result = computeFloat(name, numbers);
      return result && isa<FloatType>(type)
                 ? makeConstant(FloatAttr::get(type, *result), type)
                 : nullptr;
    }
    std::optional<int64_t> x = getInteger(a), y = getInteger(b);
    if (x && (name == "arith.sitofp" || (name == "arith.uitofp" && *x >= 0)))
      return makeConstant(FloatAttr::get(type, double(*x)), type);
    if (x && y && name == "arith.cmpi") {
      std::optional<bool> result = compareIndices(
          getIntegerPredicate(attributes), IndexSum(*x), IndexSum(*y));
      return result ? makeBool(*result) : nullptr;
    }
    return nullptr;
  }
  // f(c ? x : y) is c ? f(x) : f(y) where both are constant.
  for (auto [place, operand] : llvm::enumerate(operands)) {
    if (!operand->isOp("arith.select") || !isConstant(operand->operands[1]) ||
        !isConstant(operand->operands[2]))
      continue;
    const Element *results[2];
    for (unsigned branch : {0, 1}) {
      SmallVector<const Element *> inputs(operands);
      inputs[place] = operand->operands[branch + 1];
      if (!llvm::all_of(inputs, isConstant))
        return nullptr;
      results[branch] = fold(name, attributes, type, inputs);
      if (!results[branch] || !isConstant(results[branch]))
        return nullptr;
    }
    return makeOp("arith.select", type,
                  {operand->operands[0], results[0], results[1]});
  }
  return nullptr;
}
