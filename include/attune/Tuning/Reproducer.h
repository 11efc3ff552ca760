// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A failed candidate as one file that anybody can run.

#ifndef ATTUNE_TUNING_REPRODUCER_H
#define ATTUNE_TUNING_REPRODUCER_H

#include "attune/Tuning/Result.h"
#include "llvm/Support/Error.h"

namespace attune::tuning {

/// An argument as it is to be pasted into a shell: with quotes where it needs
/// them.
std::string quoteForShell(llvm::StringRef argument);

/// Writes `<dir>/<name>-<status>-<hash of the schedule>.mlir`: the module with
/// its schedule below a comment with the failure and the command that shows it.
/// With `executed`, that of the host executor; `getCommand` makes another one
/// of the file's name. The same failure gives the same file. Returns the path.
llvm::Expected<std::string>
writeReproducer(llvm::StringRef dir, llvm::StringRef name, llvm::StringRef chip,
                llvm::StringRef module, const Result &result, bool executed,
                const std::function<std::string(llvm::StringRef)> &getCommand);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_REPRODUCER_H
