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
/// Addresses of a thread in a tile: those of one differ from each other by
/// constants, of which the ones within a swizzle atom are not added.
struct Side {
  tile::TileType tile;
  Value first;
};

/// What a warp transposes at once, so many rows and columns of the source from
/// the first one.
struct Unit {
  int64_t row, column;
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
  /// That of this row and column.
  Side getSide(Value buffer, tile::TileType type, Value row, Value column);
  /// A pointer so many rows and columns further, which share no bit with the
  /// ones of the thread.
  Value locate(const Side &side, int64_t row, int64_t column);
  void addSource();
  void addDestination();
  /// Reads all of these before one is written: no assembler knows that what is
  /// written is not read.
  void transposeUnits(ArrayRef<Unit> units);

  /// What is transposed in `columns` columns from `column` on, in pairs of
  /// units that are read at once.
  SmallVector<SmallVector<Unit, 2>> getPairs(int64_t column, int64_t columns);
  /// Goes on in a branch of the warps whose numbers compare so to this one.
  void enterBranch(arith::CmpIPredicate predicate, int64_t number);
  void shareByBits();
  void shareByBranches();

  OpBuilder &b;
  Location loc;
  const SharedTranspose &request;
  /// The first column of the warp.
  Value first;
  Side source, destination;
  /// Bytes of rows that differ in the last bit, for lanes whose matrix takes
  /// the even one first.
  Value selectors[2];
};
} // namespace

Transposer::Transposer(OpBuilder &b, Location loc,
                       const SharedTranspose &request)
    : b(b), loc(loc), request(request) {}

Side Transposer::getSide(Value buffer, tile::TileType type, Value row,
                         Value column) {
  tile::SwizzleAttr swizzle = type.getSwizzle();
  int64_t atom = swizzle.getSwizzleAtom();
  Value position = sharedPosition(b, loc, swizzle, atom, {row, 0},
                                  {remainder(column, atom), 0})
                       .materialize(b, loc);
  Value ofAtom = multiply(divide(column, atom), atom * type.getShape()[0]);
  return {type, sharedAddress(b, loc, buffer, add(position, ofAtom))};
}

Value Transposer::locate(const Side &side, int64_t row, int64_t column) {
  int64_t atom = side.tile.getSwizzle().getSwizzleAtom();
  // Behind the place of the slot, which differs between elements: what is added
  // to it would be kept for each unit.
  Value address =
      b.createOrFold<arith::XOrIOp>(loc, side.first, constant(column % atom));
  address =
      add(address, constant(column / atom * atom * side.tile.getShape()[0] +
                            row * atom));
  address = b.createOrFold<arith::IndexCastOp>(loc, b.getI64Type(), address);
  return LLVM::IntToPtrOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), kSharedSpace),
      address);
}

void Transposer::addSource() {
  Value row = request.lane;
  if (!request.destinationTile.getSwizzle().getPaired()) {
    // Of two matrices, the lanes give rows 0, 1, 4, 5 and so on, and 2, 3, 6,
    // 7.
    Value inMatrix = remainder(row, kSize), matrix = divide(row, kSize);
    Value ofPair =
        add(multiply(divide(inMatrix, 2), 4), remainder(inMatrix, 2));
    Value ofMatrix = add(multiply(divide(matrix, 2), 2 * kSize),
                         multiply(remainder(matrix, 2), 2));
    row = add(ofPair, ofMatrix);
  }
  source = getSide(request.source, request.sourceTile, row, first);
}

void Transposer::addDestination() {
  Value lane = request.lane, inMatrix = remainder(lane, kSize),
        matrix = divide(lane, kSize);
  // A matrix has even rows first and then odd ones, or the other way round, so
  // that its eight rows fall on all banks.
  Value isLater = divide(inMatrix, kSize / 2),
        isOdd =
            b.createOrFold<arith::XOrIOp>(loc, remainder(matrix, 2), isLater);
  Value row = add(multiply(inMatrix, 2), isOdd);
  destination = getSide(request.destination, request.destinationTile,
                        add(first, row), multiply(divide(matrix, 2), kColumns));
  constexpr int64_t kEven = 0x6420, kOdd = 0x7531;
  Value holdsLater = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge,
                                           lane, constant(4 * kSize / 2));
  Value even = constantI32(b, loc, kEven), odd = constantI32(b, loc, kOdd);
  selectors[0] = arith::SelectOp::create(b, loc, holdsLater, odd, even);
  selectors[1] = arith::SelectOp::create(b, loc, holdsLater, even, odd);
}

void Transposer::transposeUnits(ArrayRef<Unit> units) {
  auto shape = NVVM::LdStMatrixShapeAttr::get(b.getContext(), kSize, kSize);
  constexpr int kMatrices = 4;
  SmallVector<Type> types(kMatrices, b.getI32Type());
  SmallVector<Value> read;
  for (Unit unit : units)
    read.push_back(NVVM::LdMatrixOp::create(
        b, loc, LLVM::LLVMStructType::getLiteral(b.getContext(), types),
        locate(source, unit.row, unit.column), kMatrices, NVVM::MMALayout::col,
        shape, NVVM::LdStMatrixEltType::B16));
  for (auto [unit, matrices] : llvm::zip_equal(units, read)) {
    SmallVector<Value> pairs, words;
    for (int i = 0; i < kMatrices; ++i)
      pairs.push_back(LLVM::ExtractValueOp::create(b, loc, matrices, i));
    // Two pairs of rows, of two columns, are four rows of each of the two.
    for (int i = 0; i < kMatrices; ++i)
      words.push_back(NVVM::PermuteOp::create(
          b, loc, b.getI32Type(), pairs[i / 2 * 2], pairs[i / 2 * 2 + 1],
          selectors[i % 2], NVVM::PermuteMode::DEFAULT));
    NVVM::StMatrixOp::create(b, loc, locate(destination, unit.column, unit.row),
                             words, NVVM::MMALayout::row, shape,
                             NVVM::LdStMatrixEltType::B16);
  }
}

SmallVector<SmallVector<Unit, 2>> Transposer::getPairs(int64_t column,
                                                       int64_t columns) {
  int64_t rows = request.sourceTile.getShape()[0];
  SmallVector<SmallVector<Unit, 2>> pairs;
  for (int64_t end = column + columns; column < end; column += kColumns)
    for (int64_t row = 0; row < rows; row += 2 * kRows) {
      pairs.push_back({{row, column}});
      if (row + kRows < rows)
        pairs.back().push_back({row + kRows, column});
    }
  return pairs;
}

void Transposer::enterBranch(arith::CmpIPredicate predicate, int64_t number) {
  Value isOwn =
      arith::CmpIOp::create(b, loc, predicate, request.warp, constant(number));
  auto branch = scf::IfOp::create(b, loc, isOwn, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
}

/// A power of two of warps, whose numbers are bits of columns.
void Transposer::shareByBits() {
  int64_t columns = request.sourceTile.getShape()[1] / kColumns;
  OpBuilder::InsertionGuard restore(b);
  for (int64_t column = 0; column < columns; column += request.warps) {
    // The last ones may be of some of the warps.
    if (columns - column < request.warps)
      enterBranch(arith::CmpIPredicate::ult, columns - column);
    for (const auto &pair : getPairs(column * kColumns, kColumns))
      transposeUnits(pair);
  }
}

/// Of other numbers, each warp has a branch of its own: so places are
/// constants, and no warp has more than a pair more than another.
void Transposer::shareByBranches() {
  auto pairs = getPairs(0, request.sourceTile.getShape()[1]);
  for (int64_t warp = 0; warp < request.warps; ++warp) {
    OpBuilder::InsertionGuard restore(b);
    enterBranch(arith::CmpIPredicate::eq, warp);
    auto getStart = [&](int64_t number) {
      return pairs.size() * number / request.warps;
    };
    for (size_t i = getStart(warp); i < getStart(warp + 1); ++i)
      transposeUnits(pairs[i]);
  }
}

void Transposer::run() {
  bool areBits = llvm::isPowerOf2_64(request.warps);
  first = areBits ? multiply(request.warp, kColumns) : constant(0);
  addSource();
  addDestination();
  if (areBits)
    shareByBits();
  else
    shareByBranches();
}

void WarpgroupMatrixUnit::transpose(OpBuilder &b, Location loc,
                                    const SharedTranspose &request) const {
  Transposer(b, loc, request).run();
}
