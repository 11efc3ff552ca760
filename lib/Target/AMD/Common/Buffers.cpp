// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads from global memory through buffer resources: what is the same in all
// lanes is the base of one, in scalar registers, and a lane adds 32 bits. Rows
// that a buffer does not have are zeros by the resource's size. What is loaded
// goes to registers, or past them to workgroup memory.

#include "AMD.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attune;

static constexpr int64_t kWordBits = 32;

/// The part of a buffer that starts at `first` and has as many of its rows as a
/// tile has, or none where `predicate`, an i1, is there and does not hold.
static Value viewTile(OpBuilder &b, Location loc, const TileLoad &load,
                      Value predicate = {}) {
  Type word = b.getI32Type();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, loc, value, kWordBits);
  };
  SmallVector<OpFoldResult> offsets(load.first.begin(), load.first.end()),
      strides(load.first.size(), b.getIndexAttr(1)), sizes;
  auto type = cast<MemRefType>(load.buffer.getType());
  for (auto [dim, first] : llvm::enumerate(load.first)) {
    int64_t size = load.shape[dim];
    if (!type.isDynamicDim(dim))
      size = std::min(size, type.getDimSize(dim));
    sizes.push_back(b.getIndexAttr(size));
    if (dim > 0 || (!load.checksRows && !predicate))
      continue;
    Value left = constant(size);
    if (load.checksRows) {
      Value rows = memref::DimOp::create(b, loc, load.buffer, dim);
      left = arith::SubIOp::create(b, loc, rows, first);
      left = arith::IndexCastOp::create(b, loc, word, left);
      left = arith::MinSIOp::create(b, loc, left, constant(size));
      left = arith::MaxSIOp::create(b, loc, left, constant(0));
    }
    if (predicate)
      left = arith::SelectOp::create(b, loc, predicate, left, constant(0));
    sizes.back() =
        arith::IndexCastOp::create(b, loc, b.getIndexType(), left).getResult();
  }
  return memref::SubViewOp::create(b, loc, load.buffer, offsets, sizes,
                                   strides);
}

Value amd::AMDTarget::emitLoad(OpBuilder &b, Location loc,
                               const TileLoad &load) const {
  int64_t bits =
      load.type.getNumElements() * load.type.getElementTypeBitWidth();
  if (bits % kWordBits != 0)
    return {};
  // A resource ends behind the last row, which no columns of others are.
  auto from = cast<MemRefType>(load.buffer.getType());
  if (load.checksRows && from.getStridesAndOffset().first.back() != 1 &&
      from.getRank() > 1)
    return {};
  SmallVector<Value> own;
  for (Value index : load.own)
    own.push_back(arith::IndexCastOp::create(b, loc, b.getI32Type(), index));
  return amdgpu::RawBufferLoadOp::create(
      b, loc, load.type, viewTile(b, loc, load), own, load.checksRows,
      /*indexOffset=*/IntegerAttr(), /*sgprOffset=*/Value());
}

Value amd::AMDTarget::emitFirstLane(OpBuilder &b, Location loc,
                                    tile::TargetAttr, Value value) const {
  Type word = b.getI32Type();
  Value first = arith::IndexCastOp::create(b, loc, word, value);
  first = ROCDL::ReadfirstlaneOp::create(b, loc, word, first);
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), first);
}

void amd::AMDTarget::emitWarpCopy(OpBuilder &b, Location loc,
                                  const WarpCopy &copy) const {
  amdgpu::GatherToLDSOp::create(
      b, loc, viewTile(b, loc, copy.from, copy.predicate), copy.from.own,
      copy.destination, copy.destinationIndex, copy.from.type);
}

/// Also until reads are done of what the next copies overwrite, which others
/// issue behind the barrier.
void amd::AMDTarget::emitAsyncWait(OpBuilder &b, Location loc,
                                   int64_t pending) const {
  constexpr int64_t kMost = 63;
  amdgpu::MemoryCounterWaitOp::create(
      b, loc,
      /*load=*/
      b.getI32IntegerAttr(static_cast<int32_t>(std::min(pending, kMost))),
      /*store=*/IntegerAttr(), /*ds=*/b.getI32IntegerAttr(0),
      /*exp=*/IntegerAttr(),
      /*tensor=*/IntegerAttr());
}

/// The value, a word, as one that the back end knows to be the same in all
/// lanes, which it does not of what was loaded.
static Value takeFirstLane(OpBuilder &b, Location loc, Value word) {
  return ROCDL::ReadfirstlaneOp::create(b, loc, b.getI32Type(), word);
}

static Value takeFirstLaneOfPointer(OpBuilder &b, Location loc, Value pointer) {
  auto words = VectorType::get(2, b.getI32Type());
  Type bits = b.getI64Type();
  Value value = LLVM::PtrToIntOp::create(b, loc, bits, pointer);
  Value parts = LLVM::BitcastOp::create(b, loc, words, value);
  for (int64_t i : {0, 1}) {
    Value place = LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                           b.getI32IntegerAttr(i));
    Value part = LLVM::ExtractElementOp::create(b, loc, parts, place);
    parts = LLVM::InsertElementOp::create(b, loc, parts,
                                          takeFirstLane(b, loc, part), place);
  }
  value = LLVM::BitcastOp::create(b, loc, bits, parts);
  return LLVM::IntToPtrOp::create(b, loc, pointer.getType(), value);
}

namespace {

/// What a load of a part of a tile is made of, in LLVM dialect.
class BufferAccess {
public:
  BufferAccess(OpBuilder &builder, Location loc,
               const LLVMTypeConverter &converter, MemRefType from,
               Value descriptor)
      : b(builder), loc(loc), converter(converter), from(from),
        memory(descriptor), strides(from.getStridesAndOffset().first),
        bytes(from.getElementTypeBitWidth() / 8) {}

  Value constant(int64_t value, int64_t bits = kWordBits) {
    Type integer = b.getIntegerType(bits);
    return LLVM::ConstantOp::create(b, loc, integer,
                                    b.getIntegerAttr(integer, value));
  }
  Value toWord(Value value) {
    return value.getType() == b.getI32Type()
               ? value
               : LLVM::TruncOp::create(b, loc, b.getI32Type(), value);
  }
  Value getStride(unsigned dim) {
    return ShapedType::isDynamic(strides[dim])
               ? toWord(memory.stride(b, loc, dim))
               : constant(strides[dim]);
  }
  /// A resource that ends with the last row, or never.
  Value makeResource(bool checksRows, int32_t flags);
  /// Bytes from its start on.
  Value getOffset(ValueRange indices);

private:
  OpBuilder &b;
  Location loc;
  const LLVMTypeConverter &converter;
  MemRefType from;
  MemRefDescriptor memory;
  SmallVector<int64_t> strides;
  int64_t bytes;
};

} // namespace

Value BufferAccess::makeResource(bool checksRows, int32_t flags) {
  Value base = takeFirstLaneOfPointer(
      b, loc,
      memory.bufferPtr(static_cast<OpBuilder &>(b), loc, converter, from));
  Value records = constant(std::numeric_limits<uint32_t>::max(), 64);
  if (checksRows) {
    // Rows may all be one.
    Value row = getStride(0);
    if (from.getRank() > 1)
      row = LLVM::SMaxOp::create(b, loc, row, constant(from.getDimSize(1)));
    records = LLVM::MulOp::create(b, loc, toWord(memory.size(b, loc, 0)), row);
    records = LLVM::MulOp::create(b, loc, records, constant(bytes));
    records = LLVM::ZExtOp::create(b, loc, b.getI64Type(),
                                   takeFirstLane(b, loc, records));
  }
  auto resourceType = LLVM::LLVMPointerType::get(b.getContext(), 8);
  return ROCDL::MakeBufferRsrcOp::create(
      b, loc, resourceType, base, constant(0, 16), records, constant(flags));
}

Value BufferAccess::getOffset(ValueRange indices) {
  Value place = constant(0);
  for (auto [dim, index] : llvm::enumerate(indices))
    place = LLVM::AddOp::create(
        b, loc, place,
        LLVM::MulOp::create(b, loc, toWord(index), getStride(dim)));
  return LLVM::MulOp::create(b, loc, place, constant(bytes));
}

namespace {

// Pattern: amdgpu.raw_buffer_load -> rocdl.raw.ptr.buffer.load
// Upstream's leaves the offset of a view to the instruction, which has 32 bits
// for it and may not count it where it checks the range.
struct BufferLoadPattern : ConvertOpToLLVMPattern<amdgpu::RawBufferLoadOp> {
  BufferLoadPattern(LLVMTypeConverter &converter, int32_t flags)
      : ConvertOpToLLVMPattern(converter, kTargetBenefit), flags(flags) {}

  LogicalResult matchAndRewrite(amdgpu::RawBufferLoadOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    MemRefType from = op.getMemref().getType();
    if (!type || op.getSgprOffset() || op.getIndexOffset() || !from.isStrided())
      return b.notifyMatchFailure(op, "is no load of a tile");
    Location loc = op.getLoc();
    BufferAccess access(b, loc, *getTypeConverter(), from, adaptor.getMemref());
    Value place = access.getOffset(adaptor.getIndices());
    Value resource = access.makeResource(op.getBoundsCheck(), flags);
    int64_t words =
        type.getNumElements() * type.getElementTypeBitWidth() / kWordBits;
    Type loaded = words == 1 ? Type(b.getI32Type())
                             : VectorType::get(words, b.getI32Type());
    auto data = ROCDL::RawPtrBufferLoadOp::create(
        b, loc, TypeRange{loaded},
        ValueRange{resource, place, access.constant(0), access.constant(0)});
    b.replaceOpWithNewOp<LLVM::BitcastOp>(
        op, getTypeConverter()->convertType(type), data.getRes());
    return success();
  }

  int32_t flags;
};

// Pattern: amdgpu.gather_to_lds -> rocdl.raw.ptr.buffer.load.lds
// Upstream's loads from any address, where rows have no end.
struct WarpCopyPattern : ConvertOpToLLVMPattern<amdgpu::GatherToLDSOp> {
  WarpCopyPattern(LLVMTypeConverter &converter, int32_t flags)
      : ConvertOpToLLVMPattern(converter, kTargetBenefit), flags(flags) {}

  LogicalResult matchAndRewrite(amdgpu::GatherToLDSOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    auto from = cast<MemRefType>(op.getSrc().getType()),
         to = cast<MemRefType>(op.getDst().getType());
    auto type = dyn_cast<VectorType>(op.getTransferType());
    if (!type || !from.isStrided() ||
        from.getMemorySpace() == to.getMemorySpace())
      return b.notifyMatchFailure(op, "is no copy of a tile");
    Location loc = op.getLoc();
    BufferAccess access(b, loc, *getTypeConverter(), from, adaptor.getSrc());
    Value place = access.getOffset(adaptor.getSrcIndices());
    Value resource = access.makeResource(/*checksRows=*/true, flags);
    Value target = getStridedElementPtr(b, loc, to, adaptor.getDst(),
                                        adaptor.getDstIndices());
    int64_t bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
    Value zero = access.constant(0);
    ROCDL::RawPtrBufferLoadLdsOp::create(b, loc, TypeRange(),
                                         ValueRange{resource, target,
                                                    access.constant(bytes),
                                                    place, zero, zero, zero});
    b.eraseOp(op);
    return success();
  }

  int32_t flags;
};

} // namespace

/// The last word of a resource: 32-bit floats, and from RDNA on how ranges are
/// checked (RDNA3 ISA, "Buffer Resource Descriptor").
void amd::populateBufferPatterns(LLVMTypeConverter &converter,
                                 RewritePatternSet &patterns, bool isRDNA) {
  constexpr int32_t kFormat = 7 << 12 | 4 << 15, kRawRange = 1 << 24 | 3 << 28;
  patterns.add<BufferLoadPattern, WarpCopyPattern>(
      converter, isRDNA ? kFormat | kRawRange : kFormat);
}

/// Tells the back end that reads of workgroup memory do not depend on copies
/// that are under way: it would wait for all of these in front of each read,
/// where the kernel waits for some by itself.
void amd::separateCopies(LLVM::LLVMFuncOp kernel) {
  MLIRContext *context = kernel.getContext();
  SmallVector<ROCDL::RawPtrBufferLoadLdsOp> copies;
  kernel.walk(
      [&](ROCDL::RawPtrBufferLoadLdsOp copy) { copies.push_back(copy); });
  if (copies.empty())
    return;
  auto domain = LLVM::AliasScopeDomainAttr::get(
      context, StringAttr::get(context, "copies"));
  auto scope = ArrayAttr::get(
      context,
      LLVM::AliasScopeAttr::get(domain, StringAttr::get(context, "under way")));
  for (ROCDL::RawPtrBufferLoadLdsOp copy : copies)
    copy.setAliasScopesAttr(scope);
  kernel.walk([&](Operation *op) {
    auto access = dyn_cast<LLVM::AliasAnalysisOpInterface>(op);
    if (!access || isa<ROCDL::RawPtrBufferLoadLdsOp>(op))
      return;
    if (llvm::any_of(access.getAccessedOperands(), [](Value pointer) {
          auto type = dyn_cast<LLVM::LLVMPointerType>(pointer.getType());
          return type && type.getAddressSpace() ==
                             ROCDL::ROCDLDialect::kSharedMemoryAddressSpace;
        }))
      access.setNoAliasScopes(scope);
  });
}
