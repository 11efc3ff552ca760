// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What attune-run says at the end, as a table or as JSON.

#ifndef ATTUNE_TOOLS_ATTUNE_RUN_REPORT_H
#define ATTUNE_TOOLS_ATTUNE_RUN_REPORT_H

#include "attune/Execution/Runner.h"
#include "attune/Simulator/HostDevice.h"
#include "llvm/Support/JSON.h"

namespace attune::run {

struct Report {
  DeviceInfo device;
  std::string function;
  /// The manifests of the kernels.
  llvm::json::Array kernels;
  uint64_t seed = 0;
  double flops = 0;
  double bytes = 0;
  std::optional<std::vector<ResultCheck>> checks;
  /// Launches after the one that was verified, and those with other bits.
  struct Launches {
    unsigned all = 0, unequal = 0;
  };
  std::optional<Launches> launches;
  std::optional<Timing> timing;
  std::optional<HostCounts> counts;

  bool passed() const;
  void printTable(llvm::raw_ostream &stream) const;
  llvm::json::Value toJSON() const;
};

} // namespace attune::run

#endif // ATTUNE_TOOLS_ATTUNE_RUN_REPORT_H
