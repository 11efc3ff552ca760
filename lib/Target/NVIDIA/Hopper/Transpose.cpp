// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of bytes to columns, by which alone wgmma multiplies them.
// ldmatrix.trans moves pairs of them to the lanes that stmatrix takes them
// from; these are taken apart on the way (PTX ISA, "ldmatrix", "prmt",
// "stmatrix").

#include "../Common/SharedPointer.h"
#include "WarpgroupMatrixUnit.h"
#include "attune/Target/SharedAddress.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attune;
using namespace attune::nvidia;

/// What a warp transposes at once: four matrices of eight rows of 16 bytes.
static constexpr int64_t kRows = 32, kColumns = 16;
/// Of a matrix.
static constexpr int64_t kSize = 8;

namespace {
/// A place along a dimension: less than `extent` that differs between lanes,
/// null for 0, and a constant.
struct Place {
  Value dynamic;
  int64_t extent = 1, constant = 0;
};

class Transposer {
public:
  Transposer(OpBuilder &b, Location loc, const SharedTranspose &request);
  void run();

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value add(Value left, Value right) {
    return b.createOrFold<arith::AddIOp>(loc, left, right);
  }
  Value multiply(Value value, int64_t factor) {
    return b.createOrFold<arith::MulIOp>(loc, value, constant(factor));
  }
  Value divide(Value value, int64_t divisor) {
    return b.createOrFold<arith::DivUIOp>(loc, value, constant(divisor));
  }
  Value remainder(Value value, int64_t divisor) {
    return b.createOrFold<arith::RemUIOp>(loc, value, constant(divisor));
  }
  /// The element at a row and a column of a tile in swizzle atoms.
  Value locate(tile::TileType type, const Place &row, const Place &column);
  /// Which rows of the source the lanes give the addresses of.
  Value getRowOfLane();
  /// The unit of these rows and columns of the source, whose places count
  /// units.
  void transposeUnit(const Place &rows, const Place &columns);

  OpBuilder &b;
  Location loc;
  const SharedTranspose &request;
  /// The row of a unit of the source, and the row and the column of one of the
  /// destination, that the lane gives.
  Value sourceRow, row, column;
  /// Bytes of rows that differ in the last bit, for lanes whose matrix takes
  /// the even one first.
  Value selectors[2];
};
} // namespace

Transposer::Transposer(OpBuilder &b, Location loc,
                       const SharedTranspose &request)
    : b(b), loc(loc), request(request) {
  Value lane = request.lane, inMatrix = remainder(lane, kSize),
        matrix = divide(lane, kSize);
  sourceRow = getRowOfLane();
  // A matrix has even rows first and then odd ones, or the other way round, so
  // that its eight rows fall on all banks.
  Value isLater = divide(inMatrix, kSize / 2),
        isOdd =
            b.createOrFold<arith::XOrIOp>(loc, remainder(matrix, 2), isLater);
  row = add(multiply(inMatrix, 2), isOdd);
  column = multiply(divide(matrix, 2), kColumns);
  constexpr int64_t kEven = 0x6420, kOdd = 0x7531;
  Value holdsLater = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge,
                                           lane, constant(4 * kSize / 2));
  Value even = constantI32(b, loc, kEven), odd = constantI32(b, loc, kOdd);
  selectors[0] = arith::SelectOp::create(b, loc, holdsLater, odd, even);
  selectors[1] = arith::SelectOp::create(b, loc, holdsLater, even, odd);
}

Value Transposer::getRowOfLane() {
  Value lane = request.lane;
  if (request.destinationTile.getSwizzle().getPaired())
    return lane;
  // Of two matrices, the lanes give rows 0, 1, 4, 5 and so on, and 2, 3, 6, 7.
  Value inMatrix = remainder(lane, kSize), matrix = divide(lane, kSize);
  Value ofPair = add(multiply(divide(inMatrix, 2), 4), remainder(inMatrix, 2));
  Value ofMatrix = add(multiply(divide(matrix, 2), 2 * kSize),
                       multiply(remainder(matrix, 2), 2));
  return add(ofPair, ofMatrix);
}

Value Transposer::locate(tile::TileType type, const Place &row,
                         const Place &column) {
  tile::SwizzleAttr swizzle = type.getSwizzle();
  int64_t atom = swizzle.getSwizzleAtom(), atomSize = type.getShape()[0] * atom;
  SplitIndex ofRow{row.dynamic, row.constant};
  // Lanes that differ are in one swizzle atom where its columns begin with
  // theirs.
  if (column.constant % atom + column.extent <= atom) {
    uint64_t bits = llvm::PowerOf2Ceil(column.extent) - 1;
    SplitIndex position = sharedPosition(
        b, loc, swizzle, atom, ofRow,
        {column.dynamic, column.constant % atom, bits & ~(kColumns - 1)});
    position.constant += column.constant / atom * atomSize;
    return position.materialize(b, loc);
  }
  Value whole = add(column.dynamic, constant(column.constant));
  SplitIndex position =
      sharedPosition(b, loc, swizzle, atom, ofRow, {remainder(whole, atom), 0});
  return add(position.materialize(b, loc),
             multiply(divide(whole, atom), atomSize));
}

void Transposer::transposeUnit(const Place &rows, const Place &columns) {
  auto ofLane = [&](const Place &units, int64_t size, Value own,
                    int64_t extent) {
    Place place{own, extent, units.constant * size};
    if (!units.dynamic)
      return place;
    Value first = multiply(units.dynamic, size);
    place.dynamic = own ? add(first, own) : first;
    place.extent = (units.extent - 1) * size + extent;
    return place;
  };
  Value from = locate(request.sourceTile, ofLane(rows, kRows, sourceRow, kRows),
                      ofLane(columns, kColumns, Value(), kColumns)),
        to = locate(request.destinationTile,
                    ofLane(columns, kColumns, row, kColumns),
                    ofLane(rows, kRows, column, kRows));
  auto shape = NVVM::LdStMatrixShapeAttr::get(b.getContext(), kSize, kSize);
  constexpr int kMatrices = 4;
  SmallVector<Type> types(kMatrices, b.getI32Type());
  Value read = NVVM::LdMatrixOp::create(
      b, loc, LLVM::LLVMStructType::getLiteral(b.getContext(), types),
      sharedPointer(b, loc, request.source, from), kMatrices,
      NVVM::MMALayout::col, shape, NVVM::LdStMatrixEltType::B16);
  SmallVector<Value> pairs, words;
  for (int i = 0; i < kMatrices; ++i)
    pairs.push_back(LLVM::ExtractValueOp::create(b, loc, read, i));
  // Two pairs of rows, of two columns, are four rows of each of the two.
  for (int i = 0; i < kMatrices; ++i)
    words.push_back(NVVM::PermuteOp::create(
        b, loc, b.getI32Type(), pairs[i / 2 * 2], pairs[i / 2 * 2 + 1],
        selectors[i % 2], NVVM::PermuteMode::DEFAULT));
  NVVM::StMatrixOp::create(
      b, loc, sharedPointer(b, loc, request.destination, to), words,
      NVVM::MMALayout::row, shape, NVVM::LdStMatrixEltType::B16);
}

void Transposer::run() {
  int64_t rows = request.sourceTile.getShape()[0] / kRows,
          columns = request.sourceTile.getShape()[1] / kColumns,
          warps = request.warps;
  auto count = static_cast<int64_t>(llvm::divideCeil(rows * columns, warps));
  for (int64_t i = 0; i < count; ++i) {
    // Warps are assigned to columns first.
    if (columns % warps == 0) {
      int64_t turns = columns / warps;
      transposeUnit({Value(), 1, i / turns},
                    {request.warp, warps, i % turns * warps});
      continue;
    }
    Value unit = add(request.warp, constant(i * warps));
    auto transpose = [&] {
      if (warps % columns == 0)
        return transposeUnit({divide(request.warp, columns), warps / columns,
                              i * (warps / columns)},
                             {remainder(request.warp, columns), columns, 0});
      transposeUnit({divide(unit, columns), rows, 0},
                    {remainder(unit, columns), columns, 0});
    };
    if ((i + 1) * warps <= rows * columns) {
      transpose();
      continue;
    }
    Value isThere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                          unit, constant(rows * columns));
    auto guard = scf::IfOp::create(b, loc, isThere, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(guard.thenBlock());
    transpose();
  }
}

void WarpgroupMatrixUnit::transpose(OpBuilder &b, Location loc,
                                    const SharedTranspose &request) const {
  Transposer(b, loc, request).run();
}
