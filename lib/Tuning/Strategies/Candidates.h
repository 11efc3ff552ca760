// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What strategies share: a generator, the points by their hashes, what was
// given of them, and their shapes.

#ifndef ATTUNE_LIB_TUNING_STRATEGIES_CANDIDATES_H
#define ATTUNE_LIB_TUNING_STRATEGIES_CANDIDATES_H

#include "attune/Tuning/Strategy.h"

namespace attune::tuning {

/// SplitMix64 (Steele, Lea, Flood 2014). Written out because the distributions
/// of the standard library differ between implementations, and a seed has to
/// mean the same search everywhere.
class Generator {
public:
  explicit Generator(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  /// A number below `bound`, without the bias of a plain remainder.
  uint64_t below(uint64_t bound) {
    uint64_t rejected = -bound % bound;
    uint64_t value;
    do
      value = next();
    while (value < rejected);
    return value % bound;
  }

  /// The smallest of some numbers below `bound`.
  uint64_t smallestBelow(uint64_t bound, unsigned draws);

  /// True in so many of a hundred cases.
  bool isLucky(unsigned percent) { return below(100) < percent; }

private:
  uint64_t state;
};

/// What a strategy makes smaller: the measured time or, of what is not
/// measured, the predicted one. Nothing for what failed.
std::optional<double> getCost(const Result &result);

uint64_t hashPoint(llvm::ArrayRef<int64_t> point);

/// Finds candidates by their points, of which there may be millions.
class PointIndex {
public:
  explicit PointIndex(const SearchContext &context);

  /// The first candidate that is this point.
  std::optional<size_t> find(llvm::ArrayRef<int64_t> point) const;
  /// The candidates that are one knob away, knob by knob.
  std::vector<size_t> getNeighbours(size_t candidate) const;
  /// The candidates that are two knobs away, where one of these alone leads to
  /// a point that is not legal: the way around a constraint.
  std::vector<size_t> getCoupled(size_t candidate) const;

private:
  /// Calls `visit` with each point one knob away, and with that knob.
  void visitSteps(Point &point, llvm::function_ref<void(size_t)> visit) const;

  llvm::ArrayRef<Knob> knobs;
  llvm::ArrayRef<Point> points;
  /// The hashes of the points and their candidates, in order: points
  /// themselves would take a second to sort.
  std::vector<std::pair<uint64_t, size_t>> byHash;
};

/// Which candidates were given.
class Pool {
public:
  explicit Pool(size_t size) : given(size), left(size) {}

  bool isGiven(size_t candidate) const { return given[candidate]; }
  /// False if it was given before.
  bool give(size_t candidate);
  size_t size() const { return given.size(); }
  /// The first that is not given.
  std::optional<size_t> findNext();
  /// The first in order of some that are drawn: one draw ignores the order, and
  /// many follow it.
  std::optional<size_t> draw(Generator &generator, unsigned draws);

private:
  std::vector<bool> given;
  size_t left, next = 0;
};

/// What kernels are like: candidates have one shape if they agree in the knobs
/// that decide most, which are blocks, warps and persistence or, in a space
/// that has none of them, its first two.
class Shapes {
public:
  explicit Shapes(const SearchContext &context);

  size_t size() const { return firsts.size(); }
  size_t getShape(size_t candidate) const { return shapeOf[candidate]; }
  /// The first candidate of a shape; shapes are in the order of these.
  size_t getFirst(size_t shape) const { return firsts[shape]; }
  /// `block-m=128 block-n=64`.
  std::string getName(size_t shape) const;
  /// Places of the knobs in Space::getKnobs().
  llvm::ArrayRef<size_t> getKnobs() const { return knobs; }

private:
  SearchContext context;
  llvm::SmallVector<size_t> knobs;
  std::vector<size_t> shapeOf, firsts;
};

} // namespace attune::tuning

#endif // ATTUNE_LIB_TUNING_STRATEGIES_CANDIDATES_H
