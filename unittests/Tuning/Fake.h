// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A search without a compiler and without a GPU. The test program starts itself
// as a worker (`--worker`) and as a tuner (`--tuner`); what a worker does with
// each candidate, good or bad, is written in the problem's text.

#ifndef ATTUNE_UNITTESTS_TUNING_FAKE_H
#define ATTUNE_UNITTESTS_TUNING_FAKE_H

#include "attune/Tuning/Tuner.h"
#include "llvm/ADT/SmallString.h"

namespace attune::tuning::fake {

/// A problem with one knob, `x`. `faults` names what happens to some of the
/// candidates, at which stage: {"measure:3", "hang"}; stages are compile,
/// measure, prove and check.
struct Problem {
  int64_t candidates = 8;
  std::map<std::string, std::string> faults;
  /// Candidates with one value of x / sameBinary have equal binaries.
  int64_t sameBinary = 1;
  /// Where workers write a line for each request, and to `<log>.workers` their
  /// ids at the first one; empty for nowhere.
  std::string log;
  /// What candidate 7 spills, and how many MMAs of candidate 6 are
  /// serialized; if there are any, it spills as much.
  int64_t spilledBytes = 64, serialized = 0;
  /// How long a request takes, and how long one to measure takes beyond that.
  int64_t sleepMs = 0, measureMs = 0;
  /// By which share of the first one's time each measurement of a worker is
  /// slower than the one before: a chip that grows hot.
  double drift = 0;
  /// Whether its clocks settle, and whether it counts energy.
  bool settles = true, countsEnergy = true;
  /// What a worker never gives back of each request.
  int64_t leakedBytes = 0;
  /// Problems of different names are different ones to the database.
  std::string name = "fake-problem";
};

Space makeSpace(const Problem &problem);
Task makeTask(const Problem &problem);

/// The time that the fake device reports for a candidate; smallest at x = 5.
double getTime(int64_t x);

/// Joules that it reports; smallest at x = 2.
double getEnergy(int64_t x);

/// The command that starts this program as a worker, which compiles or measures
/// according to the request, or only checks.
std::vector<std::string> getWorkerCommand(llvm::StringRef role = "--worker");
int serve(bool checks);
/// As a worker of noisy times (NoiseTest.cpp).
int serveNoisy();

struct Settings {
  std::string database = ":memory:";
  bool device = true;
  bool check = false;
  bool rank = true;
  std::string strategy = "grid";
  unsigned jobs = 2;
  /// How many workers measure, and what starts them; empty for the usual.
  unsigned devices = 1;
  std::vector<std::string> deviceCommand;
  WorkerLimits limits;
  TunerOptions options;
  std::vector<Point> seeds;
  Legality legality = [](const Probe &) { return std::nullopt; };
  const volatile sig_atomic_t *interrupted = nullptr;
  /// Hears of what is stored.
  Progress *progress = nullptr;
};

/// Short limits, so that a hanging candidate costs a second.
Settings makeSettings();
llvm::Expected<Outcome> search(const Problem &problem,
                               const Settings &settings);
/// The same. An error is a failure of the test, and gives an empty outcome.
Outcome mustSearch(const Problem &problem, const Settings &settings);

/// `x` of a result.
inline int64_t getX(const Result &result) { return result.point[0]; }
/// getX() of the winner, or -1 where there is none.
int64_t getWinner(const Outcome &outcome);

/// Whether tests try as often as a release needs (ATTUNE_FULL_TESTS=1), and the
/// number of times where that differs.
bool isFull();
inline int choose(int few, int many) { return isFull() ? many : few; }
/// A figure for people: a line on the standard output in full tests.
void tell(const std::string &figure);

/// A folder that goes away with the test.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  std::string operator/(llvm::StringRef name) const {
    return path + "/" + name.str();
  }
  std::string path;
};

/// Lines of a file.
std::vector<std::string> readLines(const std::string &path);

} // namespace attune::tuning::fake

#endif // ATTUNE_UNITTESTS_TUNING_FAKE_H
