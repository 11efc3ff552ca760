// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Legal points drawn without repetition. The generator is written out because
// the distributions of the standard library differ between implementations,
// and a seed has to mean the same search everywhere.

#include "attune/Tuning/Strategy.h"
#include <numeric>

using namespace attune::tuning;

namespace {
/// SplitMix64 (Steele, Lea, Flood 2014).
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

private:
  uint64_t state;
};

class RandomStrategy : public Strategy {
public:
  explicit RandomStrategy(const SearchContext &context)
      : generator(context.seed), left(context.points.size()) {
    std::iota(left.begin(), left.end(), 0);
  }

  std::vector<size_t> ask(size_t count) override {
    std::vector<size_t> candidates;
    while (candidates.size() < count && !left.empty()) {
      std::swap(left[generator.below(left.size())], left.back());
      candidates.push_back(left.back());
      left.pop_back();
    }
    return candidates;
  }

private:
  Generator generator;
  std::vector<size_t> left;
};
} // namespace

std::unique_ptr<Strategy>
attune::tuning::createRandomStrategy(const SearchContext &context) {
  return std::make_unique<RandomStrategy>(context);
}
