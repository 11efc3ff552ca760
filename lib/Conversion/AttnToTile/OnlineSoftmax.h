// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes what becomes of scores, block after block.

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_ONLINESOFTMAX_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_ONLINESOFTMAX_H

#include "KernelBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <limits>

namespace attune {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A scalar, also inside of a map.
mlir::Value constantF32(mlir::OpBuilder &builder, mlir::Location loc,
                        double value);

/// Makes ops on tiles of f32, all at one location.
class TileBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;
  using Body = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location,
                                              mlir::ValueRange)>;

  mlir::Value map(tile::TileType type, mlir::ValueRange inputs, Body body) {
    return tile::MapOp::create(*this, type, inputs, body);
  }
  /// Repeats what belongs to rows, or with `dim` 1 to columns.
  mlir::Value broadcast(mlir::Value numbers, tile::TileType type,
                        uint64_t dim = 0) {
    return tile::BroadcastOp::create(*this, type, numbers, dim);
  }
  /// Each row times a number.
  mlir::Value scaleRows(mlir::Value tile, mlir::Value factors);
  mlir::Value fill(tile::TileType type, double value) {
    return tile::FillOp::create(*this, type,
                                constantF32(*this, getLoc(), value));
  }
};

/// What is computed for the numbers of a row and a column of a block, if there
/// is a `body`. With a `row`, the number that a column has there, which is
/// finite, comes first.
struct ColumnBody {
  TileBuilder::Body body;
  mlir::Value row;

  explicit operator bool() const { return static_cast<bool>(body); }
  /// What a map of a tile of this type takes beside `tile`.
  llvm::SmallVector<mlir::Value, 2> getInputs(TileBuilder &b,
                                              mlir::Value tile) const;
};

/// What is known of each row after some blocks of keys: the number that is
/// subtracted from its scores, its sum of weights by lane, and its output
/// before it is divided by that.
struct SoftmaxState {
  mlir::Value max, sum;
  /// The columns of the output; where several roles have them, parts of them.
  llvm::SmallVector<mlir::Value, 1> accs{};
  /// What is added to exponents for the maximum; null where it is computed for
  /// each block.
  mlir::Value shift{};
  /// The sum of weights times the zero points of their values, by lane; null
  /// where nothing is subtracted for each key.
  mlir::Value zeros{};
  /// The sum of weights as they are multiplied with packed values in units, the
  /// same in all columns of a tile; null where they are not.
  mlir::Value counts{};

  /// What a loop carries, and back.
  llvm::SmallVector<mlir::Value> getValues() const {
    llvm::SmallVector<mlir::Value> values{max, sum};
    llvm::append_range(values, accs);
    for (mlir::Value optional : {shift, zeros, counts})
      if (optional)
        values.push_back(optional);
    return values;
  }
  /// As this one is made up.
  SoftmaxState with(mlir::ValueRange values) const {
    SoftmaxState state{values[0], values[1]};
    values = values.drop_front(2);
    llvm::append_range(state.accs, values.take_front(accs.size()));
    values = values.drop_front(accs.size());
    for (auto [own, there] :
         {std::pair<mlir::Value *, mlir::Value>{&state.shift, shift},
          {&state.zeros, zeros},
          {&state.counts, counts}})
      if (there) {
        *own = values.front();
        values = values.drop_front();
      }
    return state;
  }
};

class OnlineSoftmax {
public:
  /// Makes ops with `builder`, where that stands.
  OnlineSoftmax(TileBuilder &builder, attn::AttentionOp op,
                const KernelSizes &sizes);

  /// Whether scores are taken as products of query and key, because their
  /// scale is part of the exponent: as they are hidden by -inf, only one above
  /// 0 can be applied behind that.
  static bool takesUnscaled(attn::AttentionOpInterface op);

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
  /// f32, `isKept` whether dropout leaves it, and `zero` what it is multiplied
  /// by to be a part of `zeros`, if there are any.
  mlir::Value takeBlock(mlir::Value scores, SoftmaxState &state,
                        ColumnBody factor, TileBuilder::Body isKept,
                        ColumnBody zero);
  /// After the last block: completes the sums of the rows.
  void complete(SoftmaxState &state);
  /// After that: adds to each row a logit that has no value. `logit` gives it,
  /// an f32, for the number of the row, its only argument.
  void takeSink(TileBuilder::Body logit, SoftmaxState &state);
  /// What the role of scores computes, as those of columns get it.
  mlir::Value handOver(mlir::Value tile);
  /// The output, in this type, multiplied by what `factor` gives, if it is
  /// there, for the numbers of row and column: a tile of each part of its
  /// columns. `zero` gives what is subtracted before, once for each row or,
  /// where there are `zeros`, times these.
  llvm::SmallVector<mlir::Value> normalize(const SoftmaxState &state,
                                           mlir::Type type,
                                           TileBuilder::Body factor,
                                           TileBuilder::Body zero);
  /// The natural logarithm of the sums of the rows; -inf where no key was seen.
  mlir::Value logSumExp(const SoftmaxState &state);

private:
  /// `unit`, with the factor of the tile.
  mlir::Value readUnit(mlir::OpBuilder &inner, mlir::Location loc,
                       bool isNegative = false) const;
  /// What scores may be ahead of the maximum.
  mlir::Value getMostGrowth(mlir::OpBuilder &inner, mlir::Location loc) const;
  /// Whether a row of this warp, or a lane's part of it, has grown by more than
  /// the schedule allows.
  mlir::Value findOutgrown(mlir::Value before, mlir::Value after);
  /// What is added to exponents for this maximum.
  mlir::Value getShift(mlir::Value max);
  /// The same for weights, which are larger.
  mlir::Value addBias(mlir::Value rows);
  /// What of the weights is left after the maximum was raised.
  mlir::Value getFactor(mlir::Value maxBefore, mlir::Value shift);
  /// The weights of a block, in the type that values are multiplied with.
  mlir::Value roundWeights(mlir::Value weights, ColumnBody factor,
                           TileBuilder::Body isKept);
  /// Adds the zero points of the values of a block.
  void addZeros(mlir::Value weights, SoftmaxState &state, ColumnBody zero);
  /// What `zero` is multiplied by for each row of a result.
  mlir::Value getShares(const SoftmaxState &state, mlir::Value inverse);
  /// Raises the maximum where a row has outgrown it, and does all that follows
  /// from that there alone.
  void raiseApart(mlir::Value scores, SoftmaxState &state);
  /// Where `outgrown` is given, only if it is true. Roles of columns are handed
  /// the factors.
  void rescaleOutput(SoftmaxState &state, mlir::Value factors,
                     mlir::Value outgrown);
  /// The columns with these factors, if `isWanted`, or there is none.
  mlir::Value rescale(mlir::Value acc, mlir::Value factors,
                      mlir::Value isWanted);

  TileBuilder &b;
  attn::AttentionOp op;
  schedule::AttentionAttr schedule;
  /// `accType` has the columns of one of `parts`.
  tile::TileType rowType, sumType, accType, countType;
  ColumnParts parts;
  bool raisesApart;
  /// Those of packed values, or none; and whether the sum of a row is that of
  /// `counts`.
  llvm::ArrayRef<int64_t> units;
  bool sumsCounts;
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
