// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Workers on other machines. Whatever starts a program there and carries its
// standard input and output (srun, mpirun, ssh) is enough: the wire of a worker
// goes over those, and the problem before it.

#ifndef ATTUNE_TUNING_REMOTEWORKER_H
#define ATTUNE_TUNING_REMOTEWORKER_H

#include "attune/Tuning/MemoryFile.h"
#include <vector>

namespace attune::tuning {

/// The command, as WorkerPool takes it, of a worker that `launcher`, words of a
/// shell, starts with the given arguments. The executable has the same path
/// there.
std::vector<std::string>
makeRemoteCommand(llvm::StringRef launcher, llvm::StringRef executable,
                  llvm::ArrayRef<std::string> arguments,
                  const MemoryFile &problem, size_t problemBytes);

/// Whether makeRemoteCommand() made a command.
bool isRemoteCommand(llvm::ArrayRef<std::string> command);

/// The worker's side: moves the wire from the standard streams to where
/// serveWorker() expects it, and returns the problem that came before it. From
/// then on the process ends soon after who reads its answers is gone, whatever
/// it does.
llvm::Expected<std::unique_ptr<MemoryFile>> takeStandardStreams();

} // namespace attune::tuning

#endif // ATTUNE_TUNING_REMOTEWORKER_H
