// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sets schedules.

#include "attune/Schedule/TransformOps/ScheduleTransformOps.h"
#include "attune/Schedule/TunableOpInterface.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace attune;

/// `{"block-m" = %m, "block-n" = %n}`
static ParseResult
parseKnobValues(OpAsmParser &parser, ArrayAttr &knobs,
                SmallVectorImpl<OpAsmParser::UnresolvedOperand> &values) {
  SmallVector<Attribute> names;
  auto parseOne = [&]() -> ParseResult {
    std::string name;
    if (parser.parseString(&name) || parser.parseEqual() ||
        parser.parseOperand(values.emplace_back()))
      return failure();
    names.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Braces, parseOne))
    return failure();
  knobs = parser.getBuilder().getArrayAttr(names);
  return success();
}

static void printKnobValues(OpAsmPrinter &printer, Operation *, ArrayAttr knobs,
                            OperandRange values) {
  printer << "{";
  llvm::interleaveComma(llvm::zip_equal(knobs, values), printer, [&](auto one) {
    printer << std::get<0>(one) << " = " << std::get<1>(one);
  });
  printer << "}";
}

#define GET_OP_CLASSES
#include "attune/Schedule/TransformOps/ScheduleTransformOps.cpp.inc"

/// Whether a set has a knob of the name.
static bool isKnob(StringRef name) {
  return llvm::any_of(getKnobSets(), [&](const KnobSet *set) {
    return set->findKnob(name).has_value();
  });
}

LogicalResult SetScheduleOp::verify() {
  if (getKnobs().size() != getValues().size())
    return emitOpError() << "expects a value for each of " << getKnobs().size()
                         << " tunables, but got " << getValues().size();
  llvm::SmallDenseSet<StringRef> seen;
  for (auto name : getKnobs().getAsValueRange<StringAttr>()) {
    if (!isKnob(name))
      return emitOpError() << "expects the name of a tunable, but got '" << name
                           << "'";
    if (!seen.insert(name).second)
      return emitOpError() << "expects each tunable once, but got '" << name
                           << "' twice";
  }
  return success();
}

void SetScheduleOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::onlyReadsHandle(getTargetMutable(), effects);
  transform::onlyReadsHandle(getValuesMutable(), effects);
  transform::modifiesPayload(effects);
}

/// Sets tunables of one op.
static DiagnosedSilenceableFailure
setKnobs(SetScheduleOp op, RewriterBase &rewriter, Operation *target,
         ArrayRef<std::pair<StringRef, Attribute>> wanted) {
  auto tunable = dyn_cast<TunableOpInterface>(target);
  auto fail = [&](const Twine &message) {
    DiagnosedSilenceableFailure failure = op.emitSilenceableError() << message;
    failure.attachNote(target->getLoc()) << "the op is here";
    return failure;
  };
  if (!tunable)
    return fail("expects an op that can be tuned, but got '" +
                target->getName().getStringRef() + "'");
  const KnobSet &set = tunable.getKnobSet();
  SmallVector<int64_t> values = set.getDefaults();
  if (ScheduleAttrInterface schedule = tunable.getSchedule())
    values.assign(schedule.getValues().begin(), schedule.getValues().end());
  auto emitError = [&] { return op.emitError(); };
  for (auto [name, attribute] : wanted) {
    std::optional<size_t> place = set.findKnob(name);
    if (!place)
      return fail("expects a tunable of " + set.name + ", but got '" + name +
                  "'");
    const KnobInfo &knob = set.knobs[*place];
    std::string text;
    if (auto name = dyn_cast<StringAttr>(attribute))
      text = name.str();
    else
      text = std::to_string(cast<IntegerAttr>(attribute).getInt());
    std::optional<int64_t> value = KnobSet::parseValue(emitError, knob, text);
    if (!value)
      return DiagnosedSilenceableFailure::definiteFailure();
    values[*place] = *value;
  }
  ScheduleAttrInterface schedule =
      set.getAttr(emitError, op.getContext(), values);
  rewriter.modifyOpInPlace(target, [&] { tunable.setSchedule(schedule); });
  return DiagnosedSilenceableFailure::success();
}

DiagnosedSilenceableFailure
SetScheduleOp::apply(transform::TransformRewriter &rewriter,
                     transform::TransformResults &results,
                     transform::TransformState &state) {
  SmallVector<std::pair<StringRef, Attribute>> wanted;
  for (auto [name, param] :
       llvm::zip_equal(getKnobs().getAsValueRange<StringAttr>(), getValues())) {
    ArrayRef<Attribute> values = state.getParams(param);
    if (values.size() != 1)
      return emitSilenceableError() << "expects one value for '" << name
                                    << "', but got " << values.size();
    if (!isa<IntegerAttr, StringAttr>(values.front()))
      return emitSilenceableError() << "expects an integer or a string for '"
                                    << name << "', but got " << values.front();
    wanted.emplace_back(name, values.front());
  }
  for (Operation *target : state.getPayloadOps(getTarget())) {
    DiagnosedSilenceableFailure done =
        setKnobs(*this, rewriter, target, wanted);
    if (!done.succeeded())
      return done;
  }
  return DiagnosedSilenceableFailure::success();
}

namespace {
class ScheduleTransformExtension
    : public transform::TransformDialectExtension<ScheduleTransformExtension> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ScheduleTransformExtension)

  void init() {
    declareDependentDialect<schedule::ScheduleDialect>();
    registerTransformOps<
#define GET_OP_LIST
#include "attune/Schedule/TransformOps/ScheduleTransformOps.cpp.inc"
        >();
  }
};
} // namespace

void attune::registerTransformExtension(DialectRegistry &registry) {
  registry.addExtensions<ScheduleTransformExtension>();
}
