// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sets schedules.

#include "attune/Dialect/Attn/TransformOps/AttnTransformOps.h"
#include "attune/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace attune::attn;

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
#include "attune/Dialect/Attn/TransformOps/AttnTransformOps.cpp.inc"

/// The place of a knob in ScheduleAttr::getKnobs().
static std::optional<size_t> findKnob(StringRef name) {
  auto knobs = ScheduleAttr::getKnobs();
  const auto *it = llvm::find_if(
      knobs, [&](const ScheduleAttr::Knob &knob) { return knob.name == name; });
  if (it == knobs.end())
    return std::nullopt;
  return it - knobs.begin();
}

LogicalResult SetScheduleOp::verify() {
  if (getKnobs().size() != getValues().size())
    return emitOpError() << "expects a value for each of " << getKnobs().size()
                         << " tunables, but got " << getValues().size();
  llvm::SmallDenseSet<StringRef> seen;
  for (auto name : getKnobs().getAsValueRange<StringAttr>()) {
    if (!findKnob(name))
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

DiagnosedSilenceableFailure
SetScheduleOp::apply(transform::TransformRewriter &rewriter,
                     transform::TransformResults &results,
                     transform::TransformState &state) {
  SmallVector<std::pair<size_t, int64_t>> wanted;
  for (auto [name, param] :
       llvm::zip_equal(getKnobs().getAsValueRange<StringAttr>(), getValues())) {
    ArrayRef<Attribute> values = state.getParams(param);
    if (values.size() != 1)
      return emitSilenceableError() << "expects one integer for '" << name
                                    << "', but got " << values.size();
    auto value = dyn_cast<IntegerAttr>(values.front());
    if (!value)
      return emitSilenceableError() << "expects one integer for '" << name
                                    << "', but got " << values.front();
    wanted.emplace_back(*findKnob(name), value.getInt());
  }
  for (Operation *target : state.getPayloadOps(getTarget())) {
    auto attention = dyn_cast<AttentionOp>(target);
    if (!attention) {
      DiagnosedSilenceableFailure failure =
          emitSilenceableError()
          << "expects attn.attention, but got '" << target->getName() << "'";
      failure.attachNote(target->getLoc()) << "the op is here";
      return failure;
    }
    ScheduleAttr schedule = attention.getScheduleAttr();
    if (!schedule)
      schedule = ScheduleAttr::getDefault(getContext());
    SmallVector<int64_t> values = schedule.getValues();
    for (auto [place, value] : wanted)
      values[place] = value;
    schedule = ScheduleAttr::fromValues([&] { return emitError(); },
                                        getContext(), values);
    if (!schedule)
      return DiagnosedSilenceableFailure::definiteFailure();
    rewriter.modifyOpInPlace(attention,
                             [&] { attention.setScheduleAttr(schedule); });
  }
  return DiagnosedSilenceableFailure::success();
}

namespace {
class AttnTransformExtension
    : public transform::TransformDialectExtension<AttnTransformExtension> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AttnTransformExtension)

  void init() {
    declareDependentDialect<AttnDialect>();
    registerTransformOps<
#define GET_OP_LIST
#include "attune/Dialect/Attn/TransformOps/AttnTransformOps.cpp.inc"
        >();
  }
};
} // namespace

void attune::attn::registerTransformExtension(DialectRegistry &registry) {
  registry.addExtensions<AttnTransformExtension>();
}
