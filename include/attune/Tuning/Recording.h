// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a search tried, read from what it left: a JSON report or a database.

#ifndef ATTUNE_TUNING_RECORDING_H
#define ATTUNE_TUNING_RECORDING_H

#include "attune/Tuning/Space.h"
#include <optional>
#include <string>

namespace attune::tuning {

struct Recording {
  /// In the order in which results came, each once.
  std::vector<Point> points;
  /// `<schedule>: <reason>` for each that is not legal now.
  std::vector<std::string> lost;
};

/// Reads what the last search of the problem with a key tried. A knob that is
/// not in the record has its default. Fails for files that are neither, for
/// those without the problem, and where nothing is legal.
llvm::Expected<Recording> readRecording(llvm::StringRef path,
                                        const Space &space,
                                        const Legality &legality,
                                        llvm::StringRef key);

/// What the last search of a database was for, as text; nothing for a file that
/// is no database.
llvm::Expected<std::optional<std::string>> readProblem(llvm::StringRef path);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_RECORDING_H
