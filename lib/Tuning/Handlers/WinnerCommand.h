// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command that runs a winner and nothing else, to be pasted into a shell.

#ifndef ATTUNE_TUNING_HANDLERS_WINNERCOMMAND_H
#define ATTUNE_TUNING_HANDLERS_WINNERCOMMAND_H

#include "attune/Tuning/TuneFile.h"

namespace attune::tuning {

/// Whether the output of a search is a file that a command can name.
inline bool hasOutputFile(const TuneFileOptions &options) {
  return !options.output.empty() && options.output != "-";
}

/// `attune-run` with a file, or without one behind a pipe, on the device and
/// for the sizes of the search.
std::string makeRunCommand(const TuneFileOptions &options, llvm::StringRef file,
                           llvm::StringRef chip);

/// `attune-tune` with the input and the script of the search.
std::string makeSearchCommand(const TuneFileOptions &options,
                              llvm::StringRef chip);

/// The ` --<name>=<value>` of a command line, quoted; empty without a value.
std::string makeOption(llvm::StringRef name, llvm::StringRef value);

/// The ` --only=...` that leaves the point, and the default, of a space. Empty
/// where a value cannot be spelled there.
std::string makeOnly(const Space &space, llvm::ArrayRef<int64_t> point);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_HANDLERS_WINNERCOMMAND_H
