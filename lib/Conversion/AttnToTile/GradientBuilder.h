// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds one kernel of gradients (GradientBody.cpp): the loop, and what becomes
// of each element of a tile of scores in it (GradientScores.cpp).

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_GRADIENTBUILDER_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_GRADIENTBUILDER_H

#include "GradientRows.h"
#include "Reach.h"
#include "RegionTiles.h"
#include "TileOrder.h"
#include "Views.h"
#include "VisitedBlocks.h"
#include "attune/Conversion/RegionClone.h"
#include "attune/Dialect/Attn/Analysis/RegionTiles.h"
#include "attune/Dialect/Attn/IR/ScoreGradient.h"
#include "attune/Dialect/Attn/IR/SizeFacts.h"
#include "attune/Schedule/AttentionGrad/Legality.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attune {

/// What a workgroup adds up: the gradients of what it owns, then those of
/// values.
using Sums = llvm::SmallVector<mlir::Value, 2>;

class GradientBuilder {
public:
  GradientBuilder(mlir::OpBuilder &builder, attn::AttentionGradOp op,
                  const GradientOperands &operands,
                  const GradientKernel &kernel, tile::MmaAtomAttr atom,
                  tile::TargetAttr target)
      : b(op.getLoc(), builder), op(op), operands(operands), kernel(kernel),
        atom(atom), cache{target.getCache(), target.getCaches()},
        padded(getPaddedHeadDims(AttentionGradProblem::get(op), atom)),
        ownsKeys(kernel.owns == MaskDim::Key),
        slots(getRingSlots(AttentionGradProblem::get(op), op.getScheduleAttr(),
                           kernel, target)),
        scoreType(tile::TileType::get({kernel.owned, kernel.visited},
                                      b.getF32Type())),
        tileReads(findTiles(target)),
        tiles(op, tileReads, slots.tiles, ownsKeys),
        captures(operands.captures) {}

  void build();

private:
  /// The reads of regions that are loaded by tiles.
  llvm::SmallVector<mlir::tensor::ExtractOp, 1>
  findTiles(tile::TargetAttr target);
  void planLoop(mlir::scf::ForOp loop);
  void locate();
  /// Finds the rows of the batch that tile `tile` of what is owned is of, and
  /// returns which of the batch's own tiles it is.
  mlir::Value findBatch(mlir::Value tile, mlir::Value size);
  /// Of all query heads of a key head, or of keys and values.
  mlir::Value getVisitedBytes(const TileCounts &counts);
  /// The sums after all blocks of the query head.
  Sums visitHead(mlir::Value head, Sums sums);
  Sums step(VisitedBlocks &blocks, mlir::Value block, Sums sums);
  /// Scores, those that are hidden as -inf.
  mlir::Value makeScores(mlir::Value products, VisitedBlocks &blocks,
                         mlir::Value block, mlir::Value first);
  /// Keys that are owned and do not exist have products of 0, and no part of
  /// the gradients of queries or tensors: their weights, which may be infinite,
  /// must be 0. Nor are there weights of rows that the last box has again.
  llvm::SmallVector<Reach, 2> findReaches(mlir::Value first);
  mlir::Value applyScore(mlir::Value products, mlir::Value first);
  mlir::Value applyMask(mlir::Value scores, mlir::Value first, bool asksRegion);
  /// exp2(scores - log-sum-exp), with another sign where dropout takes it.
  mlir::Value makeWeights(mlir::Value scores, mlir::Value shifts,
                          mlir::Value first);
  /// Those that are kept, in the type of operands.
  mlir::Value takeKept(mlir::Value weights);
  /// Of what makeWeights() has made, the weight, and its gradient less the
  /// delta of its query.
  std::pair<mlir::Value, mlir::Value>
  splitWeight(mlir::OpBuilder &inner, mlir::Location loc, mlir::Value weight,
              mlir::Value weightGrad, mlir::Value delta);
  /// Gradients of the products of query and key but for their scale, in the
  /// type of operands.
  mlir::Value makeScoreGrads(mlir::Value products, mlir::Value weights,
                             mlir::Value weightGrads, mlir::Value deltas,
                             mlir::Value first);
  /// The gradient of an element of a tile of scores, with respect to the
  /// product and to what scores read. Elements are those of getGradInputs().
  struct ElementGrads {
    attn::ScoreGradient derived;
    mlir::IRMapping mapping;
    /// Whether there is none, also where a derivative is infinite.
    mlir::Value none;
    /// The gradient with respect to the score, a product with the weight.
    mlir::Value seed;
    mlir::Value mute(mlir::OpBuilder &inner, mlir::Location loc,
                     mlir::Value gradient);
  };
  llvm::SmallVector<mlir::Value> getGradInputs(mlir::Value products,
                                               mlir::Value weights,
                                               mlir::Value weightGrads,
                                               mlir::Value deltas);
  ElementGrads differentiate(mlir::OpBuilder &inner, mlir::Location loc,
                             mlir::ValueRange elements, mlir::Value gradient,
                             mlir::Value first);
  /// Adds what the tiles that scores read change to their gradients.
  void addTiles(mlir::Value products, mlir::Value weights,
                mlir::Value weightGrads, mlir::Value deltas, mlir::Value first);
  /// Adds what a read of a tensor changes to the gradient of that.
  void addToTensor(mlir::OpBuilder &inner, mlir::tensor::ExtractOp extract,
                   mlir::Value change, const mlir::IRMapping &mapping);
  /// What makes weights of scores, in powers of two.
  mlir::Value loadShifts(int64_t rows, mlir::Value first);
  mlir::Value loadDeltas(int64_t rows, mlir::Value first);
  mlir::Value loadOwnNumbers(int64_t rows, mlir::Value buffer,
                             mlir::Value first);
  /// The part of the gradients of the queries visited that the keys have.
  mlir::Value multiplyByKeys(mlir::Value grads);
  void addToQueries(mlir::Value part, mlir::Value first);
  /// The turn of the tile to add to the block of queries from `first` on.
  tile::OrderedOp takeTurn(mlir::Value first);
  void finish(mlir::Value sums, mlir::Value gradient, double factor);
  /// Calls `body` for each query head of the key head that is owned, with what
  /// `sums` have become.
  Sums forEachHead(Sums sums, llvm::function_ref<Sums(mlir::Value, Sums)> body);
  /// In the last workgroup of a head of keys, makes the gradients of all of its
  /// queries of what was added up.
  void roundQueries();

  /// From row `row` of the batch on.
  tile::LoadOp load(int64_t rows, int64_t columns, mlir::Value buffer,
                    MaskDim dim, mlir::Value row, int64_t stages) {
    auto type = tile::TileType::get({rows, columns}, op.getElementType());
    return createLoad(b, type, buffer, {getPlace(dim, row), constant(b, 0)},
                      stages);
  }
  mlir::Value loadOwned(int64_t columns, mlir::Value buffer) {
    tile::LoadOp owned =
        load(kernel.owned, columns, buffer, kernel.owns, firstOwned,
             /*stages=*/1);
    owned.setReadOnce(kernel.inRegisters);
    return owned;
  }
  mlir::Value multiply(mlir::Value lhs, mlir::Value rhs, mlir::Value acc,
                       bool transposeRhs) {
    tile::MmaScope scope = op.getScheduleAttr().getMmaWarps() > 1
                               ? tile::MmaScope::Warpgroup
                               : tile::MmaScope::Warp;
    bool isComputed = lhs != ownedRows && lhs != ownedValues;
    return tile::MmaOp::create(
        b, acc.getType(), lhs, rhs, acc,
        /*transpose_lhs=*/false, transposeRhs, scope,
        countGroupsAlongColumns(kernel, kernel.owned, atom),
        /*lhs_through_shared=*/isComputed && sharesScores(kernel, atom),
        tile::MmaAtomAttr());
  }
  /// Numbers of queries as large as a tile of scores.
  mlir::Value broadcast(mlir::Value numbers) {
    return tile::BroadcastOp::create(b, scoreType, numbers,
                                     /*dim=*/ownsKeys ? 1 : 0);
  }
  /// Query and key of an element of a tile of scores. In the last box they may
  /// be before the first one, but none that tensors are read at.
  std::pair<mlir::Value, mlir::Value> locateElement(mlir::OpBuilder &inner,
                                                    mlir::Location loc,
                                                    mlir::ValueRange place,
                                                    mlir::Value first);
  /// Whether regions read tensors at places that a query, or a key, says.
  bool findReadsAt(MaskDim dim);
  /// Whether a region is asked for positions that do not exist.
  Positions getPositions(mlir::Region &region);
  /// Values of the score region for an element, whose place stands behind what
  /// was read of tiles.
  mlir::IRMapping mapScore(mlir::OpBuilder &inner, mlir::Location loc,
                           mlir::Value product, mlir::ValueRange elements,
                           mlir::Value first);
  mlir::Value size(mlir::Value buffer, int64_t position) {
    return b.createOrFold<mlir::memref::DimOp>(buffer, position);
  }
  /// The queries or the keys of the batch.
  const attn::BatchRows &getRows(MaskDim dim) const {
    return dim == MaskDim::Query ? queries : keys;
  }
  bool hasEnd(MaskDim dim) {
    return dim == MaskDim::Query ? op.getQueryStarts() || op.getQueryLengths()
                                 : op.getKeyStarts() || op.getKeyLengths();
  }
  /// Whether the copy engine reads them, which knows the ends of tensors alone.
  bool isByBoxes() { return op.getScheduleAttr().getMmaWarps() > 1; }
  /// Where the batch lies in tensors, which packed ones share.
  mlir::Value getBatch(MaskDim dim) {
    return getRows(dim).first ? constant(b, 0) : batch;
  }
  /// The place of a row of the batch along `s`.
  mlir::Value getPlace(MaskDim dim, mlir::Value row) {
    mlir::Value first = getRows(dim).first;
    return first ? b.createOrFold<mlir::arith::AddIOp>(first, row) : row;
  }
  /// The rows of a head, of which those behind the batch are not read but by
  /// boxes: of what is owned, no row depends on another.
  mlir::Value view(mlir::Value buffer, MaskDim dim, mlir::Value head) {
    mlir::Value rows = viewHeads(b, op.getOrder(), buffer, getBatch(dim), head);
    return hasEnd(dim) && !isByBoxes()
               ? limitRows(b, rows, getPlace(dim, getRows(dim).length))
               : rows;
  }

  TileBuilder b;
  attn::AttentionGradOp op;
  const GradientOperands &operands;
  GradientKernel kernel;
  tile::MmaAtomAttr atom;
  DeviceCache cache;
  PaddedHeadDims padded;
  bool ownsKeys;
  RingSlots slots;
  tile::TileType scoreType;
  llvm::SmallVector<mlir::tensor::ExtractOp, 1> tileReads;
  RegionTiles tiles;
  /// What regions capture, and what they compute of the batch alone.
  mlir::IRMapping captures;
  /// Reads of tiles that are added to, and the part of the gradient that is the
  /// visited head's.
  llvm::SmallVector<std::pair<mlir::tensor::ExtractOp, mlir::Value>, 1>
      addedTiles;
  std::optional<attn::Dropout> dropout;
  mlir::Value headsQ;
  /// Those of the batch, and the queries and keys that the tile has of it.
  attn::BatchRows queries, keys;
  mlir::Value seqQ, seqK;
  /// The place behind the rows that are the tile's to write; null where these
  /// end with the tensor.
  mlir::Value afterOwned;
  mlir::Value batch, firstOwned, lastOwned;
  /// The number of the tile among those of its head, and how many these are.
  mlir::Value ownTile, numTiles;
  /// Of what is visited, and the first row of a step that no other has. None
  /// and null where steps end with the tensor, or what is read with the batch.
  std::optional<LastBox> lastBox;
  mlir::Value leastVisited;
  bool readsAtVisited = false;
  /// The first row of the tile that is owned that no other has: another than
  /// its first one where it ends with the last row as well.
  mlir::Value leastOwned;
  bool readsAtOwned = false;
  bool movesOwned() const { return leastOwned != firstOwned; }
  /// Of the tile: a key head, or a query head.
  mlir::Value headOwned, headKV;
  /// The query head that is visited, and what is owned and visited of it: of
  /// queries or keys, and of output gradients or values.
  mlir::Value headQ;
  mlir::Value ownedRows, ownedValues, visitedRows, visitedValues;
  /// The sums of the queries that are visited; null where none are added to.
  mlir::Value visitedSums;
  /// Of queries that are owned.
  mlir::Value ownedShifts, ownedDeltas;
};

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_GRADIENTBUILDER_H
