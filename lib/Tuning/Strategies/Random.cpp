// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Legal points drawn without repetition.

#include "Candidates.h"
#include <numeric>

using namespace attune::tuning;

namespace {
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
