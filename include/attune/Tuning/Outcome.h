// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a search found, and the one order in which results are compared.

#ifndef ATTUNE_TUNING_OUTCOME_H
#define ATTUNE_TUNING_OUTCOME_H

#include "attune/Tuning/Result.h"

namespace attune::tuning {

struct Outcome {
  std::vector<Result> results;
  /// Whether there was a device. Without one results are ranked by score.
  bool timed = false;
  /// By what they are ranked where there was one.
  Objective objective = Objective::Time;
  /// Whether there are scores: nanoseconds that a model predicts.
  bool ranked = false;
  /// The schedule that everything is compared with.
  Point base;
  /// Whether the device was the host executor: there is no winner.
  bool executed = false;
  /// Index of the default schedule's result; absent where it is not legal.
  std::optional<size_t> baseline;
  std::string baselineRefusal;
  /// Index of the best result; absent where no candidate is valid, or where
  /// those that were tried failed the proof.
  std::optional<size_t> winner;
  /// Results that cannot be told from the winner: their intervals overlap.
  std::vector<size_t> ties;
  /// Results taken from the database, and results copied from an equal binary.
  uint64_t reused = 0;
  uint64_t copied = 0;
  double seconds = 0;
  bool interrupted = false;
  bool budgetSpent = false;
  /// Where there is no winner because the best failed their proof: how many
  /// did.
  unsigned unproven = 0;

  /// Of the results, how many different binaries there are.
  uint64_t countBinaries() const;

  bool isValid(const Result &result) const {
    return timed ? result.getCost(objective).has_value()
                 : result.status == Status::Ok;
  }
  /// The cost by the objective, or the score where nothing was timed. Expects a
  /// valid result.
  double getCost(const Result &result) const;
  /// Indices of the valid results, best first. Times of the final come before
  /// all others, with which they cannot be compared. Equal costs are ordered by
  /// the point: the order in which workers answered must not decide.
  std::vector<size_t> rank() const;
  /// The same without regard to the final: who should be in the next one.
  std::vector<size_t> rankByCost() const;
  /// Sets `winner` and `ties`.
  void pickWinner();

private:
  std::vector<size_t> sort(bool finalFirst) const;
};

} // namespace attune::tuning

#endif // ATTUNE_TUNING_OUTCOME_H
