// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The strategies by name.

#include "attune/Tuning/Strategy.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace attune::tuning;

Strategy::~Strategy() = default;

void Strategy::tell(size_t, const Result &) {}

double Strategy::getPriority(size_t, const Result &compiled) const {
  return compiled.score.value_or(0);
}

Origin Strategy::getOrigin(size_t) const { return {}; }

namespace {
struct Entry {
  llvm::StringRef name;
  std::unique_ptr<Strategy> (*create)(const SearchContext &context);
};
} // namespace

static constexpr Entry kStrategies[] = {
    {"guided", createGuidedStrategy},
    {"neighbourhood", createNeighbourhoodStrategy},
    {"evolutionary", createEvolutionaryStrategy},
    {"surrogate", createSurrogateStrategy},
    {"grid", createGridStrategy},
    {"random", createRandomStrategy},
    {"replay", createReplayStrategy}};

llvm::ArrayRef<llvm::StringRef> attune::tuning::getStrategyNames() {
  static const auto names = llvm::map_to_vector(
      kStrategies, [](const Entry &entry) { return entry.name; });
  return names;
}

std::unique_ptr<Strategy>
attune::tuning::createStrategy(llvm::StringRef name,
                               const SearchContext &context) {
  for (const Entry &entry : kStrategies)
    if (entry.name == name)
      return entry.create(context);
  return nullptr;
}
