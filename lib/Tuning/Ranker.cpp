// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A first model from what the assembler reports. Heuristics throughout:
//  - a spilled byte is traffic in the main loop: each costs as much as losing a
//    lane's worth of work, which puts spilling kernels behind all others;
//  - matrix units are fed by resident lanes, with little gain once a core holds
//    a quarter of the lanes that it can;
//  - at equal residency a kernel that uses more registers and shared memory for
//    each lane has larger tiles, and so re-reads keys and values less often.

#include "attune/Tuning/Ranker.h"
#include <algorithm>

using namespace attune::tuning;

Ranker::~Ranker() = default;

namespace {
class ResourceRanker : public Ranker {
public:
  explicit ResourceRanker(CoreLimits limits) : limits(limits) {}

  double score(const Result &compiled) const override {
    const Resources &used = compiled.resources;
    double cost = 0;
    if (int64_t spilled = used.spillBytes.value_or(0))
      cost += 10 + spilled / 64.0;

    double busy = std::min(1.0, getResidency(used) / enoughResidency);
    cost += 4 * (1 - busy);

    auto share = [](std::optional<int64_t> value, int64_t limit) {
      return limit ? std::min(1.0, double(value.value_or(0)) / limit) : 0.0;
    };
    double threads = std::max<int64_t>(1, used.threads.value_or(1));
    cost -= share(used.sharedBytes, limits.sharedBytes);
    if (used.registers)
      cost -= share(int64_t(*used.registers * threads), limits.registers);
    return cost;
  }

private:
  static constexpr double enoughResidency = 0.25;

  /// The share of a core's lanes that its registers and shared memory let be
  /// resident.
  double getResidency(const Resources &used) const {
    if (!limits.threads || !used.threads || *used.threads <= 0)
      return enoughResidency;
    int64_t groups = limits.threads / *used.threads;
    if (limits.registers && used.registers.value_or(0) > 0)
      groups = std::min(groups,
                        limits.registers / (*used.registers * *used.threads));
    if (limits.sharedBytes && used.sharedBytes.value_or(0) > 0)
      groups = std::min(groups, limits.sharedBytes / *used.sharedBytes);
    return double(groups * *used.threads) / limits.threads;
  }

  CoreLimits limits;
};
} // namespace

std::unique_ptr<Ranker>
attune::tuning::createResourceRanker(CoreLimits limits) {
  return std::make_unique<ResourceRanker>(limits);
}
