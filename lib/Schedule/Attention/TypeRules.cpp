// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TypeRules.h"
#include "attune/Schedule/BudgetRules.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attune;
using tile::TargetAttr;

std::optional<Refusal> attune::checkTypes(const AttentionProblem &problem,
                                          const AttentionKnobs &schedule,
                                          TargetAttr target) {
  int64_t together = schedule.getMmaWarps();
  for (auto [stored, other, what] :
       {std::tuple<Type, Type, StringRef>{
            problem.getKeyType(), problem.getMultipliedType(schedule), "keys"},
        {problem.getValueType(), problem.getWeightType(), "values"}}) {
    unsigned bits = stored.getIntOrFloatBitWidth(),
             otherBits = other.getIntOrFloatBitWidth();
    constexpr unsigned kMixedBits = 8;
    bool isMixed = bits == kMixedBits && otherBits == kMixedBits;
    if (stored != other && !isMixed && bits >= otherBits)
      return refuse("no-widening",
                    "expects {0} of the element type that they are multiplied "
                    "with or of fewer bits, but got {1} beside {2}",
                    what, stored, other);
    if (bits < otherBits && together > 1 &&
        schedule.getProducerWarps() < together)
      return refuse("widening-for-warpgroups",
                    "expects mma-warps to be 1, or producer-warps to be at "
                    "least {0}, half of which widen, where {1} of {2} are "
                    "widened to {3}, but got {4} and {5}",
                    together, what, stored, other, together,
                    schedule.getProducerWarps());
    auto scope =
        together > 1 ? tile::MmaScope::Warpgroup : tile::MmaScope::Warp;
    if (target.findAtom(other, stored, Float32Type::get(target.getContext()),
                        scope))
      continue;
    std::string types = llvm::formatv("{0}", other);
    if (stored != other)
      types += llvm::formatv(" beside {0} of {1}", what, stored).str();
    return refuse("no-matrix-instruction",
                  "expects an element type that '{0}' has a matrix instruction "
                  "{1}for, but got {2}",
                  target.getChip(),
                  together > 1 ? "of " + std::to_string(together) + " warps "
                               : std::string(),
                  types);
  }
  return std::nullopt;
}

std::optional<Refusal> attune::checkRestaging(const AttentionProblem &problem,
                                              const AttentionKnobs &schedule,
                                              TargetAttr target) {
  if (problem.isLatent && widensKeys(problem, schedule) &&
      problem.getMultipliedType(schedule) != problem.getWeightType())
    return refuse("latent-of-two-types",
                  "expects mma-warps to be 1 where latent rows are widened to "
                  "{0} as keys and to {1} as values, but got {2}",
                  problem.getMultipliedType(schedule), problem.getWeightType(),
                  schedule.getMmaWarps());
  if (schedule.getPInRegisters() ||
      !transposesValues(problem, schedule, target))
    return std::nullopt;
  return refuse("weights-of-columns",
                "expects p-in-registers where weights of {0} are multiplied "
                "by {1} warps, but got {2}",
                problem.getWeightType(), schedule.getMmaWarps(),
                schedule.getPInRegisters());
}
