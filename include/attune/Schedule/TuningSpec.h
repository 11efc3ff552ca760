// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules that were found before, as the ops that have them, and which of
// them is for the op most like another one. Legality does not look at batch,
// heads and lengths, so what was found for some of them is legal for all.

#ifndef ATTUNE_SCHEDULE_TUNINGSPEC_H
#define ATTUNE_SCHEDULE_TUNINGSPEC_H

#include "attune/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/BuiltinOps.h"

namespace attune {

/// On a module with schedules: the chip that they were tuned for.
inline constexpr llvm::StringLiteral kTunedForAttrName = "attn.tuned_for";

/// What schedules are chosen for, lengths, batch and heads aside: equal texts
/// for ops of the same types, head sizes, masks, scores and order of
/// dimensions.
std::string describeKind(attn::AttentionOp op);

class TuningSpecs {
public:
  /// Takes in a file; `reader` is where errors are reported that have no place
  /// in it. Fails for one that cannot be read or does not name its chip.
  llvm::LogicalResult read(llvm::StringRef path, mlir::Location reader);

  /// Takes in an op with its schedule. The op outlives this.
  void add(attn::AttentionOp op, attn::ScheduleAttr schedule,
           llvm::StringRef chip);

  /// Up to `count` different schedules of ops of the same kind that were tuned
  /// for `chip`: first those closest by the ratios of lengths and, among
  /// equals, of the number of heads in all batches; then in order. Sizes that
  /// are not known count as equal.
  llvm::SmallVector<attn::ScheduleAttr>
  findClosest(attn::AttentionOp op, llvm::StringRef chip, size_t count) const;

private:
  struct Entry {
    attn::AttentionOp op;
    attn::ScheduleAttr schedule;
    std::string chip;
    std::string kind;
  };
  llvm::SmallVector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
  std::vector<Entry> entries;
};

} // namespace attune

#endif // ATTUNE_SCHEDULE_TUNINGSPEC_H
