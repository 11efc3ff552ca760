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

/// The attribute of any set: `#schedule.attention<...>`.
MLIR_CAPI_EXPORTED bool attuneAttributeIsASchedule(MlirAttribute attr);

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

#ifdef __cplusplus
}
#endif

#endif // ATTUNE_C_SCHEDULE_H
