// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows the order of the points, which is a model's, but not blindly: points
// next to each other there mostly differ in what hardly matters. Of three
// candidates, one is the first of its shape, that is, of the knobs that decide
// what a kernel is like; one is a neighbour of what was measured to be fast,
// one knob away; and one is the next in order that differs from all before in
// two knobs. When these have run out, the rest follows in order.

#include "Candidates.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Sequence.h"
#include <cmath>

using namespace attune::tuning;

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
  /// The first neighbour of a point, in order, that is promising and new.
  std::optional<size_t> findNeighbour(size_t candidate) const;
  bool isDistinct(size_t candidate) const;
  void give(size_t candidate);

  SearchContext context;
  PointIndex index;
  Shapes shapes;
  Pool pool;
  std::vector<Error> errors;
  Error allErrors;
  /// Hashes of what they share with their neighbours.
  llvm::DenseSet<uint64_t> around;
  size_t nextShape = 0, nextDistinct = 0;
  size_t turn = 0;
  /// Measured candidates, fastest first.
  std::vector<std::pair<double, size_t>> measured;
};
} // namespace

GuidedStrategy::GuidedStrategy(const SearchContext &context)
    : context(context), index(context), shapes(context),
      pool(context.points.size()), errors(shapes.size()) {}

std::optional<size_t> GuidedStrategy::findNeighbour(size_t candidate) const {
  std::optional<size_t> first;
  for (size_t neighbour : index.getNeighbours(candidate))
    if (!pool.isGiven(neighbour) && neighbour <= pool.size() / kPromisingPart)
      first = std::min(first.value_or(neighbour), neighbour);
  return first;
}

std::optional<size_t> GuidedStrategy::takeNeighbour() {
  for (auto [time, candidate] : llvm::ArrayRef(measured).take_front(kCentres))
    if (std::optional<size_t> neighbour = findNeighbour(candidate))
      return neighbour;
  return std::nullopt;
}

std::optional<size_t> GuidedStrategy::takeShape() {
  while (nextShape < shapes.size() && pool.isGiven(shapes.getFirst(nextShape)))
    ++nextShape;
  if (nextShape == shapes.size())
    return std::nullopt;
  return shapes.getFirst(nextShape);
}

/// Of all but one knob: points that agree in it are neighbours, or one.
static uint64_t hashWithout(Point point, size_t knob) {
  point[knob] = -static_cast<int64_t>(knob) - 1;
  return hashPoint(point);
}

bool GuidedStrategy::isDistinct(size_t candidate) const {
  const Point &point = context.points[candidate];
  return llvm::none_of(llvm::seq<size_t>(0, point.size()), [&](size_t knob) {
    return around.contains(hashWithout(point, knob));
  });
}

std::optional<size_t> GuidedStrategy::takeDistinct() {
  // One that is not distinct will never be.
  while (nextDistinct < pool.size() && !isDistinct(nextDistinct))
    ++nextDistinct;
  return nextDistinct < pool.size() ? std::optional(nextDistinct)
                                    : std::nullopt;
}

void GuidedStrategy::give(size_t candidate) {
  if (!pool.give(candidate))
    return;
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
      candidate = pool.findNext();
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
  errors[shapes.getShape(candidate)].add(error);
  allErrors.add(error);
}

double GuidedStrategy::getPriority(size_t candidate,
                                   const Result &compiled) const {
  // One measurement of a shape says half of what there is to know.
  const Error &error = errors[shapes.getShape(candidate)];
  double usual = allErrors.count ? allErrors.sum / allErrors.count : 0;
  double expected = (usual + error.sum) / (1 + error.count);
  return compiled.score.value_or(1) * std::exp(expected);
}

std::unique_ptr<Strategy>
attune::tuning::createGuidedStrategy(const SearchContext &context) {
  return std::make_unique<GuidedStrategy>(context);
}
