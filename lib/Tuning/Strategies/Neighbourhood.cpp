// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Climbs: from a start to whatever neighbour is faster, until none is. A
// neighbour is one knob away or, where that is not legal, two. Where nothing is
// faster, what is as fast is looked around (many knobs often change nothing,
// and two of them together do), and then the next climb begins somewhere else.
// All climbs go on at once, the fastest first, as there are always several
// candidates under way.

#include "Candidates.h"
#include <map>

using namespace attune::tuning;

/// Starts and neighbours are the first of so many that are drawn: where points
/// are ranked, a mild preference.
static constexpr unsigned kStartDraws = 16, kNeighbourDraws = 3;

/// Costs within this factor are equal, and a climb looks around so many points
/// that are as fast as its best.
static constexpr double kEqual = 1.005;
static constexpr size_t kMostSideways = 12;

/// Ways around constraints are many, and are tried only for climbs this close
/// to the best of all.
static constexpr double kPromising = 1.1;

namespace {
class NeighbourhoodStrategy : public Strategy {
public:
  explicit NeighbourhoodStrategy(const SearchContext &context)
      : context(context), index(context), pool(context.points.size()),
        generator(context.seed) {}

  std::vector<size_t> ask(size_t count) override;
  void tell(size_t candidate, const Result &result) override;
  /// Who waits for a result waits for the oldest.
  double getPriority(size_t, const Result &) const override { return 0; }
  Origin getOrigin(size_t candidate) const override;

private:
  struct Climb {
    /// Of the best; nothing before the start was measured.
    std::optional<double> cost;
    /// Around what neighbours are tried, and those that were not.
    size_t centre;
    std::vector<size_t> neighbours;
    bool hasCoupled = false;
    /// As fast as the best, and not looked around yet.
    std::vector<size_t> equals;
    size_t sideways = 0;
  };
  struct Step {
    size_t climb;
    /// The candidate itself for a start.
    size_t centre;
    bool isCoupled;
  };

  std::optional<size_t> takeOne();
  std::optional<size_t> takeNeighbour(size_t climb);
  void lookAround(Climb &climb, size_t centre);
  void start(size_t candidate);

  SearchContext context;
  PointIndex index;
  Pool pool;
  Generator generator;
  std::vector<Climb> climbs;
  /// By cost, those that may go on.
  std::vector<std::pair<double, size_t>> open;
  std::map<size_t, Step> steps;
  std::optional<double> best;
};
} // namespace

void NeighbourhoodStrategy::start(size_t candidate) {
  steps[candidate] = {climbs.size(), candidate, /*isCoupled=*/false};
  climbs.emplace_back().centre = candidate;
}

void NeighbourhoodStrategy::lookAround(Climb &climb, size_t centre) {
  climb.centre = centre;
  climb.neighbours = index.getNeighbours(centre);
  climb.hasCoupled = false;
}

std::optional<size_t> NeighbourhoodStrategy::takeNeighbour(size_t number) {
  Climb &climb = climbs[number];
  while (true) {
    llvm::erase_if(climb.neighbours,
                   [&](size_t neighbour) { return pool.isGiven(neighbour); });
    if (std::vector<size_t> &left = climb.neighbours; !left.empty()) {
      size_t taken = left[generator.below(left.size())];
      for (unsigned draw = 1; draw < kNeighbourDraws; ++draw)
        taken = std::min(taken, left[generator.below(left.size())]);
      steps[taken] = {number, climb.centre, climb.hasCoupled};
      return taken;
    }
    if (!climb.hasCoupled && *climb.cost <= *best * kPromising) {
      climb.hasCoupled = true;
      climb.neighbours = index.getCoupled(climb.centre);
    } else if (!climb.equals.empty() && climb.sideways < kMostSideways) {
      ++climb.sideways;
      size_t centre = climb.equals.back();
      climb.equals.pop_back();
      lookAround(climb, centre);
    } else {
      return std::nullopt;
    }
  }
}

std::optional<size_t> NeighbourhoodStrategy::takeOne() {
  // A climb that ended may go on when a result arrives that is under way.
  while (!open.empty()) {
    if (std::optional<size_t> neighbour = takeNeighbour(open.front().second))
      return neighbour;
    open.erase(open.begin());
  }
  std::optional<size_t> first;
  if (climbs.empty())
    first = pool.findNext();
  else
    first = pool.draw(generator, kStartDraws);
  if (first)
    start(*first);
  return first;
}

std::vector<size_t> NeighbourhoodStrategy::ask(size_t count) {
  std::vector<size_t> candidates;
  while (candidates.size() < count) {
    std::optional<size_t> candidate = takeOne();
    if (!candidate)
      break;
    pool.give(*candidate);
    candidates.push_back(*candidate);
  }
  return candidates;
}

void NeighbourhoodStrategy::tell(size_t candidate, const Result &result) {
  pool.give(candidate);
  if (!steps.count(candidate))
    start(candidate);
  std::optional<double> cost = getCost(result);
  if (!cost)
    return;
  best = std::min(best.value_or(*cost), *cost);
  size_t number = steps[candidate].climb;
  Climb &climb = climbs[number];
  if (climb.cost && *cost >= *climb.cost) {
    if (*cost > *climb.cost * kEqual || candidate == climb.centre)
      return;
    climb.equals.push_back(candidate);
  } else {
    // What was as fast may be so still, but what was not is slow.
    if (!climb.cost || *cost * kEqual < *climb.cost)
      climb.equals.clear();
    climb.cost = cost;
    climb.sideways = 0;
    lookAround(climb, candidate);
  }
  llvm::erase_if(open, [&](auto &entry) { return entry.second == number; });
  std::pair<double, size_t> entry(*climb.cost, number);
  open.insert(llvm::lower_bound(open, entry), entry);
}

Origin NeighbourhoodStrategy::getOrigin(size_t candidate) const {
  auto it = steps.find(candidate);
  if (it == steps.end())
    return {};
  const Step &step = it->second;
  Origin origin;
  origin.lineage = "climb " + std::to_string(step.climb + 1);
  origin.step = step.centre == candidate ? "start"
                : step.isCoupled         ? "coupled neighbour"
                                         : "neighbour";
  if (step.centre != candidate)
    origin.parents.push_back(context.points[step.centre]);
  return origin;
}

std::unique_ptr<Strategy>
attune::tuning::createNeighbourhoodStrategy(const SearchContext &context) {
  return std::make_unique<NeighbourhoodStrategy>(context);
}
