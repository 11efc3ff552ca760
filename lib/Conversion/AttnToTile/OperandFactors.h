// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel multiplies scores, weights and results by for the scales of
// query, key and value, and what it subtracts from scores and results for zero
// points.

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_OPERANDFACTORS_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_OPERANDFACTORS_H

#include "KeySource.h"
#include "OnlineSoftmax.h"

namespace attune {

/// Says which scales kernels cannot multiply by.
llvm::LogicalResult checkScales(attn::AttentionOp op);

/// What scales and zero points say of each key of a block: a row of f32 each;
/// null what all keys share, or there is none of. Those of weights are finite.
struct KeyRows {
  mlir::Value ofScores, zerosOfScores, ofWeights, zerosOfWeights;
};

/// The factors of a tile of queries. Those that all of its elements share are
/// loaded once, in front of its loop.
class OperandFactors {
public:
  /// Where a tile is: `rows` is the place of its sequence where queries are
  /// packed, of `capacity`, and else null.
  struct Place {
    mlir::Value batchQ, headQ, rows, capacity, batchK, headK;
  };
  /// The head and the position of a row of the tile.
  using LocateRow = llvm::function_ref<std::pair<mlir::Value, mlir::Value>()>;

  OperandFactors(attn::AttentionOp op, const KernelInputs &inputs,
                 int64_t heads);

  /// Emits what all elements of the tile share.
  void enterTile(mlir::ImplicitLocOpBuilder &b, const Place &place,
                 const KeySource &source);

  /// What is multiplied: scores, the weights of values, or results.
  bool ofScores() const { return query.scales || key.scales; }
  bool ofWeights() const { return value.scales && variesByKey(value); }
  bool ofResults() const { return value.scales && !variesByKey(value); }

  /// The factor of scores where all of a tile's have one; else null.
  mlir::Value getOfAllScores() const {
    bool varies =
        (query.scales && variesByRow()) || (key.scales && variesByKey(key));
    return varies ? mlir::Value() : sharedOfScores;
  }
  /// The rows of a block of so many keys, which are then not read by those who
  /// multiply, once for each of their rows, but by a role that restages. What
  /// is read stands in front of handOver(), which others wait for.
  KeyRows read(TileBuilder &b, const KeySource::Block &block,
               int64_t keys) const;
  static void handOver(TileBuilder &b, KeyRows &rows);
  /// The factor of a score of a row and a column of a block, whose key has
  /// `ofKey` if that is known.
  mlir::Value getOfScore(mlir::OpBuilder &inner, mlir::Location loc,
                         const KeySource::Block &block, LocateRow locateRow,
                         mlir::Value column, mlir::Value ofKey) const;
  /// That of the weight of a column of a block.
  mlir::Value getOfWeight(mlir::OpBuilder &inner, mlir::Location loc,
                          const KeySource::Block &block,
                          mlir::Value column) const;
  /// That of a column of the result.
  mlir::Value getOfResult(mlir::OpBuilder &inner, mlir::Location loc,
                          mlir::Value column) const;

  /// Whether scores are less the sum of a query times this, and the zero point
  /// of a column of a block.
  bool shiftsScores() const { return key.zeros != nullptr; }
  mlir::Value getZeroOfScore(mlir::OpBuilder &inner, mlir::Location loc,
                             const KeySource::Block &block,
                             mlir::Value column) const;
  /// That of the value of a column of a block; 1 where all keys share it, of
  /// which getZeroOfResult() tells.
  mlir::Value getZeroOfWeight(mlir::OpBuilder &inner, mlir::Location loc,
                              const KeySource::Block &block,
                              mlir::Value column) const;
  /// That of a column of the result; 1 where keys have their own.
  mlir::Value getZeroOfResult(mlir::OpBuilder &inner, mlir::Location loc,
                              mlir::Value column) const;

private:
  struct Operand {
    std::optional<attn::Scales> scales;
    mlir::Value buffer, zeros;
  };
  bool varies(const Operand &operand, char dim) const;
  /// Whether keys of a tile have factors of their own.
  bool variesByKey(const Operand &operand) const {
    return varies(operand, 's') || (op.getPages() && varies(operand, 'b'));
  }
  bool variesByRow() const {
    return varies(query, 's') || (heads > 1 && varies(query, 'h'));
  }
  /// `column` may be null where columns share scales.
  mlir::Value load(mlir::OpBuilder &builder, mlir::Location loc,
                   const Operand &operand, mlir::Value numbers,
                   mlir::Value batch, mlir::Value head, mlir::Value row,
                   mlir::Value column = {}) const;
  mlir::Value loadOfKey(mlir::OpBuilder &inner, mlir::Location loc,
                        const Operand &operand, mlir::Value numbers,
                        const KeySource::Block &block,
                        mlir::Value column) const;
  /// Of a number of values that all keys of a head share.
  mlir::Value loadOfResult(mlir::OpBuilder &inner, mlir::Location loc,
                           mlir::Value numbers, mlir::Value column) const;

  mutable attn::AttentionOp op;
  Operand query, key, value;
  int64_t heads;
  Place place;
  const KeySource *source = nullptr;
  /// Null where none are shared.
  mlir::Value sharedOfScores, sharedOfResults, sharedZero;
};

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_OPERANDFACTORS_H
