// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel that makes operands of 8 bits and their scales.

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_QUANTIZEKERNEL_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_QUANTIZEKERNEL_H

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/SymbolTable.h"

namespace attune {

/// Replaces the op by a kernel.
void outlineQuantize(attn::QuantizeOp op, tile::TargetAttr target,
                     mlir::SymbolTable &symbols);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_QUANTIZEKERNEL_H
