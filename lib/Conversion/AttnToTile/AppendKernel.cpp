// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A workgroup has the heads of a token, or some of them: in memory they are
// neighbours, where they come from and where they go. It reads a row in pieces
// that are treated alike: both halves of what is rotated, and the rest. Keys
// and values of the same tokens share a kernel, of whose workgroups every
// second one has values.

#include "AppendKernel.h"
#include "GradientRows.h"
#include "NarrowRows.h"
#include "Views.h"
#include "attune/Conversion/KernelOutliner.h"
#include "attune/Dialect/Tile/IR/Alignment.h"
#include "attune/Schedule/Attention/AppendPieces.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attune;
using tile::TileType;

namespace {
/// Kernel-side buffers; null for what the op does not have.
struct AppendOperands {
  Value rows, slots, cos, sin, positions, scales, zeros, pool, rowScales,
      rowZeros;
};

/// With what is in it.
struct Piece : AppendPiece {
  /// Of all heads of the workgroup; of f32 once they are computed with.
  Value tile;
};

class AppendBuilder {
public:
  /// `rows` are the heads of a workgroup.
  AppendBuilder(OpBuilder &builder, attn::AppendOp op,
                const AppendOperands &operands, int64_t rows, int64_t lanes)
      : b(op.getLoc(), builder), op(op), operands(operands), rows(rows),
        lanes(lanes), rowType(TileType::get({rows}, b.getF32Type())) {}

  /// `number` is that of the workgroup among those of the op, each `perTile`
  /// heads of a token, or fewer.
  void build(Value number, int64_t perTile);

private:
  Value getSize(Value buffer, int64_t dim) {
    return b.createOrFold<memref::DimOp>(buffer, dim);
  }
  /// An integer of the token as an index: a large one of what is below 0.
  Value loadIndex(Value buffer) {
    return arith::IndexCastOp::create(b, b.getIndexType(),
                                      memref::LoadOp::create(b, buffer, token));
  }
  /// Finds the token and the heads of the workgroup.
  void locate(Value number, int64_t perTile);
  /// The rows of a place of the pool, or of a buffer like it.
  Value viewPlace(Value buffer, Value page, Value row) {
    return viewPart(b, viewPart(b, buffer, page), row);
  }
  TileType getType(const AppendPiece &piece, Type element);
  /// The rows as they are.
  SmallVector<Piece> loadRows();
  /// A row of a table for each head, by columns of the first piece of a pair.
  Value loadAngles(Value table, const Piece &piece);
  void rotateHalves(Piece &low, Piece &high);
  void rotateNeighbours(Piece &piece);
  /// All pairs there are.
  void rotate(MutableArrayRef<Piece> pieces);
  /// By what rows are multiplied, and the zero points of integers; these are
  /// null where there are none.
  struct Factors {
    Value inverses, zeros;
  };
  /// For each row its head's number, or that of all.
  Value loadGiven(Value numbers);
  void storeNumbers(Value numbers, Value buffer, Value page, Value row);
  /// The largest amount of each row.
  Value findAmountsOfRows(ArrayRef<Piece> pieces);
  /// What findExtremes() finds of whole rows.
  SmallVector<Value, 2> findExtremesOfRows(ArrayRef<Piece> pieces);
  /// Those that are given, or of scales and zero points that are written.
  Factors findFactors(ArrayRef<Piece> pieces, Value page, Value row);
  void buildRows(MutableArrayRef<Piece> pieces, Value page, Value row);

  TileBuilder b;
  attn::AppendOp op;
  const AppendOperands &operands;
  int64_t rows, lanes;
  TileType rowType;
  Value token, firstHead;
  /// The row of the tables.
  Value position;
};
} // namespace

void AppendBuilder::locate(Value number, int64_t perTile) {
  Value tiles = b.createOrFold<arith::CeilDivUIOp>(getSize(operands.rows, 1),
                                                   constant(b, perTile));
  token = b.createOrFold<arith::DivUIOp>(number, tiles);
  firstHead = b.createOrFold<arith::MulIOp>(
      b.createOrFold<arith::RemUIOp>(number, tiles), constant(b, rows));
}

TileType AppendBuilder::getType(const AppendPiece &piece, Type element) {
  LaneRows ofWarp(piece.width, op.getRowsType().getElementTypeBitWidth(),
                  lanes);
  return TileType::get({rows, ofWarp.columns}, element);
}

SmallVector<Piece> AppendBuilder::loadRows() {
  SmallVector<Piece> pieces;
  Value view = viewPart(b, operands.rows, token);
  for (const AppendPiece &piece : getAppendPieces(op))
    pieces.push_back(
        {piece, createLoad(b, getType(piece, op.getRowsType().getElementType()),
                           viewColumns(b, view, piece.first, piece.width),
                           ValueRange{firstHead, constant(b, 0)})});
  return pieces;
}

Value AppendBuilder::loadAngles(Value table, const Piece &piece) {
  TileType type = getType(piece, getElementTypeOrSelf(table));
  Value row =
      createLoad(b, TileType::get({type.getShape()[1]}, type.getElementType()),
                 viewPart(b, table, position), constant(b, piece.first));
  return tile::BroadcastOp::create(b, type.withElementType(b.getF32Type()),
                                   widen(b, row), /*dim=*/1);
}

void AppendBuilder::rotateHalves(Piece &low, Piece &high) {
  Value cos = loadAngles(operands.cos, low),
        sin = loadAngles(operands.sin, low);
  auto type = cast<TileType>(low.tile.getType());
  auto rotate = [&](Value straight, Value across, bool isFirst) {
    return b.map(
        type, {straight, across, cos, sin},
        [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
          Value product = arith::MulFOp::create(inner, loc, args[1], args[3]);
          if (isFirst)
            product = arith::NegFOp::create(inner, loc, product);
          return math::FmaOp::create(inner, loc, args[0], args[2], product);
        });
  };
  Value first = rotate(low.tile, high.tile, /*isFirst=*/true);
  high.tile = rotate(high.tile, low.tile, /*isFirst=*/false);
  low.tile = first;
}

void AppendBuilder::rotate(MutableArrayRef<Piece> pieces) {
  int64_t pairs = op.getRotatedPairs(),
          rotated = op.getInterleaved() ? 2 * pairs : pairs;
  size_t count = llvm::count_if(
      pieces, [&](const Piece &piece) { return piece.first < rotated; });
  for (size_t i = 0; i < count; ++i)
    if (op.getInterleaved())
      rotateNeighbours(pieces[i]);
    else
      rotateHalves(pieces[i], pieces[i + count]);
}

void AppendBuilder::rotateNeighbours(Piece &piece) {
  Value partners = tile::SwapColumnsOp::create(b, piece.tile, /*stride=*/1);
  piece.tile = b.map(
      cast<TileType>(piece.tile.getType()), {piece.tile, partners},
      [&](OpBuilder &builder, Location loc, ValueRange args) -> Value {
        ImplicitLocOpBuilder inner(loc, builder);
        auto word = [&](int64_t value) -> Value {
          return arith::ConstantIndexOp::create(inner, value);
        };
        // Columns behind the last one are nobody's.
        Value column = arith::AddIOp::create(inner, args[3], word(piece.first));
        Value pair = arith::MinUIOp::create(
            inner, arith::ShRUIOp::create(inner, column, word(1)),
            word(op.getRotatedPairs() - 1));
        auto load = [&](Value table) -> Value {
          Value angle =
              memref::LoadOp::create(inner, table, ValueRange{position, pair});
          if (angle.getType().isF32())
            return angle;
          return arith::ExtFOp::create(inner, inner.getF32Type(), angle);
        };
        Value bit = arith::AndIOp::create(inner, args[3], word(1));
        Value isFirst = arith::CmpIOp::create(inner, arith::CmpIPredicate::eq,
                                              bit, word(0));
        Value product =
            arith::MulFOp::create(inner, args[1], load(operands.sin));
        Value across = arith::SelectOp::create(
            inner, isFirst, arith::NegFOp::create(inner, product), product);
        return math::FmaOp::create(inner, args[0], load(operands.cos), across);
      });
}

/// Of the numbers of a place, those of heads.
static Value viewNumbersOfHeads(TileBuilder &b, Value view) {
  return tile::selectAt(b, view, /*dim=*/1, b.getIndexAttr(0));
}

Value AppendBuilder::loadGiven(Value numbers) {
  Value zero = constant(b, 0);
  if (cast<MemRefType>(numbers.getType()).getDimSize(2) != 1)
    return loadNumbers(b, rows,
                       viewNumbersOfHeads(b, viewPlace(numbers, zero, zero)),
                       firstHead);
  Value number =
      memref::LoadOp::create(b, numbers, ValueRange{zero, zero, zero, zero});
  return tile::FillOp::create(b, rowType, number);
}

void AppendBuilder::storeNumbers(Value numbers, Value buffer, Value page,
                                 Value row) {
  tile::StoreOp::create(
      b, numbers, viewNumbersOfHeads(b, viewPlace(buffer, page, row)),
      firstHead, /*accumulate=*/false, tile::StorePath::Direct);
}

Value AppendBuilder::findAmountsOfRows(ArrayRef<Piece> pieces) {
  Value amounts;
  for (const Piece &piece : pieces) {
    Value own = findAmounts(b, piece.tile);
    amounts = amounts ? takeLarger(b, amounts, own) : own;
  }
  return amounts;
}

SmallVector<Value, 2>
AppendBuilder::findExtremesOfRows(ArrayRef<Piece> pieces) {
  SmallVector<Value, 2> extremes;
  for (const Piece &piece : pieces) {
    // Rows that are no head's are not stored.
    auto exists = [&](ImplicitLocOpBuilder &inner, Value, Value column) {
      Value width = arith::ConstantIndexOp::create(inner, piece.width);
      return arith::CmpIOp::create(inner, arith::CmpIPredicate::ult, column,
                                   width)
          .getResult();
    };
    SmallVector<Value, 2> own = findExtremes(b, piece.tile, exists);
    if (!extremes.empty())
      for (auto [all, more] : llvm::zip_equal(extremes, own))
        more = takeLarger(b, all, more);
    extremes = own;
  }
  return extremes;
}

AppendBuilder::Factors AppendBuilder::findFactors(ArrayRef<Piece> pieces,
                                                  Value page, Value row) {
  if (!operands.rowScales)
    return {invert(b, loadGiven(operands.scales)),
            operands.zeros ? loadGiven(operands.zeros) : Value()};
  Value scales, zeros;
  if (operands.rowZeros) {
    std::tie(scales, zeros) =
        makeZeros(b, findExtremesOfRows(pieces), op.getPacked());
    storeNumbers(zeros, operands.rowZeros, page, row);
  } else {
    Type element = op.getPoolType().getElementType();
    scales = makeScales(b, findAmountsOfRows(pieces),
                        attn::getLargestNumber(element, op.getPacked()));
  }
  storeNumbers(scales, operands.rowScales, page, row);
  return {invert(b, scales), zeros};
}

void AppendBuilder::buildRows(MutableArrayRef<Piece> pieces, Value page,
                              Value row) {
  if (operands.cos) {
    Value last =
        arith::SubIOp::create(b, getSize(operands.cos, 0), constant(b, 1));
    position = arith::MinUIOp::create(b, loadIndex(operands.positions), last);
  }
  for (Piece &piece : pieces)
    piece.tile = widen(b, piece.tile);
  rotate(pieces);
  Type element = op.getPoolType().getElementType();
  Factors factors;
  if (operands.scales || operands.rowScales)
    factors = findFactors(pieces, page, row);
  Value view = viewPlace(operands.pool, page, row);
  size_t stored = op.getPacked() ? pieces.size() / 2 : pieces.size();
  for (auto [i, piece] : llvm::enumerate(pieces.take_front(stored))) {
    SmallVector<Value, 2> parts{piece.tile};
    // Those that share bytes are half a row apart.
    if (op.getPacked())
      parts.push_back(pieces[i + stored].tile);
    Value rounded =
        factors.inverses
            ? roundToNarrow(b, parts, factors.inverses, factors.zeros, element)
            : scaleToOperand(b, piece.tile, element, /*factor=*/1);
    tile::StoreOp::create(b, rounded,
                          viewColumns(b, view, piece.first, piece.width),
                          ValueRange{firstHead, constant(b, 0)},
                          /*accumulate=*/false, tile::StorePath::Direct);
  }
}

void AppendBuilder::build(Value number, int64_t perTile) {
  locate(number, perTile);
  // While it waits for the slot, which few tokens do not have. (Where rows are
  // copied as they are, LLVM moves the loads to the stores.)
  SmallVector<Piece> pieces = loadRows();
  Value slot = loadIndex(operands.slots), page = getSize(operands.pool, 1),
        places = arith::MulIOp::create(b, getSize(operands.pool, 0), page);
  // Unsigned: what is below 0 is no slot either.
  Value exists =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, slot, places);
  // Others may need more workgroups for a token.
  if (perTile < rows)
    exists = arith::AndIOp::create(
        b, exists,
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, firstHead,
                              getSize(operands.rows, 1)));
  auto branch = scf::IfOp::create(b, exists, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  buildRows(pieces, arith::DivUIOp::create(b, slot, page),
            arith::RemUIOp::create(b, slot, page));
}

/// Passes what an op has to the kernel, by names with this behind them.
static AppendOperands addOperands(attn::AppendOp op, KernelOutliner &outliner,
                                  OutlinedKernel &kernel, StringRef suffix) {
  auto add = [&](Value tensor, StringRef name) {
    return tensor ? kernel.addArgument(
                        outliner.getInput(tensor, (name + suffix).str()))
                  : Value();
  };
  auto update = [&](Value result, Value tensor, StringRef name) {
    return tensor ? kernel.addArgument(outliner.makeUpdate(
                        cast<OpResult>(result), tensor, (name + suffix).str()))
                  : Value();
  };
  AppendOperands operands;
  operands.rows = add(op.getRows(), "rows");
  operands.slots = add(op.getSlots(), "slots");
  operands.cos = add(op.getCos(), "cos");
  operands.sin = add(op.getSin(), "sin");
  operands.positions = add(op.getPositions(), "positions");
  operands.scales = add(op.getScales(), "scales");
  operands.zeros = add(op.getZeros(), "zeros");
  operands.pool = update(op.getNewPool(), op.getPool(), "pool");
  operands.rowScales =
      update(op.getNewScales(), op.getRowScales(), "row_scales");
  operands.rowZeros = update(op.getNewZeros(), op.getRowZeros(), "row_zeros");
  return operands;
}

attn::AppendOp attune::findPairedAppend(attn::AppendOp op) {
  attn::AppendOp other;
  for (Operation *next = op->getNextNode(); next && !other;
       next = next->getNextNode())
    other = dyn_cast<attn::AppendOp>(next);
  // Tokens are as many as slots.
  int64_t heads = op.getRowsType().getDimSize(1);
  if (!other || other.getSlots() != op.getSlots() ||
      ShapedType::isDynamic(heads) ||
      other.getRowsType().getDimSize(1) != heads)
    return {};
  for (OpOperand &own : op.getDpsInitsMutable())
    if (llvm::is_contained(other->getOperands(), own.get()))
      return {};
  for (OpOperand &changed : other.getDpsInitsMutable())
    if (llvm::is_contained(op->getOperands(), changed.get()))
      return {};
  // Results are there behind both.
  bool isUsedBetween = llvm::any_of(op->getUsers(), [&](Operation *user) {
    Operation *inBlock = op->getBlock()->findAncestorOpInBlock(*user);
    return !inBlock || !other->isBeforeInBlock(inBlock);
  });
  return isUsedBetween ? attn::AppendOp() : other;
}

void attune::outlineAppends(ArrayRef<attn::AppendOp> ops,
                            tile::TargetAttr target, SymbolTable &symbols) {
  // In front of the last one, where all operands are there.
  attn::AppendOp last = ops.back();
  KernelOutliner outliner(last, symbols);
  StringRef function = last->getParentOfType<func::FuncOp>().getName();
  OutlinedKernel &kernel = outliner.addKernel((function + "_append").str());
  int64_t warps = 0, lanes = target.getLanes();
  for (attn::AppendOp op : ops)
    warps = std::max(warps, op.getScheduleAttr().getNumWarps());
  SmallVector<AppendOperands, 2> operands;
  SmallVector<int64_t, 2> heads;
  for (attn::AppendOp op : ops) {
    std::string suffix =
        operands.empty() ? "" : std::to_string(operands.size());
    operands.push_back(addOperands(op, outliner, kernel, suffix));
    LaneRows ofWarp(getWidestPiece(op),
                    op.getRowsType().getElementTypeBitWidth(), lanes);
    heads.push_back(warps * ofWarp.rows);
  }
  int64_t perTile = *llvm::min_element(heads);
  OpBuilder &body = kernel.getBody();
  Location loc = last.getLoc();
  Value number = gpu::BlockIdOp::create(body, loc, gpu::Dimension::x);
  if (ops.size() == 1) {
    AppendBuilder(body, last, operands[0], perTile, lanes)
        .build(number, perTile);
  } else {
    // Neighbouring workgroups have one token.
    Value two = arith::ConstantIndexOp::create(body, loc, 2);
    Value part = arith::RemUIOp::create(body, loc, number, two);
    Value rest = arith::DivUIOp::create(body, loc, number, two);
    Value isFirst =
        arith::CmpIOp::create(body, loc, arith::CmpIPredicate::eq, part,
                              arith::ConstantIndexOp::create(body, loc, 0));
    auto branch =
        scf::IfOp::create(body, loc, isFirst, /*withElseRegion=*/true);
    Block *blocks[] = {branch.thenBlock(), branch.elseBlock()};
    for (auto [i, block] : llvm::enumerate(blocks)) {
      OpBuilder inner = OpBuilder::atBlockBegin(block);
      AppendBuilder(inner, ops[i], operands[i], heads[i], lanes)
          .build(rest, perTile);
    }
  }
  Value rows = outliner.getInput(last.getRows(), "rows");
  HostProduct grid{static_cast<int64_t>(ops.size())};
  grid.factors.push_back({rows, /*dim=*/0});
  grid.factors.push_back({rows, /*dim=*/1, /*per=*/perTile});
  kernel.setGrid(std::move(grid));
  kernel.setBlock(warps * lanes);
  outliner.finish();
  for (attn::AppendOp op : ops.drop_back())
    op->erase();
}
