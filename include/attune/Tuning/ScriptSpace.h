// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search space that a transform script spans: its transform.tune.knob and
// transform.tune.alternatives ops are the knobs, and its
// transform.smt.constrain_params ops say which points are legal.

#ifndef ATTUNE_TUNING_SCRIPTSPACE_H
#define ATTUNE_TUNING_SCRIPTSPACE_H

#include "attune/Tuning/Space.h"
#include "mlir/Dialect/Transform/SMTExtension/SMTExtensionOps.h"
#include "mlir/Dialect/Transform/TuneExtension/TuneExtensionOps.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace attune::tuning {

class ScriptSpace {
public:
  /// The knobs below an op, which must outlive the space. What cannot be
  /// searched is an error at its place.
  static mlir::FailureOr<ScriptSpace> create(mlir::Operation *script);

  /// Ops of one name are one knob. Its default is what is selected, or else its
  /// first option.
  const Space &getSpace() const { return space; }

  /// Evaluates the constraints. A refusal's id is the `reason` of the assertion
  /// that does not hold, or its place. A knob of which all ops are in
  /// alternatives that are not selected must have its default, or the same
  /// program would be many points.
  Legality makeLegality() const;

  /// The places of a knob's ops.
  llvm::SmallVector<mlir::Location> getPlaces(size_t knob) const;

  /// Selects the options of a legal point. Constraints, which upstream cannot
  /// interpret, go: they hold, and their results become constants. No other
  /// function may be called after it.
  void select(llvm::ArrayRef<int64_t> point) const;

  /// Takes back what is selected.
  static void unselect(mlir::Operation *script);

private:
  friend class ScriptEvaluator;
  struct Choice {
    /// All of one kind.
    llvm::SmallVector<mlir::Operation *> ops;
    /// Null for alternatives.
    mlir::ArrayAttr options;
  };

  ScriptSpace() : space({}) {}
  mlir::LogicalResult addKnob(mlir::transform::tune::KnobOp op);
  mlir::LogicalResult addAlternatives(mlir::transform::tune::AlternativesOp op);
  mlir::LogicalResult add(mlir::Operation *op, Knob knob,
                          mlir::ArrayAttr options);
  mlir::LogicalResult check(mlir::transform::smt::ConstrainParamsOp op) const;

  Space space;
  /// In the order of the knobs of `space`.
  std::vector<Choice> choices;
  llvm::DenseMap<mlir::Operation *, size_t> choiceOf;
  std::vector<mlir::transform::smt::ConstrainParamsOp> constraints;
};

} // namespace attune::tuning

#endif // ATTUNE_TUNING_SCRIPTSPACE_H
