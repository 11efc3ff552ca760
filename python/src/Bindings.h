// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the files of the extension share. Everything below attune_mlir._native
// is a thin layer over the C API (attune-c/*.h): checks of what users pass, and
// defaults, are Python's.

#ifndef ATTUNE_PYTHON_SRC_BINDINGS_H
#define ATTUNE_PYTHON_SRC_BINDINGS_H

#include "mlir-c/IR.h"
#include "mlir-c/Support.h"
#include <nanobind/nanobind.h>
#include <string>
#include <string_view>

namespace attune::python {

inline MlirStringRef toRef(std::string_view text) {
  return mlirStringRefCreate(text.data(), text.size());
}

inline std::string toString(MlirStringRef text) {
  return std::string(text.data, text.length);
}

/// A callback of the C API that appends to the std::string behind `userData`.
inline void append(MlirStringRef text, void *userData) {
  static_cast<std::string *>(userData)->append(text.data, text.length);
}

inline nanobind::bytes toBytes(std::string_view bytes) {
  return nanobind::bytes(bytes.data(), bytes.size());
}

/// Modules: parsing, printing, passes, compilation.
void bindModules(nanobind::module_ &scope);
/// Chips, versions.
void bindTargets(nanobind::module_ &scope);
/// Devices, kernels, tensors.
void bindRuntime(nanobind::module_ &scope);
/// Calls that were made before.
void bindKnownCalls(nanobind::module_ &scope);
/// Custom calls of JAX's programs.
void bindJax(nanobind::module_ &scope);
/// Kernels of an operator of PyTorch.
void bindOperator(nanobind::module_ &scope);

} // namespace attune::python

#endif // ATTUNE_PYTHON_SRC_BINDINGS_H
