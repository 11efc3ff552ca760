// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statistics of predictions, and the replay of a search.

#include "attune/Tuning/Judge.h"
#include <cmath>
#include <numeric>

using namespace attune::tuning;

static double getTime(const Judged &schedule) {
  return schedule.result.getSummary().median;
}

/// Ranks from 0; equal values share the mean of theirs.
static std::vector<double> rank(llvm::ArrayRef<double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t i = 0, end; i < order.size(); i = end) {
    for (end = i; end < order.size() && values[order[end]] == values[order[i]];)
      ++end;
    for (size_t k = i; k < end; ++k)
      ranks[order[k]] = static_cast<double>(i + end - 1) / 2;
  }
  return ranks;
}

static double correlate(llvm::ArrayRef<double> a, llvm::ArrayRef<double> b) {
  std::vector<double> x = rank(a), y = rank(b);
  double mean = static_cast<double>(x.size() - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (auto [u, v] : llvm::zip_equal(x, y)) {
    xy += (u - mean) * (v - mean);
    xx += (u - mean) * (u - mean);
    yy += (v - mean) * (v - mean);
  }
  return xx == 0 || yy == 0 ? 0 : xy / std::sqrt(xx * yy);
}

static double getMedian(std::vector<double> values) {
  auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Judgement attune::tuning::judge(llvm::ArrayRef<Judged> schedules) {
  std::vector<double> times, early, late, earlyErrors, lateErrors;
  for (const Judged &schedule : schedules) {
    double time = getTime(schedule);
    times.push_back(time);
    early.push_back(schedule.predicted);
    late.push_back(schedule.predictedCompiled);
    earlyErrors.push_back(std::abs(schedule.predicted / time - 1));
    lateErrors.push_back(std::abs(schedule.predictedCompiled / time - 1));
  }
  Judgement judgement;
  judgement.count = schedules.size();
  judgement.correlation = correlate(early, times);
  judgement.correlationCompiled = correlate(late, times);
  judgement.error = getMedian(std::move(earlyErrors));
  judgement.errorCompiled = getMedian(std::move(lateErrors));

  std::vector<size_t> order(times.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::tie(early[a], a) < std::tie(early[b], b);
  });
  double best = *llvm::min_element(times);
  for (auto [share, regret] :
       llvm::zip_equal(kJudgedShares, judgement.regret)) {
    size_t count = std::max<size_t>(
        1, static_cast<size_t>(share * static_cast<double>(times.size())));
    double found = best;
    for (auto [i, place] : llvm::enumerate(order)) {
      if (i == count)
        break;
      found = i ? std::min(found, times[place]) : times[place];
    }
    regret = found / best - 1;
  }
  return judgement;
}

size_t attune::tuning::replay(llvm::StringRef strategyName, const Space &space,
                              llvm::ArrayRef<Judged> schedules, uint64_t seed,
                              double slack) {
  std::vector<std::pair<double, size_t>> order;
  double best = std::numeric_limits<double>::infinity();
  for (auto [i, schedule] : llvm::enumerate(schedules)) {
    order.emplace_back(schedule.predicted, i);
    best = std::min(best, getTime(schedule));
  }
  llvm::sort(order);
  std::vector<Point> points;
  std::vector<double> scores;
  for (auto [predicted, i] : order) {
    points.push_back(schedules[i].result.point);
    scores.push_back(predicted);
  }
  std::unique_ptr<Strategy> strategy =
      createStrategy(strategyName, {space, points, seed, scores});
  for (size_t tried = 1; tried <= points.size(); ++tried) {
    std::vector<size_t> asked = strategy->ask(1);
    if (asked.empty())
      break;
    const Judged &schedule = schedules[order[asked.front()].second];
    if (getTime(schedule) <= best * (1 + slack))
      return tried;
    Result result = schedule.result;
    result.score = schedule.predictedCompiled;
    strategy->tell(asked.front(), result);
  }
  return points.size();
}
