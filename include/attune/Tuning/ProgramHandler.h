// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs of any pipeline, in worker processes. One worker compiles a
// candidate for the CPU; another, with the reference, verifies it and times it,
// or proves one: expects the same bits of many runs.
//
//   request  {"binary": <as compileProgram() gave it>, "stop_above_ns": <time>}
//   answer   {"status": "ok", "samples": [<ns>, ...]}
//
//   request  {"binary": <the same>, "prove": <number of runs>}
//   answer   {"status": "ok"}

#ifndef ATTUNE_TUNING_PROGRAMHANDLER_H
#define ATTUNE_TUNING_PROGRAMHANDLER_H

#include "attune/Tuning/CandidateRequest.h"
#include "attune/Tuning/Worker.h"

namespace attune::tuning {

/// Registers all passes by name: pipelines and scripts name them.
void registerPassesOnce();

/// Checks a pipeline before any candidate is compiled.
llvm::Error checkPipeline(mlir::MLIRContext *context, llvm::StringRef option,
                          llvm::StringRef pipeline);

/// Runs the pipeline of a candidate's recipe and compiles what comes of it.
llvm::json::Value compileProgram(CandidateRequest &candidate);

/// Handlers of a worker that runs programs of the problem in a file.
WorkerHandlers makeProgramHandlers(std::string problem);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_PROGRAMHANDLER_H
