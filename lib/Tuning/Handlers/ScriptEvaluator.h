// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What params of a script and integers of a constraint are at one point of the
// space. There is nothing to solve: all knobs have values, so that a constraint
// is an expression like any other.

#ifndef ATTUNE_TUNING_HANDLERS_SCRIPTEVALUATOR_H
#define ATTUNE_TUNING_HANDLERS_SCRIPTEVALUATOR_H

#include "attune/Tuning/ScriptSpace.h"
#include "mlir/Dialect/SMT/IR/SMTOps.h"

namespace attune::tuning {

class ScriptEvaluator {
public:
  ScriptEvaluator(const ScriptSpace &space, const Probe &point)
      : space(space), point(point) {}

  /// Whether an op is executed: it is in no region that is not selected.
  bool isExecuted(mlir::Operation *op);
  /// The region of an op that is selected.
  unsigned getSelected(mlir::transform::tune::AlternativesOp op);
  /// A param of the script. Null for one that has no value, see getProblem().
  mlir::Attribute getParam(mlir::Value param);
  /// The value of `smt.int` or `smt.bool` in the body of a constraint.
  std::optional<int64_t> getValue(mlir::Value value);
  /// Why there is no value: a division by 0, or more than 64 bits.
  llvm::StringRef getProblem() const { return problem; }
  /// `tile-m=4 tile-n=8`: the knobs that were looked at.
  std::string describeRead() const;

  /// Ops that getValue() knows, for messages.
  static llvm::ArrayRef<llvm::StringRef> getKnownOps();
  static bool isKnown(mlir::Operation *op);

private:
  int64_t read(size_t knob);
  std::nullopt_t fail(mlir::Operation *op, llvm::StringRef what);
  std::optional<int64_t> compute(mlir::Operation *op,
                                 llvm::ArrayRef<int64_t> operands);

  const ScriptSpace &space;
  const Probe &point;
  llvm::SmallVector<size_t> knobsRead;
  std::string problem;
};

} // namespace attune::tuning

#endif // ATTUNE_TUNING_HANDLERS_SCRIPTEVALUATOR_H
