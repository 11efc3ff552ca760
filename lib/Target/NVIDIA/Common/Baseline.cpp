// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits mma.sync, ldmatrix and cp.async.

#include "Baseline.h"
#include "ByteMatrices.h"
#include "SharedPointer.h"
#include "attune/Dialect/Tile/IR/Widening.h"
#include "attune/Target/SharedAddress.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;
using tile::LayoutAttr;
using tile::Mode;

using nvidia::BaselineTarget;

LogicalResult BaselineTarget::populateGPUToLLVM(
    LLVMTypeConverter &converter, RewritePatternSet &patterns,
    ConversionTarget &conversionTarget, tile::TargetAttr target,
    function_ref<InFlightDiagnostic()>) const {
  populateGPUToNVVM(converter, patterns, conversionTarget);
  populateFloat8Conversions(converter, patterns, target.getChip());
  populateInteger8Conversions(converter, patterns);
  return success();
}

bool BaselineTarget::narrowsIndices() const { return true; }

// tanh.approx.f32 (PTX ISA, "tanh").
bool BaselineTarget::hasTanh() const { return true; }

void BaselineTarget::configureKernel(LLVM::LLVMFuncOp kernel, tile::TargetAttr,
                                     int64_t threads,
                                     int64_t workgroupsPerSm) const {
  nvidia::configureKernel(kernel, threads, workgroupsPerSm);
}

void BaselineTarget::configureParameter(LLVM::LLVMFuncOp kernel,
                                        unsigned parameter,
                                        Type argument) const {
  nvidia::configureParameter(kernel, parameter, argument);
}

FailureOr<Binary>
BaselineTarget::serialize(gpu::GPUModuleOp module, tile::TargetAttr target,
                          const BinaryOptions &options) const {
  return nvidia::serialize(module, target.getChip(), options);
}

std::string BaselineTarget::getToolchain(const BinaryOptions &options) const {
  return nvidia::getToolchain(options);
}

/// Splits a vector of 16-bit floats into the 32-bit registers of mma.sync:
/// i32 for bf16 and vector<2xf16> for f16, as the op wants them.
static SmallVector<Value> packedRegisters(OpBuilder &b, Location loc,
                                          Value vector) {
  auto type = cast<VectorType>(vector.getType());
  int64_t count = type.getNumElements() / 2;
  SmallVector<Value> registers;
  if (type.getElementType().isF16()) {
    for (int64_t i = 0; i < count; ++i)
      registers.push_back(vector::ExtractStridedSliceOp::create(
          b, loc, vector, ArrayRef<int64_t>{2 * i}, ArrayRef<int64_t>{2},
          ArrayRef<int64_t>{1}));
    return registers;
  }
  Value words = vector::BitCastOp::create(
      b, loc, VectorType::get(count, b.getI32Type()), vector);
  for (int64_t i = 0; i < count; ++i)
    registers.push_back(vector::ExtractOp::create(b, loc, words, i));
  return registers;
}

static bool hasFloats8(Value vector) {
  return getElementTypeOrSelf(vector).getIntOrFloatBitWidth() == 8;
}

/// mma.sync.m16n8k32, which NVVM has no op for.
static Value emitFloat8Mma(OpBuilder &b, Location loc, Type resultType,
                           Value lhs, Value rhs, ValueRange acc) {
  auto getName = [](Value operand) -> StringRef {
    return isa<Float8E5M2Type>(getElementTypeOrSelf(operand)) ? "e5m2" : "e4m3";
  };
  SmallVector<Value> operands;
  for (Value operand : {lhs, rhs}) {
    int64_t words = cast<VectorType>(operand.getType()).getNumElements() / 4;
    Value cast = vector::BitCastOp::create(
        b, loc, VectorType::get(words, b.getI32Type()), operand);
    for (int64_t i = 0; i < words; ++i)
      operands.push_back(vector::ExtractOp::create(b, loc, cast, i));
  }
  llvm::append_range(operands, acc);
  std::string name = ("llvm.nvvm.mma.m16n8k32.row.col.f32." + getName(lhs) +
                      "." + getName(rhs) + ".f32")
                         .str();
  return LLVM::CallIntrinsicOp::create(b, loc, resultType,
                                       b.getStringAttr(name), operands)
      .getResult(0);
}

/// mma.sync.m16n8k16 of vectors of one type, or m16n8k32 of 8-bit floats.
static Value emitMmaSync(OpBuilder &b, Location loc, Value lhs, Value rhs,
                         Value acc) {
  auto accType = cast<VectorType>(acc.getType());
  SmallVector<Value> accRegisters;
  for (int64_t i = 0; i < accType.getNumElements(); ++i)
    accRegisters.push_back(vector::ExtractOp::create(b, loc, acc, i));
  SmallVector<Type> resultTypes(accType.getNumElements(), b.getF32Type());
  Type resultType =
      LLVM::LLVMStructType::getLiteral(b.getContext(), resultTypes);
  std::optional<std::array<NVVM::MMATypes, 2>> inputTypes;
  if (getElementTypeOrSelf(lhs).isBF16())
    inputTypes = std::array<NVVM::MMATypes, 2>{NVVM::MMATypes::bf16,
                                               NVVM::MMATypes::bf16};
  std::array<NVVM::MMALayout, 2> layouts{NVVM::MMALayout::row,
                                         NVVM::MMALayout::col};
  Value result;
  if (hasFloats8(lhs))
    result = emitFloat8Mma(b, loc, resultType, lhs, rhs, accRegisters);
  else
    result =
        NVVM::MmaOp::create(b, loc, resultType, packedRegisters(b, loc, lhs),
                            packedRegisters(b, loc, rhs), accRegisters,
                            ArrayRef<int64_t>{16, 8, 16},
                            /*b1Op=*/std::nullopt, /*intOverflow=*/std::nullopt,
                            inputTypes, layouts);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < accType.getNumElements(); ++i)
    elements.push_back(LLVM::ExtractValueOp::create(b, loc, result, i));
  return vector::FromElementsOp::create(b, loc, accType, elements);
}

/// Elements of a left operand in this order: of what is rounded, before that,
/// for an instruction rounds two that are neighbours then.
static Value reorder(OpBuilder &b, Location loc, Value lhs,
                     ArrayRef<int64_t> order) {
  Value from = lhs;
  SmallVector<int64_t> places(order);
  auto trace = [&]() -> Value {
    if (auto slice = from.getDefiningOp<vector::ExtractStridedSliceOp>()) {
      int64_t first = cast<IntegerAttr>(slice.getOffsets()[0]).getInt();
      for (int64_t &place : places)
        place += first;
      return slice.getSource();
    }
    auto shuffle = from.getDefiningOp<vector::ShuffleOp>();
    if (!shuffle || shuffle.getV1() != shuffle.getV2())
      return {};
    int64_t size = shuffle.getV1VectorType().getNumElements();
    for (int64_t &place : places)
      place = shuffle.getMask()[place] % size;
    return shuffle.getV1();
  };
  while (Value before = trace())
    from = before;
  auto rounded = from.getDefiningOp<arith::TruncFOp>();
  if (!rounded)
    return vector::ShuffleOp::create(b, loc, lhs, lhs, order);
  Value exact = vector::ShuffleOp::create(b, loc, rounded.getIn(),
                                          rounded.getIn(), places);
  auto result = cast<arith::TruncFOp>(b.clone(*rounded));
  result.getInMutable().assign(exact);
  result.getOut().setType(cast<VectorType>(lhs.getType()));
  return result;
}

/// Whether all elements are the same number.
static bool isSplat(Value vector) {
  while (auto slice = vector.getDefiningOp<vector::ExtractStridedSliceOp>())
    vector = slice.getSource();
  return vector.getDefiningOp<vector::BroadcastOp>() != nullptr;
}

/// Two instructions, of the even and of the odd columns.
static Value emitWideMma(OpBuilder &b, Location loc, Value lhs, Value rhs,
                         Value acc) {
  auto slice = [&](Value vector, ArrayRef<int64_t> elements) -> Value {
    return vector::ShuffleOp::create(b, loc, vector, vector, elements);
  };
  auto type = cast<VectorType>(rhs.getType());
  // Of four neighbours along the sum, emitNaturals() makes pairs of every other
  // one, which are as good for what is the same everywhere.
  bool pairsOthers = !hasFloats8(rhs) || isSplat(rhs);
  if (hasFloats8(rhs) && !hasFloats8(lhs))
    rhs = tile::widen(b, loc, rhs, getElementTypeOrSelf(lhs));
  if (pairsOthers) {
    lhs = reorder(b, loc, lhs, {0, 4, 2, 6, 1, 5, 3, 7});
    rhs = slice(rhs, {0, 2, 1, 3, 4, 6, 5, 7});
  }
  auto places = llvm::to_vector(llvm::seq(type.getNumElements()));
  ArrayRef<int64_t> all = places;
  Value even =
      emitMmaSync(b, loc, lhs, slice(rhs, all.take_front(all.size() / 2)),
                  slice(acc, {0, 2, 4, 6}));
  Value odd =
      emitMmaSync(b, loc, lhs, slice(rhs, all.drop_front(all.size() / 2)),
                  slice(acc, {1, 3, 5, 7}));
  return vector::ShuffleOp::create(b, loc, even, odd,
                                   ArrayRef<int64_t>{0, 4, 1, 5, 2, 6, 3, 7});
}

Value BaselineTarget::emitMma(OpBuilder &b, Location loc,
                              tile::MmaAtomAttr atom, Value lhs, Value rhs,
                              Value acc) const {
  constexpr unsigned kNarrow = 8;
  if (atom.getRhsType().getIntOrFloatBitWidth() == kNarrow)
    return emitWideMma(b, loc, lhs, rhs, acc);
  return emitMmaSync(b, loc, lhs, rhs, acc);
}

/// Rows and columns of one 8x8 matrix of ldmatrix, and matrices of one
/// instruction.
static constexpr int64_t kMatrixRows = 8;
static constexpr int64_t kMostMatrices = 4;

static SmallVector<int64_t, 2> matrixOffset(LayoutAttr layout, int64_t matrix) {
  return layout.getRegisterCoordinates(2 * matrix, 2);
}

/// Whether ldmatrix can read it and has to transpose what it reads, or nothing.
static std::optional<bool> matchMatrices(const SharedRead &read) {
  LayoutAttr layout = read.layout;
  auto bufferType = cast<MemRefType>(read.buffer.getType());
  if (bufferType.getElementTypeBitWidth() != 16 ||
      layout.getRegisters().empty())
    return std::nullopt;
  // ldmatrix gives lane l the elements (l / 4, 2 * (l % 4)) and the next one of
  // each matrix, or of its transpose.
  SmallVector<Mode> plainLanes{{4, 1, 2}, {8, 0, 1}},
      transposedLanes{{4, 0, 2}, {8, 1, 1}};
  bool transposed;
  if (layout.getLanes() == ArrayRef<Mode>(plainLanes) &&
      layout.getRegisters().front() == Mode{2, 1, 1})
    transposed = false;
  else if (layout.getLanes() == ArrayRef<Mode>(transposedLanes) &&
           layout.getRegisters().front() == Mode{2, 0, 1})
    transposed = true;
  else
    return std::nullopt;
  for (int64_t i = 0, e = layout.getNumRegisters() / 2; i < e; ++i)
    if ((matrixOffset(layout, i)[1] + read.columnOffset) % kMatrixRows != 0 ||
        read.swizzle.getVector() != kMatrixRows)
      return std::nullopt;
  return transposed;
}

namespace {
/// The matrices of one instruction. Lane l addresses a row of matrix l / 8, and
/// they lie at sums of one offset per bit of that number.
struct MatrixGroup {
  int64_t count = 1;
  SmallVector<int64_t, 2> base;
  SmallVector<int64_t, 2> byBit[2] = {{0, 0}, {0, 0}};
};
} // namespace

/// The widest instruction whose first matrix is the given one.
static MatrixGroup findWidestGroup(LayoutAttr layout, int64_t first) {
  MatrixGroup group;
  group.base = matrixOffset(layout, first);
  int64_t left = layout.getNumRegisters() / 2 - first;
  auto relative = [&](int64_t matrix) {
    SmallVector<int64_t, 2> offset = matrixOffset(layout, first + matrix);
    return SmallVector<int64_t, 2>{offset[0] - group.base[0],
                                   offset[1] - group.base[1]};
  };
  auto nonNegative = [](ArrayRef<int64_t> offset) {
    return offset[0] >= 0 && offset[1] >= 0;
  };
  if (left < 2 || !nonNegative(relative(1)))
    return group;
  group.byBit[0] = relative(1);
  group.count = 2;
  if (left < kMostMatrices || !nonNegative(relative(2)))
    return group;
  SmallVector<int64_t, 2> second = relative(2), last = relative(3);
  if (last[0] == group.byBit[0][0] + second[0] &&
      last[1] == group.byBit[0][1] + second[1]) {
    group.byBit[1] = second;
    group.count = kMostMatrices;
  }
  return group;
}

/// Where the row that this lane addresses begins, in elements of the buffer.
static Value emitRowAddress(OpBuilder &b, Location loc, const SharedRead &read,
                            const MatrixGroup &group, Value rowInMatrix) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  auto bit = [&](int64_t position) {
    Value shifted =
        b.createOrFold<arith::ShRUIOp>(loc, read.lane, constant(position));
    return b.createOrFold<arith::AndIOp>(loc, shifted, constant(1));
  };
  auto scaled = [&](Value value, int64_t factor) {
    return b.createOrFold<arith::MulIOp>(loc, value, constant(factor));
  };
  SplitIndex row{rowInMatrix, read.rowOffset + group.base[0]},
      column{Value(), read.columnOffset + group.base[1], 0};
  for (int64_t i = 0; (int64_t(1) << i) < group.count; ++i) {
    ArrayRef<int64_t> offset = group.byBit[i];
    Value selected = bit(3 + i);
    if (offset[0])
      row.dynamic = b.createOrFold<arith::AddIOp>(loc, row.dynamic,
                                                  scaled(selected, offset[0]));
    if (!offset[1])
      continue;
    Value step = scaled(selected, offset[1]);
    column.dynamic =
        column.dynamic
            ? b.createOrFold<arith::AddIOp>(loc, column.dynamic, step)
            : step;
    column.possibleBits += offset[1];
  }
  if (read.row)
    row.dynamic = b.createOrFold<arith::AddIOp>(loc, row.dynamic, read.row);
  if (read.column) {
    column.dynamic =
        column.dynamic
            ? b.createOrFold<arith::AddIOp>(loc, column.dynamic, read.column)
            : read.column;
    // Nothing is known of the sum.
    column.possibleBits = ~uint64_t(0);
  }
  int64_t columns = cast<MemRefType>(read.buffer.getType()).getDimSize(1);
  return sharedPosition(b, loc, read.swizzle, columns, row, column)
      .materialize(b, loc);
}

Value BaselineTarget::emitSigns(OpBuilder &b, Location loc, Value low,
                                unsigned lowByte, Value high,
                                unsigned highByte) const {
  // Of a digit, the lower bits say which byte, and the highest one that its
  // sign is meant.
  constexpr unsigned kSign = 8, kOfHigh = 4;
  int64_t selector =
      0x11 * (kSign | lowByte) + 0x1100 * (kSign | kOfHigh | highByte);
  return NVVM::PermuteOp::create(
      b, loc, b.getI32Type(), low, high,
      arith::ConstantIntOp::create(b, loc, b.getI32Type(), selector),
      NVVM::PermuteMode::DEFAULT);
}

Value BaselineTarget::emitSharedRead(OpBuilder &b, Location loc,
                                     const SharedRead &read) const {
  if (Value bytes = readByteMatrices(b, loc, read))
    return bytes;
  std::optional<bool> transposed = matchMatrices(read);
  if (!transposed)
    return {};
  Value rowInMatrix = b.createOrFold<arith::AndIOp>(
      loc, read.lane,
      arith::ConstantIndexOp::create(b, loc, kMatrixRows - 1).getResult());
  Type element = cast<MemRefType>(read.buffer.getType()).getElementType();
  Value flat = flattenBuffer(b, loc, read.buffer);
  int64_t matrices = read.layout.getNumRegisters() / 2;
  SmallVector<Value> pieces;
  while (int64_t(pieces.size()) < matrices) {
    MatrixGroup group = findWidestGroup(read.layout, pieces.size());
    Value address = emitRowAddress(b, loc, read, group, rowInMatrix);
    Value fragment = nvgpu::LdMatrixOp::create(
        b, loc, VectorType::get({group.count, 2}, element), flat, address,
        *transposed, static_cast<uint32_t>(group.count));
    for (int64_t i = 0; i < group.count; ++i)
      pieces.push_back(vector::ExtractOp::create(b, loc, fragment, i));
  }
  SmallVector<Value> elements;
  for (Value piece : pieces)
    for (int64_t i = 0; i < 2; ++i)
      elements.push_back(vector::ExtractOp::create(b, loc, piece, i));
  return vector::FromElementsOp::create(
      b, loc, VectorType::get(elements.size(), element), elements);
}

Value BaselineTarget::emitAny(OpBuilder &b, Location loc, tile::TargetAttr,
                              Value condition) const {
  Value all = arith::ConstantIntOp::create(b, loc, -1, 32);
  return NVVM::VoteSyncOp::create(b, loc, b.getI1Type(), all, condition,
                                  NVVM::VoteSyncKind::any);
}

Value BaselineTarget::emitFirstLane(OpBuilder &b, Location loc,
                                    tile::TargetAttr, Value value) const {
  constexpr int64_t kAllLanes = -1, kWholeWarp = 0x1F;
  Value first = NVVM::ShflOp::create(
      b, loc, b.getI32Type(), constantI32(b, loc, kAllLanes),
      toI32(b, loc, value), constantI32(b, loc, 0),
      constantI32(b, loc, kWholeWarp), NVVM::ShflKind::idx, UnitAttr());
  return b.createOrFold<arith::IndexCastOp>(loc, b.getIndexType(), first);
}

void BaselineTarget::emitAsyncCopy(OpBuilder &b, Location loc,
                                   const AsyncCopy &copy) const {
  auto type = cast<MemRefType>(copy.source.getType());
  // Only 16-byte copies can go past the first-level cache.
  bool bypass = copy.elements * type.getElementTypeBitWidth() == 128;
  nvgpu::DeviceAsyncCopyOp::create(
      b, loc, nvgpu::DeviceAsyncTokenType::get(b.getContext()),
      copy.destination, copy.destinationIndex, copy.source, copy.sourceIndices,
      b.getIndexAttr(copy.elements), copy.validElements,
      bypass ? b.getUnitAttr() : UnitAttr());
}

void BaselineTarget::emitAsyncCommit(OpBuilder &b, Location loc) const {
  NVVM::CpAsyncCommitGroupOp::create(b, loc);
}

void BaselineTarget::emitAsyncWait(OpBuilder &b, Location loc,
                                   int64_t pending) const {
  NVVM::CpAsyncWaitGroupOp::create(b, loc, b.getI32IntegerAttr(pending));
}
