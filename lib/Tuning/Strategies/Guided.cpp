// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows the order of the points, which is a model's, but not blindly: points
// next to each other there mostly differ in what hardly matters. Of three
// candidates, one is the first of its shape, that is, of the knobs that decide
// what a kernel is like; one is a neighbour of what was measured to be fast,
// one knob away; and one is the next in order that differs from all before in
// two knobs. When these have run out, the rest follows in order.

#include "attune/Tuning/Strategy.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/xxhash.h"
#include <cmath>
#include <map>

using namespace attune::tuning;

/// What makes a shape. A knob that the space does not have is ignored.
static constexpr llvm::StringRef kShapeKnobs[] = {
    "block-m",   "block-n",        "num-warps",
    "mma-warps", "producer-warps", "persistent"};

/// A neighbour is tried where the model puts it into the first of so many
/// parts, or it would be asked about everything around a fast point.
static constexpr size_t kPromisingPart = 4;

/// Neighbours are those of this many of the fastest, so that the search does
/// not end where all around the fastest is worse.
static constexpr size_t kCentres = 4;

namespace {
class GuidedStrategy : public Strategy {
public:
  explicit GuidedStrategy(const SearchContext &context);

  std::vector<size_t> ask(size_t count) override;
  void tell(size_t candidate, const Result &result) override;
  double getPriority(size_t candidate, const Result &compiled) const override;

private:
  /// How far from the model's are the times of a shape: the mean logarithm.
  struct Error {
    double sum = 0;
    size_t count = 0;
    void add(double error) {
      sum += error;
      ++count;
    }
  };

  std::optional<size_t> takeShape();
  std::optional<size_t> takeNeighbour();
  std::optional<size_t> takeDistinct();
  std::optional<size_t> takeNext();
  /// The first neighbour of a point, in order, that is promising and new.
  std::optional<size_t> findNeighbour(size_t candidate) const;
  std::optional<size_t> findPoint(const Point &point) const;
  bool isDistinct(size_t candidate) const;
  void give(size_t candidate);

  SearchContext context;
  /// The hashes of the points and their candidates, in order.
  std::vector<std::pair<uint64_t, size_t>> byHash;
  std::vector<size_t> shapeOf;
  /// First candidate of each shape, in order.
  std::vector<size_t> firsts;
  std::vector<Error> errors;
  Error allErrors;
  std::vector<bool> given;
  /// Hashes of what they share with their neighbours.
  llvm::DenseSet<uint64_t> around;
  size_t nextShape = 0, nextDistinct = 0, next = 0;
  size_t turn = 0;
  /// Measured candidates, fastest first.
  std::vector<std::pair<double, size_t>> measured;
};
} // namespace

static uint64_t hash(const Point &point) {
  return llvm::xxh3_64bits(
      llvm::ArrayRef(reinterpret_cast<const uint8_t *>(point.data()),
                     point.size() * sizeof(int64_t)));
}

GuidedStrategy::GuidedStrategy(const SearchContext &context)
    : context(context), given(context.points.size()) {
  // Points themselves, of which there are millions, would take a second to
  // sort.
  for (auto [candidate, point] : llvm::enumerate(context.points))
    byHash.emplace_back(hash(point), candidate);
  llvm::sort(byHash);
  llvm::SmallVector<size_t> knobs;
  for (auto [i, knob] : llvm::enumerate(context.space.getKnobs()))
    if (llvm::is_contained(kShapeKnobs, knob.name))
      knobs.push_back(i);
  std::map<Point, size_t> shapes;
  for (auto [candidate, point] : llvm::enumerate(context.points)) {
    Point shape;
    for (size_t knob : knobs)
      shape.push_back(point[knob]);
    auto [it, isNew] = shapes.try_emplace(std::move(shape), firsts.size());
    if (isNew)
      firsts.push_back(candidate);
    shapeOf.push_back(it->second);
  }
  errors.resize(firsts.size());
}

std::optional<size_t> GuidedStrategy::findPoint(const Point &point) const {
  std::pair<uint64_t, size_t> first(hash(point), 0);
  for (auto it = llvm::lower_bound(byHash, first);
       it != byHash.end() && it->first == first.first; ++it)
    if (context.points[it->second] == point)
      return it->second;
  return std::nullopt;
}

std::optional<size_t> GuidedStrategy::findNeighbour(size_t candidate) const {
  std::optional<size_t> first;
  Point point = context.points[candidate];
  for (auto [i, knob] : llvm::enumerate(context.space.getKnobs())) {
    int64_t own = std::exchange(point[i], 0);
    for (int64_t value : knob.domain) {
      point[i] = value;
      std::optional<size_t> found =
          value == own ? std::nullopt : findPoint(point);
      if (found && !given[*found] &&
          *found <= context.points.size() / kPromisingPart)
        first = std::min(first.value_or(*found), *found);
    }
    point[i] = own;
  }
  return first;
}

std::optional<size_t> GuidedStrategy::takeNeighbour() {
  for (auto [time, candidate] : llvm::ArrayRef(measured).take_front(kCentres))
    if (std::optional<size_t> neighbour = findNeighbour(candidate))
      return neighbour;
  return std::nullopt;
}

std::optional<size_t> GuidedStrategy::takeShape() {
  while (nextShape < firsts.size() && given[firsts[nextShape]])
    ++nextShape;
  if (nextShape == firsts.size())
    return std::nullopt;
  return firsts[nextShape];
}

std::optional<size_t> GuidedStrategy::takeNext() {
  while (next < given.size() && given[next])
    ++next;
  return next < given.size() ? std::optional(next) : std::nullopt;
}

/// Of all but one knob: points that agree in it are neighbours, or one.
static uint64_t hashWithout(Point point, size_t knob) {
  point[knob] = -static_cast<int64_t>(knob) - 1;
  return hash(point);
}

bool GuidedStrategy::isDistinct(size_t candidate) const {
  const Point &point = context.points[candidate];
  return llvm::none_of(llvm::seq<size_t>(0, point.size()), [&](size_t knob) {
    return around.contains(hashWithout(point, knob));
  });
}

std::optional<size_t> GuidedStrategy::takeDistinct() {
  // One that is not distinct will never be.
  while (nextDistinct < given.size() && !isDistinct(nextDistinct))
    ++nextDistinct;
  return nextDistinct < given.size() ? std::optional(nextDistinct)
                                     : std::nullopt;
}

void GuidedStrategy::give(size_t candidate) {
  if (given[candidate])
    return;
  given[candidate] = true;
  const Point &point = context.points[candidate];
  for (size_t knob = 0; knob < point.size(); ++knob)
    around.insert(hashWithout(point, knob));
}

std::vector<size_t> GuidedStrategy::ask(size_t count) {
  using Source = std::optional<size_t> (GuidedStrategy::*)();
  static constexpr Source sources[] = {&GuidedStrategy::takeShape,
                                       &GuidedStrategy::takeNeighbour,
                                       &GuidedStrategy::takeDistinct};
  std::vector<size_t> candidates;
  while (candidates.size() < count) {
    std::optional<size_t> candidate =
        (this->*sources[turn % std::size(sources)])();
    for (Source source : sources)
      if (!candidate)
        candidate = (this->*source)();
    if (!candidate)
      candidate = takeNext();
    if (!candidate)
      break;
    ++turn;
    give(*candidate);
    candidates.push_back(*candidate);
  }
  return candidates;
}

void GuidedStrategy::tell(size_t candidate, const Result &result) {
  give(candidate);
  if (!result.isTimed())
    return;
  double time = result.getSummary().median;
  std::pair<double, size_t> entry(time, candidate);
  measured.insert(llvm::lower_bound(measured, entry), entry);
  if (!result.score || *result.score <= 0)
    return;
  double error = std::log(time / *result.score);
  errors[shapeOf[candidate]].add(error);
  allErrors.add(error);
}

double GuidedStrategy::getPriority(size_t candidate,
                                   const Result &compiled) const {
  // One measurement of a shape says half of what there is to know.
  const Error &error = errors[shapeOf[candidate]];
  double usual = allErrors.count ? allErrors.sum / allErrors.count : 0;
  double expected = (usual + error.sum) / (1 + error.count);
  return compiled.score.value_or(1) * std::exp(expected);
}

std::unique_ptr<Strategy>
attune::tuning::createGuidedStrategy(const SearchContext &context) {
  return std::make_unique<GuidedStrategy>(context);
}
