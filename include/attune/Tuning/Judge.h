// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds the model and the strategies against measurements that were recorded,
// without a device.

#ifndef ATTUNE_TUNING_JUDGE_H
#define ATTUNE_TUNING_JUDGE_H

#include "attune/Tuning/Strategy.h"
#include "llvm/Support/raw_ostream.h"

namespace attune::tuning {

/// A schedule with what the model and the device said of it, in nanoseconds.
struct Judged {
  Result result;
  /// Before it was compiled, and with what the assembler reported.
  double predicted, predictedCompiled;
};

struct Judgement {
  size_t count;
  /// Spearman's: 1 where the order is right.
  double correlation, correlationCompiled;
  /// Median of |predicted / measured - 1|.
  double error, errorCompiled;
  /// How much slower than the best of all the best is among those that the
  /// model puts into its first 1, 5 and 10 percent.
  double regret[3];
};
inline constexpr double kJudgedShares[] = {0.01, 0.05, 0.1};

/// Expects at least one.
Judgement judge(llvm::ArrayRef<Judged> schedules);

inline constexpr size_t kJudgedCount = 50;
inline constexpr double kJudgedSlacks[] = {0.03, 0.02};

/// What a strategy finds, on average over some searches.
struct StrategyJudgement {
  /// How much slower than the best of all the best is among its first 1, 5 and
  /// 10 percent, and among its first 50.
  double regret[4] = {};
  /// How many it takes until one is within 3, and 2, percent of the best.
  double tried[2] = {};
  /// Of the shapes that there are, and of the fastest 5 percent, how many are
  /// among its first 10 percent.
  double shapes = 0, fastest = 0;
};

/// Lets a strategy search among schedules of known times, in the model's order,
/// each compiled and measured before the next is asked for; so often, with the
/// seeds from 1. `replay` takes them as they are given.
StrategyJudgement judgeStrategy(llvm::StringRef strategy, const Space &space,
                                llvm::ArrayRef<Judged> schedules,
                                uint64_t searches);

/// Judges what a JSON report of attune-tune has of the ops in
/// `input`; `sizes` as they were then. Writes a table and, where `json` names a
/// file, the same numbers to it. Returns an exit code.
int judgeReport(llvm::raw_ostream &os, llvm::StringRef input,
                llvm::StringRef report,
                const std::map<std::string, int64_t> &sizes,
                llvm::StringRef json);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_JUDGE_H
