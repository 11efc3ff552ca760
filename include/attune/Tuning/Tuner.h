// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search of one problem:
//
//   strategy -> claimed? -> stored? -> compile -> faulty? -> equal binary? ->
//   verify and measure -> store
//
// and at the end a few rounds in which the best are measured in turn, and the
// proof of the winner or, without a device, a check of the numbers of the best.
// One loop, one thread; all that takes time or may fail happens in worker
// processes.

#ifndef ATTUNE_TUNING_TUNER_H
#define ATTUNE_TUNING_TUNER_H

#include "attune/Tuning/Outcome.h"
#include "attune/Tuning/Progress.h"
#include "attune/Tuning/Ranker.h"
#include "attune/Tuning/Store.h"
#include "attune/Tuning/Strategy.h"
#include "attune/Tuning/WorkerPool.h"
#include "llvm/ADT/StringSet.h"
#include <csignal>
#include <deque>
#include <set>

namespace attune::tuning {

/// One problem, as far as the search has to know it.
struct Task {
  /// For people: the name of the function.
  std::string name;
  /// Hash of the canonical text.
  std::string key;
  /// The problem as a module of its own, without a schedule.
  std::string text;
  /// Floating-point operations of one run; 0 where unknown.
  double flops = 0;
  /// Bytes that one run reads and writes at least; 0 where unknown.
  double bytes = 0;
  /// Nanoseconds that another kernel takes, for reports; 0 where not told.
  double vendorTime = 0;
  std::string chip;
  /// What problems share whose schedules may be alike, and sizes by name in
  /// which they differ; for reports.
  std::string kind;
  std::map<std::string, int64_t> sizes;
  /// The schedule that everything is compared with, measured in every search.
  /// Empty: each knob's default.
  Point baseline;
  /// What was best for problems like this one: tried next, where it is legal.
  std::vector<Point> seeds;
  /// The module with a schedule set, for reproducers.
  std::function<std::string(llvm::ArrayRef<int64_t>)> print;
  /// The command that shows the failure of a reproducer's file. Null: that of
  /// an op's schedule.
  std::function<std::string(llvm::StringRef file)> getCommand = nullptr;
};

struct TunerOptions {
  /// Devices execute candidates with all checks on and time none: what is
  /// sought is the ones that fail, and there is no best.
  bool execute = false;
  /// The state in which devices measure, which is in the key of the session, or
  /// none where a device has no such states.
  std::optional<ChipState> state;
  Objective objective = Objective::Time;
  /// For all of it, the final or the checks of the best included. With 0 of
  /// either only stored results are looked up.
  std::optional<double> budgetSeconds;
  std::optional<uint64_t> budgetCandidates;
  /// Measure again what the database already knows.
  bool retune = false;
  /// How many candidates are measured in turn at the end, and how often each.
  /// In the first round twice as many take part.
  unsigned finalists = 4;
  unsigned finalRounds = 5;
  /// How often the winner is launched again, to the same bits each time, before
  /// it is one.
  unsigned proofLaunches = 100;
  /// Fewer times where that would take longer, but at least twice.
  double proofSeconds = 5;
  /// How much longer than a measurement a proof may take: it makes inputs and a
  /// reference that were not needed before.
  double proofExtraSeconds = 60;
  /// A candidate is dropped as soon as it is this much slower than the best.
  double stopFactor = 2;
  /// With more, a kernel is refused once a sound one was timed. The fastest of
  /// 1100 that were measured spilled up to 356 bytes, outside of their loops;
  /// with more than this, and wherever the assembler had to serialize
  /// multiplies, they took at least 1.2 times as long as the best.
  int64_t mostSpilledBytes = 512;
  /// Where failed candidates are written; empty for nowhere.
  std::string reproDir;
};

class Tuner {
public:
  /// Without `devices` nothing is timed, and `checkers`, if there are any,
  /// check the best; with a `ranker` candidates are ordered by its score. All
  /// references outlive the tuner.
  Tuner(const Task &task, const Space &space, const LegalSpace &legal,
        Store &store, SessionInfo &session, WorkerPool &compilers,
        WorkerPool *devices, WorkerPool *checkers, const Ranker *ranker,
        Progress &progress, const TunerOptions &options,
        const volatile sig_atomic_t &interrupted);

  /// Fails only where going on makes no sense: the store cannot be written, or
  /// no worker can be started.
  llvm::Expected<Outcome> run(Strategy &strategy);

private:
  struct Candidate {
    size_t index;
    Result result;
    llvm::json::Value binary = nullptr;
    /// When the worker that has it was asked.
    Clock::time_point sent = {};
  };

  /// Of the budget; infinite without one.
  double secondsLeft() const;
  /// Whether the rest of the time is needed for the final.
  bool isOutOfTime() const;
  /// In the first round of the final so many times the finalists take part: a
  /// clock that stepped during the search has put some of them too far down.
  static constexpr unsigned kFirstRound = 2;
  /// How long the check of a finalist on the CPU is taken to take, with the
  /// start of its worker. Small problems take 1 to 3.
  static constexpr double kCheckSeconds = 3;
  /// How long so many measurements are going to take, in seconds.
  double estimate(size_t measurements) const;
  bool isStopping() const;
  /// Takes in what workers answered, and gives them more to do.
  llvm::Error advance(std::vector<Completion> completions);
  bool isNothingUnderWay() const;
  /// Takes in what other tuners have finished or given up.
  llvm::Error lookElsewhere();
  llvm::Error askForCandidates();
  /// The index of a point that is legal.
  std::optional<size_t> findIndex(const Point &point) const;
  /// The next of the seeds that is legal and was not tried, or none.
  std::optional<size_t> takeSeed();
  llvm::Error startCandidate(size_t index);
  void submitCompile(Candidate candidate);
  llvm::Error feedDevices();
  /// The compiled candidate that a device should have next.
  std::deque<Candidate>::iterator findNext();
  llvm::Error complete(Completion completion);
  llvm::Error finishCompile(Candidate candidate);
  std::string findFault(const Resources &resources) const;
  /// Refuses what has a fault, once a candidate without one was timed.
  void refuseFaulty(Candidate &candidate) const;
  llvm::Error finish(Candidate candidate);
  /// Gives up what is under way; what is compiled is stored.
  llvm::Error abandon();
  llvm::Error keepCompiled(std::deque<Candidate> candidates);
  void submitMeasure(Candidate candidate);
  bool isSustained() const;
  /// Whether energy is counted when a candidate is measured next. That takes a
  /// second, so it is those of the final where time is the objective.
  bool wantsEnergy(const Candidate &candidate) const;
  /// Whether a result of an earlier search is all that this one would measure.
  bool hasCost(const Result &result) const;
  /// Whether candidates have to wait for the baseline: until it is measured or,
  /// where its result is of an earlier search, compiled, which this sees to.
  bool awaitsBaseline();
  void takeBaseline(const Completion &completion);
  /// Makes the times of a new result relative to the baseline, and says what is
  /// to be known of its conditions, once.
  void adopt(Result &result, bool askedEnergy);
  /// Tells the strategy a result, with the cost by the objective.
  void tellStrategy(size_t index, const Result &result);
  /// A candidate whose result is measured, or checked, once more.
  Candidate makeFinalist(size_t resultIndex);
  /// Waits for one request and writes what came back into `result`. False if
  /// the search was interrupted before, or, where that ends the wait, the
  /// budget spent.
  llvm::Expected<bool> await(WorkerPool &pool, uint64_t request, Result &result,
                             bool withinBudget = false);
  /// Stores what the final found and puts it in the place of the old result.
  llvm::Error settle(Candidate finalist);
  llvm::Error runFinals();
  /// Drops those that the first round has shown to be too slow.
  void keepFastest(std::vector<Candidate> &finalists) const;
  /// Verifies the winner once more, for all inputs and many launches, until one
  /// stands, or so many failed that there is none.
  llvm::Error runProofs();
  /// Whether there is no budget to compile or measure anything with.
  bool onlyLooksUp() const;
  /// What is kept of the budget for the end.
  double getReserve() const;
  /// Takes in the winner that the database has.
  llvm::Error startStoredBest();
  /// Takes in a result that the database has. False where it has none, or one
  /// that a search with this device would complete.
  llvm::Expected<bool> finishStored(Candidate &candidate);
  llvm::Error runChecks();
  llvm::Error ensureBinaries(llvm::MutableArrayRef<Candidate> finalists);
  llvm::json::Value makeCandidateRequest(const Candidate &candidate) const;
  llvm::json::Object makeDeviceRequest(const Candidate &candidate) const;
  llvm::json::Value makeMeasureRequest(const Candidate &candidate) const;
  void keepBinary(const Candidate &candidate);
  void reproduce(const Result &result);
  /// Writes what came back from a worker into a result.
  static void readCompletion(Completion &completion, Result &result);
  void count(const Result &result);
  void report();

  const Task &task;
  const Space &space;
  const LegalSpace &legal;
  Store &store;
  SessionInfo &session;
  WorkerPool &compilers;
  WorkerPool *devices;
  WorkerPool *checkers;
  const Ranker *ranker;
  Progress &progress;
  TunerOptions options;
  const volatile sig_atomic_t &interrupted;

  Strategy *strategy = nullptr;
  Outcome outcome;
  Clock::time_point started;
  std::optional<size_t> baselineIndex;
  size_t nextSeed = 0;
  bool exhausted = false;
  uint64_t asked = 0;
  uint64_t nextRequest = 1;
  std::set<size_t> tried;
  std::map<uint64_t, Candidate> compiling;
  std::map<uint64_t, Candidate> measuring;
  /// Binaries under measurement, by their hashes.
  llvm::StringSet<> awaited;
  std::deque<Candidate> ready;
  /// Candidates that another tuner on the same database has under way.
  std::vector<size_t> elsewhere;
  /// Candidates whose claims end when their results are on disk.
  std::vector<size_t> finished;
  /// Binaries of the best results so far, by candidate.
  std::map<size_t, llvm::json::Value> binaries;
  std::map<size_t, size_t> resultOf;
  /// Cost of the best so far, or its score where nothing is timed.
  std::optional<double> bestCost;
  /// Median time of the fastest so far.
  std::optional<double> bestTime;
  /// What candidates take turns with in a sustained state, and its median time
  /// when its result was measured: that of all times.
  llvm::json::Value baselineBinary = nullptr;
  std::optional<double> baselineTime;
  std::optional<uint64_t> baselineRequest;
  bool baselineFails = false;
  /// Whether this is the round of the final in which energy is counted.
  bool countsEnergy = false;
  /// What was said of conditions.
  llvm::StringSet<> warned;
  /// Whether a kernel without a fault of its resources has been timed: then
  /// others with one are not.
  bool hasFaultless = false;
  /// What measuring the candidates has taken, the shortest first.
  std::vector<double> measureSeconds;
  ProgressState state;
};

} // namespace attune::tuning

#endif // ATTUNE_TUNING_TUNER_H
