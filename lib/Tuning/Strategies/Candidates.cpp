// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Built once for each search, in time that is linear in its points.

#include "Candidates.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/xxhash.h"

using namespace attune::tuning;

/// What makes a shape.
static constexpr llvm::StringRef kShapeKnobs[] = {
    "block-m",   "block-n",        "num-warps",
    "mma-warps", "producer-warps", "persistent"};
static constexpr size_t kFirstKnobs = 2;

uint64_t Generator::smallestBelow(uint64_t bound, unsigned draws) {
  uint64_t smallest = below(bound);
  for (unsigned draw = 1; draw < draws; ++draw)
    smallest = std::min(smallest, below(bound));
  return smallest;
}

std::optional<double> attune::tuning::getCost(const Result &result) {
  if (result.isTimed())
    return result.getSummary().median;
  return result.status == Status::Ok ? result.score : std::nullopt;
}

uint64_t attune::tuning::hashPoint(llvm::ArrayRef<int64_t> point) {
  return llvm::xxh3_64bits(
      llvm::ArrayRef(reinterpret_cast<const uint8_t *>(point.data()),
                     point.size() * sizeof(int64_t)));
}

PointIndex::PointIndex(const SearchContext &context)
    : knobs(context.space.getKnobs()), points(context.points) {
  byHash.reserve(points.size());
  for (auto [candidate, point] : llvm::enumerate(points))
    byHash.emplace_back(hashPoint(point), candidate);
  llvm::sort(byHash);
}

std::optional<size_t> PointIndex::find(llvm::ArrayRef<int64_t> point) const {
  std::pair<uint64_t, size_t> first(hashPoint(point), 0);
  for (auto it = llvm::lower_bound(byHash, first);
       it != byHash.end() && it->first == first.first; ++it)
    if (llvm::ArrayRef(points[it->second]) == point)
      return it->second;
  return std::nullopt;
}

void PointIndex::visitSteps(Point &point,
                            llvm::function_ref<void(size_t)> visit) const {
  for (auto [i, knob] : llvm::enumerate(knobs)) {
    int64_t own = point[i];
    for (int64_t value : knob.domain) {
      if (value == own)
        continue;
      point[i] = value;
      visit(i);
    }
    point[i] = own;
  }
}

std::vector<size_t> PointIndex::getNeighbours(size_t candidate) const {
  std::vector<size_t> neighbours;
  Point point = points[candidate];
  visitSteps(point, [&](size_t) {
    if (std::optional<size_t> found = find(point))
      neighbours.push_back(*found);
  });
  return neighbours;
}

std::vector<size_t> PointIndex::getCoupled(size_t candidate) const {
  std::vector<size_t> coupled;
  Point point = points[candidate];
  visitSteps(point, [&](size_t first) {
    if (find(point))
      return;
    Point next = point;
    visitSteps(next, [&](size_t second) {
      if (second == first)
        return;
      if (std::optional<size_t> found = find(next))
        coupled.push_back(*found);
    });
  });
  // Both knobs may be the first.
  llvm::sort(coupled);
  coupled.erase(llvm::unique(coupled), coupled.end());
  return coupled;
}

bool Pool::give(size_t candidate) {
  if (given[candidate])
    return false;
  given[candidate] = true;
  --left;
  return true;
}

std::optional<size_t> Pool::findNext() {
  while (next < given.size() && given[next])
    ++next;
  return next < given.size() ? std::optional(next) : std::nullopt;
}

std::optional<size_t> Pool::draw(Generator &generator, unsigned draws) {
  if (left == 0)
    return std::nullopt;
  std::optional<size_t> first;
  for (unsigned draw = 0; draw < draws; ++draw) {
    size_t candidate = generator.below(given.size());
    if (!given[candidate])
      first = std::min(first.value_or(candidate), candidate);
  }
  return first ? first : findNext();
}

Shapes::Shapes(const SearchContext &context) : context(context) {
  size_t count = context.space.getKnobs().size();
  for (auto [i, knob] : llvm::enumerate(context.space.getKnobs()))
    if (llvm::is_contained(kShapeKnobs, knob.name))
      knobs.push_back(i);
  if (knobs.empty())
    for (size_t i = 0; i < std::min(count, kFirstKnobs); ++i)
      knobs.push_back(i);

  llvm::DenseMap<uint64_t, size_t> shapes;
  llvm::SmallVector<int64_t> values;
  for (size_t candidate = 0; candidate < context.points.size(); ++candidate) {
    const Point &point = context.points[candidate];
    values.clear();
    for (size_t knob : knobs)
      values.push_back(point[knob]);
    auto isSame = [&](size_t shape) {
      const Point &first = context.points[firsts[shape]];
      return llvm::all_of(
          knobs, [&](size_t knob) { return first[knob] == point[knob]; });
    };
    // The two largest keys are the map's own.
    uint64_t key = hashPoint(values) >> 2;
    while (true) {
      auto [it, isNew] = shapes.try_emplace(key++, firsts.size());
      if (isNew)
        firsts.push_back(candidate);
      else if (!isSame(it->second))
        continue;
      shapeOf.push_back(it->second);
      break;
    }
  }
}

std::string Shapes::getName(size_t shape) const {
  std::string name;
  for (size_t knob : knobs)
    name += (name.empty() ? "" : " ") + context.space.getKnobs()[knob].name +
            "=" +
            context.space.getKnobs()[knob].spell(
                context.points[firsts[shape]][knob]);
  return name;
}
