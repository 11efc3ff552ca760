// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a compile worker does with a request.
//
//   request  {"problem": <module>, "chip": ..., "schedule": {<knob>: <value>}}
//   answer   {"status": "ok", "hash": ..., "resources": {...},
//             "binary": <the compiled module as bytecode, in base64>}
//            {"status": "compile-error", "message": ...}

#ifndef ATTUNE_TUNING_COMPILEHANDLER_H
#define ATTUNE_TUNING_COMPILEHANDLER_H

#include "attune/Tuning/Worker.h"

namespace attune::tuning {

/// `assembler` is the path of the vendor's assembler, or empty to search it.
WorkerHandlers makeCompileHandlers(std::string assembler);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_COMPILEHANDLER_H
