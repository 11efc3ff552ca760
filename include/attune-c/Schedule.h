// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules: a value for each tunable of a set (docs/generated/Knobs.md). Sets
// and tunables go by their names, so that a new one needs no new function.

#ifndef ATTUNE_C_SCHEDULE_H
#define ATTUNE_C_SCHEDULE_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The sets, and the tunables of one, in their order. A tunable is spelled as
/// options spell it: `block-m`.
MLIR_CAPI_EXPORTED intptr_t attuneGetNumKnobSets(void);
MLIR_CAPI_EXPORTED MlirStringRef attuneKnobSetGetName(intptr_t set);
MLIR_CAPI_EXPORTED intptr_t attuneKnobSetGetNumKnobs(intptr_t set);
MLIR_CAPI_EXPORTED MlirStringRef attuneKnobSetGetKnob(intptr_t set,
                                                      intptr_t pos);

/// The values of a tunable that a search tries unasked, as options spell them.
MLIR_CAPI_EXPORTED intptr_t attuneKnobSetGetNumValues(intptr_t set,
                                                      intptr_t knob);
MLIR_CAPI_EXPORTED void attuneKnobSetPrintValue(intptr_t set, intptr_t knob,
                                                intptr_t pos,
                                                MlirStringCallback callback,
                                                void *userData);

/// The attribute of any set: `#schedule.attention<...>`.
MLIR_CAPI_EXPORTED bool attuneAttributeIsASchedule(MlirAttribute attr);

/// The number of a schedule's set.
MLIR_CAPI_EXPORTED intptr_t attuneScheduleAttrGetKnobSet(MlirAttribute attr);

/// The schedule of a set with every tunable at its default.
MLIR_CAPI_EXPORTED MlirAttribute
attuneScheduleAttrGetDefault(MlirContext context, intptr_t set);

/// The same schedule with another value of one tunable, spelled as options
/// spell it ("64", "static"). Null, and a diagnostic, where its set has no such
/// tunable or that no such value.
MLIR_CAPI_EXPORTED MlirAttribute attuneScheduleAttrWith(MlirAttribute schedule,
                                                        MlirStringRef knob,
                                                        MlirStringRef value);

/// The value of a tunable; of one whose values have names, the name's number.
/// `found` becomes false, and the value 0, where the set has none of the name.
MLIR_CAPI_EXPORTED int64_t attuneScheduleAttrGetValue(MlirAttribute schedule,
                                                      MlirStringRef knob,
                                                      bool *found);

/// The same, as options spell it.
MLIR_CAPI_EXPORTED void
attuneScheduleAttrPrintValue(MlirAttribute schedule, intptr_t knob,
                             MlirStringCallback callback, void *userData);

/// A size of a problem that is known at run time only, by the name that
/// options have for it: `seq-q`.
typedef struct AttuneSize {
  MlirStringRef name;
  int64_t value;
} AttuneSize;

/// What the compiler knows of the schedules of one op without compiling it.
/// Owned by the caller; for one thread at a time.
typedef struct AttuneCostModel {
  void *ptr;
} AttuneCostModel;

/// Of the first op of a module that can be tuned, which has to live as long,
/// on the chip of the module's #tile.target. Common sizes stand for those that
/// neither the op nor `sizes` knows. Null, and a diagnostic, where there is no
/// such op or no target.
MLIR_CAPI_EXPORTED AttuneCostModel attuneCostModelCreate(
    MlirModule module, intptr_t numSizes, const AttuneSize *sizes);
MLIR_CAPI_EXPORTED void attuneCostModelDestroy(AttuneCostModel model);

/// The schedule that the op has; null if it has none.
MLIR_CAPI_EXPORTED MlirAttribute
attuneCostModelGetSchedule(AttuneCostModel model);

/// Whether the op can have a schedule of its set on the chip.
MLIR_CAPI_EXPORTED bool attuneCostModelIsLegal(AttuneCostModel model,
                                               MlirAttribute schedule);

/// The time that is predicted for a legal schedule, in nanoseconds; negative
/// where there is no model of its set. What an assembler reported makes it
/// better: registers of a thread and bytes that it spills, or -1 for what is
/// not known.
MLIR_CAPI_EXPORTED double attuneCostModelPredict(AttuneCostModel model,
                                                 MlirAttribute schedule,
                                                 int64_t registers,
                                                 int64_t spillBytes);

#ifdef __cplusplus
}
#endif

#endif // ATTUNE_C_SCHEDULE_H
