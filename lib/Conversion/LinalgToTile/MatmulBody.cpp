// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loop over tiles of the result, the loop over blocks of k in each of them,
// and the epilogue on its sums. Where k is split, each workgroup has one split
// of its tiles, and those of the last split have the epilogue.

#include "MatmulBody.h"
#include "attune/Dialect/Tile/IR/Alignment.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace attune;
using matmul::Dim;
using schedule::ClusterAlong;
using schedule::Consumers;
using schedule::Persistent;
using schedule::Raster;
using schedule::ResultPath;
using tile::TileType;

static tile::EvictionAttr getAttr(Builder &b, tile::Eviction eviction) {
  return tile::EvictionAttr::get(b.getContext(), eviction);
}
static tile::EvictionAttr cacheDecides(Builder &b) {
  return getAttr(b, tile::Eviction::Normal);
}

namespace {

/// Gives what the epilogue's region takes for one of its arguments, from the
/// elements of the inputs of the tile.map and from batch, m and n.
using Argument = std::function<Value(OpBuilder &, Location, ValueRange elements,
                                     ValueRange indices)>;

class MatmulBuilder {
public:
  MatmulBuilder(OpBuilder &builder, Location loc,
                const matmul::ContractionGroup &group,
                const MatmulOperands &operands, const MatmulPlan &plan)
      : b(loc, builder), group(group), operands(operands),
        schedule(plan.schedule), interleaved(plan.interleavedColumns),
        evictions(plan.evictions),
        accType(TileType::get({schedule.getBlockM(), schedule.getBlockN()},
                              b.getF32Type())) {}

  void build();

private:
  void countTiles();
  /// Finds the tile of this number, and of a cluster's the workgroup's own.
  void locate(Value number);
  void buildTile();
  /// Leaves the sums to the last split or, in that, adds those of all others
  /// and finishes.
  void combine(ValueRange sums);
  /// The sums with those that all splits but the last one have left.
  SmallVector<Value> addPartials(ValueRange sums);
  /// The row of the partial sums at which those of a contraction start.
  Value getPartialRow(Value ofSplit, size_t contraction);
  /// The sums of all contractions over the blocks of k.
  SmallVector<Value> multiply();
  /// Applies the epilogue to the sums, and stores its results.
  void finish(ValueRange sums);
  /// An operand of the epilogue; tiles become inputs of its tile.map.
  Argument takeOperand(size_t number, SmallVectorImpl<Value> &inputs);
  /// One that is read element by element.
  Argument takeParts(const MatmulOperand &operand, bool ofPartner);
  /// The last row, or column; null where no tile has what lies behind it.
  Value getLast(Dim dim);
  Value swapColumns(Value tile) {
    return tile::SwapColumnsOp::create(b, tile, *group.partnerStride);
  }
  /// A tile of an operand, by (m, n), m, or n.
  Value loadTile(const MatmulOperand &operand);
  /// The same, repeated to the shape of the sums where it is a vector.
  Value loadMatrix(const MatmulOperand &operand);

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value size(const MatmulOperand &operand, Dim dim) {
    return b.createOrFold<memref::DimOp>(operand.buffer, *operand.find(dim));
  }
  /// Where the tile starts, and its extent, along a dimension.
  std::pair<Value, int64_t> getPlace(Dim dim) {
    return dim == Dim::M ? std::pair(row, schedule.getBlockM())
                         : std::pair(column, schedule.getBlockN());
  }
  /// The buffer at the batch of the tile, without that dimension.
  Value atBatch(const MatmulOperand &operand);
  Value transposed(Value view);
  tile::MmaScope getScope() {
    return schedule.getMmaWarps() > 1 ? tile::MmaScope::Warpgroup
                                      : tile::MmaScope::Warp;
  }
  /// Of so many blocks of k those of the split.
  std::pair<Value, Value> getShare(Value blocks);
  /// A block of k of operands of one kind, through the ring. `outer` is m or n,
  /// along which those of several operands alternate.
  Value loadBlock(ArrayRef<MatmulOperand> of, Dim outer, Value k);
  bool isTransposed(const MatmulOperand &operand, Dim outer) {
    return *operand.find(Dim::K) < *operand.find(outer);
  }

  ImplicitLocOpBuilder b;
  const matmul::ContractionGroup &group;
  const MatmulOperands &operands;
  schedule::MatmulAttr schedule;
  /// 0 for those of the start.
  int64_t interleaved;
  Evictions evictions;
  TileType accType;
  /// Tiles of a matrix, and of all; those of a cluster count as one.
  Value tilesM, tilesN, total;
  /// First row and column of the tile, and its batch.
  Value row, column, batch;
  /// Where k is split: which part, and the number of the tile among all.
  Value split, tileNumber;
};

} // namespace

Value MatmulBuilder::atBatch(const MatmulOperand &operand) {
  std::optional<int64_t> place = operand.find(Dim::Batch);
  if (!place)
    return operand.buffer;
  return tile::selectAt(b, operand.buffer, *place, batch);
}

Value MatmulBuilder::transposed(Value view) {
  AffineMap swap =
      AffineMap::getPermutationMap(ArrayRef<unsigned>{1, 0}, b.getContext());
  return memref::TransposeOp::create(b, view, AffineMapAttr::get(swap));
}

void MatmulBuilder::countTiles() {
  int64_t clusterM = schedule.getClusterAlong() == ClusterAlong::N
                         ? 1
                         : schedule.getCluster(),
          clusterN = schedule.getClusterAlong() == ClusterAlong::N
                         ? schedule.getCluster()
                         : 1;
  tilesM = b.createOrFold<arith::CeilDivUIOp>(
      size(operands.lhs, Dim::M), constant(schedule.getBlockM() * clusterM));
  tilesN = b.createOrFold<arith::CeilDivUIOp>(
      size(operands.rhs.front(), Dim::N),
      constant(schedule.getBlockN() * clusterN));
  total = b.createOrFold<arith::MulIOp>(tilesM, tilesN);
  for (const MatmulOperand &operand : {operands.lhs, operands.rhs.front()})
    if (operand.find(Dim::Batch)) {
      total = b.createOrFold<arith::MulIOp>(total, size(operand, Dim::Batch));
      break;
    }
}

void MatmulBuilder::locate(Value number) {
  tileNumber = number;
  MatrixTile place =
      orderTiles(b, number, tilesM, tilesN, schedule.getRasterGroup(),
                 schedule.getRaster() == Raster::AlongN);
  batch = place.batch;
  if (schedule.getCluster() > 1) {
    Value &shared = schedule.getClusterAlong() == ClusterAlong::N ? place.column
                                                                  : place.row;
    Value first =
        arith::MulIOp::create(b, shared, constant(schedule.getCluster()));
    Value rank = gpu::ClusterBlockIdOp::create(b, gpu::Dimension::x);
    shared = arith::AddIOp::create(b, first, rank);
    tileNumber = b.createOrFold<arith::AddIOp>(
        b.createOrFold<arith::MulIOp>(number, constant(schedule.getCluster())),
        rank);
  }
  row = arith::MulIOp::create(b, place.row, constant(schedule.getBlockM()));
  column =
      arith::MulIOp::create(b, place.column, constant(schedule.getBlockN()));
}

Value MatmulBuilder::loadBlock(ArrayRef<MatmulOperand> of, Dim outer, Value k) {
  auto [start, extent] = getPlace(outer);
  auto count = static_cast<int64_t>(of.size());
  Value view = atBatch(of.front());
  bool transpose = isTransposed(of.front(), outer);
  if (count > 1) {
    SmallVector<Value> views{view};
    for (const MatmulOperand &other : of.drop_front())
      views.push_back(atBatch(other));
    view = tile::InterleavedOp::create(b, views, interleaved,
                                       /*dim=*/transpose ? 1 : 0);
    start = arith::MulIOp::create(b, start, constant(count));
  }
  SmallVector<int64_t> shape{count * extent, schedule.getBlockK()};
  SmallVector<Value> indices{start, k};
  if (transpose) {
    std::swap(shape[0], shape[1]);
    std::swap(indices[0], indices[1]);
  }
  auto type = cast<MemRefType>(view.getType());
  // Blocks of sizes that they divide have no outside.
  bool inBounds = llvm::all_of(llvm::enumerate(shape), [&](auto it) {
    return !type.isDynamicDim(it.index()) &&
           type.getDimSize(it.index()) % it.value() == 0;
  });
  // Workgroups of a cluster may lie beyond.
  inBounds &= schedule.getCluster() == 1;
  return tile::LoadOp::create(
      b, TileType::get(shape, type.getElementType()), view, indices,
      inBounds ? b.getUnitAttr() : UnitAttr(),
      b.getI64IntegerAttr(schedule.getStages()), /*read_once=*/UnitAttr(),
      /*role=*/StringAttr(),
      getAttr(b, outer == Dim::M ? evictions.lhs : evictions.rhs));
}

std::pair<Value, Value> MatmulBuilder::getShare(Value blocks) {
  if (schedule.getSplitK() == 1)
    return {constant(0), blocks};
  // Shares differ by one block at most, and are empty where there are fewer
  // blocks than splits.
  auto startOf = [&](Value number) {
    return b.createOrFold<arith::DivUIOp>(
        b.createOrFold<arith::MulIOp>(number, blocks),
        constant(schedule.getSplitK()));
  };
  Value next = b.createOrFold<arith::AddIOp>(split, constant(1));
  return {startOf(split), startOf(next)};
}

SmallVector<Value> MatmulBuilder::multiply() {
  // Right operands that alternate are one.
  SmallVector<ArrayRef<MatmulOperand>> right{operands.rhs};
  if (!interleaved) {
    right.clear();
    for (const MatmulOperand &rhs : operands.rhs)
      right.push_back(rhs);
  }
  auto joined = static_cast<int64_t>(right.front().size());
  auto sumType = TileType::get(
      {schedule.getBlockM(), joined * schedule.getBlockN()}, b.getF32Type());
  Value zero = tile::FillOp::create(
      b, sumType, arith::ConstantOp::create(b, b.getF32FloatAttr(0)));
  SmallVector<Value> sums(right.size(), zero);
  Value blocks = b.createOrFold<arith::CeilDivUIOp>(
      size(operands.lhs, Dim::K), constant(schedule.getBlockK()));
  auto [first, last] = getShare(blocks);
  auto loop = scf::ForOp::create(b, first, last, constant(1), sums);
  loop->setAttr(tile::TileDialect::kChainAttrName, b.getUnitAttr());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value k = arith::MulIOp::create(b, loop.getInductionVar(),
                                  constant(schedule.getBlockK()));
  Value lhs = loadBlock(operands.lhs, Dim::M, k);
  bool transposeLhs = isTransposed(operands.lhs, Dim::M);
  SmallVector<Value> next;
  for (auto [rhs, acc] : llvm::zip_equal(right, loop.getRegionIterArgs())) {
    bool transposeRhs = !isTransposed(rhs.front(), Dim::N);
    next.push_back(tile::MmaOp::create(
        b, sumType, lhs, loadBlock(rhs, Dim::N, k), acc, transposeLhs,
        transposeRhs, getScope(), static_cast<uint64_t>(schedule.getWarpsN()),
        /*lhs_through_shared=*/false, tile::MmaAtomAttr()));
  }
  scf::YieldOp::create(b, next);
  if (joined == 1)
    return SmallVector<Value>(loop.getResults());
  b.setInsertionPointAfter(loop);
  auto parts = tile::DeinterleaveOp::create(
      b, SmallVector<Type>(joined, accType), loop.getResult(0), interleaved,
      /*dim=*/1);
  return SmallVector<Value>(parts.getParts());
}

Value MatmulBuilder::loadTile(const MatmulOperand &operand) {
  Value view = atBatch(operand);
  std::optional<int64_t> m = operand.find(Dim::M), n = operand.find(Dim::N);
  if (m && n && *n < *m)
    view = transposed(view);
  SmallVector<int64_t> shape;
  SmallVector<Value> indices;
  for (Dim dim : {Dim::M, Dim::N})
    if (operand.find(dim)) {
      auto [start, extent] = getPlace(dim);
      shape.push_back(extent);
      indices.push_back(start);
    }
  Type element = cast<MemRefType>(view.getType()).getElementType();
  return tile::LoadOp::create(b, TileType::get(shape, element), view, indices,
                              UnitAttr(), IntegerAttr(), UnitAttr(),
                              StringAttr(), cacheDecides(b));
}

Value MatmulBuilder::loadMatrix(const MatmulOperand &operand) {
  Value loaded = loadTile(operand);
  auto type = cast<TileType>(loaded.getType());
  if (type.getRank() == 2)
    return loaded;
  uint64_t dim = operand.find(Dim::M) ? 0 : 1;
  return tile::BroadcastOp::create(
      b, accType.withElementType(type.getElementType()), loaded, dim);
}

/// A scalar that the kernel is given, or the element of a buffer of rank 0.
static Value getScalar(OpBuilder &b, Location loc, Value value) {
  if (!isa<MemRefType>(value.getType()))
    return value;
  return memref::LoadOp::create(b, loc, value, ValueRange());
}

/// Lets the chip divide as it computes functions, and add to products without
/// rounding these: within a few units in the last place of f32, as the bounds
/// of the reference allow for.
static void relaxArithmetic(Operation *map) {
  map->walk([](arith::ArithFastMathInterface op) {
    if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp>(op) ||
        !op->getResult(0).getType().isF32())
      return;
    arith::FastMathFlags flags =
        op.getFastMathFlagsAttr().getValue() |
        (isa<arith::DivFOp>(op) ? arith::FastMathFlags::afn
                                : arith::FastMathFlags::contract);
    op->setAttr(op.getFastMathAttrName(),
                arith::FastMathFlagsAttr::get(op->getContext(), flags));
  });
}

Value MatmulBuilder::getLast(Dim dim) {
  const MatmulOperand &operand =
      dim == Dim::M ? operands.lhs : operands.rhs.front();
  Value count = size(operand, dim);
  std::optional<int64_t> known = getConstantIntValue(count);
  // Workgroups of a cluster may lie beyond.
  if (known && *known % getPlace(dim).second == 0 && schedule.getCluster() == 1)
    return {};
  return b.createOrFold<arith::SubIOp>(count, constant(1));
}

Argument MatmulBuilder::takeParts(const MatmulOperand &operand,
                                  bool ofPartner) {
  const matmul::TensorAccess &access = *operand.byParts;
  SmallVector<Value> sizes;
  for (int64_t dim = 0;
       dim < cast<MemRefType>(operand.buffer.getType()).getRank(); ++dim)
    sizes.push_back(b.createOrFold<memref::DimOp>(operand.buffer, dim));
  auto load = [sizes, buffer = operand.buffer,
               &access](OpBuilder &builder, Location loc,
                        ValueRange indices) -> Value {
    SmallVector<Value> position = access.getIndices(
        builder, loc, indices, [&](unsigned dim) { return sizes[dim]; });
    return memref::LoadOp::create(builder, loc, buffer, position);
  };
  if (!access.reads(Dim::M) && !access.reads(Dim::N)) {
    Value element = load(b, b.getLoc(), {batch, row, column});
    return
        [=](OpBuilder &, Location, ValueRange, ValueRange) { return element; };
  }
  // Elements outside of the matrix are not stored, but must not be read either.
  Value lastRow = getLast(Dim::M), lastColumn = getLast(Dim::N);
  return [=, stride = group.partnerStride](OpBuilder &inner, Location loc,
                                           ValueRange,
                                           ValueRange indices) -> Value {
    Value m = indices[1], n = indices[2];
    if (lastRow)
      m = arith::MinUIOp::create(inner, loc, m, lastRow);
    if (lastColumn)
      n = arith::MinUIOp::create(inner, loc, n, lastColumn);
    if (ofPartner)
      n = matmul::emitPartner(inner, loc, n, *stride);
    return load(inner, loc, {indices[0], m, n});
  };
}

Argument MatmulBuilder::takeOperand(size_t number,
                                    SmallVectorImpl<Value> &inputs) {
  const MatmulOperand &operand = operands.epilogue[number];
  bool ofPartner = group.operands[number].ofPartner;
  if (operand.byParts)
    return takeParts(operand, ofPartner);
  if (!operand.find(Dim::M) && !operand.find(Dim::N))
    return [scalar = atBatch(operand)](OpBuilder &inner, Location loc,
                                       ValueRange, ValueRange) {
      return getScalar(inner, loc, scalar);
    };
  Value tile = loadMatrix(operand);
  inputs.push_back(ofPartner ? swapColumns(tile) : tile);
  return [place = inputs.size() - 1](OpBuilder &, Location, ValueRange elements,
                                     ValueRange) { return elements[place]; };
}

void MatmulBuilder::finish(ValueRange sums) {
  SmallVector<Value> inputs(sums);
  SmallVector<size_t> places;
  for (const matmul::Accumulator &accumulator : group.accumulators) {
    places.push_back(accumulator.ofPartner ? inputs.size()
                                           : accumulator.contraction);
    if (accumulator.ofPartner)
      inputs.push_back(swapColumns(sums[accumulator.contraction]));
  }
  SmallVector<Argument> others;
  for (size_t number = 0; number < operands.epilogue.size(); ++number)
    others.push_back(takeOperand(number, inputs));

  for (auto [i, result] : llvm::enumerate(operands.results)) {
    Type element = cast<MemRefType>(result.buffer.getType()).getElementType();
    Value tile = tile::MapOp::create(
        b, accType.withElementType(element), inputs,
        [&, i = i](OpBuilder &inner, Location loc, ValueRange args) -> Value {
          size_t count = inputs.size();
          Value m = arith::AddIOp::create(inner, loc, row, args[count]),
                n = arith::AddIOp::create(inner, loc, column, args[count + 1]);
          SmallVector<Value> indices{batch, m, n}, accumulators, elements;
          for (size_t place : places)
            accumulators.push_back(args[place]);
          for (const Argument &other : others)
            elements.push_back(other(inner, loc, args, indices));
          return group.inlineEpilogue(inner, indices, accumulators,
                                      elements)[i];
        });
    relaxArithmetic(tile.getDefiningOp());
    Value view = atBatch(result);
    if (*result.find(Dim::N) < *result.find(Dim::M))
      view = transposed(view);
    tile::StoreOp::create(b, tile, view, ValueRange{row, column},
                          /*accumulate=*/false,
                          schedule.getResultPath() == ResultPath::Shared
                              ? tile::StorePath::Buffer
                              : tile::StorePath::Direct,
                          evictions.result);
  }
}

Value MatmulBuilder::getPartialRow(Value ofSplit, size_t contraction) {
  auto add = [&](Value factor, int64_t by, Value term) {
    Value product = b.createOrFold<arith::MulIOp>(factor, constant(by));
    return b.createOrFold<arith::AddIOp>(product, term);
  };
  auto count = static_cast<int64_t>(group.contractions.size());
  Value number =
      add(ofSplit, count, constant(static_cast<int64_t>(contraction)));
  Value tiles =
      b.createOrFold<arith::MulIOp>(total, constant(schedule.getCluster()));
  number = b.createOrFold<arith::AddIOp>(
      b.createOrFold<arith::MulIOp>(number, tiles), tileNumber);
  return b.createOrFold<arith::MulIOp>(number, constant(schedule.getBlockM()));
}

SmallVector<Value> MatmulBuilder::addPartials(ValueRange sums) {
  auto loop = scf::ForOp::create(
      b, constant(0), constant(schedule.getSplitK() - 1), constant(1), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next;
  for (auto [i, sum] : llvm::enumerate(loop.getRegionIterArgs())) {
    Value partial = tile::LoadOp::create(
        b, accType, operands.partials,
        ValueRange{getPartialRow(loop.getInductionVar(), i), constant(0)},
        b.getUnitAttr(), IntegerAttr(), UnitAttr(), StringAttr(),
        cacheDecides(b));
    next.push_back(tile::MapOp::create(
        b, accType, ValueRange{sum, partial},
        [](OpBuilder &inner, Location loc, ValueRange args) -> Value {
          return arith::AddFOp::create(inner, loc, args[0], args[1]);
        }));
  }
  scf::YieldOp::create(b, next);
  return SmallVector<Value>(loop.getResults());
}

void MatmulBuilder::combine(ValueRange sums) {
  Value splits = constant(schedule.getSplitK()),
        others = constant(schedule.getSplitK() - 1);
  Value isLast =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, split, others);
  auto branch = scf::IfOp::create(b, isLast, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  auto takeTurn = [&](Value turn) {
    auto ordered =
        tile::OrderedOp::create(b, operands.counters, tileNumber, turn, splits);
    return b.createBlock(&ordered.getBody());
  };
  b.setInsertionPointToStart(branch.elseBlock());
  takeTurn(constant(0));
  for (auto [i, sum] : llvm::enumerate(sums))
    tile::StoreOp::create(b, sum, operands.partials,
                          ValueRange{getPartialRow(split, i), constant(0)},
                          /*accumulate=*/false, tile::StorePath::Direct);
  b.setInsertionPointToStart(branch.thenBlock());
  // What the others left is there behind this.
  {
    OpBuilder::InsertionGuard empty(b);
    takeTurn(others);
  }
  finish(addPartials(sums));
}

void MatmulBuilder::buildTile() {
  SmallVector<Value> sums = multiply();
  if (schedule.getSplitK() > 1)
    combine(sums);
  else
    finish(sums);
}

void MatmulBuilder::build() {
  countTiles();
  bool byCluster = schedule.getCluster() > 1;
  Value own = byCluster
                  ? gpu::ClusterIdOp::create(b, gpu::Dimension::x).getResult()
                  : gpu::BlockIdOp::create(b, gpu::Dimension::x).getResult();
  bool isPersistent = schedule.getPersistent() != Persistent::None;
  // Workgroups that have the tiles of one split.
  Value sharers = total;
  if (isPersistent) {
    sharers = byCluster
                  ? gpu::ClusterDimOp::create(b, gpu::Dimension::x).getResult()
                  : gpu::GridDimOp::create(b, gpu::Dimension::x).getResult();
    sharers =
        b.createOrFold<arith::DivUIOp>(sharers, constant(schedule.getSplitK()));
  }
  if (schedule.getSplitK() > 1) {
    // Those of the last split, which wait for the others, are the last to
    // start. So none waits for one that may have to wait for its end.
    split = b.createOrFold<arith::DivUIOp>(own, sharers);
    own = b.createOrFold<arith::RemUIOp>(own, sharers);
  }
  if (!isPersistent) {
    locate(own);
    return buildTile();
  }
  auto loop = scf::ForOp::create(b, own, total, sharers);
  if (schedule.getPersistent() == Persistent::Dynamic)
    loop->setAttr(tile::TileDialect::kDynamicAttrName, b.getUnitAttr());
  if (schedule.getConsumers() == Consumers::PingPong)
    loop->setAttr(tile::TileDialect::kTakeTurnsAttrName, b.getUnitAttr());
  b.setInsertionPointToStart(loop.getBody());
  locate(loop.getInductionVar());
  buildTile();
  b.setInsertionPointAfter(loop);
}

void attune::buildMatmulBody(OpBuilder &builder, Location loc,
                             const matmul::ContractionGroup &group,
                             const MatmulOperands &operands,
                             const MatmulPlan &plan) {
  MatmulBuilder(builder, loc, group, operands, plan).build();
}
