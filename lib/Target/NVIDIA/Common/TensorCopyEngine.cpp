// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 8.0 and later, "cp.async.bulk.tensor", "createpolicy", "stmatrix",
// "fence.proxy".

#include "TensorCopyEngine.h"
#include "SharedPointer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

using namespace mlir;
using namespace attune;
using namespace attune::nvidia;

Type TensorCopyEngine::getMapType(MemRefType box,
                                  tile::SwizzleAttr swizzle) const {
  int64_t permuted = swizzle.getPermutedBytes(box.getElementTypeBitWidth());
  auto kind = permuted == 0     ? nvgpu::TensorMapSwizzleKind::SWIZZLE_NONE
              : permuted == 128 ? nvgpu::TensorMapSwizzleKind::SWIZZLE_128B
              : permuted == 64  ? nvgpu::TensorMapSwizzleKind::SWIZZLE_64B
                                : nvgpu::TensorMapSwizzleKind::SWIZZLE_32B;
  return nvgpu::TensorMapDescriptorType::get(
      box.getContext(), box, kind, nvgpu::TensorMapL2PromoKind::L2PROMO_256B,
      nvgpu::TensorMapOOBKind::OOB_ZERO,
      nvgpu::TensorMapInterleaveKind::INTERLEAVE_NONE);
}

Value TensorCopyEngine::createMap(OpBuilder &b, Location loc, Type type,
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

static Value pointerToMap(OpBuilder &b, Location loc, const TMABox &box) {
  auto generic = LLVM::LLVMPointerType::get(b.getContext());
  return UnrealizedConversionCastOp::create(b, loc, generic, box.map)
      .getResult(0);
}

/// Coordinates as the instructions take them, innermost dimension first.
static SmallVector<Value> coordinatesOf(OpBuilder &b, Location loc,
                                        const TMABox &box) {
  SmallVector<Value> coordinates;
  for (Value coordinate : llvm::reverse(box.coordinates))
    coordinates.push_back(toI32(b, loc, coordinate));
  return coordinates;
}

/// What `createpolicy.fractional.L2::evict_*` gives for all of what is read or
/// written (PTX ISA); null for the cache's own choice.
static Value createPolicy(OpBuilder &b, Location loc, tile::Eviction eviction) {
  switch (eviction) {
  case tile::Eviction::Normal:
    return {};
  case tile::Eviction::First:
    return arith::ConstantIntOp::create(b, loc, 0x12F0000000000000, 64);
  case tile::Eviction::Last:
    return arith::ConstantIntOp::create(b, loc, 0x14F0000000000000, 64);
  }
  llvm_unreachable("a switch over all evictions");
}

void TensorCopyEngine::load(OpBuilder &b, Location loc,
                            const TMABoxCopy &copy) const {
  Value map = pointerToMap(b, loc, copy);
  SmallVector<Value> coordinates = coordinatesOf(b, loc, copy);
  Value destination = LLVM::AddrSpaceCastOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), kSharedClusterSpace),
      sharedPointer(b, loc, copy.buffer, copy.offset));
  Value mask;
  if (copy.cluster > 1)
    mask = arith::ConstantIntOp::create(b, loc, (1 << copy.cluster) - 1, 16);
  NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
      b, loc, destination, map, coordinates,
      sharedPointer(b, loc, copy.barrier.barriers, copy.barrier.number),
      /*im2colOffsets=*/ValueRange(), mask, createPolicy(b, loc, copy.eviction),
      NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false, NVVM::CTAGroupKindAttr(),
      /*predicate=*/Value());
}

void TensorCopyEngine::store(OpBuilder &b, Location loc, const TMABox &box,
                             bool accumulate, tile::Eviction eviction) const {
  Value map = pointerToMap(b, loc, box),
        source = sharedPointer(b, loc, box.buffer, box.offset);
  SmallVector<Value> coordinates = coordinatesOf(b, loc, box);
  if (accumulate) {
    NVVM::CpAsyncBulkTensorReduceOp::create(
        b, loc, map, source, NVVM::TMAReduxKind::ADD, NVVM::TMAStoreMode::TILE,
        coordinates, createPolicy(b, loc, eviction));
    return;
  }
  NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
      b, loc, map, source, coordinates, createPolicy(b, loc, eviction),
      NVVM::TMAStoreMode::TILE, /*predicate=*/Value());
}

void TensorCopyEngine::waitStores(OpBuilder &b, Location loc,
                                  bool complete) const {
  NVVM::CpAsyncBulkCommitGroupOp::create(b, loc);
  NVVM::CpAsyncBulkWaitGroupOp::create(
      b, loc, /*group=*/0,
      /*read=*/complete ? UnitAttr() : b.getUnitAttr());
}

void TensorCopyEngine::followGlobal(OpBuilder &b, Location loc) const {
  NVVM::FenceProxyOp::create(b, loc, NVVM::ProxyKind::async_global,
                             NVVM::SharedSpaceAttr());
}

void TensorCopyEngine::writeMatrices(OpBuilder &b, Location loc, Value buffer,
                                     Value offset, ValueRange words) const {
  auto shape = NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8);
  NVVM::StMatrixOp::create(b, loc, sharedPointer(b, loc, buffer, offset), words,
                           NVVM::MMALayout::row, shape,
                           NVVM::LdStMatrixEltType::B16);
}

SmallVector<Value, 4> TensorCopyEngine::readTransposed(OpBuilder &b,
                                                       Location loc,
                                                       Value buffer,
                                                       Value offset) const {
  constexpr int kMatrices = 4;
  auto shape = NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8);
  SmallVector<Type> types(kMatrices, b.getI32Type());
  Value matrices = NVVM::LdMatrixOp::create(
      b, loc, LLVM::LLVMStructType::getLiteral(b.getContext(), types),
      sharedPointer(b, loc, buffer, offset), kMatrices, NVVM::MMALayout::col,
      shape, NVVM::LdStMatrixEltType::B16);
  SmallVector<Value, 4> words;
  for (int i = 0; i < kMatrices; ++i)
    words.push_back(LLVM::ExtractValueOp::create(b, loc, matrices, i));
  return words;
}

void TensorCopyEngine::publishWrites(OpBuilder &b, Location loc) const {
  NVVM::FenceProxyOp::create(
      b, loc, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(b.getContext(),
                                 NVVM::SharedSpace::shared_cta));
}
