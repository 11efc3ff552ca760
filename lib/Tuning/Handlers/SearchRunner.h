// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What searches have in common, whatever is tuned: checks of the command line,
// the store, the workers that compile, the session and the report.

#ifndef ATTUNE_TUNING_HANDLERS_SEARCHRUNNER_H
#define ATTUNE_TUNING_HANDLERS_SEARCHRUNNER_H

#include "attune/Tuning/TuneFile.h"

namespace attune::tuning {

/// One problem and where its candidates are compiled and run.
struct SearchSetup {
  const Task &task;
  Space space;
  Legality legality;
  StoreKey key;
  /// Null where all that is legal is searched.
  Legality worthTrying = nullptr;
  /// The arguments of a worker that compiles, without the executable.
  std::vector<std::string> compileWorker;
  WorkerLimits compileLimits;
  /// The pool of the devices; null without one. Called when everything that may
  /// refuse the problem has been asked.
  std::function<llvm::Expected<WorkerPool *>()> openDevices;
  WorkerPool *checkers = nullptr;
  /// Null without a model, or what gives null for an op that has none. Called
  /// when there are legal points.
  std::function<std::unique_ptr<Ranker>()> makeRanker;
  /// The command that runs a winner; empty where there is none to name.
  std::function<std::string(llvm::ArrayRef<int64_t>)> getCommand;
  /// Says what to think of the outcome, before the report.
  std::function<void(const Outcome &)> explain = [](const Outcome &) {};
};

class SearchRunner {
public:
  SearchRunner(const TuneFileOptions &options,
               const volatile sig_atomic_t &interrupted)
      : options(options), interrupted(interrupted) {}

  /// Finds what is wrong with the command line before anything is read.
  llvm::Error checkOptions() const;
  llvm::Error openStore();
  /// This build, LLVM, and what else turns a problem into code.
  std::string describeCompiler() const;
  WorkerLimits getCompileLimits() const;

  /// Searches and reports. Nothing where only the space was to be counted.
  llvm::Expected<std::optional<Outcome>> search(const SearchSetup &setup);
  /// Writes all reports so far, where one is asked for.
  llvm::Error writeReport();

private:
  llvm::Expected<Outcome> run(const SearchSetup &setup, const LegalSpace &legal,
                              const Ranker *ranker,
                              llvm::ArrayRef<double> scores,
                              llvm::ArrayRef<Point> recorded,
                              SessionInfo &session);
  std::unique_ptr<Progress> makeProgress() const;

  const TuneFileOptions &options;
  const volatile sig_atomic_t &interrupted;
  std::unique_ptr<Store> store;
  /// When the time of the budget of the next search began: with the process, or
  /// with the end of the search before.
  Clock::time_point budgetStart = Clock::now();
  llvm::json::Array reports;
};

/// The result of the winner; an error where no candidate is valid.
llvm::Expected<const Result *> getWinner(const Task &task,
                                         const Outcome &outcome);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_HANDLERS_SEARCHRUNNER_H
