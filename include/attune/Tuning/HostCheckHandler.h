// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a worker that checks numbers without a device does with a request.
//
//   request  {"problem": <module>, "chip": ..., "schedule": {<knob>: <value>}}
//   answer   {"status": "ok"}
//            {"status": "wrong-result" | "compile-error" | "run-error",
//             "message": ...}
//            {"status": "refused", "message": ...}: the problem cannot be run,
//            whatever the schedule

#ifndef ATTUNE_TUNING_HOSTCHECKHANDLER_H
#define ATTUNE_TUNING_HOSTCHECKHANDLER_H

#include "attune/Tuning/Worker.h"

namespace attune::tuning {

/// Lowers a small problem of the same kind with the schedule, executes the
/// kernel on the host with all checks on, and compares it to the reference.
WorkerHandlers makeHostCheckHandlers();

} // namespace attune::tuning

#endif // ATTUNE_TUNING_HOSTCHECKHANDLER_H
