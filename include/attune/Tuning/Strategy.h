// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which candidate comes next. A strategy is asked for candidates and told their
// results; it sees neither workers nor database, so that a new one is one file
// in lib/Tuning/Strategies and one line in Strategy.cpp.

#ifndef ATTUNE_TUNING_STRATEGY_H
#define ATTUNE_TUNING_STRATEGY_H

#include "attune/Tuning/Result.h"
#include <memory>

namespace attune::tuning {

/// What every strategy may know. Outlives the strategy.
struct SearchContext {
  const Space &space;
  /// The legal points, the most promising first where they were ranked; a
  /// candidate is an index into this list.
  llvm::ArrayRef<Point> points;
  uint64_t seed;
  /// The predicted time of each point; empty where they were not ranked.
  llvm::ArrayRef<double> scores = {};
  /// What another search tried, in its order.
  llvm::ArrayRef<Point> recorded = {};
};

class Strategy {
public:
  virtual ~Strategy();

  /// Up to `count` candidates that were not given before. May return fewer, or
  /// none, while results are outstanding; with none outstanding, no candidate
  /// means that the search is over. The same seed and the same results in the
  /// same order give the same candidates.
  virtual std::vector<size_t> ask(size_t count) = 0;

  /// The result of a candidate, asked for or not (the default schedule is
  /// measured in every search). Results come in any order.
  virtual void tell(size_t candidate, const Result &result);

  /// Of candidates that have been compiled, the one with the smallest is
  /// measured next: its score where nothing better is known.
  virtual double getPriority(size_t candidate, const Result &compiled) const;

  /// Whose idea a candidate was that this strategy gave. Nothing for others,
  /// and by strategies without ideas.
  virtual Origin getOrigin(size_t candidate) const;
};

/// Null for an unknown name.
std::unique_ptr<Strategy> createStrategy(llvm::StringRef name,
                                         const SearchContext &context);
llvm::ArrayRef<llvm::StringRef> getStrategyNames();

std::unique_ptr<Strategy> createGuidedStrategy(const SearchContext &context);
std::unique_ptr<Strategy>
createNeighbourhoodStrategy(const SearchContext &context);
std::unique_ptr<Strategy>
createEvolutionaryStrategy(const SearchContext &context);
std::unique_ptr<Strategy> createSurrogateStrategy(const SearchContext &context);
std::unique_ptr<Strategy> createGridStrategy(const SearchContext &context);
std::unique_ptr<Strategy> createRandomStrategy(const SearchContext &context);
std::unique_ptr<Strategy> createReplayStrategy(const SearchContext &context);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_STRATEGY_H
