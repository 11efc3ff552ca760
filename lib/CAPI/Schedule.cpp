// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules from C.

#include "attune-c/Schedule.h"
#include "attune/Schedule/CostModel.h"
#include "attune/Schedule/ForEachTunable.h"
#include "attune/Schedule/IR/Schedule.h"
#include "attune/Schedule/TunableOpInterface.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"

using namespace mlir;
using namespace attune;

intptr_t attuneGetNumKnobSets(void) { return getKnobSets().size(); }

MlirStringRef attuneKnobSetGetName(intptr_t set) {
  return wrap(getKnobSets()[set]->name);
}

intptr_t attuneKnobSetGetNumKnobs(intptr_t set) {
  return getKnobSets()[set]->knobs.size();
}

MlirStringRef attuneKnobSetGetKnob(intptr_t set, intptr_t pos) {
  return wrap(getKnobSets()[set]->knobs[pos].name);
}

intptr_t attuneKnobSetGetNumValues(intptr_t set, intptr_t knob) {
  return getKnobSets()[set]->knobs[knob].searched.size();
}

void attuneKnobSetPrintValue(intptr_t set, intptr_t knob, intptr_t pos,
                             MlirStringCallback callback, void *userData) {
  const KnobInfo &info = getKnobSets()[set]->knobs[knob];
  callback(wrap(StringRef(info.spell(info.searched[pos]))), userData);
}

bool attuneAttributeIsASchedule(MlirAttribute attr) {
  return isa<ScheduleAttrInterface>(unwrap(attr));
}

intptr_t attuneScheduleAttrGetKnobSet(MlirAttribute attr) {
  const KnobSet &set = cast<ScheduleAttrInterface>(unwrap(attr)).getKnobSet();
  return std::distance(getKnobSets().begin(), llvm::find(getKnobSets(), &set));
}

MlirAttribute attuneScheduleAttrGetDefault(MlirContext context, intptr_t set) {
  MLIRContext *ctx = unwrap(context);
  ctx->loadDialect<schedule::ScheduleDialect>();
  const KnobSet &knobs = *getKnobSets()[set];
  return wrap(
      Attribute(knobs.getAttr([&] { return emitError(UnknownLoc::get(ctx)); },
                              ctx, knobs.getDefaults())));
}

MlirAttribute attuneScheduleAttrWith(MlirAttribute schedule, MlirStringRef knob,
                                     MlirStringRef value) {
  auto attr = cast<ScheduleAttrInterface>(unwrap(schedule));
  const KnobSet &set = attr.getKnobSet();
  auto emitAtNowhere = [&] {
    return emitError(UnknownLoc::get(attr.getContext()));
  };
  std::optional<size_t> place = set.findKnob(unwrap(knob));
  if (!place) {
    emitAtNowhere() << "expects a tunable of " << set.name << ", but got '"
                    << unwrap(knob) << "'";
    return {nullptr};
  }
  std::optional<int64_t> number =
      KnobSet::parseValue(emitAtNowhere, set.knobs[*place], unwrap(value));
  if (!number)
    return {nullptr};
  SmallVector<int64_t> values(attr.getValues());
  values[*place] = *number;
  return wrap(Attribute(set.getAttr(emitAtNowhere, attr.getContext(), values)));
}

int64_t attuneScheduleAttrGetValue(MlirAttribute schedule, MlirStringRef knob,
                                   bool *found) {
  auto attr = cast<ScheduleAttrInterface>(unwrap(schedule));
  std::optional<size_t> place = attr.getKnobSet().findKnob(unwrap(knob));
  *found = place.has_value();
  return place ? attr.getValues()[*place] : 0;
}

void attuneScheduleAttrPrintValue(MlirAttribute schedule, intptr_t knob,
                                  MlirStringCallback callback, void *userData) {
  auto attr = cast<ScheduleAttrInterface>(unwrap(schedule));
  const KnobInfo &info = attr.getKnobSet().knobs[knob];
  callback(wrap(StringRef(info.spell(attr.getValues()[knob]))), userData);
}

//===----------------------------------------------------------------------===//
// Cost model
//===----------------------------------------------------------------------===//

namespace {
struct OpModel {
  TunableOpInterface op;
  ScheduleRules rules;
  /// Null where there is none for the op.
  std::unique_ptr<CostModel> model;
};
} // namespace

static OpModel *unwrap(AttuneCostModel model) {
  return static_cast<OpModel *>(model.ptr);
}

AttuneCostModel attuneCostModelCreate(MlirModule module, intptr_t numSizes,
                                      const AttuneSize *sizes) {
  ModuleOp moduleOp = unwrap(module);
  tile::TargetAttr target = requireTarget(moduleOp);
  if (!target)
    return {nullptr};
  TunableOpInterface found;
  moduleOp.walk([&](TunableOpInterface op) {
    found = op;
    return WalkResult::interrupt();
  });
  if (!found) {
    emitError(moduleOp.getLoc()) << "expects an op that can be tuned";
    return {nullptr};
  }
  SizeMap known;
  for (const AttuneSize &size : ArrayRef(sizes, numSizes))
    known[unwrap(size.name).str()] = size.value;
  return {new OpModel{found, found.getRules(target),
                      found.createCostModel(target, known)}};
}

void attuneCostModelDestroy(AttuneCostModel model) { delete unwrap(model); }

MlirAttribute attuneCostModelGetSchedule(AttuneCostModel model) {
  return wrap(Attribute(unwrap(model)->op.getSchedule()));
}

bool attuneCostModelIsLegal(AttuneCostModel model, MlirAttribute schedule) {
  auto attr = cast<ScheduleAttrInterface>(unwrap(schedule));
  return &attr.getKnobSet() == &unwrap(model)->op.getKnobSet() &&
         !unwrap(model)->rules.checkLegal(readFrom(attr.getValues()));
}

double attuneCostModelPredict(AttuneCostModel model, MlirAttribute schedule,
                              int64_t registers, int64_t spillBytes) {
  auto attr = cast<ScheduleAttrInterface>(unwrap(schedule));
  if (!unwrap(model)->model ||
      &attr.getKnobSet() != &unwrap(model)->op.getKnobSet())
    return -1;
  ReportedUsage reported;
  if (registers >= 0)
    reported.registers = registers;
  if (spillBytes >= 0)
    reported.spillBytes = spillBytes;
  bool isReported = reported.registers || reported.spillBytes;
  return unwrap(model)->model->predict(readFrom(attr.getValues()),
                                       isReported ? &reported : nullptr);
}
