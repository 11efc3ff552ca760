// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A candidate as workers that lower it are asked for it:
//
//   {"problem": <module>, "chip": ..., "schedule": {<knob>: <value>}}
//
// The module holds a tunable op, on which the schedule is set, or else a
// transform script, of which it is the knobs.

#ifndef ATTUNE_TUNING_CANDIDATEREQUEST_H
#define ATTUNE_TUNING_CANDIDATEREQUEST_H

#include "attune/Schedule/IR/KnobSet.h"
#include "attune/Tuning/ErrorText.h"
#include "attune/Tuning/Result.h"
#include "attune/Tuning/TransformScript.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/JSON.h"

namespace attune::tuning {

/// Inputs of every candidate are the same, in this search and in the next one.
inline constexpr uint64_t kInputSeed = 1;

/// The point of a set that a request names, knob by knob; nothing where a knob
/// has no value or one that is not of its domain.
std::optional<Point> readSchedule(const KnobSet &set,
                                  const llvm::json::Object *schedule);

/// The problem of a request with the schedule set on its op, or transformed by
/// its script. It has a context
/// of its own: a context never forgets an attribute, and what one candidate
/// left behind must not change the next. Errors in the context are kept, not
/// printed.
class CandidateRequest {
public:
  explicit CandidateRequest(const mlir::DialectRegistry &registry);

  /// Returns why the request makes no sense; empty if it does.
  std::string read(const llvm::json::Value &request);

  mlir::ModuleOp getModule() const { return *module; }
  llvm::StringRef getChip() const { return chip; }
  /// How the module becomes a program for the CPU, if it does.
  const std::optional<ProgramRecipe> &getRecipe() const { return recipe; }
  /// The errors of the context so far.
  const ErrorText &getErrors() const { return errors; }
  /// An answer that a request failed with the errors of the context so far, or
  /// else with `message`.
  llvm::json::Value makeFailure(Status status,
                                llvm::StringRef message = "") const;

private:
  /// Applies the script of the module with the knobs of a schedule.
  std::string transform(const llvm::json::Object &schedule);

  mlir::MLIRContext context;
  ErrorText errors;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string chip;
  std::optional<ProgramRecipe> recipe;
};

} // namespace attune::tuning

#endif // ATTUNE_TUNING_CANDIDATEREQUEST_H
