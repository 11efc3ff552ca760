// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The integers and truth values of the SMT dialect, as SMT-LIB defines them.
// They have no bound there; here more than 64 bits are no value.

#include "ScriptEvaluator.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune::tuning;
using transform::smt::ConstrainParamsOp;
using transform::tune::AlternativesOp;
using transform::tune::KnobOp;

int64_t ScriptEvaluator::read(size_t knob) {
  if (!llvm::is_contained(knobsRead, knob))
    knobsRead.push_back(knob);
  return point[knob];
}

std::string ScriptEvaluator::describeRead() const {
  auto texts = llvm::map_range(knobsRead, [&](size_t place) {
    const Knob &knob = space.getSpace().getKnobs()[place];
    return knob.name + "=" + knob.spell(point[place]);
  });
  return llvm::join(texts, " ");
}

std::nullopt_t ScriptEvaluator::fail(Operation *op, llvm::StringRef what) {
  if (problem.empty())
    problem = llvm::formatv("'{0}' {1}", op->getName(), what);
  return std::nullopt;
}

unsigned ScriptEvaluator::getSelected(AlternativesOp op) {
  if (auto it = space.choiceOf.find(op); it != space.choiceOf.end())
    return read(it->second);
  auto selected =
      dyn_cast_or_null<IntegerAttr>(getParam(op.getSelectedRegionParam()));
  return selected ? selected.getValue().getLimitedValue(UINT32_MAX)
                  : UINT32_MAX;
}

bool ScriptEvaluator::isExecuted(Operation *op) {
  for (Region *region = op->getParentRegion(); region;
       region = region->getParentRegion())
    if (auto parent = dyn_cast<AlternativesOp>(region->getParentOp()))
      if (getSelected(parent) != region->getRegionNumber())
        return false;
  return true;
}

Attribute ScriptEvaluator::getParam(Value param) {
  Operation *op = param.getDefiningOp();
  unsigned number = cast<OpResult>(param).getResultNumber();
  return TypeSwitch<Operation *, Attribute>(op)
      .Case([&](KnobOp knob) -> Attribute {
        size_t place = space.choiceOf.lookup(knob);
        int64_t value = read(place);
        ArrayAttr options = space.choices[place].options;
        if (!space.getSpace().getKnobs()[place].labels.empty())
          return options[value];
        return *llvm::find_if(options, [&](Attribute option) {
          return cast<IntegerAttr>(option).getInt() == value;
        });
      })
      .Case([](transform::ParamConstantOp constant) -> Attribute {
        return constant.getValue();
      })
      .Case([&](AlternativesOp alternatives) -> Attribute {
        unsigned selected = getSelected(alternatives);
        if (selected >= alternatives.getAlternatives().size())
          return nullptr;
        Block &block = alternatives.getAlternatives()[selected].front();
        return getParam(block.getTerminator()->getOperand(number));
      })
      .Case([&](ConstrainParamsOp constraint) -> Attribute {
        Value yielded =
            constraint.getBody().front().getTerminator()->getOperand(number);
        std::optional<int64_t> value = getValue(yielded);
        if (!value)
          return nullptr;
        Builder builder(op->getContext());
        Type type = builder.getI64Type();
        if (auto param =
                dyn_cast<transform::ParamType>(op->getResult(number).getType()))
          type = param.getType();
        if (isa<smt::BoolType>(yielded.getType()))
          type = builder.getI1Type();
        return builder.getIntegerAttr(type, *value);
      })
      .Default([](Operation *) -> Attribute { return nullptr; });
}

/// Divides so that the remainder is not negative.
static int64_t divide(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  if (a % b < 0)
    quotient += b > 0 ? -1 : 1;
  return quotient;
}

static bool compare(smt::IntPredicate predicate, int64_t a, int64_t b) {
  switch (predicate) {
  case smt::IntPredicate::lt:
    return a < b;
  case smt::IntPredicate::le:
    return a <= b;
  case smt::IntPredicate::gt:
    return a > b;
  case smt::IntPredicate::ge:
    return a >= b;
  }
  llvm_unreachable("all predicates are covered");
}

llvm::ArrayRef<llvm::StringRef> ScriptEvaluator::getKnownOps() {
  static const llvm::StringRef names[] = {
      "smt.int.constant", "smt.int.add", "smt.int.mul",  "smt.int.sub",
      "smt.int.div",      "smt.int.mod", "smt.int.abs",  "smt.int.cmp",
      "smt.constant",     "smt.eq",      "smt.distinct", "smt.ite",
      "smt.not",          "smt.and",     "smt.or",       "smt.xor",
      "smt.implies"};
  return names;
}

bool ScriptEvaluator::isKnown(Operation *op) {
  return llvm::is_contained(getKnownOps(), op->getName().getStringRef());
}

std::optional<int64_t>
ScriptEvaluator::compute(Operation *op, llvm::ArrayRef<int64_t> operands) {
  using Value = std::optional<int64_t>;
  bool overflows = false;
  auto reduce = [&](auto function) {
    int64_t total = operands.front(), next = 0;
    for (int64_t operand : operands.drop_front()) {
      overflows |= function(total, operand, next);
      total = next;
    }
    return total;
  };
  Value value =
      TypeSwitch<Operation *, Value>(op)
          .Case([&](smt::IntConstantOp constant) -> Value {
            overflows = !constant.getValue().isSignedIntN(64);
            return overflows ? 0 : constant.getValue().getSExtValue();
          })
          .Case([&](smt::BoolConstantOp constant) -> Value {
            return constant.getValue();
          })
          .Case([&](smt::IntAddOp) -> Value {
            return reduce(llvm::AddOverflow<int64_t>);
          })
          .Case([&](smt::IntMulOp) -> Value {
            return reduce(llvm::MulOverflow<int64_t>);
          })
          .Case([&](smt::IntSubOp) -> Value {
            return reduce(llvm::SubOverflow<int64_t>);
          })
          .Case<smt::IntDivOp, smt::IntModOp>([&](Operation *) -> Value {
            int64_t a = operands[0], b = operands[1];
            if (b == 0)
              return fail(op, "divides by 0");
            overflows = a == INT64_MIN && b == -1;
            if (overflows)
              return 0;
            int64_t quotient = divide(a, b);
            return isa<smt::IntDivOp>(op) ? quotient : a - quotient * b;
          })
          .Case([&](smt::IntAbsOp) -> Value {
            overflows = operands[0] == INT64_MIN;
            return overflows ? 0 : std::abs(operands[0]);
          })
          .Case([&](smt::IntCmpOp cmp) -> Value {
            return compare(cmp.getPred(), operands[0], operands[1]);
          })
          .Case([&](smt::EqOp) -> Value { return llvm::all_equal(operands); })
          .Case([&](smt::DistinctOp) -> Value {
            llvm::SmallVector<int64_t> sorted(operands);
            llvm::sort(sorted);
            return llvm::adjacent_find(sorted) == sorted.end();
          })
          .Case([&](smt::NotOp) -> Value { return !operands[0]; })
          // Where no operand has decided before.
          .Case([&](smt::AndOp) -> Value { return 1; })
          .Case([&](smt::OrOp) -> Value { return 0; })
          .Case([&](smt::ImpliesOp) -> Value { return operands[1]; })
          .Case([&](smt::XOrOp) -> Value {
            return llvm::count_if(operands, [](int64_t x) { return x; }) % 2;
          });
  if (overflows)
    return fail(op, "needs more than 64 bits");
  return value;
}

std::optional<int64_t> ScriptEvaluator::getValue(mlir::Value value) {
  Operation *op = value.getDefiningOp();
  if (!op) {
    auto argument = cast<BlockArgument>(value);
    auto constraint =
        cast<ConstrainParamsOp>(argument.getOwner()->getParentOp());
    auto param = dyn_cast_or_null<IntegerAttr>(
        getParam(constraint.getParams()[argument.getArgNumber()]));
    if (!param)
      return problem.empty() ? fail(constraint, "has a param without a value")
                             : std::nullopt;
    return param.getType().isInteger(1) ? param.getValue().getZExtValue()
                                        : param.getValue().getSExtValue();
  }
  // What does not matter need not have a value: a division may be guarded.
  if (auto ite = dyn_cast<smt::IteOp>(op)) {
    std::optional<int64_t> condition = getValue(ite.getCond());
    if (!condition)
      return std::nullopt;
    return getValue(*condition ? ite.getThenValue() : ite.getElseValue());
  }
  llvm::SmallVector<int64_t> operands;
  for (mlir::Value operand : op->getOperands()) {
    std::optional<int64_t> known = getValue(operand);
    if (!known)
      return std::nullopt;
    if (isa<smt::AndOp>(op) && !*known)
      return 0;
    if (isa<smt::OrOp>(op) && *known)
      return 1;
    if (isa<smt::ImpliesOp>(op) && operands.empty() && !*known)
      return 1;
    operands.push_back(*known);
  }
  return compute(op, operands);
}
