// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Learns, while it searches, how times depend on knobs: a Gaussian process of
// the logarithm of the time, around what the order's model predicts where there
// is one. Asked is what improves on the best most, as far as can be expected
// (Jones, Schonlau, Welch 1998), among some hundred candidates: neighbours of
// the fastest, those that are next in order, and some that are drawn.
// Candidates under way are taken to be as fast as predicted, so that the next
// one differs.

#include "Candidates.h"
#include "attune/Tuning/GaussianProcess.h"
#include <cmath>
#include <map>

using namespace attune::tuning;

/// Results before which candidates are drawn, the first of so many each.
static constexpr size_t kFirstResults = 6;
static constexpr unsigned kFirstDraws = 16;

/// Where neighbours are looked for, and how many of the others are compared.
static constexpr size_t kOrigins = 3, kNext = 64, kCoupled = 64, kDrawn = 96;

/// Weights are learned when there are so many results: 16, 32, ..., 128.
static constexpr size_t kFirstLesson = 16, kLastLesson = 128;

/// With so many the slower half of the results is thinned out, which keeps an
/// answer within some hundredths of a second.
static constexpr size_t kMostResults = 448;

namespace {
class SurrogateStrategy : public Strategy {
public:
  explicit SurrogateStrategy(const SearchContext &context);

  std::vector<size_t> ask(size_t count) override;
  void tell(size_t candidate, const Result &result) override;
  /// Who waits for a result waits for the oldest.
  double getPriority(size_t, const Result &) const override { return 0; }
  Origin getOrigin(size_t candidate) const override;

private:
  enum class Source { Start, Neighbour, Order, Chance };
  struct Proposal {
    Source source;
    size_t parent;
  };
  struct Sample {
    size_t candidate;
    /// Logarithms: what was predicted of it beyond the prior, and the cost,
    /// where there is a result.
    double believed;
    std::optional<double> cost;
    bool isPending = true;
  };

  std::map<size_t, Proposal> propose();
  std::pair<size_t, Proposal> chooseBest();
  std::vector<double> getPlace(size_t candidate) const;
  /// What is expected of a candidate before anything is known about its
  /// neighbours.
  double getPrior(size_t candidate) const;
  double getModel(size_t candidate) const {
    return context.scores.empty() ? 0 : std::log(context.scores[candidate]);
  }
  void addSample(size_t candidate, double believed);
  /// Adapts the prior and the process to the results.
  void learn();
  void thinOut();

  SearchContext context;
  PointIndex index;
  Pool pool;
  Generator generator;
  GaussianProcess process;
  std::vector<Sample> samples;
  std::map<size_t, size_t> sampleOf;
  std::map<size_t, Proposal> proposals;
  /// By cost.
  std::vector<std::pair<double, size_t>> measured;
  /// Of the logarithms of costs to those of the model.
  double slope = 1, offset = 0;
  size_t nextLesson = kFirstLesson;
  bool isStale = false;
};
} // namespace

SurrogateStrategy::SurrogateStrategy(const SearchContext &context)
    : context(context), index(context), pool(context.points.size()),
      generator(context.seed), process(context.space.getKnobs().size()) {}

std::vector<double> SurrogateStrategy::getPlace(size_t candidate) const {
  std::vector<double> place;
  for (auto [knob, value] :
       llvm::zip_equal(context.space.getKnobs(), context.points[candidate])) {
    // A default that is not searched is beyond the others.
    double i = static_cast<double>(llvm::find(knob.domain, value) -
                                   knob.domain.begin());
    place.push_back(
        i / std::max<double>(1, static_cast<double>(knob.domain.size() - 1)));
  }
  return place;
}

double SurrogateStrategy::getPrior(size_t candidate) const {
  return offset + slope * getModel(candidate);
}

void SurrogateStrategy::addSample(size_t candidate, double believed) {
  sampleOf[candidate] = samples.size();
  samples.push_back({candidate, believed, std::nullopt});
  process.add(getPlace(candidate));
}

void SurrogateStrategy::learn() {
  // A line through costs over the model's. With few results it is the model
  // itself, times a constant.
  double count = 0, x = 0, y = 0, xx = 0, xy = 0, worst = 0;
  for (const Sample &sample : samples)
    if (sample.cost) {
      double model = getModel(sample.candidate);
      worst = count == 0 ? *sample.cost : std::max(worst, *sample.cost);
      ++count;
      x += model;
      y += *sample.cost;
      xx += model * model;
      xy += model * *sample.cost;
    }
  constexpr double faith = 0.5;
  if (count > 0) {
    slope = (xy - x * y / count + faith) / (xx - x * x / count + faith);
    slope = std::min(std::max(slope, 0.0), 1.5);
    offset = (y - slope * x) / count;
  }
  std::vector<double> values;
  for (const Sample &sample : samples) {
    double prior = getPrior(sample.candidate);
    if (sample.cost)
      values.push_back(*sample.cost - prior);
    else if (sample.isPending)
      values.push_back(sample.believed);
    else // What fails is as bad as what is slow.
      values.push_back(std::max(worst - prior, 0.0));
  }
  process.setValues(values);
  if (measured.size() >= nextLesson && nextLesson <= kLastLesson) {
    nextLesson *= 2;
    process.learnWeights();
  }
  isStale = false;
}

void SurrogateStrategy::thinOut() {
  double middle = measured[measured.size() / 2].first;
  std::vector<Sample> kept;
  size_t others = 0;
  for (const Sample &sample : samples)
    if (sample.isPending || (sample.cost && *sample.cost <= middle) ||
        others++ % 2 == 0)
      kept.push_back(sample);
  samples.clear();
  sampleOf.clear();
  process.clear();
  for (Sample &sample : kept) {
    addSample(sample.candidate, sample.believed);
    samples.back() = sample;
  }
  learn();
}

std::map<size_t, SurrogateStrategy::Proposal> SurrogateStrategy::propose() {
  std::map<size_t, Proposal> found;
  auto add = [&](size_t candidate, Proposal proposal) {
    if (!pool.isGiven(candidate))
      found.try_emplace(candidate, proposal);
  };
  for (auto [cost, centre] : llvm::ArrayRef(measured).take_front(kOrigins))
    for (size_t neighbour : index.getNeighbours(centre))
      add(neighbour, {Source::Neighbour, centre});
  size_t centre = measured.front().second;
  std::vector<size_t> coupled = index.getCoupled(centre);
  for (size_t i = 0; i < kCoupled && !coupled.empty(); ++i)
    add(coupled[generator.below(coupled.size())], {Source::Neighbour, centre});
  if (!context.scores.empty()) {
    size_t left = kNext;
    for (size_t next = pool.findNext().value_or(pool.size());
         left && next < pool.size(); ++next)
      if (!pool.isGiven(next)) {
        add(next, {Source::Order, 0});
        --left;
      }
  }
  for (size_t i = 0; i < kDrawn; ++i)
    if (std::optional<size_t> drawn = pool.draw(generator, 1))
      add(*drawn, {Source::Chance, 0});
  return found;
}

/// How much less than `best` a normally distributed value is on average, where
/// more counts as none.
static double getExpectedImprovement(double best, double mean,
                                     double deviation) {
  if (deviation <= 0)
    return std::max(best - mean, 0.0);
  constexpr double sqrt2 = 1.4142135623730951, sqrt2Pi = 2.5066282746310002;
  double z = (best - mean) / deviation;
  double below = std::erfc(-z / sqrt2) / 2;
  return (best - mean) * below + deviation * std::exp(-z * z / 2) / sqrt2Pi;
}

std::pair<size_t, SurrogateStrategy::Proposal> SurrogateStrategy::chooseBest() {
  std::optional<std::pair<size_t, Proposal>> chosen;
  double most = 0, leastMean = 0, believed = 0;
  for (const auto &[candidate, proposal] : propose()) {
    GaussianProcess::Prediction known = process.predict(getPlace(candidate));
    double mean = getPrior(candidate) + known.mean;
    double gain =
        getExpectedImprovement(measured.front().first, mean, known.deviation);
    // Where nothing is gained, the fastest.
    if (chosen && std::pair(-gain, mean) >= std::pair(-most, leastMean))
      continue;
    chosen = {candidate, proposal};
    most = gain;
    leastMean = mean;
    believed = known.mean;
  }
  addSample(chosen->first, believed);
  return *chosen;
}

std::vector<size_t> SurrogateStrategy::ask(size_t count) {
  std::vector<size_t> candidates;
  while (candidates.size() < count && pool.findNext()) {
    std::pair<size_t, Proposal> chosen;
    if (measured.size() < kFirstResults) {
      size_t candidate = proposals.empty() ? *pool.findNext()
                                           : *pool.draw(generator, kFirstDraws);
      chosen = {candidate, {Source::Start, 0}};
      addSample(candidate, 0);
    } else {
      if (isStale)
        learn();
      if (samples.size() >= kMostResults)
        thinOut();
      chosen = chooseBest();
    }
    isStale = true;
    pool.give(chosen.first);
    proposals.insert(chosen);
    candidates.push_back(chosen.first);
  }
  return candidates;
}

void SurrogateStrategy::tell(size_t candidate, const Result &result) {
  pool.give(candidate);
  isStale = true;
  if (!sampleOf.count(candidate))
    addSample(candidate, 0);
  Sample &sample = samples[sampleOf[candidate]];
  sample.isPending = false;
  if (sample.cost)
    llvm::erase(measured, std::pair(*sample.cost, candidate));
  sample.cost.reset();
  std::optional<double> cost = getCost(result);
  if (!cost || *cost <= 0)
    return;
  sample.cost = std::log(*cost);
  std::pair<double, size_t> entry(*sample.cost, candidate);
  measured.insert(llvm::lower_bound(measured, entry), entry);
}

Origin SurrogateStrategy::getOrigin(size_t candidate) const {
  auto it = proposals.find(candidate);
  if (it == proposals.end())
    return {};
  switch (it->second.source) {
  case Source::Start:
    return {"start", "chance", {}};
  case Source::Neighbour:
    return {"neighbours",
            "expected improvement",
            {context.points[it->second.parent]}};
  case Source::Order:
    return {"order", "expected improvement", {}};
  case Source::Chance:
    return {"chance", "expected improvement", {}};
  }
  llvm_unreachable("all sources are covered");
}

std::unique_ptr<Strategy>
attune::tuning::createSurrogateStrategy(const SearchContext &context) {
  return std::make_unique<SurrogateStrategy>(context);
}
