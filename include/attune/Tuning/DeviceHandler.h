// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a device worker does: at its start it opens the device and, given a
// problem, makes inputs and the reference; for each request it verifies a
// binary and times it.
//
//   request  {"binary": <as a compile worker gave it>, "stop_above_ns": <time>}
//   answer   {"status": "ok", "samples": [<ns>, ...]}
//            {"status": "wrong-result" | "run-error", "message": ...}

#ifndef ATTUNE_TUNING_DEVICEHANDLER_H
#define ATTUNE_TUNING_DEVICEHANDLER_H

#include "attune/Tuning/Worker.h"

namespace attune::tuning {

/// `problem` is a file with the module, or empty for a worker that only says
/// what the device is.
WorkerHandlers makeDeviceHandlers(std::string kind, int ordinal,
                                  std::string problem);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_DEVICEHANDLER_H
