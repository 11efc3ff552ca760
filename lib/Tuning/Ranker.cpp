// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorting by a model.

#include "attune/Tuning/Ranker.h"
#include "llvm/ADT/STLExtras.h"

using namespace attune::tuning;

Ranker::~Ranker() = default;

std::vector<double> attune::tuning::sortByScore(std::vector<Point> &points,
                                                const Ranker &ranker) {
  std::vector<std::pair<double, size_t>> order;
  order.reserve(points.size());
  for (auto [i, point] : llvm::enumerate(points))
    order.emplace_back(ranker.score(point), i);
  llvm::sort(order);
  std::vector<Point> sorted;
  std::vector<double> scores;
  sorted.reserve(points.size());
  scores.reserve(points.size());
  for (auto [score, i] : order) {
    sorted.push_back(std::move(points[i]));
    scores.push_back(score);
  }
  points = std::move(sorted);
  return scores;
}
