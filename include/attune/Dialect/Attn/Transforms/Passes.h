// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of the attn dialect.

#ifndef ATTUNE_DIALECT_ATTN_TRANSFORMS_PASSES_H
#define ATTUNE_DIALECT_ATTN_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace attune::attn {

#define GEN_PASS_DECL
#include "attune/Dialect/Attn/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "attune/Dialect/Attn/Transforms/Passes.h.inc"

} // namespace attune::attn

#endif // ATTUNE_DIALECT_ATTN_TRANSFORMS_PASSES_H
