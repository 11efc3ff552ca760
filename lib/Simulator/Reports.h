// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the checks find, as diagnostics at the ops of the kernel.

#ifndef ATTUNE_LIB_SIMULATOR_REPORTS_H
#define ATTUNE_LIB_SIMULATOR_REPORTS_H

#include "attune/Simulator/HostDevice.h"
#include "attune/Simulator/HostThread.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"

namespace attune {

/// "(x, y, z)"
std::string formatIndex(const uint32_t (&index)[3]);

class Reports {
public:
  /// `sites` are the ops of the kernel by their numbers.
  Reports(llvm::ArrayRef<mlir::Operation *> sites, const HostOptions &options)
      : sites(sites), options(options) {}

  bool isOn(HostCheck check) const {
    return options.checks & static_cast<unsigned>(check);
  }

  /// Says `what` the thread did wrongly at `site`, unless the check is off or
  /// the same was said of that site before. Null if nothing is to be said: else
  /// notes may be added.
  std::optional<mlir::InFlightDiagnostic> add(HostCheck check, uint32_t site,
                                              const HostThread &thread,
                                              const llvm::Twine &what,
                                              bool isError = true);
  /// The same without a thread, for what ends the launch.
  mlir::InFlightDiagnostic stop(uint32_t site, const llvm::Twine &what);

  mlir::Operation *getOp(uint32_t site) const { return sites[site]; }
  mlir::Location getLoc(uint32_t site) const { return sites[site]->getLoc(); }
  /// Errors, whether or not they were said.
  int64_t getNumErrors() const { return errors; }
  int64_t getNumSuppressed() const { return suppressed; }

private:
  llvm::ArrayRef<mlir::Operation *> sites;
  const HostOptions &options;
  llvm::DenseSet<std::pair<unsigned, uint32_t>> said;
  unsigned numSaid = 0;
  int64_t errors = 0, suppressed = 0;
};

} // namespace attune

#endif // ATTUNE_LIB_SIMULATOR_REPORTS_H
