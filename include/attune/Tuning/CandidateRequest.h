// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A candidate as workers that lower it are asked for it:
//
//   {"problem": <module>, "chip": ..., "schedule": {<knob>: <value>}}

#ifndef ATTUNE_TUNING_CANDIDATEREQUEST_H
#define ATTUNE_TUNING_CANDIDATEREQUEST_H

#include "attune/Tuning/Result.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/JSON.h"

namespace attune::tuning {

/// The point that a request names, knob by knob; nothing where a knob has no
/// value or one that is not of its domain.
std::optional<Point> readSchedule(const llvm::json::Object *schedule);

/// The problem of a request with the schedule set on its op. It has a context
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
  /// An answer that a request failed with the errors of the context so far, or
  /// else with `message`.
  llvm::json::Value makeFailure(Status status,
                                llvm::StringRef message = "") const;

private:
  mlir::MLIRContext context;
  std::string errors;
  mlir::ScopedDiagnosticHandler handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string chip;
};

} // namespace attune::tuning

#endif // ATTUNE_TUNING_CANDIDATEREQUEST_H
