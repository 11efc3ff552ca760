// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What another search tried, in its order, and nothing else. What is no longer
// legal is left out.

#include "Candidates.h"
#include "llvm/ADT/DenseMap.h"

using namespace attune::tuning;

namespace {
class ReplayStrategy : public Strategy {
public:
  explicit ReplayStrategy(const SearchContext &context) {
    PointIndex index(context);
    Pool pool(context.points.size());
    for (const Point &point : context.recorded)
      if (std::optional<size_t> candidate = index.find(point))
        if (pool.give(*candidate)) {
          places[*candidate] = candidates.size();
          candidates.push_back(*candidate);
        }
  }

  std::vector<size_t> ask(size_t count) override {
    llvm::ArrayRef<size_t> some =
        llvm::ArrayRef(candidates).drop_front(next).take_front(count);
    next += some.size();
    return some.vec();
  }
  /// Those that wait are measured in order as well, however long it took to
  /// compile them.
  double getPriority(size_t candidate, const Result &) const override {
    return places.lookup(candidate);
  }

private:
  std::vector<size_t> candidates;
  llvm::DenseMap<size_t, unsigned> places;
  size_t next = 0;
};
} // namespace

std::unique_ptr<Strategy>
attune::tuning::createReplayStrategy(const SearchContext &context) {
  return std::make_unique<ReplayStrategy>(context);
}
