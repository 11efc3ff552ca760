// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops of ROCDL that can be executed on the host.

#include "HostOps.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include <cstddef>

using namespace mlir;
using namespace attune;

/// Floats of 8 bits are those of OCP, but for chips that have the others.
static HostElementType getType(Operation *op, HostElementType type) {
  auto target = tile::TargetAttr::lookup(op);
  if (!target || llvm::none_of(target.getMma(), [](tile::MmaAtomAttr atom) {
        return isa<Float8E4M3FNUZType>(atom.getLhsType());
      }))
    return type;
  return type == kHostF8E4M3FN ? kHostF8E4M3FNUZ
         : type == kHostF8E5M2 ? kHostF8E5M2FNUZ
                               : type;
}

/// Matrix instructions of one block whose modifiers are all 0: rows and columns
/// of the result, depth and element types.
template <typename OpTy>
static void addMfma(HostOps &ops, int64_t rows, int64_t depth,
                    HostElementType typeOfA,
                    std::optional<HostElementType> typeOfB = std::nullopt) {
  ops.add<OpTy>([=](OpTy op, HostRewriter &rewriter) -> LogicalResult {
    constexpr unsigned kModifiers = 3;
    for (Value modifier : op->getOperands().take_back(kModifiers)) {
      auto constant = modifier.getDefiningOp<LLVM::ConstantOp>();
      auto value =
          constant ? dyn_cast<IntegerAttr>(constant.getValue()) : IntegerAttr();
      if (!value || value.getInt() != 0)
        return op->emitOpError()
               << "expects modifiers of 0 to be executed on the host";
    }
    rewriter.replaceWithCall(op, "attuneHostMfma",
                             {rows, depth, getType(op, typeOfA),
                              getType(op, typeOfB.value_or(typeOfA))});
    return success();
  });
}

/// How many numbers of an operand a lane has tells of which ISA it is.
template <typename OpTy>
static void addWmma(HostOps &ops, HostElementType typeOfA,
                    std::optional<HostElementType> typeOfB = std::nullopt) {
  ops.add<OpTy>([=](OpTy op, HostRewriter &rewriter) {
    auto operand = cast<VectorType>(op->getOperand(0).getType());
    // Those of 8 bits come in words.
    int64_t perElement = typeOfB ? operand.getElementTypeBitWidth() / 8 : 1;
    rewriter.replaceWithCall(op, "attuneHostWmma",
                             {typeOfA, typeOfB.value_or(typeOfA),
                              operand.getNumElements() * perElement});
    return success();
  });
}

/// Two floats become those of 8 bits in one half of a word.
template <typename OpTy>
static void addNarrowing(HostOps &ops, HostElementType type) {
  ops.add<OpTy>([type](OpTy op, HostRewriter &rewriter) {
    rewriter.replaceWithCall(op, "attuneHostNarrowPair",
                             {getType(op, type), op.getWordSel()});
    return success();
  });
}

static void addFloat8Ops(HostOps &ops) {
  constexpr HostElementType kFP8 = kHostF8E4M3FN, kBF8 = kHostF8E5M2;
  addNarrowing<ROCDL::CvtPkFp8F32Op>(ops, kFP8);
  addNarrowing<ROCDL::CvtPkBf8F32Op>(ops, kBF8);
  addMfma<ROCDL::mfma_f32_32x32x16_fp8_fp8>(ops, 32, 16, kFP8, kFP8);
  addMfma<ROCDL::mfma_f32_32x32x16_fp8_bf8>(ops, 32, 16, kFP8, kBF8);
  addMfma<ROCDL::mfma_f32_32x32x16_bf8_fp8>(ops, 32, 16, kBF8, kFP8);
  addMfma<ROCDL::mfma_f32_32x32x16_bf8_bf8>(ops, 32, 16, kBF8, kBF8);
  addWmma<ROCDL::wmma_f32_16x16x16_fp8_fp8>(ops, kFP8, kFP8);
  addWmma<ROCDL::wmma_f32_16x16x16_fp8_bf8>(ops, kFP8, kBF8);
  addWmma<ROCDL::wmma_f32_16x16x16_bf8_fp8>(ops, kBF8, kFP8);
  addWmma<ROCDL::wmma_f32_16x16x16_bf8_bf8>(ops, kBF8, kBF8);
}

static LogicalResult rewriteReadLane(Operation *op, bool hasLane,
                                     HostRewriter &rewriter) {
  if (!op->getResult(0).getType().isIntOrFloat() ||
      op->getResult(0).getType().getIntOrFloatBitWidth() != 32)
    return op->emitOpError()
           << "expects a value of 32 bits to be executed on the host";
  rewriter.replaceWithCall(op, "attuneHostReadLane", {hasLane});
  return success();
}

static LogicalResult rewriteDPP(ROCDL::DPPUpdateOp op, HostRewriter &rewriter) {
  if (!op.getType().isIntOrFloat() ||
      op.getType().getIntOrFloatBitWidth() != 32 || !isHostDPP(op.getDppCtrl()))
    return op->emitOpError()
           << "expects a permutation of quads, a shift or rotation of rows, or "
              "a mirror, of 32 bits, to be executed on the host";
  rewriter.replaceWithCall(
      op, "attuneHostMoveDPP",
      {op.getDppCtrl(), op.getRowMask(), op.getBankMask(), op.getBoundCtrl()});
  return success();
}

/// Accesses through a buffer resource say how many bytes they move.
template <typename OpTy>
static void addBufferAccess(HostOps &ops, StringRef function) {
  ops.add<OpTy>([function](OpTy op, HostRewriter &rewriter) {
    Type type;
    if constexpr (std::is_same_v<OpTy, ROCDL::RawPtrBufferLoadOp>)
      type = op.getType();
    else
      type = op.getVdata().getType();
    rewriter.replaceWithCall(op, function, {rewriter.getBytes(type)});
    return success();
  });
}

/// Copies from global to workgroup memory, and waits for them: of s_waitcnt,
/// the field of loads (CDNA4 ISA, "S_WAITCNT").
static void populateCopies(HostOps &ops) {
  ops.addCall<ROCDL::RawPtrBufferLoadLdsOp>("attuneHostCopyBuffer");
  ops.addCall<ROCDL::ds_read_tr16_b64>("attuneHostReadTransposed");
  ops.add<ROCDL::SWaitcntOp>([](ROCDL::SWaitcntOp op, HostRewriter &rewriter) {
    constexpr uint32_t kLow = 0xf, kHigh = 0x30, kHighShift = 10;
    uint32_t fields = op.getBitfield();
    rewriter.replaceWithCall(
        op, "attuneHostWaitCopies",
        {(fields & kLow) | (fields >> kHighShift & kHigh)});
    return success();
  });
}

static void populatePlaces(HostOps &ops) {
  ops.addFields<ROCDL::ThreadIdXOp, ROCDL::ThreadIdYOp, ROCDL::ThreadIdZOp>(
      offsetof(HostThread, threadId));
  ops.addFields<ROCDL::BlockIdXOp, ROCDL::BlockIdYOp, ROCDL::BlockIdZOp>(
      offsetof(HostThread, blockId));
  ops.addFields<ROCDL::GridDimXOp, ROCDL::GridDimYOp, ROCDL::GridDimZOp>(
      offsetof(HostThread, gridSize));
  ops.addFields<ROCDL::WavefrontSizeOp>(offsetof(HostThread, warpSize));
}

void attune::populateROCDLHostOps(HostOps &ops) {
  populatePlaces(ops);
  ops.addCall<ROCDL::BarrierOp>("attuneHostBarrier", {0, 0, 1});
  ops.addCall<ROCDL::SBarrierOp>("attuneHostBarrier", {0, 0, 1});
  // Who waits has signaled.
  ops.ignore<ROCDL::BarrierSignalOp>();
  ops.addCall<ROCDL::BarrierWaitOp>("attuneHostBarrier", {0, 0, 1});
  ops.addCall<ROCDL::MbcntLoOp>("attuneHostCountBelow", {0});
  ops.addCall<ROCDL::MbcntHiOp>("attuneHostCountBelow", {1});
  ops.addCall<ROCDL::CvtPkRtz>("attuneHostCutToF16");
  ops.addCall<ROCDL::DsBpermuteOp>("attuneHostPermute");
  ops.addCall<ROCDL::PermlaneX16Op>("attuneHostPermlaneX16");
  ops.addCall<ROCDL::Permlane16SwapOp>("attuneHostSwapLanes", {16});
  ops.addCall<ROCDL::Permlane32SwapOp>("attuneHostSwapLanes", {32});
  ops.add<ROCDL::ReadlaneOp>([](ROCDL::ReadlaneOp op, HostRewriter &rewriter) {
    return rewriteReadLane(op, /*hasLane=*/true, rewriter);
  });
  ops.add<ROCDL::ReadfirstlaneOp>(
      [](ROCDL::ReadfirstlaneOp op, HostRewriter &rewriter) {
        return rewriteReadLane(op, /*hasLane=*/false, rewriter);
      });
  ops.add<ROCDL::BallotOp>([](ROCDL::BallotOp op, HostRewriter &rewriter) {
    rewriter.replaceWithCall(op, "attuneHostBallot");
    return success();
  });
  ops.add<ROCDL::DPPUpdateOp>(rewriteDPP);
  ops.addCall<ROCDL::MakeBufferRsrcOp>("attuneHostMakeBuffer");
  addBufferAccess<ROCDL::RawPtrBufferLoadOp>(ops, "attuneHostLoadBuffer");
  addBufferAccess<ROCDL::RawPtrBufferStoreOp>(ops, "attuneHostStoreBuffer");
  populateCopies(ops);
  addMfma<ROCDL::mfma_f32_32x32x8f16>(ops, 32, 8, kHostF16);
  addMfma<ROCDL::mfma_f32_32x32x8bf16_1k>(ops, 32, 8, kHostBF16);
  addMfma<ROCDL::mfma_f32_16x16x16f16>(ops, 16, 16, kHostF16);
  addMfma<ROCDL::mfma_f32_16x16x16bf16_1k>(ops, 16, 16, kHostBF16);
  addMfma<ROCDL::mfma_f32_32x32x16_f16>(ops, 32, 16, kHostF16);
  addMfma<ROCDL::mfma_f32_32x32x16_bf16>(ops, 32, 16, kHostBF16);
  addWmma<ROCDL::wmma_f32_16x16x16_f16>(ops, kHostF16);
  addWmma<ROCDL::wmma_f32_16x16x16_bf16>(ops, kHostBF16);
  addFloat8Ops(ops);
  ops.addIntrinsic("llvm.amdgcn.exp2", rewriteMath<LLVM::Exp2Op>);
  // The instruction behind it is v_log_f32, a logarithm to base 2.
  ops.addIntrinsic("llvm.amdgcn.log", rewriteMath<LLVM::Log2Op>);
  ops.addIntrinsic("llvm.amdgcn.rcp", rewriteReciprocal);
  ops.addIntrinsic("llvm.amdgcn.sqrt", rewriteMath<LLVM::SqrtOp>);
  // Waits, and hints to the scheduler.
  ops.ignore<ROCDL::SNopOp, ROCDL::SSleepOp, ROCDL::SetPrioOp,
             ROCDL::SchedBarrier, ROCDL::SchedGroupBarrier, ROCDL::IglpOpt>();
}
