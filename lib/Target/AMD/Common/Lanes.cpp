// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the lanes of a wave decide together, and what they exchange without
// shared memory.

#include "AMD.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attune;

Value amd::AMDTarget::emitAny(OpBuilder &b, Location loc,
                              tile::TargetAttr target, Value condition) const {
  Type mask = b.getIntegerType(target.getLanes());
  Value lanes = ROCDL::BallotOp::create(b, loc, mask, condition);
  Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(mask));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, lanes, none);
}

void amd::AMDTarget::emitBarrier(OpBuilder &b, Location loc) const {
  amdgpu::LDSBarrierOp::create(b, loc);
}

namespace {

// Pattern: cmpi ne, ballot, 0 -> expect false
// What lanes are asked for is seldom so. What is done then is placed behind the
// loop, out of the way of what is done each time.
struct VotePattern : ConvertOpToLLVMPattern<arith::CmpIOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(arith::CmpIOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    if (op.getPredicate() != arith::CmpIPredicate::ne ||
        !op.getLhs().getDefiningOp<ROCDL::BallotOp>() ||
        !matchPattern(op.getRhs(), m_Zero()))
      return b.notifyMatchFailure(op, "is no vote");
    Location loc = op.getLoc();
    Value any = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne,
                                     adaptor.getLhs(), adaptor.getRhs());
    Value no =
        LLVM::ConstantOp::create(b, loc, b.getI1Type(), b.getBoolAttr(false));
    b.replaceOpWithNewOp<LLVM::ExpectOp>(op, any, no);
    return success();
  }
};

// Pattern: gpu.shuffle xor x, distance -> an instruction
struct ExchangePattern : ConvertOpToLLVMPattern<gpu::ShuffleOp> {
  using Emit = std::function<Value(OpBuilder &, Location, Value)>;
  ExchangePattern(LLVMTypeConverter &converter, int64_t distance, Emit emit)
      : ConvertOpToLLVMPattern(converter, kTargetBenefit), distance(distance),
        emit(std::move(emit)) {}

  LogicalResult matchAndRewrite(gpu::ShuffleOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    APInt given;
    if (op.getMode() != gpu::ShuffleMode::XOR ||
        !matchPattern(op.getOffset(), m_ConstantInt(&given)) ||
        given.getSExtValue() != distance)
      return b.notifyMatchFailure(op, "another exchange");
    if (!op.getValid().use_empty())
      return b.notifyMatchFailure(op, "asks whether there is such a lane");
    Location loc = op.getLoc();
    Type type = adaptor.getValue().getType(), word = b.getI32Type();
    constexpr unsigned kWordBits = 32;
    if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() != kWordBits)
      return b.notifyMatchFailure(op, "a value that is no word");
    Value bits = LLVM::BitcastOp::create(b, loc, word, adaptor.getValue());
    Value other = emit(b, loc, bits);
    other = LLVM::BitcastOp::create(b, loc, type, other);
    Value valid =
        LLVM::ConstantOp::create(b, loc, b.getI1Type(), b.getBoolAttr(true));
    b.replaceOp(op, {other, valid});
    return success();
  }

  int64_t distance;
  Emit emit;
};

} // namespace

void amd::populateVotePattern(LLVMTypeConverter &converter,
                              RewritePatternSet &patterns) {
  patterns.add<VotePattern>(converter, kTargetBenefit);
}

void amd::populateExchangePattern(
    LLVMTypeConverter &converter, RewritePatternSet &patterns, int64_t distance,
    std::function<Value(OpBuilder &, Location, Value)> emit) {
  patterns.add<ExchangePattern>(converter, distance, std::move(emit));
}

/// v_permlanex16_b32 (RDNA3 ISA, "VOP3 instructions"): a lane reads one of the
/// other row of 16, which one by four bits of two scalars. Here, that of its
/// own place.
Value amd::emitReadOtherRow(OpBuilder &b, Location loc, Value word) {
  Type type = b.getI32Type();
  auto constant = [&](uint32_t bits) {
    return LLVM::ConstantOp::create(
        b, loc, type, b.getI32IntegerAttr(static_cast<int32_t>(bits)));
  };
  return ROCDL::PermlaneX16Op::create(
      b, loc, type, /*old=*/word, /*src0=*/word, constant(0x76543210),
      constant(0xfedcba98), /*fi=*/true, /*boundControl=*/false);
}

void amd::WMMATarget::populateLanePatterns(LLVMTypeConverter &converter,
                                           RewritePatternSet &patterns) const {
  constexpr int64_t kRow = 16;
  amd::populateExchangePattern(converter, patterns, kRow, emitReadOtherRow);
}
