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

/// Lets a strategy search among schedules of known times, in the model's order,
/// each compiled and measured before the next is asked for. Returns how many
/// it took until one was within `slack` of the best.
size_t replay(llvm::StringRef strategy, const Space &space,
              llvm::ArrayRef<Judged> schedules, uint64_t seed, double slack);

/// Judges what a JSON report of attune-tune has of the attention ops in
/// `input`; `sizes` as they were then. Returns an exit code.
int judgeReport(llvm::raw_ostream &os, llvm::StringRef input,
                llvm::StringRef report,
                const std::map<std::string, int64_t> &sizes);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_JUDGE_H
