// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranks results. Deterministic: the same results give the same winner.

#include "attune/Tuning/Outcome.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include <tuple>

using namespace attune::tuning;

uint64_t Outcome::countBinaries() const {
  llvm::StringSet<> hashes;
  for (const Result &result : results)
    if (!result.binaryHash.empty())
      hashes.insert(result.binaryHash);
  return hashes.size();
}

double Outcome::getCost(const Result &result) const {
  return timed ? result.getCost(objective)->median : result.score.value_or(0);
}

std::vector<size_t> Outcome::rank() const { return sort(/*finalFirst=*/true); }
std::vector<size_t> Outcome::rankByCost() const {
  return sort(/*finalFirst=*/false);
}

std::vector<size_t> Outcome::sort(bool finalFirst) const {
  std::vector<std::tuple<bool, double, Point, size_t>> keys;
  for (auto [i, result] : llvm::enumerate(results))
    if (isValid(result))
      keys.emplace_back(finalFirst && !result.wasInFinal(), getCost(result),
                        result.point, i);
  llvm::sort(keys);
  std::vector<size_t> order;
  for (auto &key : keys)
    order.push_back(std::get<size_t>(key));
  return order;
}

void Outcome::pickWinner() {
  if (executed || unproven)
    return;
  std::vector<size_t> order = rank();
  if (order.empty())
    return;
  winner = order.front();
  if (!timed)
    return;
  const Result &best = results[*winner];
  for (size_t i : llvm::drop_begin(order))
    if (results[i].wasInFinal() == best.wasInFinal() &&
        results[i].getCost(objective)->overlaps(*best.getCost(objective)))
      ties.push_back(i);
}
