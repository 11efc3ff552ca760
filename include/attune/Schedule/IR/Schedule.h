// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The schedule dialect: an attribute for each set of tunables.

#ifndef ATTUNE_SCHEDULE_IR_SCHEDULE_H
#define ATTUNE_SCHEDULE_IR_SCHEDULE_H

#include "attune/Schedule/IR/KnobSet.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include <functional>

#include "attune/Schedule/IR/ScheduleDialect.h.inc"
#include "attune/Schedule/IR/ScheduleEnums.h.inc"
#include "attune/Schedule/IR/ScheduleInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "attune/Schedule/IR/ScheduleAttrs.h.inc"

namespace attune {

/// `block-m=128 overlap=softmax ...` with every tunable, as attune-set-schedule
/// takes it.
std::string toOptions(const KnobSet &set, llvm::ArrayRef<int64_t> values);

} // namespace attune

#endif // ATTUNE_SCHEDULE_IR_SCHEDULE_H
