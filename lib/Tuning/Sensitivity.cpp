// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one-knob view of a search: of each value, the best that was found beside
// it, whatever the other knobs are.

#include "attune/Tuning/Sensitivity.h"
#include "llvm/Support/FormatVariadic.h"
#include <tuple>

using namespace attune::tuning;

std::vector<KnobEffect> attune::tuning::getSensitivity(const Space &space,
                                                       const Outcome &outcome) {
  std::vector<KnobEffect> effects;
  double winnerCost =
      outcome.winner ? outcome.getCost(outcome.results[*outcome.winner]) : 0;
  if (winnerCost <= 0) // nothing was timed, and there is no model
    return effects;
  const Result &winner = outcome.results[*outcome.winner];
  for (size_t knob = 0; knob < space.getKnobs().size(); ++knob) {
    struct Tried {
      size_t candidates = 0;
      const Result *best = nullptr;
    };
    std::map<int64_t, Tried> tried;
    for (const Result &result : outcome.results) {
      if (!outcome.isValid(result) || outcome.getCost(result) <= 0)
        continue;
      Tried &value = tried[result.point[knob]];
      ++value.candidates;
      if (!value.best || outcome.getCost(result) < outcome.getCost(*value.best))
        value.best = &result;
    }
    if (tried.size() < 2)
      continue;
    KnobEffect effect{knob, {}};
    for (const auto &[value, of] : tried) {
      double ratio = outcome.getCost(*of.best) / winnerCost;
      bool isNoise =
          outcome.timed && of.best->getCost(outcome.objective)
                               ->overlaps(*winner.getCost(outcome.objective));
      effect.values.push_back(
          {value, of.candidates, ratio, ratio > 1 && !isNoise});
    }
    llvm::sort(effect.values, [&](const ValueEffect &a, const ValueEffect &b) {
      auto getKey = [&](const ValueEffect &value) {
        return std::tuple(value.value != winner.point[knob], value.ratio,
                          value.value);
      };
      return getKey(a) < getKey(b);
    });
    effects.push_back(std::move(effect));
  }
  llvm::sort(effects, [](const KnobEffect &a, const KnobEffect &b) {
    return std::pair(-a.getWorst(), a.knob) < std::pair(-b.getWorst(), b.knob);
  });
  return effects;
}

std::string attune::tuning::describe(const Space &space, const Outcome &outcome,
                                     const KnobEffect &effect) {
  const Knob &knob = space.getKnobs()[effect.knob];
  std::string text;
  llvm::raw_string_ostream os(text);
  os << knob.spell(effect.values.front().value) << " is best"
     << (outcome.timed ? "" : " by model");
  const char *separator = "; ";
  for (const ValueEffect &value : llvm::drop_begin(effect.values)) {
    os << separator << knob.spell(value.value) << " is ";
    if (value.isSlower)
      os << llvm::formatv("{0:F1} % slower", (value.ratio - 1) * 100);
    else
      os << "no slower beyond the noise";
    os << llvm::formatv(" ({0} candidate{1})", value.candidates,
                        value.candidates == 1 ? "" : "s");
    separator = ", ";
  }
  return text;
}
