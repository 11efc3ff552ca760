// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statistics of predictions, and of searches among recorded measurements.

#include "attune/Tuning/Judge.h"
#include "Strategies/Candidates.h"
#include "llvm/ADT/DenseSet.h"
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

namespace {
/// The schedules in the order of the model, as a search sees them.
struct Field {
  explicit Field(llvm::ArrayRef<Judged> schedules) {
    std::vector<std::pair<double, size_t>> order;
    for (auto [i, schedule] : llvm::enumerate(schedules)) {
      order.emplace_back(schedule.predicted, i);
      recorded.push_back(schedule.result.point);
    }
    llvm::sort(order);
    for (auto [predicted, i] : order) {
      points.push_back(schedules[i].result.point);
      scores.push_back(predicted);
      times.push_back(getTime(schedules[i]));
      results.push_back(schedules[i].result);
      results.back().score = schedules[i].predictedCompiled;
    }
    best = *llvm::min_element(times);
    std::vector<double> sorted = times;
    llvm::sort(sorted);
    limit = sorted[getShare(kJudgedShares[1]) - 1];
  }

  size_t getShare(double share) const {
    return std::max<size_t>(
        1, static_cast<size_t>(share * static_cast<double>(points.size())));
  }

  std::vector<Point> points, recorded;
  std::vector<double> scores, times;
  std::vector<Result> results;
  double best;
  /// The slowest of the fastest 5 percent.
  double limit;
};
} // namespace

/// The candidates of a strategy until all that is asked about them is known.
static std::vector<size_t> search(Strategy &strategy, const Field &field) {
  size_t least = std::max(kJudgedCount, field.getShare(kJudgedShares[2]));
  double found = std::numeric_limits<double>::infinity(),
         wanted = field.best * (1 + kJudgedSlacks[1]);
  std::vector<size_t> tried;
  while (tried.size() < least || found > wanted) {
    std::vector<size_t> asked = strategy.ask(1);
    if (asked.empty())
      break;
    tried.push_back(asked.front());
    found = std::min(found, field.times[asked.front()]);
    strategy.tell(asked.front(), field.results[asked.front()]);
  }
  return tried;
}

StrategyJudgement
attune::tuning::judgeStrategy(llvm::StringRef name, const Space &space,
                              llvm::ArrayRef<Judged> schedules,
                              uint64_t searches) {
  Field field(schedules);
  StrategyJudgement mean;
  for (uint64_t seed = 1; seed <= searches; ++seed) {
    SearchContext context{space, field.points, seed, field.scores,
                          field.recorded};
    Shapes shapes(context);
    std::unique_ptr<Strategy> strategy = createStrategy(name, context);
    std::vector<size_t> tried = search(*strategy, field);
    double found = std::numeric_limits<double>::infinity();
    size_t first[] = {tried.size(), tried.size()}, fast = 0;
    llvm::DenseSet<size_t> seen;
    std::vector<double> soFar;
    for (auto [i, candidate] : llvm::enumerate(tried)) {
      double time = field.times[candidate];
      found = std::min(found, time);
      soFar.push_back(found);
      for (auto [slack, place] : llvm::zip_equal(kJudgedSlacks, first))
        if (found <= field.best * (1 + slack))
          place = std::min(place, i + 1);
      if (i < field.getShare(kJudgedShares[2])) {
        seen.insert(shapes.getShape(candidate));
        fast += time <= field.limit;
      }
    }
    size_t counts[] = {field.getShare(kJudgedShares[0]),
                       field.getShare(kJudgedShares[1]),
                       field.getShare(kJudgedShares[2]), kJudgedCount};
    for (auto [count, regret] : llvm::zip_equal(counts, mean.regret))
      regret += soFar[std::min(count, soFar.size()) - 1] / field.best - 1;
    for (auto [place, sum] : llvm::zip_equal(first, mean.tried))
      sum += static_cast<double>(place);
    mean.shapes +=
        static_cast<double>(seen.size()) / static_cast<double>(shapes.size());
    size_t fastest = llvm::count_if(
        field.times, [&](double time) { return time <= field.limit; });
    mean.fastest += static_cast<double>(fast) / static_cast<double>(fastest);
  }
  for (double *sum :
       {&mean.regret[0], &mean.regret[1], &mean.regret[2], &mean.regret[3],
        &mean.tried[0], &mean.tried[1], &mean.shapes, &mean.fastest})
    *sum /= static_cast<double>(searches);
  return mean;
}
