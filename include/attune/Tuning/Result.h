// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What became of one candidate. One failure never ends a search: it is a
// status, a message and a row in the database like any other result.

#ifndef ATTUNE_TUNING_RESULT_H
#define ATTUNE_TUNING_RESULT_H

#include "attune/Runtime/Conditions.h"
#include "attune/Tuning/Space.h"
#include "attune/Tuning/Statistics.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>
#include <vector>

namespace attune::tuning {

/// What a winner has least of. Energy and time are kept of each result that has
/// both.
enum class Objective {
  Time,
  /// Of a launch.
  Energy,
  /// Their product.
  EnergyDelay
};
llvm::ArrayRef<Objective> getObjectives();
/// `time`, `energy` or `energy-delay`.
llvm::StringRef toString(Objective objective);

enum class Status {
  Ok,
  Refused,
  CompileError,
  RunError,
  WrongResult,
  Timeout,
  Crash,
  OutOfMemory
};

/// All statuses, in the order of the enumeration.
llvm::ArrayRef<Status> getStatuses();
/// The stable spelling used in the database and in reports: `compile-error`.
llvm::StringRef toString(Status status);
std::optional<Status> parseStatus(llvm::StringRef text);

/// How far a candidate came. Times of the final were taken in turn; those who
/// were proven have them, too, and were right for all inputs and launches that
/// a winner is tried with.
enum class Stage { Compile, Measure, Final, Proof };
llvm::StringRef toString(Stage stage);
std::optional<Stage> parseStage(llvm::StringRef text);

/// What a kernel takes from an SM, as the assembler reports it. Absent numbers
/// were not reported.
struct Resources {
  std::optional<int64_t> registers;
  std::optional<int64_t> spillBytes;
  std::optional<int64_t> sharedBytes;
  std::optional<int64_t> threads;
  /// Notices that MMAs are waited for one by one.
  std::optional<int64_t> serializedMultiplies;
  /// What the model of a target reads from the machine code of the main loop:
  /// operations of matrix instructions a clock and SM.
  std::optional<int64_t> loopFlopsPerClock;
  /// And the other numbers of that model, by the names in a manifest without
  /// `loop_`: `matrix_clocks`.
  llvm::json::Object loopTerms;

  /// Adds a kernel that runs after these: what limits how many workgroups run
  /// at a time becomes that of the worst, and what costs time adds up.
  void add(const Resources &next);

  /// Why a kernel need not be timed where there are others; empty for those
  /// that may be fast.
  std::string findFault(int64_t mostSpilledBytes) const;
};

/// Whose idea a candidate was.
struct Origin {
  /// The name of the idea, which candidates share that descend from one. Empty
  /// where the strategy has no ideas.
  std::string lineage;
  /// What was done to get it: `neighbour`, `mutation`.
  std::string step;
  /// What it was made from; told of before.
  std::vector<Point> parents;
};

/// From when to when, in seconds since the search began.
struct Interval {
  double begin;
  double end;
};

struct Result {
  Point point;
  Origin origin;
  Stage stage = Stage::Compile;
  Status status = Status::Ok;
  /// Why the status is not `ok`; empty otherwise.
  std::string message;
  Resources resources;
  /// Hash of the emitted code and of what is needed to launch it; of the kernel
  /// as tiles where it is executed on the CPU.
  std::string binaryHash;
  /// Predicted cost; smaller is better. Absent where ranking is off.
  std::optional<double> score;
  /// Nanoseconds of each timed launch; empty where nothing was timed.
  std::vector<double> samples;
  /// What the device was like while these were taken. With a baseline's time
  /// the samples are relative to it: they are what it would have been if the
  /// baseline had taken the time of its own result.
  Conditions conditions;
  /// When a worker compiled it, and when a device had it before the final.
  /// Absent where none did in this search.
  std::optional<Interval> compiled, measured;
  /// Taken from an earlier row of the database instead of measured now.
  bool reused = false;
  /// Row of the measurement this one copies because the binaries are equal, or
  /// 0.
  int64_t copiedFrom = 0;

  bool wasInFinal() const { return stage >= Stage::Final; }
  bool isTimed() const { return status == Status::Ok && !samples.empty(); }
  Summary getSummary() const { return summarize(samples); }
  /// What it costs by an objective: nanoseconds, nanojoules, or their product
  /// in a unit of its own. Nothing where that was not measured.
  std::optional<Summary> getCost(Objective objective) const;
};

/// Reads `{"status": ..., "message": ..., "samples": [...], "resources": {...},
/// "hash": ...}` with the members of Conditions, the answer of a worker, into
/// `result`.
/// Returns what is wrong with an answer that cannot be right; empty otherwise.
std::string readAnswer(const llvm::json::Value &answer, Result &result);

/// The order of threads in which the host executor runs the kernel with a hash:
/// of its own for each kernel, and the same each time.
uint64_t getHostSeed(llvm::StringRef binaryHash);

llvm::json::Object toJSON(const Resources &resources);
bool fromJSON(const llvm::json::Value &value, Resources &resources);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_RESULT_H
