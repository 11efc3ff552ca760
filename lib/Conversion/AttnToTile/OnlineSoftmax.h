// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes what becomes of scores, block after block.

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_ONLINESOFTMAX_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_ONLINESOFTMAX_H

#include "KernelBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attune {

/// Makes ops on tiles of f32, all at one location.
class TileBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;
  using Body = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location,
                                              mlir::ValueRange)>;

  mlir::Value map(tile::TileType type, mlir::ValueRange inputs, Body body) {
    return tile::MapOp::create(*this, type, inputs, body);
  }
  mlir::Value broadcast(mlir::Value rows, tile::TileType type) {
    return tile::BroadcastOp::create(*this, type, rows);
  }
  mlir::Value fill(tile::TileType type, double value) {
    return tile::FillOp::create(*this, type, constant(*this, getLoc(), value));
  }
  /// A scalar, also inside of a map.
  static mlir::Value constant(mlir::OpBuilder &builder, mlir::Location loc,
                              double value);
};

/// What is known of each row after some blocks of keys: the number that is
/// subtracted from its scores, its sum of weights by lane, and its output
/// before it is divided by that.
struct SoftmaxState {
  mlir::Value max, sum, acc;
  /// What is added to exponents for the maximum; null where it is computed for
  /// each block.
  mlir::Value shift{};
  /// Columns of the output behind those of `acc`, which other roles compute.
  llvm::SmallVector<mlir::Value, 1> others{};

  /// What a loop carries, and back.
  llvm::SmallVector<mlir::Value> getValues() const {
    llvm::SmallVector<mlir::Value> values{max, sum, acc};
    if (shift)
      values.push_back(shift);
    llvm::append_range(values, others);
    return values;
  }
  /// With so many of other roles.
  static SoftmaxState get(mlir::ValueRange values, size_t others = 0) {
    return {values[0], values[1], values[2],
            values.size() > 3 + others ? values[3] : mlir::Value(),
            llvm::SmallVector<mlir::Value, 1>(values.take_back(others))};
  }
};

class OnlineSoftmax {
public:
  /// Makes ops with `builder`, where that stands.
  OnlineSoftmax(TileBuilder &builder, attn::AttentionOp op,
                const KernelSizes &sizes);

  /// Whether scores are taken as products of query and key, because their
  /// scale is part of the exponent.
  static bool takesUnscaled(attn::AttentionOp op);

  /// What a score region gives, as its ops stand in a kernel, without the
  /// positive constant that it is multiplied by at last, which is part of the
  /// exponent as well.
  static mlir::Value dropFactor(attn::AttentionOp op, mlir::Value score);

  /// Folds `scaled`, a product with a constant, into one other that is made of
  /// it. A region sees scores in f32, so that one rounding less is no other
  /// result.
  static void foldIntoNextFactor(mlir::OpBuilder &builder,
                                 mlir::arith::MulFOp scaled);

  /// Scores of the tile that follows, which are taken unscaled, are multiplied
  /// by this as well, an f32 that is not negative: as a part of the exponent.
  void setFactor(mlir::Value factor);

  SoftmaxState start();
  /// Returns the weights of a block of scores in the type that values are
  /// multiplied with, and makes `state`, but for their products with the
  /// values, that after the block. For the numbers of row and column `factor`,
  /// if there is one, gives what a weight of the result is multiplied by, an
  /// f32, and `isKept` whether dropout leaves it.
  mlir::Value takeBlock(mlir::Value scores, SoftmaxState &state,
                        TileBuilder::Body factor = nullptr,
                        TileBuilder::Body isKept = nullptr);
  /// After the last block: completes the sums of the rows.
  void complete(SoftmaxState &state);
  /// After that: adds to each row a logit that has no value. `logit` gives it,
  /// an f32, for the number of the row, its only argument.
  void takeSink(TileBuilder::Body logit, SoftmaxState &state);
  /// What the first role computes, as others get it.
  mlir::Value handOver(mlir::Value tile);
  /// The output, in this type, multiplied by what `factor` gives, if it is
  /// there, for the numbers of row and column: a tile of the columns of each
  /// role.
  llvm::SmallVector<mlir::Value> normalize(const SoftmaxState &state,
                                           mlir::Type type,
                                           TileBuilder::Body factor = nullptr);
  /// The natural logarithm of the sums of the rows; -inf where no key was seen.
  mlir::Value logSumExp(const SoftmaxState &state);

private:
  /// `unit`, with the factor of the tile.
  mlir::Value readUnit(mlir::OpBuilder &inner, mlir::Location loc,
                       bool isNegative = false) const;
  /// What scores may be ahead of the maximum.
  mlir::Value getMostGrowth(mlir::OpBuilder &inner, mlir::Location loc) const;
  mlir::Value scale(mlir::Value tile, mlir::Value rowFactors);
  /// The columns of other roles, with factors that these are handed.
  void scaleOthers(SoftmaxState &state, mlir::Value rowFactors);
  /// Whether a row of this warp, or a lane's part of it, has grown by more than
  /// the schedule allows.
  mlir::Value findOutgrown(mlir::Value before, mlir::Value after);
  /// What is added to exponents for this maximum.
  mlir::Value getShift(mlir::Value max);
  /// The same for weights, which are larger.
  mlir::Value addBias(mlir::Value rows);
  /// What of the weights is left after the maximum was raised.
  mlir::Value getFactor(mlir::Value maxBefore, mlir::Value shift);
  /// Raises the maximum where a row has outgrown it, and does all that follows
  /// from that there alone.
  void raiseApart(mlir::Value scores, SoftmaxState &state);
  /// Where `outgrown` is given, only if it is true.
  void rescaleOutput(SoftmaxState &state, mlir::Value factors,
                     mlir::Value outgrown);

  TileBuilder &b;
  attn::AttentionOp op;
  schedule::AttentionAttr schedule;
  /// `accType` has the columns of one role.
  tile::TileType rowType, sumType, accType;
  int64_t roles;
  bool raisesApart;
  /// What a score is multiplied by to be an exponent of 2.
  double unit;
  /// The same of a tile that has a factor, and what follows from it; null where
  /// there is none.
  mlir::Value unitOfTile, negativeUnit, mostGrowth;
  /// How many powers of 2 the largest score may be ahead of the maximum, and by
  /// how many all weights and their sums are larger than they would be, so that
  /// few of 8 bits are lost at the other end.
  int64_t lag, bias;
};

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_ONLINESOFTMAX_H
