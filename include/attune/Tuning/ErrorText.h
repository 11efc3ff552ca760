// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The errors of a context as text, for processes whose only way to say
// something is an answer.

#ifndef ATTUNE_TUNING_ERRORTEXT_H
#define ATTUNE_TUNING_ERRORTEXT_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

namespace attune::tuning {

/// Keeps errors with their notes, and prints none, as long as it exists.
class ErrorText {
public:
  explicit ErrorText(mlir::MLIRContext *context)
      : handler(context, [this](mlir::Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
            return mlir::success();
          text += (text.empty() ? "" : "\n") + diagnostic.str();
          for (mlir::Diagnostic &note : diagnostic.getNotes())
            text += "\nnote: " + note.str();
          return mlir::success();
        }) {
    context->printOpOnDiagnostic(false);
  }

  const std::string &get() const { return text; }
  void clear() { text.clear(); }

private:
  std::string text;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace attune::tuning

#endif // ATTUNE_TUNING_ERRORTEXT_H
