// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits wgmma as NVVM ops and ops of the wgmma dialect. PTX ISA 8.0 and later,
// "Asynchronous warpgroup level matrix instructions".

#include "WarpgroupMatrixUnit.h"
#include "../Common/SharedPointer.h"
#include "attune/Dialect/WGMMA/IR/WGMMA.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;
using namespace attune::nvidia;

static constexpr int64_t kMostColumns = 256;

static Value constantI64(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, 64);
}

namespace {

/// An operand in shared memory, as the instruction's descriptor says it.
/// Matrices are stored in swizzle atoms, whose rows of 32, 64 or 128 bytes are
/// permuted in groups of eight.
class SharedOperand {
public:
  /// `first` is the row, or of a transposed one the column, at which the part
  /// of this warpgroup starts; null for 0. Swizzle atoms do not straddle the
  /// parts. With `stays`, nothing of it is computed ahead of where it is read.
  SharedOperand(OpBuilder &b, Location loc, Value buffer, tile::TileType tile,
                bool transposed, Value first, bool stays = false)
      : b(b), loc(loc) {
    auto swizzle = cast<tile::SwizzleAttr>(tile.getLayout());
    int64_t elementBytes = tile.getElementType().getIntOrFloatBitWidth() / 8;
    atomColumns = swizzle.getSwizzleAtom();
    rowBytes = atomColumns * elementBytes;
    atomBytes = tile.getShape()[0] * rowBytes;
    // Swizzle atoms follow each other, each with all rows.
    int64_t distance = transposed ? tile.getShape()[0] : atomColumns;
    Value offset = first ? b.createOrFold<arith::MulIOp>(
                               loc, first,
                               arith::ConstantIndexOp::create(b, loc, distance))
                         : Value();
    Value address = toI32(b, loc, sharedAddress(b, loc, buffer, offset));
    if (stays)
      address = reduceToUniform(b, loc, address);
    // Addresses in descriptors have 18 bits, in units of 16 bytes.
    Value low =
        arith::AndIOp::create(b, loc, address, constantI32(b, loc, 0x3FFFF));
    units = arith::ShRUIOp::create(b, loc, low, constantI32(b, loc, 4));
    // Distance of groups of eight rows, and of swizzle atoms along the columns
    // of a transposed operand; the other form ignores the latter.
    int64_t rowGroups = 8 * rowBytes, atoms = transposed ? atomBytes : 16;
    int64_t mode = rowBytes == 128 ? 1 : rowBytes == 64 ? 2 : 3;
    lowFields = atoms >> 4 << 16;
    highFields = static_cast<int64_t>(
        static_cast<uint64_t>(rowGroups >> 4 | mode << 30) << 32);
  }

  /// The descriptor of the TMA box that starts at the given row and column. Its
  /// upper half is constant, and sums stay in the lower one: an instruction
  /// less than adding 64 bits, for each MMA.
  Value at(int64_t row, int64_t column) const {
    int64_t bytes = column / atomColumns * atomBytes + row * rowBytes +
                    column % atomColumns * (rowBytes / atomColumns);
    Value low = arith::AddIOp::create(
        b, loc, units, constantI32(b, loc, lowFields + (bytes >> 4)));
    return arith::OrIOp::create(
        b, loc, arith::ExtUIOp::create(b, loc, b.getI64Type(), low),
        constantI64(b, loc, highFields));
  }

private:
  OpBuilder &b;
  Location loc;
  int64_t atomColumns, rowBytes, atomBytes;
  /// Where the operand starts, in units of 16 bytes.
  Value units;
  /// Fields of the descriptor beside the address.
  int64_t lowFields, highFields;
};

} // namespace

/// The struct of scalars that instructions take, of `count` elements of a
/// vector, and back.
static Value toStruct(OpBuilder &b, Location loc, Value vector, int64_t first,
                      int64_t count) {
  SmallVector<Type> types(count, b.getF32Type());
  Value result = LLVM::PoisonOp::create(
      b, loc, LLVM::LLVMStructType::getLiteral(b.getContext(), types));
  for (int64_t i = 0; i < count; ++i)
    result = LLVM::InsertValueOp::create(
        b, loc, result, vector::ExtractOp::create(b, loc, vector, first + i),
        i);
  return result;
}

static void appendElements(OpBuilder &b, Location loc, Value structure,
                           SmallVectorImpl<Value> &elements) {
  auto type = cast<LLVM::LLVMStructType>(structure.getType());
  for (int64_t i = 0, e = type.getBody().size(); i < e; ++i)
    elements.push_back(LLVM::ExtractValueOp::create(b, loc, structure, i));
}

/// Where the rows, or the columns, of this warpgroup start, if not at 0. There
/// are `extent` of them.
static Value getStart(OpBuilder &b, Location loc, const WarpgroupMma &mma,
                      bool isColumn, int64_t extent) {
  int64_t count = isColumn ? mma.groupsN : mma.groupsM;
  if (count == 1)
    return {};
  Value group = mma.group;
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value).getResult();
  };
  if (isColumn && mma.groupsM > 1)
    group = b.createOrFold<arith::DivUIOp>(loc, group, constant(mma.groupsM));
  else if (!isColumn && mma.groupsN > 1)
    group = b.createOrFold<arith::RemUIOp>(loc, group, constant(mma.groupsM));
  return b.createOrFold<arith::MulIOp>(loc, group, constant(extent));
}

static NVVM::WGMMATypes getInputType(Type type) {
  return type.isBF16()               ? NVVM::WGMMATypes::bf16
         : type.isF16()              ? NVVM::WGMMATypes::f16
         : isa<Float8E5M2Type>(type) ? NVVM::WGMMATypes::e5m2
                                     : NVVM::WGMMATypes::e4m3;
}

Value WarpgroupMatrixUnit::issue(OpBuilder &b, Location loc,
                                 const WarpgroupMma &mma) const {
  tile::MmaAtomAttr atom = mma.atom;
  NVVM::WGMMATypes inputType = getInputType(atom.getLhsType());
  ArrayRef<int64_t> lhsShape = mma.lhsTile.getShape(),
                    rhsShape = mma.rhsTile.getShape();
  int64_t rowsOfGroup = lhsShape[mma.transposeLhs ? 1 : 0] / mma.groupsM,
          depth = lhsShape[mma.transposeLhs ? 0 : 1],
          columns = rhsShape[mma.transposeRhs ? 0 : 1] / mma.groupsN;
  int64_t mSteps = rowsOfGroup / atom.getM(), kSteps = depth / atom.getK(),
          first = mma.firstTerm / atom.getK();
  // Registers of one column of a lane: two rows of four lanes.
  int64_t perRowStep = columns / 2;

  std::optional<SharedOperand> lhs;
  if (mma.lhsTile.isShared())
    lhs.emplace(b, loc, mma.lhs, mma.lhsTile, mma.transposeLhs,
                getStart(b, loc, mma, /*isColumn=*/false, rowsOfGroup),
                mma.computesPlaces);
  SharedOperand rhs(b, loc, mma.rhs, mma.rhsTile, !mma.transposeRhs,
                    getStart(b, loc, mma, /*isColumn=*/true, columns),
                    mma.computesPlaces);

  NVVM::WgmmaFenceAlignedOp::create(b, loc);
  SmallVector<Value> elements;
  for (int64_t m = 0; m < mSteps; ++m)
    for (int64_t column = 0; column < columns; column += kMostColumns) {
      int64_t width = std::min(kMostColumns, columns - column);
      auto shape = NVVM::MMAShapeAttr::get(b.getContext(), atom.getM(), width,
                                           atom.getK());
      SmallVector<Type> types(width / 2, b.getF32Type());
      auto structType = LLVM::LLVMStructType::getLiteral(b.getContext(), types);
      Value acc = mma.startsAtZero
                      ? LLVM::PoisonOp::create(b, loc, structType).getResult()
                      : toStruct(b, loc, mma.acc, m * perRowStep + column / 2,
                                 width / 2);
      for (int64_t k = first; k < mma.endTerm / atom.getK(); ++k) {
        auto scale = k == first && mma.startsAtZero ? NVVM::WGMMAScaleOut::zero
                                                    : NVVM::WGMMAScaleOut::one;
        Value right = mma.transposeRhs ? rhs.at(column, k * atom.getK())
                                       : rhs.at(k * atom.getK(), column);
        auto rightLayout =
            mma.transposeRhs ? NVVM::MMALayout::col : NVVM::MMALayout::row;
        if (lhs) {
          int64_t row = m * atom.getM(), depthStep = k * atom.getK();
          Value left = mma.transposeLhs ? lhs->at(depthStep, row)
                                        : lhs->at(row, depthStep);
          auto leftLayout =
              mma.transposeLhs ? NVVM::MMALayout::col : NVVM::MMALayout::row;
          acc = NVVM::WgmmaMmaAsyncOp::create(
              b, loc, structType, acc, left, right, shape, inputType, inputType,
              NVVM::WGMMATypes::f32, scale, NVVM::WGMMAScaleIn::one,
              NVVM::WGMMAScaleIn::one, leftLayout, rightLayout,
              NVVM::MMAIntOverflowAttr());
          continue;
        }
        int64_t size = atom.getLhs().getNumRegisters(),
                perWord = 32 / atom.getLhsType().getIntOrFloatBitWidth();
        Value step = vector::ExtractStridedSliceOp::create(
            b, loc, mma.lhs, ArrayRef<int64_t>{(m * kSteps + k) * size},
            ArrayRef<int64_t>{size}, ArrayRef<int64_t>{1});
        Value words = vector::BitCastOp::create(
            b, loc, VectorType::get(size / perWord, b.getI32Type()), step);
        SmallVector<Value> left;
        for (int64_t i = 0; i < size / perWord; ++i)
          left.push_back(vector::ExtractOp::create(b, loc, words, i));
        acc = wgmma::MmaAsyncOp::create(b, loc, left, right, acc, shape,
                                        inputType, scale, rightLayout);
      }
      appendElements(b, loc, acc, elements);
    }
  NVVM::WgmmaGroupSyncAlignedOp::create(b, loc);
  return vector::FromElementsOp::create(b, loc, mma.acc.getType(), elements);
}

Value WarpgroupMatrixUnit::wait(OpBuilder &b, Location loc, Value result,
                                int64_t later) const {
  int64_t count = cast<VectorType>(result.getType()).getNumElements();
  Value registers = toStruct(b, loc, result, 0, count);
  auto wait = wgmma::WaitGroupOp::create(b, loc, static_cast<int32_t>(later),
                                         ValueRange{registers});
  SmallVector<Value> elements;
  appendElements(b, loc, wait.getResult(0), elements);
  return vector::FromElementsOp::create(b, loc, result.getType(), elements);
}

void WarpgroupMatrixUnit::waitReads(OpBuilder &b, Location loc,
                                    int64_t later) const {
  wgmma::WaitGroupOp::create(b, loc, static_cast<int32_t>(later), ValueRange());
}
