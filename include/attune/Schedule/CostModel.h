// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Predicts how long an op takes with a schedule.

#ifndef ATTUNE_SCHEDULE_COSTMODEL_H
#define ATTUNE_SCHEDULE_COSTMODEL_H

#include <cstdint>
#include <functional>
#include <optional>

namespace attune {

/// What a compiler reports of a kernel; absent numbers were not reported.
struct ReportedUsage {
  std::optional<int64_t> registers;
  std::optional<int64_t> spillBytes;
  /// Operations of matrix instructions a clock and SM, as a model of the target
  /// reads them from the machine code of the main loop.
  std::optional<int64_t> loopFlopsPerClock;
};

class CostModel {
public:
  virtual ~CostModel() = default;
  /// Nanoseconds, for a legal schedule whose tunables `read` gives by their
  /// places in the set. `reported` is null before the kernel was compiled.
  virtual double predict(const std::function<int64_t(size_t)> &read,
                         const ReportedUsage *reported) const = 0;
};

} // namespace attune

#endif // ATTUNE_SCHEDULE_COSTMODEL_H
