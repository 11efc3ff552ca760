// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of bytes to rows of 16 bits, for MMAs of warpgroups, which widen
// nothing: neighbours of a row pass through the registers of a lane.

#include "KernelContext.h"
#include "SharedMemory.h"
#include "attune/Dialect/Tile/IR/Widening.h"
#include "attune/Target/SharedAddress.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <map>
#include <numeric>

using namespace mlir;
using namespace attune;

/// Elements that a lane reads at once; widened, they are the widest access.
static constexpr int64_t kRun = 8;

namespace {
/// Where a lane has a run in each place of a tile. Rows and columns from that
/// of the lane on are constants, which are added last: the back ends fold them
/// into the access.
class LanePlaces {
public:
  LanePlaces(OpBuilder &b, Location loc, tile::TileType type, Value whole,
             Value row, Value column, int64_t lanesOfRow)
      : b(b), loc(loc), type(type), row(row) {
    buffer = flattenBuffer(b, loc, whole);
    int64_t atom = type.getSwizzle().getSwizzleAtom(), span = lanesOfRow * kRun;
    inAtom = column;
    bits = static_cast<uint64_t>(std::min(span, atom) - kRun);
    if (span <= atom)
      return;
    Value size = constant(b, loc, atom);
    inAtom = b.createOrFold<arith::RemUIOp>(loc, column, size);
    ofAtom = b.createOrFold<arith::MulIOp>(
        loc, b.createOrFold<arith::DivUIOp>(loc, column, size),
        constant(b, loc, atom * type.getShape()[0]));
  }

  Value load(int64_t rows, int64_t columns) {
    auto [part, place] = locate(rows, columns);
    return vector::LoadOp::create(b, loc, getType(), part, place,
                                  /*nontemporal=*/false, getAlign());
  }
  void store(Value run, int64_t rows, int64_t columns) {
    auto [part, place] = locate(rows, columns);
    vector::StoreOp::create(b, loc, run, part, place, /*nontemporal=*/false,
                            getAlign());
  }

private:
  VectorType getType() const {
    return VectorType::get(kRun, type.getElementType());
  }
  llvm::MaybeAlign getAlign() const {
    return llvm::MaybeAlign(kRun *
                            type.getElementType().getIntOrFloatBitWidth() / 8);
  }

  std::pair<Value, Value> locate(int64_t rows, int64_t columns) {
    tile::SwizzleAttr swizzle = type.getSwizzle();
    int64_t atom = swizzle.getSwizzleAtom(),
            period = int64_t(1) << (swizzle.getBits() + swizzle.getShift());
    SplitIndex position =
        sharedPosition(b, loc, swizzle, atom, {row, rows % period},
                       {inAtom, columns % atom, bits});
    position.constant += rows / period * period * atom +
                         columns / atom * atom * type.getShape()[0];
    Value &part = parts[{rows % period, columns % atom}];
    // What differs between lanes is added to the place of the slot, which
    // differs between elements: else it would be kept with each constant.
    if (!part) {
      if (ofAtom)
        position.dynamic =
            b.createOrFold<arith::AddIOp>(loc, position.dynamic, ofAtom);
      part = memref::SubViewOp::create(
          b, loc, buffer, OpFoldResult(position.dynamic),
          OpFoldResult(
              b.getIndexAttr(ShapedType::getNumElements(type.getShape()))),
          OpFoldResult(b.getIndexAttr(1)));
    }
    return {part, constant(b, loc, position.constant)};
  }

  OpBuilder &b;
  Location loc;
  tile::TileType type;
  Value buffer, row, inAtom, ofAtom;
  /// That the column inside of its atom may have set.
  uint64_t bits;
  /// The buffer from where a lane has its first run on, by what the swizzle
  /// makes of constants.
  std::map<std::pair<int64_t, int64_t>, Value> parts;
};

/// Rows and columns of a run from that of a lane on.
struct Unit {
  int64_t row, column;
};
} // namespace

void attune::widenRows(OpBuilder &b, Location loc, const KernelContext &context,
                       const WideRows &request) {
  ArrayRef<int64_t> shape = request.sourceTile.getShape();
  int64_t lanes = context.target.getLanes(), runs = shape[1] / kRun,
          lanesOfRow = std::gcd(runs, lanes), rowsOfWarp = lanes / lanesOfRow,
          warps = std::gcd(shape[0] / rowsOfWarp, request.warps);
  Value lane = laneNumber(b, loc, context), warp = warpNumber(b, loc, context);
  OpBuilder::InsertionGuard guard(b);
  if (warps < request.warps) {
    Value isThere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                          warp, constant(b, loc, warps));
    auto branch = scf::IfOp::create(b, loc, isThere, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
  }
  Value ofRow = constant(b, loc, lanesOfRow);
  Value row = b.createOrFold<arith::AddIOp>(
      loc,
      b.createOrFold<arith::MulIOp>(loc, warp, constant(b, loc, rowsOfWarp)),
      b.createOrFold<arith::DivUIOp>(loc, lane, ofRow));
  Value column = b.createOrFold<arith::MulIOp>(
      loc, b.createOrFold<arith::RemUIOp>(loc, lane, ofRow),
      constant(b, loc, kRun));
  LanePlaces source(b, loc, request.sourceTile, request.source, row, column,
                    lanesOfRow),
      destination(b, loc, request.destinationTile, request.destination, row,
                  column, lanesOfRow);

  SmallVector<Unit> units;
  for (int64_t down = 0; down < shape[0]; down += warps * rowsOfWarp)
    for (int64_t across = 0; across < shape[1]; across += lanesOfRow * kRun)
      units.push_back({down, across});
  auto write = [&](Unit unit, Value run) {
    Type to = request.destinationTile.getElementType();
    if (!request.isPacked)
      return destination.store(tile::widen(b, loc, run, to), unit.row,
                               unit.column);
    for (bool upper : {false, true})
      destination.store(
          tile::widen(b, loc, tile::unpack(b, loc, run, upper), to), unit.row,
          unit.column + (upper ? shape[1] : 0));
  };
  // So many are read before the ones of the last time are written: no assembler
  // knows that what is written is not read.
  constexpr size_t kAhead = 4;
  SmallVector<std::pair<Unit, Value>> last;
  for (size_t first = 0; first < units.size(); first += kAhead) {
    SmallVector<std::pair<Unit, Value>> read;
    for (Unit unit :
         ArrayRef(units).slice(first, std::min(kAhead, units.size() - first)))
      read.emplace_back(unit, source.load(unit.row, unit.column));
    for (auto [unit, run] : last)
      write(unit, run);
    last = std::move(read);
  }
  for (auto [unit, run] : last)
    write(unit, run);
}
