// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The times of made-up problems.

#include "Landscape.h"
#include "attune/Tuning/Ranker.h"
#include <cmath>
#include <random>

using namespace attune::tuning;

/// Places of the knobs.
enum { BlockM, BlockN, NumWarps, Persistent, KStages, VStages, FirstSwitch };

static Space makeKnobs() {
  auto count = [](std::string name, int64_t size) {
    Knob knob{std::move(name), 0, {}};
    for (int64_t i = 0; i < size; ++i)
      knob.domain.push_back(i);
    return knob;
  };
  return Space({count("block-m", 5), count("block-n", 6), count("num-warps", 4),
                count("persistent", 3), count("k-stages", 4),
                count("v-stages", 4), count("a", 3), count("b", 2),
                count("c", 2), count("d", 2), count("e", 2)});
}

/// Blocks have to be assigned to warps, and rings to fit the memory.
static std::optional<Refusal> check(const Probe &point) {
  if (point[NumWarps] > point[BlockM] + 1)
    return Refusal{"warps", [] { return "more warps than rows"; }};
  if ((point[BlockM] + 1) +
          (point[BlockN] + 1) * (point[KStages] + point[VStages] + 2) >
      24)
    return Refusal{"memory", [] { return "more than there is"; }};
  return std::nullopt;
}

namespace {
/// Effects on the logarithm of the time, by the place of the knob and its
/// value, and by that of another.
struct Effects : Ranker {
  explicit Effects(uint64_t seed, const Space &space) : generator(seed) {
    llvm::ArrayRef<Knob> knobs = space.getKnobs();
    for (auto [i, knob] : llvm::enumerate(knobs)) {
      // The last switch does nothing.
      double scale = i < NumWarps ? 0.25 : i < KStages ? 0.1 : 0.05;
      if (i + 1 == knobs.size())
        scale = 0;
      single.push_back(drawAll(knob.domain.size(), scale));
    }
    for (int i = 0; i < 10; ++i) {
      size_t first = generator() % knobs.size(),
             second = generator() % knobs.size();
      if (first == second || std::max(first, second) + 1 == knobs.size())
        continue;
      size_t width = knobs[second].domain.size();
      pairs.push_back({first, second, width,
                       drawAll(knobs[first].domain.size() * width, 0.08)});
    }
    // What the model does not know of a shape.
    wrong = drawAll(5 * 6, 0.15);
  }

  std::vector<double> drawAll(size_t count, double scale) {
    // The sum of twelve uniform numbers is nearly normal, and the same on every
    // machine.
    std::vector<double> values(count, 0);
    for (double &value : values) {
      for (int i = 0; i < 12; ++i)
        value += static_cast<double>(generator() >> 11) * 0x1p-53;
      value = (value - 6) * scale;
    }
    return values;
  }

  double getTime(llvm::ArrayRef<int64_t> point) const {
    double sum = std::log(1e5);
    for (auto [i, value] : llvm::enumerate(point))
      sum += single[i][value];
    for (const Pair &pair : pairs)
      sum += pair.effect[point[pair.first] * pair.width + point[pair.second]];
    // Large blocks spill.
    if (point[BlockM] + point[BlockN] > 7)
      sum += 0.5;
    return std::exp(sum);
  }

  double score(llvm::ArrayRef<int64_t> point,
               const Resources *) const override {
    double sum = std::log(1e5) + wrong[point[BlockM] * 6 + point[BlockN]];
    for (size_t i = 0; i < FirstSwitch; ++i)
      sum += single[i][point[i]];
    return std::exp(sum);
  }

  struct Pair {
    size_t first, second, width;
    std::vector<double> effect;
  };
  std::mt19937_64 generator;
  std::vector<std::vector<double>> single;
  std::vector<Pair> pairs;
  std::vector<double> wrong;
};
} // namespace

Landscape::Landscape(uint64_t seed, bool isRanked)
    : space(makeKnobs()), points(findLegal(space, check).points) {
  Effects effects(seed, space);
  if (isRanked)
    scores = sortByScore(points, effects);
  for (const Point &point : points)
    times.push_back(effects.getTime(point));
  best = *llvm::min_element(times);
}

Result Landscape::measure(size_t candidate) const {
  Result result;
  result.point = points[candidate];
  result.stage = Stage::Measure;
  result.samples = {times[candidate]};
  if (!scores.empty())
    result.score = scores[candidate];
  return result;
}

double Landscape::search(llvm::StringRef name, uint64_t seed,
                         size_t count) const {
  std::unique_ptr<Strategy> strategy =
      createStrategy(name, {space, points, seed, scores});
  double found = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < count; ++i) {
    std::vector<size_t> asked = strategy->ask(1);
    if (asked.empty())
      break;
    Result result = measure(asked.front());
    found = std::min(found, result.samples.front());
    strategy->tell(asked.front(), result);
  }
  return found / best - 1;
}
