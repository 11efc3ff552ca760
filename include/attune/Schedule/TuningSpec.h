// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules that were found before, as the ops that have them, and which of
// them is for the op most like another one.

#ifndef ATTUNE_SCHEDULE_TUNINGSPEC_H
#define ATTUNE_SCHEDULE_TUNINGSPEC_H

#include "attune/Schedule/TunableOpInterface.h"

namespace attune {

/// On a module with schedules: the chip that they were tuned for.
inline constexpr llvm::StringLiteral kTunedForAttrName = "attune.tuned_for";

class TuningSpecs {
public:
  /// Takes in a file; `reader` is where errors are reported that have no place
  /// in it. Fails for one that cannot be read or does not name its chip.
  llvm::LogicalResult read(llvm::StringRef path, mlir::Location reader);

  /// Takes in an op with its schedule. The op outlives this.
  void add(TunableOpInterface op, ScheduleAttrInterface schedule,
           llvm::StringRef chip);

  /// Up to `count` different schedules of ops of the same kind that were tuned
  /// for `chip`: first those that are closest, then in order.
  llvm::SmallVector<ScheduleAttrInterface>
  findClosest(TunableOpInterface op, llvm::StringRef chip, size_t count) const;

private:
  struct Entry {
    TunableOpInterface op;
    ScheduleAttrInterface schedule;
    std::string chip;
    std::string kind;
  };
  llvm::SmallVector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
  std::vector<Entry> entries;
};

} // namespace attune

#endif // ATTUNE_SCHEDULE_TUNINGSPEC_H
