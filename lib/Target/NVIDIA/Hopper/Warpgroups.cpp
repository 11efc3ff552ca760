// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits wgmma, TMA, mbarriers and setmaxnreg as NVVM ops and ops of the wgmma
// dialect. PTX ISA 8.0 and later, "Asynchronous warpgroup level matrix
// instructions", "cp.async.bulk.tensor", "mbarrier".

#include "Warpgroups.h"
#include "attune/Dialect/WGMMA/IR/WGMMA.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;

static constexpr unsigned kSharedSpace = 3, kSharedClusterSpace = 7;
static constexpr int64_t kMostColumns = 256;

static Value constantI32(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, 32);
}
static Value constantI64(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, 64);
}
static Value toI32(OpBuilder &b, Location loc, Value index) {
  return b.createOrFold<arith::IndexCastOp>(loc, b.getI32Type(), index);
}

//===----------------------------------------------------------------------===//
// Addresses in shared memory
//===----------------------------------------------------------------------===//

/// The address, an index, of the element at `offset` of the first one of a
/// buffer in workgroup memory.
static Value sharedAddress(OpBuilder &b, Location loc, Value buffer,
                           Value offset) {
  auto type = cast<MemRefType>(buffer.getType());
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(b, loc, buffer);
  Value elements = offset;
  if (!type.getLayout().isIdentity()) {
    Value start =
        memref::ExtractStridedMetadataOp::create(b, loc, buffer).getOffset();
    elements =
        offset ? b.createOrFold<arith::AddIOp>(loc, start, offset) : start;
  }
  if (!elements)
    return address;
  Value bytes = b.createOrFold<arith::MulIOp>(
      loc, elements,
      arith::ConstantIndexOp::create(b, loc,
                                     type.getElementTypeBitWidth() / 8));
  return b.createOrFold<arith::AddIOp>(loc, address, bytes);
}

static Value sharedPointer(OpBuilder &b, Location loc, Value buffer,
                           Value offset) {
  Value address = b.createOrFold<arith::IndexCastOp>(
      loc, b.getI64Type(), sharedAddress(b, loc, buffer, offset));
  return LLVM::IntToPtrOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), kSharedSpace),
      address);
}

static Value pointerTo(OpBuilder &b, Location loc,
                       const SharedBarrier &barrier) {
  return sharedPointer(b, loc, barrier.barriers, barrier.number);
}

//===----------------------------------------------------------------------===//
// Multiplies
//===----------------------------------------------------------------------===//

namespace {

/// An operand in shared memory, as the instruction's descriptor says it.
/// Matrices are stored in panels, whose rows of 32, 64 or 128 bytes are
/// permuted in groups of eight.
class SharedOperand {
public:
  /// `first` is the row, or of a transposed one the column, at which the part
  /// of this warpgroup starts; null for 0. Panels do not straddle the parts.
  SharedOperand(OpBuilder &b, Location loc, Value buffer, tile::TileType tile,
                bool transposed, Value first)
      : b(b), loc(loc) {
    auto swizzle = cast<tile::SwizzleAttr>(tile.getLayout());
    int64_t elementBytes = tile.getElementType().getIntOrFloatBitWidth() / 8;
    panel = swizzle.getPanel();
    rowBytes = panel * elementBytes;
    panelBytes = tile.getShape()[0] * rowBytes;
    // Panels follow each other, each with all rows.
    int64_t distance = transposed ? tile.getShape()[0] : panel;
    Value offset = first ? b.createOrFold<arith::MulIOp>(
                               loc, first,
                               arith::ConstantIndexOp::create(b, loc, distance))
                         : Value();
    Value address = toI32(b, loc, sharedAddress(b, loc, buffer, offset));
    // Addresses in descriptors have 18 bits, in units of 16 bytes.
    Value low =
        arith::AndIOp::create(b, loc, address, constantI32(b, loc, 0x3FFFF));
    Value units = arith::ShRUIOp::create(b, loc, low, constantI32(b, loc, 4));
    // Distance of groups of eight rows, and of panels along the columns of a
    // transposed operand; the other form ignores the latter.
    int64_t rowGroups = 8 * rowBytes, panels = transposed ? panelBytes : 16;
    int64_t mode = rowBytes == 128 ? 1 : rowBytes == 64 ? 2 : 3;
    uint64_t fields = (panels >> 4) << 16 | (rowGroups >> 4) << 32 |
                      static_cast<uint64_t>(mode) << 62;
    base = arith::OrIOp::create(
        b, loc, arith::ExtUIOp::create(b, loc, b.getI64Type(), units),
        constantI64(b, loc, static_cast<int64_t>(fields)));
  }

  /// The descriptor of the box that starts at the given row and column.
  Value at(int64_t row, int64_t column) const {
    int64_t bytes = column / panel * panelBytes + row * rowBytes +
                    column % panel * (rowBytes / panel);
    return b.createOrFold<arith::AddIOp>(loc, base,
                                         constantI64(b, loc, bytes >> 4));
  }

private:
  OpBuilder &b;
  Location loc;
  int64_t panel, rowBytes, panelBytes;
  Value base;
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
static Value getStart(OpBuilder &b, Location loc, const GroupMultiply &multiply,
                      bool isColumn, int64_t extent) {
  int64_t count = isColumn ? multiply.groupsN : multiply.groupsM;
  if (count == 1)
    return {};
  Value group = multiply.group;
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value).getResult();
  };
  if (isColumn && multiply.groupsM > 1)
    group =
        b.createOrFold<arith::DivUIOp>(loc, group, constant(multiply.groupsM));
  else if (!isColumn && multiply.groupsN > 1)
    group =
        b.createOrFold<arith::RemUIOp>(loc, group, constant(multiply.groupsM));
  return b.createOrFold<arith::MulIOp>(loc, group, constant(extent));
}

Value HopperWarpgroups::startMultiply(OpBuilder &b, Location loc,
                                      const GroupMultiply &multiply) const {
  tile::MmaAtomAttr atom = multiply.atom;
  bool isBrain = atom.getLhsType().isBF16();
  auto inputType = isBrain ? NVVM::WGMMATypes::bf16 : NVVM::WGMMATypes::f16;
  ArrayRef<int64_t> lhsShape = multiply.lhsTile.getShape(),
                    rhsShape = multiply.rhsTile.getShape();
  int64_t rowsOfGroup =
              lhsShape[multiply.transposeLhs ? 1 : 0] / multiply.groupsM,
          depth = lhsShape[multiply.transposeLhs ? 0 : 1],
          columns = rhsShape[multiply.transposeRhs ? 0 : 1] / multiply.groupsN;
  int64_t mSteps = rowsOfGroup / atom.getM(), kSteps = depth / atom.getK();
  // Registers of one column of a lane: two rows of four lanes.
  int64_t perRowStep = columns / 2;

  std::optional<SharedOperand> lhs;
  if (!multiply.lhsTile.isRegisters())
    lhs.emplace(b, loc, multiply.lhs, multiply.lhsTile, multiply.transposeLhs,
                getStart(b, loc, multiply, /*isColumn=*/false, rowsOfGroup));
  SharedOperand rhs(b, loc, multiply.rhs, multiply.rhsTile,
                    !multiply.transposeRhs,
                    getStart(b, loc, multiply, /*isColumn=*/true, columns));

  NVVM::WgmmaFenceAlignedOp::create(b, loc);
  SmallVector<Value> elements;
  for (int64_t m = 0; m < mSteps; ++m)
    for (int64_t column = 0; column < columns; column += kMostColumns) {
      int64_t width = std::min(kMostColumns, columns - column);
      auto shape = NVVM::MMAShapeAttr::get(b.getContext(), atom.getM(), width,
                                           atom.getK());
      SmallVector<Type> types(width / 2, b.getF32Type());
      auto structType = LLVM::LLVMStructType::getLiteral(b.getContext(), types);
      Value acc = multiply.startsAtZero
                      ? LLVM::PoisonOp::create(b, loc, structType).getResult()
                      : toStruct(b, loc, multiply.acc,
                                 m * perRowStep + column / 2, width / 2);
      for (int64_t k = 0; k < kSteps; ++k) {
        auto scale = k == 0 && multiply.startsAtZero ? NVVM::WGMMAScaleOut::zero
                                                     : NVVM::WGMMAScaleOut::one;
        Value right = multiply.transposeRhs ? rhs.at(column, k * atom.getK())
                                            : rhs.at(k * atom.getK(), column);
        auto rightLayout =
            multiply.transposeRhs ? NVVM::MMALayout::col : NVVM::MMALayout::row;
        if (lhs) {
          int64_t row = m * atom.getM(), depthStep = k * atom.getK();
          Value left = multiply.transposeLhs ? lhs->at(depthStep, row)
                                             : lhs->at(row, depthStep);
          auto leftLayout = multiply.transposeLhs ? NVVM::MMALayout::col
                                                  : NVVM::MMALayout::row;
          acc = NVVM::WgmmaMmaAsyncOp::create(
              b, loc, structType, acc, left, right, shape, inputType, inputType,
              NVVM::WGMMATypes::f32, scale, NVVM::WGMMAScaleIn::one,
              NVVM::WGMMAScaleIn::one, leftLayout, rightLayout,
              NVVM::MMAIntOverflowAttr());
          continue;
        }
        int64_t size = atom.getLhs().getNumRegisters();
        Value step = vector::ExtractStridedSliceOp::create(
            b, loc, multiply.lhs, ArrayRef<int64_t>{(m * kSteps + k) * size},
            ArrayRef<int64_t>{size}, ArrayRef<int64_t>{1});
        Value words = vector::BitCastOp::create(
            b, loc, VectorType::get(size / 2, b.getI32Type()), step);
        SmallVector<Value> left;
        for (int64_t i = 0; i < size / 2; ++i)
          left.push_back(vector::ExtractOp::create(b, loc, words, i));
        acc = wgmma::MmaAsyncOp::create(b, loc, left, right, acc, shape,
                                        inputType, scale, rightLayout);
      }
      appendElements(b, loc, acc, elements);
    }
  NVVM::WgmmaGroupSyncAlignedOp::create(b, loc);
  return vector::FromElementsOp::create(b, loc, multiply.acc.getType(),
                                        elements);
}

Value HopperWarpgroups::awaitMultiply(OpBuilder &b, Location loc, Value result,
                                      int64_t running) const {
  int64_t count = cast<VectorType>(result.getType()).getNumElements();
  Value registers = toStruct(b, loc, result, 0, count);
  auto wait = wgmma::WaitGroupOp::create(b, loc, static_cast<int32_t>(running),
                                         ValueRange{registers});
  SmallVector<Value> elements;
  appendElements(b, loc, wait.getResult(0), elements);
  return vector::FromElementsOp::create(b, loc, result.getType(), elements);
}

void HopperWarpgroups::awaitReads(OpBuilder &b, Location loc,
                                  int64_t running) const {
  wgmma::WaitGroupOp::create(b, loc, static_cast<int32_t>(running),
                             ValueRange());
}

//===----------------------------------------------------------------------===//
// Barriers and copies
//===----------------------------------------------------------------------===//

void HopperWarpgroups::initBarrier(OpBuilder &b, Location loc,
                                   const SharedBarrier &barrier,
                                   int64_t arrivals) const {
  NVVM::MBarrierInitOp::create(b, loc, pointerTo(b, loc, barrier),
                               constantI32(b, loc, arrivals), Value());
}

void HopperWarpgroups::publishBarriers(OpBuilder &b, Location loc) const {
  NVVM::FenceMbarrierInitOp::create(b, loc);
}

void HopperWarpgroups::arrive(OpBuilder &b, Location loc,
                              const SharedBarrier &barrier) const {
  NVVM::MBarrierArriveOp::create(b, loc, Type(), pointerTo(b, loc, barrier),
                                 Value());
}

void HopperWarpgroups::arriveAt(OpBuilder &b, Location loc,
                                const SharedBarrier &barrier,
                                Value rank) const {
  Value there = NVVM::MapaOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), kSharedClusterSpace),
      pointerTo(b, loc, barrier), toI32(b, loc, rank));
  // With the scope of a cluster the arrival would wait for all earlier accesses
  // to global memory. All that it orders are reads of multiplies that were
  // waited for.
  NVVM::MBarrierArriveOp::create(b, loc, Type(), there, Value(),
                                 NVVM::MemScopeKind::CTA, /*relaxed=*/false);
}

void HopperWarpgroups::arriveAtCluster(OpBuilder &b, Location loc,
                                       bool isFirst) const {
  // Not aligned: the lanes of a producer's warp come one by one. What was made
  // so far the fence behind it orders; the other form waits for all accesses.
  if (isFirst)
    NVVM::ClusterArriveRelaxedOp::create(b, loc, UnitAttr());
  else
    NVVM::ClusterArriveOp::create(b, loc, UnitAttr());
}

void HopperWarpgroups::waitForCluster(OpBuilder &b, Location loc) const {
  NVVM::ClusterWaitOp::create(b, loc, UnitAttr());
}

void HopperWarpgroups::arriveExpecting(OpBuilder &b, Location loc,
                                       const SharedBarrier &barrier,
                                       int64_t bytes) const {
  NVVM::MBarrierArriveExpectTxOp::create(
      b, loc, Type(), pointerTo(b, loc, barrier), constantI32(b, loc, bytes),
      NVVM::MemScopeKind::CTA, /*relaxed=*/false, Value());
}

void HopperWarpgroups::waitBarrier(OpBuilder &b, Location loc,
                                   const SharedBarrier &barrier,
                                   Value parity) const {
  // How long one attempt may sleep, in nanoseconds; the op tries for ever.
  constexpr int64_t kTicks = 10000000;
  NVVM::MBarrierTryWaitParityOp::create(b, loc, pointerTo(b, loc, barrier),
                                        toI32(b, loc, parity),
                                        constantI32(b, loc, kTicks));
}

Type HopperWarpgroups::getMapType(MemRefType box,
                                  tile::SwizzleAttr swizzle) const {
  int64_t rowBytes = swizzle.getPanel() * box.getElementTypeBitWidth() / 8;
  auto kind = rowBytes == 128  ? nvgpu::TensorMapSwizzleKind::SWIZZLE_128B
              : rowBytes == 64 ? nvgpu::TensorMapSwizzleKind::SWIZZLE_64B
                               : nvgpu::TensorMapSwizzleKind::SWIZZLE_32B;
  return nvgpu::TensorMapDescriptorType::get(
      box.getContext(), box, kind, nvgpu::TensorMapL2PromoKind::L2PROMO_256B,
      nvgpu::TensorMapOOBKind::OOB_ZERO,
      nvgpu::TensorMapInterleaveKind::INTERLEAVE_NONE);
}

Value HopperWarpgroups::createMap(OpBuilder &b, Location loc, Type type,
                                  Value buffer) const {
  auto bufferType = cast<MemRefType>(buffer.getType());
  auto unranked = UnrankedMemRefType::get(bufferType.getElementType(),
                                          bufferType.getMemorySpace());
  Value tensor = memref::CastOp::create(b, loc, unranked, buffer);
  SmallVector<Value> box;
  for (int64_t size :
       cast<nvgpu::TensorMapDescriptorType>(type).getTensor().getShape())
    box.push_back(arith::ConstantIndexOp::create(b, loc, size));
  return nvgpu::TmaCreateDescriptorOp::create(b, loc, type, tensor, box);
}

static Value pointerToMap(OpBuilder &b, Location loc, const Box &box) {
  auto generic = LLVM::LLVMPointerType::get(b.getContext());
  return UnrealizedConversionCastOp::create(b, loc, generic, box.map)
      .getResult(0);
}

/// Coordinates as the instructions take them, innermost dimension first.
static SmallVector<Value> coordinatesOf(OpBuilder &b, Location loc,
                                        const Box &box) {
  SmallVector<Value> coordinates;
  for (Value coordinate : llvm::reverse(box.coordinates))
    coordinates.push_back(toI32(b, loc, coordinate));
  return coordinates;
}

void HopperWarpgroups::copyBox(OpBuilder &b, Location loc,
                               const BoxCopy &copy) const {
  Value map = pointerToMap(b, loc, copy);
  SmallVector<Value> coordinates = coordinatesOf(b, loc, copy);
  Value destination = LLVM::AddrSpaceCastOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), kSharedClusterSpace),
      sharedPointer(b, loc, copy.buffer, copy.offset));
  Value mask;
  if (copy.cluster > 1)
    mask = arith::ConstantIntOp::create(b, loc, (1 << copy.cluster) - 1, 16);
  NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
      b, loc, destination, map, coordinates, pointerTo(b, loc, copy.barrier),
      /*im2colOffsets=*/ValueRange(), mask,
      /*l2CacheHint=*/Value(), NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false,
      NVVM::CTAGroupKindAttr(), /*predicate=*/Value());
}

void HopperWarpgroups::storeBox(OpBuilder &b, Location loc,
                                const Box &box) const {
  NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
      b, loc, pointerToMap(b, loc, box),
      sharedPointer(b, loc, box.buffer, box.offset), coordinatesOf(b, loc, box),
      /*l2CacheHint=*/Value(), NVVM::TMAStoreMode::TILE, /*predicate=*/Value());
}

void HopperWarpgroups::awaitStores(OpBuilder &b, Location loc) const {
  NVVM::CpAsyncBulkCommitGroupOp::create(b, loc);
  NVVM::CpAsyncBulkWaitGroupOp::create(b, loc, /*group=*/0,
                                       /*read=*/b.getUnitAttr());
}

void HopperWarpgroups::storeMatrices(OpBuilder &b, Location loc, Value buffer,
                                     Value offset, ValueRange words) const {
  auto shape = NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8);
  NVVM::StMatrixOp::create(b, loc, sharedPointer(b, loc, buffer, offset), words,
                           NVVM::MMALayout::row, shape,
                           NVVM::LdStMatrixEltType::B16);
}

void HopperWarpgroups::publishWrites(OpBuilder &b, Location loc) const {
  NVVM::FenceProxyOp::create(
      b, loc, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(b.getContext(),
                                 NVVM::SharedSpace::shared_cta));
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

void HopperWarpgroups::meetInWarp(OpBuilder &b, Location loc) const {
  NVVM::SyncWarpOp::create(b, loc,
                           arith::ConstantIntOp::create(b, loc, -1, 32));
}

Value HopperWarpgroups::electLane(OpBuilder &b, Location loc) const {
  return NVVM::ElectSyncOp::create(b, loc, b.getI1Type(), Value());
}

void HopperWarpgroups::setRegisters(OpBuilder &b, Location loc, int64_t count,
                                    bool more) const {
  NVVM::SetMaxRegisterOp::create(b, loc, static_cast<uint32_t>(count),
                                 more ? NVVM::SetMaxRegisterAction::increase
                                      : NVVM::SetMaxRegisterAction::decrease);
}

void HopperWarpgroups::meet(OpBuilder &b, Location loc, Value number,
                            int64_t threads, bool wait) const {
  Value id = toI32(b, loc, number), count = constantI32(b, loc, threads);
  if (wait)
    NVVM::BarrierOp::create(b, loc, Type(), id, count,
                            NVVM::BarrierReductionAttr(), Value());
  else
    NVVM::BarrierArriveOp::create(b, loc, id, count);
}

Value HopperWarpgroups::makeUniform(OpBuilder &b, Location loc,
                                    Value value) const {
  constexpr int64_t kAllLanes = -1, kWholeWarp = 0x1F;
  Value first = NVVM::ShflOp::create(
      b, loc, b.getI32Type(), constantI32(b, loc, kAllLanes),
      toI32(b, loc, value), constantI32(b, loc, 0),
      constantI32(b, loc, kWholeWarp), NVVM::ShflKind::idx, UnitAttr());
  return b.createOrFold<arith::IndexCastOp>(loc, b.getIndexType(), first);
}
