// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The worker's side of the wire. A worker reads one JSON object a line from one
// descriptor and writes one answer a line to another; neither is a standard
// stream, so stray prints of a library cannot pass for an answer.
//
//   worker -> parent  {"hello": {...}}                  once, when ready
//   parent -> worker  {"id": 7, "request": {...}}
//   worker -> parent  {"id": 7, "answer": {...}}
//   worker -> parent  {"waits": true}, {"waits": false}   time in between is
//                                                         not the request's
//
// An answer with `"retire": true` asks to be replaced: what it ran may have
// spoiled the state that later requests would share (a device context).

#ifndef ATTUNE_TUNING_WORKER_H
#define ATTUNE_TUNING_WORKER_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <functional>

namespace attune::tuning {

/// Descriptors that a worker is born with.
constexpr int kWorkerRequestFd = 3;
constexpr int kWorkerAnswerFd = 4;

struct WorkerHandlers {
  /// Runs once; what it returns is the `hello` that the parent can read. An
  /// error goes to the parent, which gives up: a restart would not help.
  std::function<llvm::Expected<llvm::json::Value>()> start;
  std::function<llvm::json::Value(const llvm::json::Value &)> handle;
};

/// Tells the parent that what follows is no work but a wait for others, of
/// which nobody knows how long it takes, or that it is over.
void reportWaiting(bool waits);

/// Serves requests until the parent closes the wire. Returns an exit code.
int serveWorker(const WorkerHandlers &handlers);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_WORKER_H
