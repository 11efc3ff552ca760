// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a person sees while a search runs.

#ifndef ATTUNE_TUNING_PROGRESS_H
#define ATTUNE_TUNING_PROGRESS_H

#include "attune/Tuning/Result.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <memory>

namespace attune::tuning {

struct ProgressState {
  double seconds = 0;
  /// Candidates done, and how many there will be as far as the budget tells.
  uint64_t done = 0;
  uint64_t total = 0;
  std::optional<double> budgetSeconds;
  uint64_t reused = 0;
  /// Candidates that another tuner has under way.
  uint64_t elsewhere = 0;
  /// Whether a device is another tuner's at the moment.
  bool waits = false;
  std::map<Status, uint64_t> counts;
  /// What the best so far takes, and its schedule where that is not the
  /// default; ready to print, and empty before the first.
  std::string best, schedule;
};

class Progress {
public:
  virtual ~Progress();
  /// Called often; decides for itself whether there is something to print.
  virtual void update(const ProgressState &state) = 0;
  /// Prints a line of its own.
  virtual void note(llvm::StringRef text);
  /// Ends the live line, so that other output starts on a line of its own.
  virtual void finish() {}
};

/// One line that is rewritten in place.
std::unique_ptr<Progress> createTerminalProgress(llvm::raw_ostream &os,
                                                 unsigned columns);
/// A line now and then, for logs.
std::unique_ptr<Progress> createPlainProgress(llvm::raw_ostream &os);
std::unique_ptr<Progress> createQuietProgress();

/// The line that both print. A terminal cuts it, so what matters most comes
/// first.
std::string format(const ProgressState &state);
/// `12s`, `3m04s`, `1h02m`.
std::string formatDuration(double seconds);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_PROGRESS_H
