// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tile dialect: tiles of data inside one workgroup, their layouts, and the
// attribute that describes a chip.

#ifndef ATTUNE_DIALECT_TILE_IR_TILE_H
#define ATTUNE_DIALECT_TILE_IR_TILE_H

#include "attune/Dialect/Tile/IR/Mode.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "attune/Dialect/Tile/IR/TileDialect.h.inc"
#include "attune/Dialect/Tile/IR/TileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "attune/Dialect/Tile/IR/TileAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "attune/Dialect/Tile/IR/TileTypes.h.inc"

#define GET_OP_CLASSES
#include "attune/Dialect/Tile/IR/TileOps.h.inc"

namespace attune::tile {

/// Builds what an op chooses of `even` and `odd`, which its tiles were lowered
/// to, by its number.
mlir::Value buildChoice(mlir::OpBuilder &builder, AlternateOp op,
                        mlir::Value even, mlir::Value odd);

} // namespace attune::tile

#endif // ATTUNE_DIALECT_TILE_IR_TILE_H
