// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The attn dialect: attention on tensors, and its attributes.

#ifndef ATTUNE_DIALECT_ATTN_IR_ATTN_H
#define ATTUNE_DIALECT_ATTN_IR_ATTN_H

#include "attune/Schedule/IR/Schedule.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "attune/Dialect/Attn/IR/AttnDialect.h.inc"
#include "attune/Dialect/Attn/IR/AttnEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "attune/Dialect/Attn/IR/AttnAttrs.h.inc"

#define GET_OP_CLASSES
#include "attune/Dialect/Attn/IR/AttnOps.h.inc"

namespace mlir {
class IRMapping;
} // namespace mlir

namespace attune::attn {

/// Clones the body of a score or mask region at the builder with `arguments`
/// in place of its block arguments and gives the yielded value. Captured values
/// are looked up in `mapping`; constants that are not there are cloned.
mlir::Value inlineRegion(mlir::OpBuilder &builder, mlir::Region &region,
                         mlir::ValueRange arguments, mlir::IRMapping &mapping);

/// Whether a region may capture a value of this type, or compute one.
bool isRegionScalar(mlir::Type type);

/// A size of a tensor that a region reads at a position of the op, such as the
/// keys of a table of documents.
struct TableSize {
  mlir::Value table;
  int64_t dim;
  /// 'b', 'h', 'm' or 'n', as the region's arguments are called.
  char position;
};

/// The sizes that the regions of an op need: a table has an element for each
/// position that it is read at.
llvm::SmallVector<TableSize> getTableSizes(AttentionOp op);

/// One operand of the lists of blocks: counts, of three dimensions, or indices,
/// of four. A dimension of batches or heads that is known to be 1 is shared.
struct BlockList {
  /// How a message calls it.
  llvm::StringRef name;
  mlir::Value tensor;
};

/// The operands of all lists; none if there are none.
llvm::SmallVector<BlockList, 4> getBlockLists(AttentionOp op);

/// What positions of this name are called in messages.
llvm::StringRef getPositionsName(char position);

} // namespace attune::attn

#endif // ATTUNE_DIALECT_ATTN_IR_ATTN_H
