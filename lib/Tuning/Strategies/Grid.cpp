// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every legal point, in order.

#include "attune/Tuning/Strategy.h"

using namespace attune::tuning;

namespace {
class GridStrategy : public Strategy {
public:
  explicit GridStrategy(const SearchContext &context) : context(context) {}

  std::vector<size_t> ask(size_t count) override {
    std::vector<size_t> candidates;
    while (candidates.size() < count && next < context.points.size())
      candidates.push_back(next++);
    return candidates;
  }

private:
  SearchContext context;
  size_t next = 0;
};
} // namespace

std::unique_ptr<Strategy>
attune::tuning::createGridStrategy(const SearchContext &context) {
  return std::make_unique<GridStrategy>(context);
}
