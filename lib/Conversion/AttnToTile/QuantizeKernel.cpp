// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A workgroup has rows with a scale each, or all that share one. These stay in
// registers if they fit into one tile; otherwise it goes through them twice,
// for their maximum and to divide them by it. A mean that is subtracted comes
// from a kernel in front, in which a workgroup has a head. Rows that are packed
// are two tiles, one of each half of the columns.

#include "QuantizeKernel.h"
#include "GradientRows.h"
#include "NarrowRows.h"
#include "TileOrder.h"
#include "Views.h"
#include "attune/Conversion/KernelOutliner.h"
#include "attune/Dialect/Tile/IR/Alignment.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace attune;
using tile::TileType;

namespace {
/// Kernel-side buffers, and the tiles that they are read in.
struct QuantizeOperands {
  Value input, quantized, scales;
  /// Null where there are no zero points.
  Value zeros;
  /// A row for each head; null where none is subtracted.
  Value means;
  int64_t rows, columns;
  /// How many tiles a row is.
  int64_t parts = 1;
};
/// Tiles of the parts of rows.
using Parts = SmallVector<Value, 2>;

class QuantizeBuilder {
public:
  QuantizeBuilder(OpBuilder &builder, attn::QuantizeOp op,
                  const QuantizeOperands &operands, int64_t block)
      : b(op.getLoc(), builder), op(op), operands(operands), block(block),
        rowType(TileType::get({operands.rows}, b.getF32Type())),
        tileType(
            TileType::get({operands.rows, operands.columns}, b.getF32Type())) {}

  void build();
  /// Writes means of heads, which are blocks.
  void buildMeans();

private:
  /// Finds the rows of the workgroup.
  void locate();
  /// The row behind the last one of the block, or of the head.
  Value findEnd() {
    return end ? end
               : b.createOrFold<memref::DimOp>(operands.input, op.getSeqPos());
  }
  Value viewRows(Value buffer) {
    Value view = viewHeads(b, op.getOrder(), buffer, batch, head);
    return end ? limitRows(b, view, end) : view;
  }
  /// Scales of the head as a vector, or `count` from that of the block on.
  Value viewScales(Value buffer);
  void storeScales(Value numbers, Value buffer);
  /// The rows from `first` on, as they are, and as they are quantized.
  Parts loadRaw(Value first);
  Parts load(Value first);
  /// Rows less their mean; what is no row stays 0.
  void smooth(Parts &rows, Value first);
  /// A loop over the tiles of a block, which is left to be ended.
  scf::ForOp startLoop(ValueRange initial);
  void rotate(Parts &rows);
  /// Sums of rows and their partners, and for every second one differences,
  /// where `isSecond` says so.
  Value addPartners(
      Value rows, Value partners,
      llvm::function_ref<Value(ImplicitLocOpBuilder &, Value)> isSecond);
  /// Columns of a part.
  int64_t getWidth() { return op.getHeadDim() / operands.parts; }
  /// The largest amount of each row from `first` on, or with zero points its
  /// extremes, and what is found of none.
  Parts findAmountsOfParts(ValueRange rows, Value first);
  Parts startAmounts();
  /// The largest of all, in each row.
  Value shareAmounts(Value amounts);
  /// Writes rows divided by their scales.
  void store(ValueRange rows, Value inverses, Value zeros, Value first);
  Type getNarrow() const { return getElementTypeOrSelf(operands.quantized); }
  using Body = llvm::function_ref<Value(ImplicitLocOpBuilder &, ValueRange)>;
  Value map(TileType type, ValueRange inputs, Body body) {
    return b.map(type, inputs,
                 [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
                   ImplicitLocOpBuilder builder(loc, inner);
                   return body(builder, args);
                 });
  }
  static Value number(ImplicitLocOpBuilder &inner, double value) {
    return constantF32(inner, inner.getLoc(), value);
  }

  TileBuilder b;
  attn::QuantizeOp op;
  const QuantizeOperands &operands;
  int64_t block;
  TileType rowType, tileType;
  /// The number of the scale is null where each row has one, and the row behind
  /// the last one where it is that of the head.
  Value batch, head, firstRow, numberOfScale, end;
};
} // namespace

void QuantizeBuilder::locate() {
  auto size = [&](int64_t position) -> Value {
    return b.createOrFold<memref::DimOp>(operands.input, position);
  };
  Value rows = size(op.getSeqPos()), heads = size(op.getHeadPos()),
        tiles = constant(b, 1), perTile;
  if (ShapedType::isStatic(block)) {
    perTile = constant(b, block == 1 ? operands.rows : block);
    tiles = b.createOrFold<arith::CeilDivUIOp>(rows, perTile);
  }
  QueryTile tile =
      orderByHead(b, gpu::BlockIdOp::create(b, gpu::Dimension::x).getResult(),
                  {tiles, heads, heads, size(op.getBatchPos())},
                  /*lastFirst=*/false);
  batch = tile.batch;
  head = tile.headQ;
  firstRow = perTile ? Value(arith::MulIOp::create(b, tile.tile, perTile))
                     : constant(b, 0);
  if (block == 1)
    return;
  numberOfScale = tile.tile;
  if (perTile)
    end = arith::MinUIOp::create(b, arith::AddIOp::create(b, firstRow, perTile),
                                 rows);
}

Value QuantizeBuilder::viewScales(Value buffer) {
  SmallVector<OpFoldResult> offsets(4, b.getIndexAttr(0)),
      extents(4, b.getIndexAttr(1));
  offsets[op.getBatchPos()] = batch;
  offsets[op.getHeadPos()] = head;
  int64_t position = op.getSeqPos();
  if (numberOfScale)
    offsets[position] = numberOfScale;
  else
    extents[position] =
        getAsOpFoldResult(b.createOrFold<memref::DimOp>(buffer, position));
  return tile::viewDims(b, buffer, offsets, extents, position);
}

Parts QuantizeBuilder::loadRaw(Value first) {
  TileType type =
      tileType.withElementType(getElementTypeOrSelf(operands.input));
  Value view = viewRows(operands.input);
  Parts rows;
  for (int64_t part = 0; part < operands.parts; ++part) {
    Value columns = viewColumns(b, view, part * getWidth(), getWidth());
    rows.push_back(widen(
        b, createLoad(b, type, columns, ValueRange{first, constant(b, 0)})));
  }
  return rows;
}

Parts QuantizeBuilder::load(Value first) {
  Parts rows = loadRaw(first);
  if (operands.means)
    smooth(rows, first);
  if (op.getRotate())
    rotate(rows);
  return rows;
}

void QuantizeBuilder::smooth(Parts &rows, Value first) {
  Value last = findEnd(), numbers = viewNumbers(b, operands.means, batch, head);
  bool isWhole = operands.parts == 1 || getWidth() == operands.columns;
  for (auto [part, tile] : llvm::enumerate(rows)) {
    Value mean =
        loadNumbers(b, operands.columns, numbers,
                    constant(b, static_cast<int64_t>(part) * getWidth()));
    Value means = tile::BroadcastOp::create(b, tileType, mean, /*dim=*/1);
    tile =
        map(tileType, {tile, means},
            [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
              Value row = arith::AddIOp::create(inner, first, args[2]);
              Value exists = arith::CmpIOp::create(
                  inner, arith::CmpIPredicate::ult, row, last);
              // The next part begins behind these columns.
              if (!isWhole)
                exists = arith::AndIOp::create(
                    inner, exists,
                    arith::CmpIOp::create(
                        inner, arith::CmpIPredicate::ult, args[3],
                        arith::ConstantIndexOp::create(inner, getWidth())));
              return arith::SelectOp::create(
                  inner, exists, arith::SubFOp::create(inner, args[0], args[1]),
                  number(inner, 0));
            });
  }
}

Value QuantizeBuilder::addPartners(
    Value rows, Value partners,
    llvm::function_ref<Value(ImplicitLocOpBuilder &, Value)> isSecond) {
  return map(tileType, {rows, partners},
             [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
               Value sign =
                   arith::SelectOp::create(inner, isSecond(inner, args[3]),
                                           number(inner, -1), number(inner, 1));
               return math::FmaOp::create(inner, sign, args[0], args[1]);
             });
}

/// The butterflies of a fast Walsh-Hadamard transform.
void QuantizeBuilder::rotate(Parts &rows) {
  for (Value &part : rows)
    for (int64_t stride = 1; stride < getWidth(); stride *= 2) {
      Value partners = tile::SwapColumnsOp::create(b, part, stride);
      part = addPartners(
          part, partners,
          [&](ImplicitLocOpBuilder &inner, Value column) -> Value {
            auto word = [&](int64_t value) -> Value {
              return arith::ConstantIndexOp::create(inner, value);
            };
            Value bit = arith::AndIOp::create(inner, column, word(stride));
            return arith::CmpIOp::create(inner, arith::CmpIPredicate::ne, bit,
                                         word(0));
          });
    }
  if (rows.size() == 2) {
    Value lower = rows[0];
    auto isUpper = [](bool value) {
      return [value](ImplicitLocOpBuilder &inner, Value) -> Value {
        return arith::ConstantIntOp::create(inner, value, /*width=*/1);
      };
    };
    rows[0] = addPartners(lower, rows[1], isUpper(false));
    rows[1] = addPartners(rows[1], lower, isUpper(true));
  }
  double norm = 1 / std::sqrt(static_cast<double>(op.getHeadDim()));
  for (Value &part : rows)
    part = scaleToOperand(b, part, b.getF32Type(), norm);
}

/// The larger ones of each two.
static Parts takeLargerOnes(TileBuilder &b, ValueRange left, ValueRange right) {
  Parts larger;
  for (auto [one, other] : llvm::zip_equal(left, right))
    larger.push_back(takeLarger(b, one, other));
  return larger;
}

Parts QuantizeBuilder::findAmountsOfParts(ValueRange rows, Value first) {
  Value last = findEnd();
  // What is 0 behind rows and columns is nobody's.
  auto exists = [&](ImplicitLocOpBuilder &inner, Value row,
                    Value column) -> Value {
    auto isBelow = [&](Value place, Value limit) -> Value {
      return arith::CmpIOp::create(inner, arith::CmpIPredicate::ult, place,
                                   limit);
    };
    Value width = arith::ConstantIndexOp::create(inner, getWidth());
    return arith::AndIOp::create(
        inner, isBelow(column, width),
        isBelow(arith::AddIOp::create(inner, first, row), last));
  };
  Parts amounts;
  for (Value part : rows) {
    Parts own = operands.zeros ? findExtremes(b, part, exists)
                               : Parts{findAmounts(b, part)};
    amounts = amounts.empty() ? own : takeLargerOnes(b, amounts, own);
  }
  return amounts;
}

Parts QuantizeBuilder::startAmounts() {
  if (!operands.zeros)
    return {b.fill(rowType, 0)};
  return Parts(2, b.fill(rowType, -std::numeric_limits<float>::max()));
}

void QuantizeBuilder::storeScales(Value numbers, Value buffer) {
  tile::StoreOp::create(b, numbers, viewScales(buffer),
                        block == 1 ? firstRow : constant(b, 0),
                        /*accumulate=*/false, tile::StorePath::Direct);
}

Value QuantizeBuilder::shareAmounts(Value amounts) {
  // Pieces of 16 bytes, as shared memory carries them between warps.
  constexpr int64_t kCopies = 4;
  auto copies = TileType::get({operands.rows, kCopies}, b.getF32Type());
  Value largest = tile::ReduceOp::create(
      b, TileType::get({kCopies}, b.getF32Type()), tile::ReductionKind::Max,
      b.broadcast(amounts, copies), /*init=*/Value(), /*dim=*/0);
  Value repeated = tile::BroadcastOp::create(b, copies, largest, /*dim=*/1);
  return tile::ReduceOp::create(b, rowType, tile::ReductionKind::Max, repeated);
}

void QuantizeBuilder::store(ValueRange rows, Value inverses, Value zeros,
                            Value first) {
  Value rounded = roundToNarrow(b, rows, inverses, zeros, getNarrow());
  tile::StoreOp::create(b, rounded, viewRows(operands.quantized),
                        ValueRange{first, constant(b, 0)},
                        /*accumulate=*/false, tile::StorePath::Direct);
}

scf::ForOp QuantizeBuilder::startLoop(ValueRange initial) {
  auto loop = scf::ForOp::create(b, firstRow, findEnd(),
                                 constant(b, operands.rows), initial);
  b.setInsertionPointToStart(loop.getBody());
  return loop;
}

void QuantizeBuilder::build() {
  locate();
  bool isOneTile = ShapedType::isStatic(block) && block <= operands.rows;
  Parts rows, amounts;
  if (isOneTile) {
    rows = load(firstRow);
    amounts = findAmountsOfParts(rows, firstRow);
  } else {
    scf::ForOp search = startLoop(startAmounts());
    Value first = search.getInductionVar();
    scf::YieldOp::create(
        b, takeLargerOnes(b, search.getRegionIterArgs(),
                          findAmountsOfParts(load(first), first)));
    b.setInsertionPointAfter(search);
    amounts = Parts(search.getResults());
  }
  if (block != 1)
    for (Value &amount : amounts)
      amount = shareAmounts(amount);
  Value scales, zeros;
  if (operands.zeros) {
    std::tie(scales, zeros) = makeZeros(b, amounts, op.getPacked());
    storeScales(zeros, operands.zeros);
  } else {
    scales = makeScales(b, amounts[0],
                        attn::getLargestNumber(getNarrow(), op.getPacked()));
  }
  storeScales(scales, operands.scales);
  Value inverses = invert(b, scales);
  if (isOneTile)
    return store(rows, inverses, zeros, firstRow);
  scf::ForOp rest = startLoop({});
  store(load(rest.getInductionVar()), inverses, zeros, rest.getInductionVar());
  b.setInsertionPointAfter(rest);
}

void QuantizeBuilder::buildMeans() {
  locate();
  scf::ForOp loop = startLoop(b.fill(tileType, 0));
  Value more = map(
      tileType, {loop.getRegionIterArg(0), loadRaw(loop.getInductionVar())[0]},
      [](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
        return arith::AddFOp::create(inner, args[0], args[1]);
      });
  scf::YieldOp::create(b, more);
  b.setInsertionPointAfter(loop);
  auto columnType = TileType::get({operands.columns}, b.getF32Type());
  Value sum = tile::ReduceOp::create(b, columnType, tile::ReductionKind::Add,
                                     loop.getResult(0), /*init=*/Value(),
                                     /*dim=*/0);
  Value count = arith::UIToFPOp::create(
      b, b.getF32Type(),
      arith::IndexCastOp::create(b, b.getI32Type(), findEnd()));
  Value mean = map(columnType, sum,
                   [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
                     return arith::DivFOp::create(inner, args[0], count);
                   });
  tile::StoreOp::create(b, mean, viewNumbers(b, operands.means, batch, head),
                        constant(b, 0), /*accumulate=*/false,
                        tile::StorePath::Direct);
}

/// A warp has as many rows as it can read at once. Rows that share a scale are
/// a tile if they fit into registers.
static void chooseTile(attn::QuantizeOp op, tile::TargetAttr target,
                       int64_t block, QuantizeOperands &operands) {
  constexpr int64_t kElementsOfLane = 64;
  int64_t lanes = target.getLanes(), warps = op.getScheduleAttr().getNumWarps();
  LaneRows ofWarp(op.getHeadDim() / operands.parts,
                  op.getInputType().getElementTypeBitWidth(), lanes);
  operands.columns = ofWarp.columns;
  int64_t least = warps * ofWarp.rows;
  operands.rows = least;
  if (block == 1)
    return;
  int64_t most = std::max(least, warps * lanes * kElementsOfLane /
                                     (operands.columns * operands.parts));
  while (operands.rows < most &&
         (ShapedType::isDynamic(block) || operands.rows < block))
    operands.rows *= 2;
}

/// One workgroup for each block of rows, or tile of rows with scales of their
/// own, of each head.
static void setLaunch(attn::QuantizeOp op, OutlinedKernel &kernel, Value input,
                      int64_t rows, int64_t threads) {
  HostProduct grid;
  if (ShapedType::isStatic(rows))
    grid.factors.push_back({input, op.getSeqPos(), rows});
  grid.factors.push_back({input, op.getHeadPos()});
  grid.factors.push_back({input, op.getBatchPos()});
  kernel.setGrid(std::move(grid));
  kernel.setBlock(threads);
}

/// Adds the kernel that finds the mean of each head, and gives these.
static Value addMeansKernel(attn::QuantizeOp op, tile::TargetAttr target,
                            KernelOutliner &outliner, Value input,
                            int64_t threads) {
  StringRef function = op->getParentOfType<func::FuncOp>().getName();
  OutlinedKernel &kernel = outliner.addKernel((function + "_mean").str());
  Value means =
      outliner.makeWorkspace({"means",
                              Float32Type::get(op.getContext()),
                              {HostProduct{1, {{input, op.getBatchPos()}}},
                               HostProduct{1, {{input, op.getHeadPos()}}},
                               HostProduct{op.getHeadDim()}},
                              /*alignment=*/16});
  QuantizeOperands operands;
  operands.input = kernel.addArgument(input);
  operands.means = kernel.addArgument(means, launch::Access::Write);
  // As few rows as there are lanes for: their sums stay in registers.
  chooseTile(op, target, /*block=*/1, operands);
  QuantizeBuilder(kernel.getBody(), op, operands, ShapedType::kDynamic)
      .buildMeans();
  setLaunch(op, kernel, input, ShapedType::kDynamic, threads);
  return means;
}

void attune::outlineQuantize(attn::QuantizeOp op, tile::TargetAttr target,
                             SymbolTable &symbols) {
  KernelOutliner outliner(op, symbols);
  Value input = outliner.getInput(op.getInput(), "input"), means;
  int64_t block = op.getBlockRows(),
          threads = op.getScheduleAttr().getNumWarps() * target.getLanes();
  if (op.getSmooth())
    means = addMeansKernel(op, target, outliner, input, threads);
  StringRef function = op->getParentOfType<func::FuncOp>().getName();
  OutlinedKernel &kernel = outliner.addKernel((function + "_quantize").str());
  QuantizeOperands operands;
  operands.input = kernel.addArgument(input);
  if (means)
    operands.means = kernel.addArgument(means, launch::Access::Read);
  operands.quantized = kernel.addArgument(
      outliner.makeOutput(cast<OpResult>(op.getQuantized()), "quantized"));
  operands.scales = kernel.addArgument(
      outliner.makeOutput(cast<OpResult>(op.getScales()), "scales"));
  if (op.getZeros())
    operands.zeros = kernel.addArgument(
        outliner.makeOutput(cast<OpResult>(op.getZeros()), "zeros"));
  operands.parts = op.getPacked() ? 2 : 1;
  chooseTile(op, target, block, operands);
  QuantizeBuilder(kernel.getBody(), op, operands, block).build();
  setLaunch(op, kernel, input, block == 1 ? operands.rows : block, threads);
  outliner.finish();
}
