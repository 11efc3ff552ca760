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

/// How MMAs of single warps use a tile: by which atom, from which side, and
/// whether what they sum over, k, runs along its rows.
struct OperandUse {
  MmaAtomAttr atom;
  bool isLhs = false;
  bool kAlongRows = false;
};

/// Whether a ring of such tiles is filled by copies that a chip counts, past
/// registers.
bool copiesDirectly(TargetAttr target, ::llvm::ArrayRef<int64_t> shape,
                    ::mlir::Type elementType, int64_t stages,
                    const OperandUse &use);

/// The channel of a tile that is copied directly.
ChannelType getDirectChannel(::llvm::ArrayRef<int64_t> shape,
                             ::mlir::Type elementType, int64_t stages,
                             const OperandUse &use);

/// The channel of such a tile where copies pass through registers. A lane reads
/// at once what it multiplies of a row or column, so k is what is contiguous in
/// shared memory, but for atoms that read rows as columns; and lines start so
/// far apart that the lanes of an access meet no bank twice.
ChannelType getOperandChannel(::llvm::ArrayRef<int64_t> shape,
                              ::mlir::Type elementType, int64_t stages,
                              const OperandUse &use);

/// The bytes of its slots; the most that a channel can have where the shape is
/// too large for one.
int64_t getOperandBytes(::llvm::ArrayRef<int64_t> shape,
                        ::mlir::Type elementType, int64_t stages,
                        const OperandUse &use);

/// The layout in which warps load a tile that is put into slots stored by
/// columns: threads hold blocks of neighbours in both dimensions.
LayoutAttr getTransposingLayout(TileType type, int64_t lanes, int64_t warps);

} // namespace attune::tile

#endif // ATTUNE_DIALECT_TILE_IR_TILE_H
