// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text to and from the C API, as all of these programs have it.

#ifndef ATTUNE_TEST_CAPI_PRINT_H
#define ATTUNE_TEST_CAPI_PRINT_H

#include "attune-c/Compile.h"
#include <stdio.h>

static inline MlirStringRef toRef(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

/// An MlirStringCallback.
static inline void print(MlirStringRef text, void *userData) {
  (void)userData;
  printf("%.*s", (int)text.length, text.data);
}

/// An MlirDiagnosticHandler.
static inline MlirLogicalResult printDiagnostic(MlirDiagnostic diagnostic,
                                                void *userData) {
  attuneDiagnosticPrint(diagnostic, print, userData);
  return mlirLogicalResultSuccess();
}

#endif // ATTUNE_TEST_CAPI_PRINT_H
