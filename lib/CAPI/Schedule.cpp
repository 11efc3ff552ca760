// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules from C.

#include "attune-c/Schedule.h"
#include "attune/Schedule/IR/Schedule.h"
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

bool attuneAttributeIsASchedule(MlirAttribute attr) {
  return isa<ScheduleAttrInterface>(unwrap(attr));
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
