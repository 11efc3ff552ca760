// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which compiled candidate is worth measuring first. A model only: it never
// excludes a candidate, and a search without it measures the same ones.

#ifndef ATTUNE_TUNING_RANKER_H
#define ATTUNE_TUNING_RANKER_H

#include "attune/Tuning/Result.h"
#include <memory>

namespace attune::tuning {

/// What one core offers; from the chip's description. 0 is unknown.
struct CoreLimits {
  int64_t registers = 0;
  int64_t sharedBytes = 0;
  int64_t threads = 0;
};

class Ranker {
public:
  virtual ~Ranker();
  /// A cost without unit; the smallest comes first.
  virtual double score(const Result &compiled) const = 0;
};

/// Ranks by spills, then by how many lanes a core keeps busy, then by how much
/// work a lane has between two barriers.
std::unique_ptr<Ranker> createResourceRanker(CoreLimits limits);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_RANKER_H
