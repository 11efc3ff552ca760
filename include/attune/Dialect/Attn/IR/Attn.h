// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The attn dialect: attention on tensors, its gradients, merges of its parts,
// and its attributes.

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
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "attune/Dialect/Attn/IR/AttnDialect.h.inc"
#include "attune/Dialect/Attn/IR/AttnEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "attune/Dialect/Attn/IR/AttnAttrs.h.inc"

namespace attune::attn {
/// See AttentionOpInterface::getTensorRoles().
struct TensorRoles {
  llvm::SmallVector<mlir::Value> ofQueries, ofKeys, perQuery;
};
} // namespace attune::attn

// What AttentionOpInterface answers of its op, which implements it.
namespace attune::attn::detail {
int64_t getBatch(mlir::Operation *op);
int64_t getHeadsQ(mlir::Operation *op);
int64_t getHeadsKV(mlir::Operation *op);
int64_t getSeqQ(mlir::Operation *op);
int64_t getSeqK(mlir::Operation *op);
int64_t getHeadDimQK(mlir::Operation *op);
int64_t getHeadDimV(mlir::Operation *op);
int64_t getSeqKDivisor(mlir::Operation *op);
float getEffectiveScale(mlir::Operation *op);
llvm::SmallVector<mlir::Value> getCaptures(mlir::Operation *op);
mlir::Block *createRegionBlock(mlir::Operation *op, mlir::OpBuilder &builder,
                               bool isScore);
} // namespace attune::attn::detail

#include "attune/Dialect/Attn/IR/AttnInterfaces.h.inc"

#define GET_OP_CLASSES
#include "attune/Dialect/Attn/IR/AttnOps.h.inc"

// The parts of verifiers that ops share.
namespace attune::attn::detail {
llvm::LogicalResult verify(AttentionOpInterface op);
llvm::LogicalResult verifyRegions(AttentionOpInterface op);
llvm::LogicalResult verifyScales(AttentionOp op);
/// Bytes and encodings of all tensors.
llvm::LogicalResult verifyEncodings(mlir::Operation *op);
/// The same, and places of results, which are new.
llvm::LogicalResult verifyTensors(mlir::Operation *op);
} // namespace attune::attn::detail

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
llvm::SmallVector<TableSize> getTableSizes(AttentionOpInterface op);

/// One operand of the lists of blocks: counts, of three dimensions, or indices,
/// of four. A dimension of batches or heads that is known to be 1 is shared.
struct BlockList {
  /// How a message calls it.
  llvm::StringRef name;
  mlir::Value tensor;
};

/// The operands of all lists; none if there are none.
llvm::SmallVector<BlockList, 4> getBlockLists(AttentionOpInterface op);

/// The type that weights have where they are multiplied by values: unless it is
/// written, f16 where values have 8 bits and scales do not differ by key, and
/// otherwise that of query, or where that has 8 bits that of the result, or
/// bf16 where this has not 16.
mlir::Type getWeightType(AttentionOp op);

/// The type by which results are judged before they are rounded to 8 bits, that
/// one or the result's if this says less; what is written of weights is apart.
mlir::Type getRoundedType(AttentionOp op);

/// What the elements of an operand are to be multiplied by.
struct Scales {
  /// How a message calls the operand.
  llvm::StringRef name;
  mlir::Value operand, scales;
  /// How many neighbours share a scale; empty where no blocks are written.
  llvm::ArrayRef<int64_t> blocks;
  /// Which numbers stand for 0, one for each scale; null where 0 does.
  mlir::Value zeros{};

  bool isShared(int64_t dim) const {
    return llvm::cast<mlir::RankedTensorType>(scales.getType())
               .getDimSize(dim) == 1;
  }
  int64_t getBlock(int64_t dim) const {
    return blocks.empty() ? 1 : blocks[dim];
  }
  /// The place among the scales of what is at `place` along a dimension of the
  /// operand.
  mlir::Value getPlace(mlir::OpBuilder &builder, mlir::Location loc,
                       int64_t dim, mlir::Value place) const;
};

/// What is packed stands for a multiple of so many columns: each half of a row
/// is whole instructions, of 16.
constexpr int64_t kPackedColumns = 32;

/// Whether an i8 of the keys, or of the values, of an attention op holds two
/// integers of 4 bits.
bool packsKey(mlir::Operation *op);
bool packsValue(mlir::Operation *op);

/// What is subtracted from a result of attention, by what is known of it where
/// values have zero points.
enum class ValueZeros {
  /// Nothing.
  None,
  /// One for all keys of a head, whose weights add up to 1.
  Shared,
  /// The sum of those of all keys, each times its weight.
  Summed
};
ValueZeros getValueZeros(AttentionOp op);

/// The largest number of what is quantized to `element`, of two integers in an
/// i8 if it `isPacked`; the least one is as far below 0.
double getLargestNumber(mlir::Type element, bool isPacked);
/// The least one of integers that have zero points.
double getLeastNumber(bool isPacked);

/// Whether there are scales that differ along a dimension, by its letter.
bool variesAlong(AttentionOp op, const std::optional<Scales> &scales,
                 char letter);

/// Whether values of different keys of a head have different scales, which
/// kernels multiply weights by.
bool scalesValuesByKey(AttentionOp op);

/// Those of query, key and value, if there are any.
std::optional<Scales> getQueryScales(AttentionOp op);
std::optional<Scales> getKeyScales(AttentionOp op);
/// Those of the keys where values are a part of these.
std::optional<Scales> getValueScales(AttentionOp op);
/// Those of the result, which has the dimensions of query; none along others
/// than heads.
std::optional<Scales> getResultScales(AttentionOp op);
/// All that are operands of the op.
llvm::SmallVector<Scales, 4> getScales(AttentionOp op);

/// The element type of the result of queries of this one, where no other is
/// written.
mlir::Type getDefaultResultElement(mlir::Type query);

/// What positions of this name are called in messages.
llvm::StringRef getPositionsName(char position);

} // namespace attune::attn

#endif // ATTUNE_DIALECT_ATTN_IR_ATTN_H
