// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Addresses in shared memory.

#include "SharedPointer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attune;

Value nvidia::constantI32(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, 32);
}

Value nvidia::toI32(OpBuilder &b, Location loc, Value index) {
  return b.createOrFold<arith::IndexCastOp>(loc, b.getI32Type(), index);
}

Value nvidia::reduceToUniform(OpBuilder &b, Location loc, Value word) {
  constexpr int64_t kAllLanes = -1;
  return NVVM::ReduxOp::create(b, loc, b.getI32Type(), word,
                               NVVM::ReduxKind::OR,
                               constantI32(b, loc, kAllLanes), /*abs=*/false,
                               /*nan=*/false);
}

Value nvidia::sharedAddress(OpBuilder &b, Location loc, Value buffer,
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

Value nvidia::sharedPointer(OpBuilder &b, Location loc, Value buffer,
                            Value offset) {
  Value address = b.createOrFold<arith::IndexCastOp>(
      loc, b.getI64Type(), sharedAddress(b, loc, buffer, offset));
  return LLVM::IntToPtrOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), kSharedSpace),
      address);
}
