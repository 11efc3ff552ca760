// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Several lineages at a time, each with an idea of its own: the shape that its
// members share. Within a lineage members mutate and are crossed; lineages mix
// by taking from one the shape and from another what it does with the rest. A
// lineage branches where another shape is tried with what its best member
// learned, and dies out where it stays behind, so that there is room for a new
// one. The fastest lineage is asked most often, and none is forgotten.

#include "Candidates.h"
#include <map>

using namespace attune::tuning;

/// Lineages that are alive at a time, and members that a lineage remembers.
static constexpr size_t kLineages = 6, kMembers = 8;

/// What a lineage is given before it is compared with others, and how often.
static constexpr size_t kSeeds = 1, kTrial = 3;

/// A lineage dies out that is slower than the best of all by this factor after
/// its trial, or that is not the best and got no better for so many results.
static constexpr double kBehind = 1.2;
static constexpr size_t kPatience = 16;

/// Shapes and seeds are the first of so many that are drawn: where points are
/// ranked, a mild preference.
static constexpr unsigned kDraws = 8;

/// Children that are not legal, or not new, are made again so often.
static constexpr unsigned kAttempts = 32;

namespace {
class EvolutionaryStrategy : public Strategy {
public:
  explicit EvolutionaryStrategy(const SearchContext &context);

  std::vector<size_t> ask(size_t count) override;
  void tell(size_t candidate, const Result &result) override;
  /// Who waits for a result waits for the oldest.
  double getPriority(size_t, const Result &) const override { return 0; }
  Origin getOrigin(size_t candidate) const override;

private:
  struct Lineage {
    size_t shape;
    /// Fastest first.
    std::vector<std::pair<double, size_t>> members;
    size_t asked = 0, told = 0, toldAtBest = 0;
    bool isAlive = true;
  };
  struct Birth {
    size_t lineage;
    llvm::StringRef step;
    llvm::SmallVector<size_t, 2> parents;
  };
  using Child = std::optional<std::pair<size_t, Birth>>;

  Child takeOne();
  Child found();
  Child branch(size_t lineage);
  Child seed(size_t lineage);
  Child mutate(size_t lineage);
  Child cross(size_t lineage, size_t other);
  /// A lineage with members; the fastest most likely.
  std::optional<size_t> pickLineage(std::optional<size_t> except = {});
  size_t pickMember(const Lineage &lineage);
  /// Another value for some knobs.
  void change(Point &point, llvm::ArrayRef<size_t> knobs);
  std::optional<size_t> findNew(const Point &point) const;
  size_t addLineage(size_t shape);
  void cull();

  SearchContext context;
  PointIndex index;
  Shapes shapes;
  Pool pool;
  Generator generator;
  /// The candidates of each shape, in order.
  std::vector<std::vector<size_t>> byShape;
  /// Knobs that are not a shape's, and those that are, without those that have
  /// one value.
  llvm::SmallVector<size_t> details, traits;
  std::vector<Lineage> lineages;
  std::map<size_t, size_t> lineageOfShape;
  std::map<size_t, Birth> births;
  std::optional<double> best;
};
} // namespace

EvolutionaryStrategy::EvolutionaryStrategy(const SearchContext &context)
    : context(context), index(context), shapes(context),
      pool(context.points.size()), generator(context.seed),
      byShape(shapes.size()) {
  for (size_t candidate = 0; candidate < pool.size(); ++candidate)
    byShape[shapes.getShape(candidate)].push_back(candidate);
  for (auto [i, knob] : llvm::enumerate(context.space.getKnobs()))
    if (knob.domain.size() > 1)
      (llvm::is_contained(shapes.getKnobs(), i) ? traits : details)
          .push_back(i);
}

size_t EvolutionaryStrategy::addLineage(size_t shape) {
  lineageOfShape[shape] = lineages.size();
  lineages.emplace_back().shape = shape;
  return lineages.size() - 1;
}

std::optional<size_t> EvolutionaryStrategy::findNew(const Point &point) const {
  std::optional<size_t> candidate = index.find(point);
  return candidate && !pool.isGiven(*candidate) ? candidate : std::nullopt;
}

void EvolutionaryStrategy::change(Point &point, llvm::ArrayRef<size_t> knobs) {
  if (knobs.empty())
    return;
  size_t knob = knobs[generator.below(knobs.size())];
  const std::vector<int64_t> &domain = context.space.getKnobs()[knob].domain;
  point[knob] = domain[generator.below(domain.size())];
}

std::optional<size_t>
EvolutionaryStrategy::pickLineage(std::optional<size_t> except) {
  std::vector<std::pair<double, size_t>> order;
  for (auto [i, lineage] : llvm::enumerate(lineages))
    if (lineage.isAlive && i != except && !lineage.members.empty())
      order.emplace_back(lineage.members.front().first, i);
  if (order.empty())
    return std::nullopt;
  llvm::sort(order);
  size_t place = 0;
  while (place + 1 < order.size() && generator.isLucky(50))
    ++place;
  return order[place].second;
}

size_t EvolutionaryStrategy::pickMember(const Lineage &lineage) {
  return lineage.members[generator.smallestBelow(lineage.members.size(), 2)]
      .second;
}

EvolutionaryStrategy::Child EvolutionaryStrategy::seed(size_t number) {
  Lineage &lineage = lineages[number];
  const std::vector<size_t> &all = byShape[lineage.shape];
  if (lineage.asked == 0 && !pool.isGiven(all.front()))
    return {{all.front(), {number, "seed", {}}}};
  for (unsigned attempt = 0; attempt < kAttempts; ++attempt) {
    size_t candidate = all[generator.smallestBelow(all.size(), 2)];
    if (!pool.isGiven(candidate))
      return {{candidate, {number, "seed", {}}}};
  }
  return std::nullopt;
}

EvolutionaryStrategy::Child EvolutionaryStrategy::found() {
  // The first shape is what the order likes most; others are drawn.
  for (unsigned attempt = 0; attempt < kAttempts; ++attempt) {
    size_t shape =
        lineages.empty() ? 0 : generator.smallestBelow(shapes.size(), kDraws);
    if (lineageOfShape.count(shape))
      continue;
    size_t lineage = addLineage(shape);
    if (Child child = seed(lineage))
      return child;
    lineages[lineage].isAlive = false;
  }
  return std::nullopt;
}

EvolutionaryStrategy::Child EvolutionaryStrategy::branch(size_t number) {
  if (lineages[number].members.empty())
    return std::nullopt;
  size_t parent = lineages[number].members.front().second;
  for (unsigned attempt = 0; attempt < kAttempts; ++attempt) {
    Point point = context.points[parent];
    change(point, traits);
    // Where a new shape alone is not legal, other knobs may make it so.
    for (unsigned knob = 0; knob < attempt / 8; ++knob)
      change(point, attempt % 2 ? traits : details);
    std::optional<size_t> child = findNew(point);
    if (!child || lineageOfShape.count(shapes.getShape(*child)))
      continue;
    return {
        {*child, {addLineage(shapes.getShape(*child)), "branch", {parent}}}};
  }
  return std::nullopt;
}

EvolutionaryStrategy::Child EvolutionaryStrategy::mutate(size_t number) {
  size_t parent = pickMember(lineages[number]);
  for (unsigned attempt = 0; attempt < kAttempts; ++attempt) {
    Point point = context.points[parent];
    do
      change(point, details);
    while (generator.isLucky(40 + attempt));
    if (std::optional<size_t> child = findNew(point))
      return {{*child, {number, "mutation", {parent}}}};
  }
  return std::nullopt;
}

EvolutionaryStrategy::Child EvolutionaryStrategy::cross(size_t number,
                                                        size_t other) {
  size_t first = pickMember(lineages[number]),
         second = pickMember(lineages[other]);
  for (unsigned attempt = 0; attempt < kAttempts; ++attempt) {
    Point point = context.points[first];
    for (size_t knob : details)
      if (generator.isLucky(50))
        point[knob] = context.points[second][knob];
    if (std::optional<size_t> child = findNew(point))
      return {
          {*child,
           {number, number == other ? "crossover" : "mix", {first, second}}}};
  }
  return std::nullopt;
}

/// Who stays behind makes room.
void EvolutionaryStrategy::cull() {
  for (Lineage &lineage : lineages) {
    if (!lineage.isAlive)
      continue;
    if (lineage.members.empty()) {
      lineage.isAlive = lineage.told < kSeeds;
      continue;
    }
    if (lineage.told < kTrial)
      continue;
    double cost = lineage.members.front().first;
    bool isTired = lineage.told - lineage.toldAtBest >= kPatience;
    if (cost > *best * kBehind || (isTired && cost > *best))
      lineage.isAlive = false;
  }
}

EvolutionaryStrategy::Child EvolutionaryStrategy::takeOne() {
  cull();
  size_t alive = llvm::count_if(
      lineages, [](const Lineage &lineage) { return lineage.isAlive; });
  std::optional<size_t> parent = pickLineage();
  if (alive < kLineages) {
    // The first ones are ideas of their own.
    bool branches =
        parent && lineages.size() >= kLineages && generator.isLucky(70);
    Child child = branches ? branch(*parent) : found();
    if (child)
      return child;
  }
  for (auto [i, lineage] : llvm::enumerate(lineages))
    if (lineage.isAlive && lineage.asked < kSeeds)
      if (Child child = seed(i))
        return child;
  if (!parent) {
    // No result yet, or none that is right.
    if (lineages.empty())
      return std::nullopt;
    return seed(generator.below(lineages.size()));
  }
  Child child;
  std::optional<size_t> other = pickLineage(parent);
  if (uint64_t luck = generator.below(100); luck < 40)
    child = mutate(*parent);
  else if (luck < 55)
    child = cross(*parent, *parent);
  else if (luck < 80 && other)
    child = cross(*parent, *other);
  else
    child = branch(*parent);
  if (!child)
    child = mutate(*parent);
  if (!child)
    child = seed(*parent);
  return child ? child : branch(*parent);
}

std::vector<size_t> EvolutionaryStrategy::ask(size_t count) {
  std::vector<size_t> candidates;
  while (candidates.size() < count) {
    Child child = takeOne();
    if (!child) {
      // All around is known; what is left is left for no reason but chance.
      std::optional<size_t> stray = pool.draw(generator, kDraws);
      if (!stray)
        break;
      size_t shape = shapes.getShape(*stray);
      auto it = lineageOfShape.find(shape);
      child = {*stray,
               {it == lineageOfShape.end() ? addLineage(shape) : it->second,
                "seed",
                {}}};
    }
    auto &[candidate, birth] = *child;
    pool.give(candidate);
    ++lineages[birth.lineage].asked;
    births.emplace(candidate, std::move(birth));
    candidates.push_back(candidate);
  }
  return candidates;
}

void EvolutionaryStrategy::tell(size_t candidate, const Result &result) {
  pool.give(candidate);
  auto birth = births.find(candidate);
  size_t shape = shapes.getShape(candidate);
  // What was not asked for, like the default schedule, is an idea as well.
  if (birth == births.end() && !lineageOfShape.count(shape))
    addLineage(shape);
  size_t number =
      birth == births.end() ? lineageOfShape[shape] : birth->second.lineage;
  Lineage &lineage = lineages[number];
  ++lineage.told;
  std::optional<double> cost = getCost(result);
  if (!cost)
    return;
  best = std::min(best.value_or(*cost), *cost);
  std::pair<double, size_t> member(*cost, candidate);
  if (lineage.members.empty() || member < lineage.members.front())
    lineage.toldAtBest = lineage.told;
  lineage.members.insert(llvm::lower_bound(lineage.members, member), member);
  if (lineage.members.size() > kMembers)
    lineage.members.pop_back();
}

Origin EvolutionaryStrategy::getOrigin(size_t candidate) const {
  auto it = births.find(candidate);
  if (it == births.end())
    return {};
  const Birth &birth = it->second;
  Origin origin;
  origin.lineage = shapes.getName(lineages[birth.lineage].shape);
  origin.step = birth.step.str();
  for (size_t parent : birth.parents)
    origin.parents.push_back(context.points[parent]);
  return origin;
}

std::unique_ptr<Strategy>
attune::tuning::createEvolutionaryStrategy(const SearchContext &context) {
  return std::make_unique<EvolutionaryStrategy>(context);
}
