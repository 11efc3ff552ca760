// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The calling convention of include/attune/Simulator/HostThread.h.

#include "HostOps.h"
#include "llvm/Support/MathExtras.h"
#include <cstddef>

using namespace mlir;
using namespace attune;

OpBuilder &HostRewriter::at(Operation *op) {
  builder.setInsertionPoint(op);
  return builder;
}

Value HostRewriter::i32(Operation *op, int64_t value) {
  return LLVM::ConstantOp::create(at(op), op->getLoc(), builder.getI32Type(),
                                  value);
}

Value HostRewriter::field(Operation *op, uint64_t offset) {
  at(op);
  return LLVM::GEPOp::create(
      builder, op->getLoc(), thread.getType(), builder.getI8Type(), thread,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
}

LLVM::CallOp HostRewriter::call(Operation *op, StringRef function,
                                ValueRange extra, Type result) {
  SmallVector<Value> arguments{thread, i32(op, sites.lookup(op))};
  arguments.append(extra.begin(), extra.end());
  LLVM::LLVMFuncOp &declaration = declared[function];
  if (!declaration) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(module.getBody());
    auto type = LLVM::LLVMFunctionType::get(
        result ? result : LLVM::LLVMVoidType::get(builder.getContext()),
        llvm::to_vector(ValueRange(arguments).getTypes()));
    declaration = LLVM::LLVMFuncOp::create(builder, builder.getUnknownLoc(),
                                           function, type);
  }
  return LLVM::CallOp::create(at(op), op->getLoc(), declaration, arguments);
}

void HostRewriter::replaceWithCall(Operation *op, StringRef function,
                                   ArrayRef<int64_t> immediates) {
  constexpr uint64_t kPadding = 4;
  uint64_t offset = 0;
  for (Value operand : op->getOperands()) {
    Value slot = field(op, offsetof(HostThread, operands) + offset);
    LLVM::StoreOp::create(builder, op->getLoc(), operand, slot, kPadding);
    offset += llvm::alignTo(layout.getTypeSize(operand.getType()), kPadding);
  }
  assert(offset <= HostThread::kSlotBytes && "operands that fit");
  SmallVector<Value> extra;
  for (int64_t immediate : immediates)
    extra.push_back(i32(op, immediate));
  call(op, function, extra);
  if (op->getNumResults() > 0) {
    Value slot = field(op, offsetof(HostThread, results));
    Value result = LLVM::LoadOp::create(
        builder, op->getLoc(), op->getResult(0).getType(), slot, kPadding);
    op->getResult(0).replaceAllUsesWith(result);
  }
  op->erase();
}

void HostRewriter::replaceWithField(Operation *op, uint64_t offset) {
  Value slot = field(op, offset);
  replace(op, LLVM::LoadOp::create(builder, op->getLoc(),
                                   op->getResult(0).getType(), slot));
}

void HostRewriter::replace(Operation *op, Value value) {
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
}

Value HostRewriter::readMma(Operation *op, Value value) {
  constexpr uint64_t kWord = 4;
  // Behind the elements of a vector there may be room, and old tickets in it.
  int64_t bytes = getBytes(value.getType());
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    bytes = getBytes(vector.getElementType()) * vector.getNumElements();
  LLVM::StoreOp::create(builder, op->getLoc(), value,
                        field(op, offsetof(HostThread, operands)), kWord);
  call(op, "attuneHostReadMma", i32(op, bytes / kWord));
  return LLVM::LoadOp::create(builder, op->getLoc(), value.getType(),
                              field(op, offsetof(HostThread, results)), kWord);
}

LogicalResult attune::rewriteReciprocal(Operation *op, HostRewriter &rewriter) {
  OpBuilder &b = rewriter.at(op);
  Value one = LLVM::ConstantOp::create(b, op->getLoc(), b.getF32FloatAttr(1));
  rewriter.replace(
      op, LLVM::FDivOp::create(b, op->getLoc(), one, op->getOperand(0)));
  return success();
}

const HostOps::Rewrite *HostOps::find(Operation *op) const {
  if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op)) {
    auto it = intrinsics.find(call.getIntrin());
    return it == intrinsics.end() ? nullptr : &it->second;
  }
  auto it = table.find(op->getName().getTypeID());
  return it == table.end() ? nullptr : &it->second;
}
