// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that leave one layer for the next.

#ifndef ATTUNE_CONVERSION_PASSES_H
#define ATTUNE_CONVERSION_PASSES_H

#include "attune/Target/Binary.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"

namespace attune {

#define GEN_PASS_DECL
#include "attune/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "attune/Conversion/Passes.h.inc"

/// On a gpu.module that convert-kernel-to-host has converted: bytes of the
/// static arrays in workgroup memory.
inline constexpr llvm::StringLiteral kStaticSharedAttrName =
    "attune.static_shared";

/// On an llvm.intr.trap: what the kernel expects there.
inline constexpr llvm::StringLiteral kTrapMessageAttrName = "attune.message";

} // namespace attune

#endif // ATTUNE_CONVERSION_PASSES_H
