// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads from global memory through buffer resources: what is the same in all
// lanes is the base of one, in scalar registers, and a lane adds 32 bits. Rows
// that a buffer does not have are zeros by the resource's size.

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
/// tile has.
static Value viewTile(OpBuilder &b, Location loc, const TileLoad &load) {
  Type word = b.getI32Type();
  auto constant = [&](int64_t value) {
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
    if (dim > 0 || !load.checksRows)
      continue;
    Value rows = memref::DimOp::create(b, loc, load.buffer, dim);
    Value left = arith::SubIOp::create(b, loc, rows, first);
    left = arith::IndexCastOp::create(b, loc, word, left);
    left = arith::MinSIOp::create(b, loc, left, constant(size));
    left = arith::MaxSIOp::create(b, loc, left, constant(0));
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
  SmallVector<Value> own;
  for (Value index : load.own)
    own.push_back(arith::IndexCastOp::create(b, loc, b.getI32Type(), index));
  return amdgpu::RawBufferLoadOp::create(
      b, loc, load.type, viewTile(b, loc, load), own, load.checksRows,
      /*indexOffset=*/IntegerAttr(), /*sgprOffset=*/Value());
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
    MemRefDescriptor memory(adaptor.getMemref());
    auto bytes = static_cast<int64_t>(type.getElementTypeBitWidth() / 8);
    auto constant = [&](int64_t value, int64_t bits = kWordBits) -> Value {
      Type integer = b.getIntegerType(bits);
      return LLVM::ConstantOp::create(b, loc, integer,
                                      b.getIntegerAttr(integer, value));
    };
    auto toWord = [&](Value value) -> Value {
      return LLVM::TruncOp::create(b, loc, b.getI32Type(), value);
    };
    SmallVector<int64_t> strides = from.getStridesAndOffset().first;
    auto getStride = [&](unsigned dim) {
      return ShapedType::isDynamic(strides[dim])
                 ? toWord(memory.stride(b, loc, dim))
                 : constant(strides[dim]);
    };
    Value base = takeFirstLaneOfPointer(
        b, loc, memory.bufferPtr(b, loc, *getTypeConverter(), from));
    Value place = constant(0);
    for (auto [dim, index] : llvm::enumerate(adaptor.getIndices()))
      place = LLVM::AddOp::create(
          b, loc, place, LLVM::MulOp::create(b, loc, index, getStride(dim)));
    place = LLVM::MulOp::create(b, loc, place, constant(bytes));
    Value records = constant(std::numeric_limits<uint32_t>::max(), 64);
    if (op.getBoundsCheck()) {
      // Rows may all be one.
      Value row = getStride(0);
      if (from.getRank() > 1)
        row = LLVM::SMaxOp::create(b, loc, row, constant(from.getDimSize(1)));
      records =
          LLVM::MulOp::create(b, loc, toWord(memory.size(b, loc, 0)), row);
      records = LLVM::MulOp::create(b, loc, records, constant(bytes));
      records = LLVM::ZExtOp::create(b, loc, b.getI64Type(),
                                     takeFirstLane(b, loc, records));
    }
    auto resourceType = LLVM::LLVMPointerType::get(b.getContext(), 8);
    Value resource = ROCDL::MakeBufferRsrcOp::create(
        b, loc, resourceType, base, constant(0, 16), records, constant(flags));
    int64_t words = type.getNumElements() * bytes * 8 / kWordBits;
    Type loaded = words == 1 ? Type(b.getI32Type())
                             : VectorType::get(words, b.getI32Type());
    auto data = ROCDL::RawPtrBufferLoadOp::create(
        b, loc, TypeRange{loaded},
        ValueRange{resource, place, constant(0), constant(0)});
    b.replaceOpWithNewOp<LLVM::BitcastOp>(
        op, getTypeConverter()->convertType(type), data.getRes());
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
  patterns.add<BufferLoadPattern>(converter,
                                  isRDNA ? kFormat | kRawRange : kFormat);
}
