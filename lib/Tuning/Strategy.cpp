// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The strategies by name.

#include "attune/Tuning/Strategy.h"

using namespace attune::tuning;

Strategy::~Strategy() = default;

void Strategy::tell(size_t, const Result &) {}

double Strategy::getPriority(size_t, const Result &compiled) const {
  return compiled.score.value_or(0);
}

llvm::ArrayRef<llvm::StringRef> attune::tuning::getStrategyNames() {
  static constexpr llvm::StringRef names[] = {"guided", "grid", "random"};
  return names;
}

std::unique_ptr<Strategy>
attune::tuning::createStrategy(llvm::StringRef name,
                               const SearchContext &context) {
  if (name == "guided")
    return createGuidedStrategy(context);
  if (name == "grid")
    return createGridStrategy(context);
  if (name == "random")
    return createRandomStrategy(context);
  return nullptr;
}
