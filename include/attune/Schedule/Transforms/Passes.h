// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes on all ops that can be tuned.

#ifndef ATTUNE_SCHEDULE_TRANSFORMS_PASSES_H
#define ATTUNE_SCHEDULE_TRANSFORMS_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace attune {

/// On the nested module in which attune-keep-source keeps functions as they
/// were.
inline constexpr llvm::StringLiteral kSourceAttrName = "attune.source";

#define GEN_PASS_DECL
#include "attune/Schedule/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "attune/Schedule/Transforms/Passes.h.inc"

} // namespace attune

#endif // ATTUNE_SCHEDULE_TRANSFORMS_PASSES_H
