// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The progress line: elapsed, done of total, the best so far, time left,
// results by class, and what the schedule of the best is.

#include "attune/Tuning/Progress.h"
#include "llvm/Support/FormatVariadic.h"

using namespace attune::tuning;

static constexpr double kTerminalInterval = 0.1;
static constexpr double kPlainInterval = 10;

Progress::~Progress() = default;

void Progress::note(llvm::StringRef text) {
  finish();
  llvm::errs() << text << "\n";
}

std::string attune::tuning::formatDuration(double seconds) {
  uint64_t whole = seconds < 0 ? 0 : uint64_t(seconds);
  if (whole < 60)
    return llvm::formatv("{0}s", whole);
  if (whole < 3600)
    return llvm::formatv("{0}m{1,0+2}s", whole / 60, whole % 60);
  return llvm::formatv("{0}h{1,0+2}m", whole / 3600, whole % 3600 / 60);
}

static std::string formatTimeLeft(const ProgressState &state) {
  std::optional<double> left;
  if (state.done > state.reused && state.total > state.done)
    left = state.seconds / (state.done - state.reused) *
           (state.total - state.done);
  if (state.budgetSeconds) {
    double byBudget = *state.budgetSeconds - state.seconds;
    left = left ? std::min(*left, byBudget) : byBudget;
  }
  return left ? " eta " + formatDuration(*left) : "";
}

std::string attune::tuning::format(const ProgressState &state) {
  std::string line;
  llvm::raw_string_ostream os(line);
  os << "[" << formatDuration(state.seconds) << "] " << state.done << "/"
     << state.total;
  if (!state.best.empty())
    os << " best " << state.best;
  os << formatTimeLeft(state);
  if (state.reused)
    os << " stored " << state.reused;
  for (const auto &[status, count] : state.counts)
    os << " " << toString(status) << " " << count;
  if (state.elsewhere)
    os << " elsewhere " << state.elsewhere;
  if (state.waits)
    os << " waiting for a device that another tuner uses";
  if (!state.schedule.empty())
    os << " with " << state.schedule;
  return line;
}

namespace {
class TerminalProgress : public Progress {
public:
  TerminalProgress(llvm::raw_ostream &os, unsigned columns)
      : os(os), columns(columns) {}
  void update(const ProgressState &state) override {
    if (state.seconds - last < kTerminalInterval && state.done != state.total)
      return;
    last = state.seconds;
    // A line that wraps could not be rewritten.
    os << "\r\033[K"
       << llvm::StringRef(format(state))
              .take_front(columns > 1 ? columns - 1 : 79);
    os.flush();
    open = true;
  }
  void finish() override {
    if (open)
      os << "\n";
    os.flush();
    open = false;
  }

private:
  llvm::raw_ostream &os;
  unsigned columns;
  double last = -1;
  bool open = false;
};

class PlainProgress : public Progress {
public:
  explicit PlainProgress(llvm::raw_ostream &os) : os(os) {}
  void update(const ProgressState &state) override {
    pending = format(state);
    if (state.seconds - last < kPlainInterval)
      return;
    last = state.seconds;
    finish();
  }
  void finish() override {
    if (!pending.empty())
      os << pending << "\n";
    os.flush();
    pending.clear();
  }

private:
  llvm::raw_ostream &os;
  double last = 0;
  std::string pending;
};

class QuietProgress : public Progress {
public:
  void update(const ProgressState &) override {}
};
} // namespace

std::unique_ptr<Progress>
attune::tuning::createTerminalProgress(llvm::raw_ostream &os,
                                       unsigned columns) {
  return std::make_unique<TerminalProgress>(os, columns);
}

std::unique_ptr<Progress>
attune::tuning::createPlainProgress(llvm::raw_ostream &os) {
  return std::make_unique<PlainProgress>(os);
}

std::unique_ptr<Progress> attune::tuning::createQuietProgress() {
  return std::make_unique<QuietProgress>();
}
