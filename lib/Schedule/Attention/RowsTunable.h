// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Models of ops that read rows and write rows and do little else, so that there
// is not much to choose: how many warps a workgroup has.

#ifndef ATTUNE_LIB_SCHEDULE_ATTENTION_ROWSTUNABLE_H
#define ATTUNE_LIB_SCHEDULE_ATTENTION_ROWSTUNABLE_H

#include "AttentionTunable.h"
#include "attune/Schedule/BudgetRules.h"

namespace attune {

/// What `Model`, the model of `OpTy`, need not answer itself.
template <typename Model, typename OpTy, typename ScheduleAttr>
struct RowsTunable : TunableOpInterface::ExternalModel<Model, OpTy> {
  const KnobSet &getKnobSet(mlir::Operation *) const {
    return ScheduleAttr::getSet();
  }
  ScheduleAttrInterface getSchedule(mlir::Operation *op) const {
    return llvm::cast<OpTy>(op).getScheduleAttr();
  }
  void setSchedule(mlir::Operation *op, ScheduleAttrInterface schedule) const {
    llvm::cast<OpTy>(op).setScheduleAttr(
        llvm::cast_if_present<ScheduleAttr>(schedule));
  }
  ScheduleRules getRules(mlir::Operation *, tile::TargetAttr target) const {
    ScheduleRules rules;
    rules.checkLegal = [target](const KnobReader &read) {
      WarpBudget budget{typename ScheduleAttr::View(read).getNumWarps()};
      return checkSharing(budget, []() -> int64_t { return 0; }, target);
    };
    rules.checkWorthTrying = [](const KnobReader &) -> std::optional<Refusal> {
      return std::nullopt;
    };
    return rules;
  }
  llvm::SmallVector<double> getDistance(mlir::Operation *op,
                                        TunableOpInterface other) const {
    double distance = 0;
    for (auto [left, right] : llvm::zip_equal(
             static_cast<const Model *>(this)->getSizes(op), other.getSizes()))
      distance += compareSizes(left, right);
    return {distance};
  }
  void buildReference(mlir::Operation *, mlir::OpPassManager &pm,
                      ReferenceRun run) const {
    buildAttentionReference(pm, run);
  }
};

/// Sizes that are not more than `most` of each: those that are known, in the
/// order of the set, and by name those that are not.
struct ShrunkSizes {
  ShrunkSizes(TunableOpInterface op, llvm::ArrayRef<int64_t> most,
              const ProblemSizes &wanted);
  llvm::SmallVector<int64_t> known;
  ProblemSizes named;
};

/// Gives the function around an isolated op, whose operands and results have
/// other types now, the type that it then has.
void updateFunctionType(mlir::Operation *op);

/// Notes rows of zeros, infinities and NaN, and large ones where scales are
/// made of them.
void noteUnusualRows(InputNotes &notes, mlir::Value rows, bool isQuantized);

/// What elements of this type may be off, of which the reference has all
/// digits: half of the distance to the next one, and what sums in another order
/// make of it, whose terms are as large as `term`; 0 where nothing is added.
/// Before they are rounded, they may be off by `more`.
Reference makeRoundedReference(std::vector<float> values, mlir::Type element,
                               double term, double more = 0);

/// The rule for zero points that are made of rows.
ResultCheckRule getZerosRule(mlir::MLIRContext *context);

/// The same of scales, which are sums if `isSum`.
Reference makeScalesReference(std::vector<float> values, bool isSum);

} // namespace attune

#endif // ATTUNE_LIB_SCHEDULE_ATTENTION_ROWSTUNABLE_H
