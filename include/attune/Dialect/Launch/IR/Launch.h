// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The launch dialect: what a program that launches kernels must know of them.

#ifndef ATTUNE_DIALECT_LAUNCH_IR_LAUNCH_H
#define ATTUNE_DIALECT_LAUNCH_IR_LAUNCH_H

#include "attune/Dialect/Launch/IR/Factor.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/Support/JSON.h"
#include <optional>

namespace attune {
struct LaunchSequence;
struct Manifest;
} // namespace attune

#include "attune/Dialect/Launch/IR/LaunchDialect.h.inc"
#include "attune/Dialect/Launch/IR/LaunchEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "attune/Dialect/Launch/IR/LaunchAttrs.h.inc"

namespace attune::launch {

/// The manifest on a kernel or on its gpu.binary; null where there is none.
ManifestAttr getManifest(mlir::Operation *op);
void setManifest(mlir::Operation *op, ManifestAttr manifest);

/// The sequences of a function's launches, in order.
llvm::SmallVector<SequenceAttr> getSequences(mlir::Operation *function);

} // namespace attune::launch

#endif // ATTUNE_DIALECT_LAUNCH_IR_LAUNCH_H
