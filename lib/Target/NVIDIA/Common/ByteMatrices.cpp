// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ldmatrix moves pairs of bytes. What lies by columns of the operand, four
// neighbours along the sum in a lane, comes as it is; of rows, the transpose
// has two columns of two rows in a word (PTX ISA, "ldmatrix"). Of these, every
// other byte is one of a pair of f16 whose bits are masked, for an integer in
// the lowest bits of an f16 is itself in units of its least subnormal, 2^-24,
// by which matrix instructions multiply as by any other number (Fasi et al.,
// "Numerical behavior of NVIDIA tensor cores", 2021).

#include "ByteMatrices.h"
#include "Baseline.h"
#include "SharedPointer.h"
#include "attune/Target/SharedAddress.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attune;
using tile::LayoutAttr;
using tile::Mode;

using nvidia::BaselineTarget;

/// Rows of a matrix, bytes of its rows, and bytes of a word.
static constexpr int64_t kRows = 8, kRowBytes = 16, kWord = 4;
/// Two matrices are 16 columns by 16 neighbours along the sum: of two
/// columns, a lane has a word each.
static constexpr int64_t kMatricesOfUnit = 2, kUnit = kWord * kMatricesOfUnit;

/// Whether bytes lie by rows of the right operand, so that ldmatrix transposes
/// pairs of them; nothing if it cannot read them.
static std::optional<bool> matchBytes(const SharedRead &read) {
  ArrayRef<Mode> registers = read.layout.getRegisters(),
                 lanes = read.layout.getLanes();
  if (cast<MemRefType>(read.buffer.getType()).getElementTypeBitWidth() != 8 ||
      registers.size() < 2 || lanes.size() != 2)
    return std::nullopt;
  auto along = static_cast<unsigned>(registers.front().dim), across = 1 - along;
  SmallVector<Mode> ownWanted{{kWord, along, 1}, {kMatricesOfUnit, across, 1}},
      lanesWanted{{4, along, kWord}, {kRows, across, kMatricesOfUnit}};
  if (registers.take_front(2) != ArrayRef<Mode>(ownWanted) ||
      lanes != ArrayRef<Mode>(lanesWanted) ||
      read.columnOffset % kRowBytes != 0 ||
      read.swizzle.getVector() % kRowBytes != 0)
    return std::nullopt;
  for (const Mode &mode : registers.drop_front(2))
    if (mode.dim == 1 && mode.stride % kRowBytes != 0)
      return std::nullopt;
  return along == 0;
}

namespace {
/// Reads one or two units by an instruction, whose lanes give the rows of its
/// matrices: row r of matrix j of a unit is row 2 r + j of that.
class MatrixReader {
public:
  MatrixReader(OpBuilder &b, Location loc, const SharedRead &read,
               bool transposes)
      : b(b), loc(loc), read(read), transposes(transposes),
        flat(flattenBuffer(b, loc, read.buffer)) {
    Value inMatrix =
              b.createOrFold<arith::RemUIOp>(loc, read.lane, constant(kRows)),
          matrix =
              b.createOrFold<arith::DivUIOp>(loc, read.lane, constant(kRows));
    row = add(
        multiply(inMatrix, kMatricesOfUnit),
        b.createOrFold<arith::RemUIOp>(loc, matrix, constant(kMatricesOfUnit)));
    row = add(row, read.row);
    unit =
        b.createOrFold<arith::DivUIOp>(loc, matrix, constant(kMatricesOfUnit));
  }

  /// The words of the units that start there.
  SmallVector<Value, 4> readUnits(ArrayRef<SmallVector<int64_t, 2>> starts) {
    ArrayRef<int64_t> first = starts.front();
    SplitIndex ofRow{row, read.rowOffset + first[0]},
        ofColumn{read.column, read.columnOffset + first[1],
                 read.column ? ~uint64_t(0) : 0};
    if (starts.size() > 1) {
      int64_t down = starts[1][0] - first[0], right = starts[1][1] - first[1];
      ofRow.dynamic = add(ofRow.dynamic, multiply(unit, down));
      ofColumn.dynamic = add(multiply(unit, right), ofColumn.dynamic);
      ofColumn.possibleBits |= static_cast<uint64_t>(right);
    }
    int64_t columns = cast<MemRefType>(read.buffer.getType()).getDimSize(1);
    Value index = sharedPosition(b, loc, read.swizzle, columns, ofRow, ofColumn)
                      .materialize(b, loc);
    auto count = static_cast<int>(starts.size() * kMatricesOfUnit);
    SmallVector<Type> types(count, b.getI32Type());
    auto shape = NVVM::LdStMatrixShapeAttr::get(b.getContext(), kRows, kRows);
    Value matrices = NVVM::LdMatrixOp::create(
        b, loc, LLVM::LLVMStructType::getLiteral(b.getContext(), types),
        nvidia::sharedPointer(b, loc, flat, index), count,
        transposes ? NVVM::MMALayout::col : NVVM::MMALayout::row, shape,
        NVVM::LdStMatrixEltType::B16);
    SmallVector<Value, 4> words;
    for (int i = 0; i < count; ++i)
      words.push_back(LLVM::ExtractValueOp::create(b, loc, matrices, i));
    return words;
  }

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value multiply(Value value, int64_t factor) {
    return b.createOrFold<arith::MulIOp>(loc, value, constant(factor));
  }
  Value add(Value left, Value right) {
    return right ? b.createOrFold<arith::AddIOp>(loc, left, right) : left;
  }

  OpBuilder &b;
  Location loc;
  const SharedRead &read;
  bool transposes;
  Value flat, row, unit;
};
} // namespace

static Value permute(OpBuilder &b, Location loc, Value low, Value high,
                     int64_t selector) {
  return NVVM::PermuteOp::create(b, loc, b.getI32Type(), low, high,
                                 nvidia::constantI32(b, loc, selector),
                                 NVVM::PermuteMode::DEFAULT);
}

Value nvidia::readByteMatrices(OpBuilder &b, Location loc,
                               const SharedRead &read) {
  std::optional<bool> transposes = matchBytes(read);
  if (!transposes)
    return {};
  MatrixReader reader(b, loc, read, *transposes);
  SmallVector<SmallVector<int64_t, 2>> starts;
  for (int64_t reg = 0; reg < read.layout.getNumRegisters(); reg += kUnit)
    starts.push_back(read.layout.getRegisterCoordinates(reg, 2));
  SmallVector<Value> words;
  for (size_t i = 0; i < starts.size(); i += 2)
    llvm::append_range(words, reader.readUnits(ArrayRef(starts).slice(
                                  i, std::min<size_t>(2, starts.size() - i))));
  // Of rows 0 and 2, and 1 and 3, two columns each.
  if (*transposes)
    for (size_t i = 0; i < words.size(); i += 2) {
      Value even = words[i], odd = words[i + 1];
      words[i] = permute(b, loc, even, odd, 0x6240);
      words[i + 1] = permute(b, loc, even, odd, 0x7351);
    }
  auto type =
      VectorType::get(static_cast<int64_t>(words.size()), b.getI32Type());
  return vector::BitCastOp::create(
      b, loc,
      VectorType::get(read.layout.getNumRegisters(),
                      cast<MemRefType>(read.buffer.getType()).getElementType()),
      vector::FromElementsOp::create(b, loc, type, words));
}

/// A word of a vector of bytes, as it came there if that can be seen.
static Value getWord(OpBuilder &b, Location loc, Value bytes, int64_t number) {
  Value from = bytes;
  int64_t place = number;
  if (auto slice = from.getDefiningOp<vector::ExtractStridedSliceOp>()) {
    int64_t first = cast<IntegerAttr>(slice.getOffsets()[0]).getInt();
    if (first % kWord == 0) {
      place += first / kWord;
      from = slice.getSource();
    }
  }
  if (auto cast = from.getDefiningOp<vector::BitCastOp>())
    if (auto words = cast.getSource().getDefiningOp<vector::FromElementsOp>();
        words && getElementTypeOrSelf(words.getType()).isInteger(32))
      return words.getElements()[place];
  int64_t count = cast<VectorType>(bytes.getType()).getNumElements() / kWord;
  Value words = vector::BitCastOp::create(
      b, loc, VectorType::get(count, b.getI32Type()), bytes);
  return vector::ExtractOp::create(b, loc, words, number);
}

/// A word whose bytes 0 and 2 are those of another one, or bytes 1 and 3, if
/// `isOdd`.
static Value getEveryOther(OpBuilder &b, Location loc, Value word, bool isOdd) {
  unsigned first = isOdd ? 1 : 0;
  APInt selector;
  if (auto moved = word.getDefiningOp<NVVM::PermuteOp>();
      moved && matchPattern(moved.getSelector(), m_ConstantInt(&selector))) {
    auto getSource = [&](unsigned byte) {
      return static_cast<unsigned>(
          selector.extractBitsAsZExtValue(4, 4 * byte));
    };
    // Where they are every other byte of an operand as well.
    if (unsigned place = getSource(first);
        getSource(first + 2) == place + 2 && place % kWord < 2) {
      word = place < kWord ? moved.getLo() : moved.getHi();
      first = place % kWord;
    }
  }
  constexpr int64_t kByteBits = 8;
  return first ? arith::ShRUIOp::create(b, loc, word,
                                        nvidia::constantI32(b, loc, kByteBits))
                     .getResult()
               : word;
}

Value BaselineTarget::emitNaturals(OpBuilder &b, Location loc, Value bytes,
                                   bool upper, int64_t exponent,
                                   Type type) const {
  constexpr int64_t kLeast = -24, kBits = 4;
  auto vector = dyn_cast<VectorType>(bytes.getType());
  if (!vector || vector.getNumElements() % kWord != 0 || !type.isF16() ||
      exponent != kLeast + (upper ? kBits : 0))
    return TargetModel::emitNaturals(b, loc, bytes, upper, exponent, type);
  Value mask = constantI32(b, loc, upper ? 0x00f000f0 : 0x000f000f),
        sign = constantI32(b, loc, upper ? 0x00800080 : 0x00080008);
  int64_t count = vector.getNumElements();
  SmallVector<Value> pairs;
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < count / kWord; ++i) {
    Value word = getWord(b, loc, bytes, i);
    for (bool isOdd : {false, true}) {
      Value part = arith::AndIOp::create(
          b, loc, getEveryOther(b, loc, word, isOdd), mask);
      pairs.push_back(arith::XOrIOp::create(b, loc, part, sign));
    }
    for (int64_t place : {0, 2, 1, 3})
      order.push_back(i * kWord + place);
  }
  Value halves = vector::BitCastOp::create(
      b, loc, VectorType::get(count, type),
      vector::FromElementsOp::create(
          b, loc, VectorType::get(count / 2, b.getI32Type()), pairs));
  return vector::ShuffleOp::create(b, loc, halves, halves, order);
}
