// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a device worker does: at its start it opens the device and, given a
// problem, makes inputs and the reference; for each request it verifies a
// binary with two classes of inputs and times it, or proves one: verifies it
// with all classes, and expects the same bits of many launches.
//
//   request  {"binary": <as a compile worker gave it>, "stop_above_ns": <time>,
//             "chip_state": "sustained" | "cool", "baseline": <another binary>,
//             "energy_s": <how long energy is counted>}
//   answer   {"status": "ok", "samples": [<ns>, ...],
//             <members of attune/Runtime/Conditions.h>}
//
//   request  {"binary": <the same>, "prove": <number of launches>}
//   answer   {"status": "ok"}
//
// or, where the device is the host executor, lowers the problem and executes
// it:
//
//   request  {"schedule": {<knob>: <value>}, "hash": <of the kernel as tiles>}
//   answer   {"status": "ok"}
//
// or, for both
//
//            {"status": "wrong-result" | "run-error", "message": ...}

#ifndef ATTUNE_TUNING_DEVICEHANDLER_H
#define ATTUNE_TUNING_DEVICEHANDLER_H

#include "attune/Tuning/Worker.h"

namespace attune::tuning {

/// `problem` is a file with the module, or empty for a worker that only says
/// what the device is. `kind` as openDevice() takes it, or "host": then kernels
/// for `chip` are executed on the CPU, and nothing is timed.
WorkerHandlers makeDeviceHandlers(std::string kind, int ordinal,
                                  std::string chip, std::string problem);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_DEVICEHANDLER_H
