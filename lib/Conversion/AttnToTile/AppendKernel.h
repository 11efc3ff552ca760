// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel that puts new keys or values into the pages of a cache.

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_APPENDKERNEL_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_APPENDKERNEL_H

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/SymbolTable.h"

namespace attune {

/// A later op that appends rows of the same tokens to another pool, as of keys
/// and of values, where one kernel can do both; or null.
attn::AppendOp findPairedAppend(attn::AppendOp op);

/// Replaces one op, or two that are paired, by a kernel.
void outlineAppends(llvm::ArrayRef<attn::AppendOp> ops, tile::TargetAttr target,
                    mlir::SymbolTable &symbols);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_APPENDKERNEL_H
