// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel that puts new keys or values into the pages of a cache.

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_APPENDKERNEL_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_APPENDKERNEL_H

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/SymbolTable.h"

namespace attune {

/// Replaces the op by a kernel.
void outlineAppend(attn::AppendOp op, tile::TargetAttr target,
                   mlir::SymbolTable &symbols);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_APPENDKERNEL_H
