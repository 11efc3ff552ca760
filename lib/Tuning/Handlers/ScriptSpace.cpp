// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the knobs and the constraints of a script.

#include "attune/Tuning/ScriptSpace.h"
#include "ScriptEvaluator.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace attune;
using namespace attune::tuning;
using transform::smt::ConstrainParamsOp;
using transform::tune::AlternativesOp;
using transform::tune::KnobOp;

/// A number that names, JSON and the database show as such. Truth values are
/// spelled.
static IntegerAttr getNumber(Attribute option) {
  auto number = dyn_cast<IntegerAttr>(option);
  if (!number || number.getType().isInteger(1) ||
      number.getValue().getBitWidth() > 64 ||
      number.getType().isUnsignedInteger())
    return nullptr;
  return number;
}

static std::string spell(Attribute option) {
  if (auto text = dyn_cast<StringAttr>(option))
    return text.str();
  std::string text;
  llvm::raw_string_ostream os(text);
  option.print(os, /*elideType=*/isa<IntegerAttr>(option));
  return text;
}

LogicalResult ScriptSpace::add(Operation *op, Knob knob, ArrayAttr options) {
  std::vector<Knob> knobs = space.getKnobs().vec();
  auto known = llvm::find_if(
      knobs, [&](const Knob &other) { return other.name == knob.name; });
  size_t place = known - knobs.begin();
  choiceOf[op] = place;
  if (known == knobs.end()) {
    knobs.push_back(std::move(knob));
    space = Space(std::move(knobs));
    choices.push_back({{op}, options});
    return success();
  }
  Choice &choice = choices[place];
  Operation *first = choice.ops.front();
  if (first->getName() != op->getName() || choice.options != options ||
      known->domain != knob.domain || known->init != knob.init) {
    InFlightDiagnostic diagnostic =
        op->emitError() << "expects ops with the name '" << knob.name
                        << "' to have the same options and the same default, "
                           "for they are one knob, but got others";
    diagnostic.attachNote(first->getLoc()) << "the first one is here";
    return diagnostic;
  }
  choice.ops.push_back(op);
  return success();
}

LogicalResult ScriptSpace::addKnob(KnobOp op) {
  auto options = dyn_cast<ArrayAttr>(op.getOptions());
  if (!options || options.empty())
    return op.emitError() << "expects an array with at least one option for "
                             "knob '"
                          << op.getName().getValue() << "', but got "
                          << op.getOptions();
  Knob knob;
  knob.name = op.getName().str();
  bool areNumbers = llvm::all_of(options, getNumber);
  llvm::StringSet<> spelled;
  for (auto [index, option] : llvm::enumerate(options)) {
    int64_t value =
        areNumbers ? getNumber(option).getInt() : static_cast<int64_t>(index);
    std::string text = areNumbers ? std::to_string(value) : spell(option);
    if (!spelled.insert(text).second)
      return op.emitError()
             << "expects options of knob '" << op.getName().getValue()
             << "' that differ, but got '" << text << "' twice";
    knob.domain.push_back(value);
    if (!areNumbers)
      knob.labels.push_back(std::move(text));
  }
  size_t init = 0;
  if (Attribute selected = op.getSelectedAttr())
    init = llvm::find(options, selected) - options.begin();
  knob.init = knob.domain[init];
  return add(op, std::move(knob), options);
}

LogicalResult ScriptSpace::addAlternatives(AlternativesOp op) {
  // What a param selects is no choice of its own.
  if (op.getSelectedRegionParam())
    return success();
  size_t count = op.getAlternatives().size();
  if (count == 0)
    return op.emitError() << "expects at least one region of alternatives '"
                          << op.getName().getValue() << "', but got none";
  Knob knob;
  knob.name = op.getName().str();
  for (size_t region = 0; region != count; ++region)
    knob.domain.push_back(static_cast<int64_t>(region));
  knob.init = op.getSelectedRegionAttr()
                  ? op.getSelectedRegionAttr()->getSExtValue()
                  : 0;
  return add(op, std::move(knob), nullptr);
}

/// Whether a param has a value that is known before the script is executed.
static LogicalResult checkParam(Operation *user, Value param) {
  Operation *op = param.getDefiningOp();
  if (auto knob = dyn_cast_or_null<KnobOp>(op)) {
    for (Attribute option : cast<ArrayAttr>(knob.getOptions()))
      if (auto number = dyn_cast<IntegerAttr>(option);
          !number || number.getValue().getBitWidth() > 64)
        return user->emitError()
               << "expects knob '" << knob.getName().getValue()
               << "', which it reads, to have integers as options, but got "
               << option;
    return success();
  }
  if (auto constant = dyn_cast_or_null<transform::ParamConstantOp>(op)) {
    if (!isa<IntegerAttr>(constant.getValue()))
      return user->emitError()
             << "expects an integer param, but got " << constant.getValue();
    return success();
  }
  if (isa_and_nonnull<ConstrainParamsOp>(op))
    return success();
  if (auto alternatives = dyn_cast_or_null<AlternativesOp>(op)) {
    if (Value selected = alternatives.getSelectedRegionParam())
      if (failed(checkParam(user, selected)))
        return failure();
    unsigned number = cast<OpResult>(param).getResultNumber();
    for (Region &region : alternatives.getAlternatives())
      if (failed(checkParam(
              user, region.front().getTerminator()->getOperand(number))))
        return failure();
    return success();
  }
  InFlightDiagnostic diagnostic =
      user->emitError()
      << "expects a param that is known before the script is executed: of a "
         "knob, of a constant, of alternatives of these, or of another "
         "constraint, but got ";
  if (op)
    diagnostic << "one of '" << op->getName() << "'";
  else
    diagnostic << "an argument";
  return diagnostic;
}

LogicalResult ScriptSpace::check(ConstrainParamsOp op) const {
  for (Value param : op.getParams())
    if (failed(checkParam(op, param)))
      return failure();
  for (BlockArgument argument : op.getBody().getArguments())
    if (!isa<smt::IntType, smt::BoolType>(argument.getType()))
      return op.emitError() << "expects arguments of !smt.int or !smt.bool, "
                               "but got "
                            << argument.getType();
  for (Operation &inside : op.getBody().front())
    if (!isa<smt::AssertOp, smt::YieldOp>(inside) &&
        !ScriptEvaluator::isKnown(&inside))
      return inside.emitError()
             << "expects an op that can be evaluated without a solver ("
             << llvm::join(ScriptEvaluator::getKnownOps(), ", ")
             << ", smt.assert, smt.yield), but got '" << inside.getName()
             << "'";
  return success();
}

FailureOr<ScriptSpace> ScriptSpace::create(Operation *script) {
  ScriptSpace result;
  WalkResult walked =
      script->walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
        return TypeSwitch<Operation *, LogicalResult>(op)
            .Case([&](KnobOp op) { return result.addKnob(op); })
            .Case([&](AlternativesOp op) { return result.addAlternatives(op); })
            .Case([&](ConstrainParamsOp op) {
              result.constraints.push_back(op);
              return success();
            })
            .Default([](Operation *) { return success(); });
      });
  if (walked.wasInterrupted())
    return failure();
  if (result.choices.empty())
    return script->emitError()
           << "expects a transform.tune.knob or transform.tune.alternatives op "
              "in the script, but there is none";
  // What decides whether a constraint is executed has to be known as well.
  walked = script->walk([&](AlternativesOp op) -> WalkResult {
    Value selected = op.getSelectedRegionParam();
    return selected ? checkParam(op, selected) : success();
  });
  if (walked.wasInterrupted())
    return failure();
  for (ConstrainParamsOp op : result.constraints)
    if (failed(result.check(op)))
      return failure();
  return result;
}

static std::string describePlace(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto place = op->getLoc()->findInstanceOf<FileLineColLoc>())
    os << place.getFilename().getValue() << ":" << place.getLine() << ":"
       << place.getColumn();
  else
    os << op->getLoc();
  return text;
}

Legality ScriptSpace::makeLegality() const {
  return [this](const Probe &point) -> std::optional<Refusal> {
    for (auto [place, choice] : llvm::enumerate(choices)) {
      ScriptEvaluator evaluator(*this, point);
      if (llvm::any_of(choice.ops,
                       [&](Operation *op) { return evaluator.isExecuted(op); }))
        continue;
      const Knob &knob = space.getKnobs()[place];
      if (int64_t value = point[place]; value != knob.init)
        return Refusal{"not-used", [&knob, value] {
                         return "expects " + knob.name + "=" +
                                knob.spell(knob.init) +
                                ", the default, where no alternative that is "
                                "selected uses it, but got " +
                                knob.spell(value);
                       }};
    }
    for (ConstrainParamsOp constraint : constraints) {
      ScriptEvaluator evaluator(*this, point);
      if (!evaluator.isExecuted(constraint))
        continue;
      // A problem of a value that nobody asks for is none.
      for (auto assertion : constraint.getBody().getOps<smt::AssertOp>()) {
        std::optional<int64_t> holds = evaluator.getValue(assertion.getInput());
        if (holds.value_or(0))
          continue;
        std::string place = describePlace(assertion);
        auto reason = assertion->getAttrOfType<StringAttr>("reason");
        std::string problem = holds ? "" : evaluator.getProblem().str();
        std::string knobs = evaluator.describeRead();
        return Refusal{reason ? reason.str() : "constraint at " + place, [=] {
                         return "expects what is asserted at " + place +
                                ", but got " + knobs +
                                (problem.empty() ? "" : ", where " + problem);
                       }};
      }
      for (Value result : constraint.getResults())
        if (!evaluator.getParam(result)) {
          std::string text = "expects a value at " + describePlace(constraint) +
                             ", but got " + evaluator.describeRead() +
                             ", where " + evaluator.getProblem().str();
          return Refusal{"no-value", [text] { return text; }};
        }
    }
    return std::nullopt;
  };
}

SmallVector<Location> ScriptSpace::getPlaces(size_t knob) const {
  return llvm::map_to_vector(choices[knob].ops,
                             [](Operation *op) { return op->getLoc(); });
}

void ScriptSpace::select(llvm::ArrayRef<int64_t> point) const {
  Probe probe(Point(point.begin(), point.end()));
  ScriptEvaluator evaluator(*this, probe);
  // What a constraint yields may depend on another.
  std::vector<std::pair<Value, Attribute>> constants;
  llvm::SmallVector<ConstrainParamsOp> executed;
  for (ConstrainParamsOp constraint : constraints) {
    if (!evaluator.isExecuted(constraint))
      continue;
    executed.push_back(constraint);
    for (Value result : constraint.getResults())
      constants.emplace_back(result, evaluator.getParam(result));
  }
  for (auto [place, choice] : llvm::enumerate(choices))
    for (Operation *op : choice.ops) {
      Builder builder(op->getContext());
      if (auto knob = dyn_cast<KnobOp>(op))
        knob.setSelectedAttr(evaluator.getParam(knob.getResult()));
      else
        cast<AlternativesOp>(op).setSelectedRegionAttrAttr(
            builder.getI64IntegerAttr(point[place]));
    }
  for (auto [result, value] : constants) {
    OpBuilder builder(result.getDefiningOp());
    result.replaceAllUsesWith(transform::ParamConstantOp::create(
        builder, result.getLoc(), result.getType(), value));
  }
  for (ConstrainParamsOp constraint : executed)
    constraint.erase();
}

void ScriptSpace::unselect(Operation *script) {
  script->walk([](KnobOp op) { op.removeSelectedAttr(); });
  script->walk([](AlternativesOp op) { op.removeSelectedRegionAttrAttr(); });
}
