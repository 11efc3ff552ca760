// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The records of Knobs.td as tables.

#ifndef ATTUNE_SCHEDULE_IR_KNOBSET_H
#define ATTUNE_SCHEDULE_IR_KNOBSET_H

#include "mlir/IR/Diagnostics.h"
#include <optional>
#include <string>

namespace attune {

class ScheduleAttrInterface;

/// One tunable.
struct KnobInfo {
  /// As options and the database spell it, and as the attribute does.
  llvm::StringRef name, field;
  int64_t init;
  /// All values, and those of them that the search tries unasked.
  llvm::ArrayRef<int64_t> domain, searched;
  /// How values are spelled: value `i` is `names[i]`. Empty where they are
  /// numbers.
  llvm::ArrayRef<llvm::StringLiteral> names;
  llvm::StringRef doc;

  std::string spell(int64_t value) const;
  /// The value of the domain that is spelled so.
  std::optional<int64_t> parse(llvm::StringRef text) const;
};

/// A size of a problem that may be dynamic.
struct SizeInfo {
  /// The option that gives it, without dashes.
  llvm::StringRef name;
  llvm::StringRef doc;
};

/// The tunables of a kind of op.
struct KnobSet {
  llvm::StringRef name;
  llvm::ArrayRef<KnobInfo> knobs;
  llvm::ArrayRef<SizeInfo> sizes;
  /// The attribute with one value for each knob; null and a diagnostic where a
  /// value is outside its domain.
  ScheduleAttrInterface (*getAttr)(
      llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
      mlir::MLIRContext *context, llvm::ArrayRef<int64_t> values);

  /// Each knob's default.
  llvm::SmallVector<int64_t> getDefaults() const;
  /// The place of a knob by its name.
  std::optional<size_t> findKnob(llvm::StringRef name) const;
  /// Says which value is outside its domain.
  llvm::LogicalResult
  verify(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
         llvm::ArrayRef<int64_t> values) const;
  /// The value that is spelled so; nothing and a diagnostic where the knob has
  /// none.
  static std::optional<int64_t>
  parseValue(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
             const KnobInfo &knob, llvm::StringRef text);
};

/// All sets of Knobs.td.
llvm::ArrayRef<const KnobSet *> getKnobSets();

/// Sizes of all sets, each name once.
llvm::ArrayRef<SizeInfo> getProblemSizes();

} // namespace attune

#endif // ATTUNE_SCHEDULE_IR_KNOBSET_H
