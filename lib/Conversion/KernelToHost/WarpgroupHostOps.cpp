// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MMAs by four warps, whose results come later than the values
// that stand for them.

#include "HostOps.h"
#include "attune/Dialect/WGMMA/IR/WGMMA.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace attune;

static std::optional<HostElementType> getHostType(NVVM::WGMMATypes type) {
  switch (type) {
  case NVVM::WGMMATypes::f16:
    return kHostF16;
  case NVVM::WGMMATypes::bf16:
    return kHostBF16;
  case NVVM::WGMMATypes::e4m3:
    return kHostF8E4M3FN;
  case NVVM::WGMMATypes::e5m2:
    return kHostF8E5M2;
  default:
    return std::nullopt;
  }
}

/// Of elements of such a type.
static int getDepth(HostElementType type) {
  return type == kHostF16 || type == kHostBF16 ? 16 : 32;
}

static LogicalResult rewriteWarpgroupMma(NVVM::WgmmaMmaAsyncOp op,
                                         HostRewriter &rewriter) {
  auto shape = op.getShape();
  std::optional<HostElementType> type = getHostType(op.getTypeA());
  auto registers = cast<LLVM::LLVMStructType>(op.getType()).getBody();
  if (!type || shape.getM() != 64 || shape.getK() != getDepth(*type) ||
      shape.getN() < 8 || shape.getN() > 256 || shape.getN() % 8 != 0 ||
      op.getTypeA() != op.getTypeB() ||
      op.getTypeD() != NVVM::WGMMATypes::f32 || op.getSatfinite() ||
      registers.size() != size_t(shape.getN()) / 2 ||
      !llvm::all_of(registers, [](Type type) { return type.isF32(); }))
    return op.emitOpError()
           << "expects m64nNk16 of f16 or bf16, or m64nNk32 of e4m3 or e5m2, "
              "with f32 results to be executed on the host";
  int64_t flags = 0;
  if (op.getScaleD() == NVVM::WGMMAScaleOut::one)
    flags |= kHostMmaAccumulate;
  if (op.getScaleA() == NVVM::WGMMAScaleIn::neg)
    flags |= kHostMmaNegateA;
  if (op.getScaleB() == NVVM::WGMMAScaleIn::neg)
    flags |= kHostMmaNegateB;
  if (op.getLayoutA() == NVVM::MMALayout::col)
    flags |= kHostMmaTransposeA;
  if (op.getLayoutB() == NVVM::MMALayout::row)
    flags |= kHostMmaTransposeB;
  if (rewriter.lateMmas.contains(op))
    flags |= kHostMmaLate;
  rewriter.replaceWithCall(op, "attuneHostMultiplyAsync",
                           {shape.getN(), *type, flags});
  return success();
}

static LogicalResult rewriteRegisterMma(wgmma::MmaAsyncOp op,
                                        HostRewriter &rewriter) {
  int64_t flags = kHostMmaLeftInRegisters;
  if (op.getScaleD() == NVVM::WGMMAScaleOut::one)
    flags |= kHostMmaAccumulate;
  if (op.getLayoutB() == NVVM::MMALayout::row)
    flags |= kHostMmaTransposeB;
  if (rewriter.lateMmas.contains(op))
    flags |= kHostMmaLate;
  rewriter.replaceWithCall(
      op, "attuneHostMultiplyAsync",
      {op.getShape().getN(), *getHostType(op.getType()), flags});
  return success();
}

/// What the wait returns is what it was given: tickets stay tickets, and
/// reading them is right from here on.
static LogicalResult rewriteWait(wgmma::WaitGroupOp op,
                                 HostRewriter &rewriter) {
  rewriter.call(op, "attuneHostWaitMmas", rewriter.i32(op, op.getGroup()));
  op.replaceAllUsesWith(op.getInouts());
  op.erase();
  return success();
}

/// Whether the op moves values and does not look at them.
static bool onlyMoves(Operation *op) {
  return isa<LLVM::ExtractValueOp, LLVM::InsertValueOp, LLVM::ExtractElementOp,
             LLVM::InsertElementOp, LLVM::ShuffleVectorOp>(op);
}

static bool isMma(Operation *op) {
  return isa<NVVM::WgmmaMmaAsyncOp, wgmma::MmaAsyncOp>(op);
}

/// Whether an op between the last fence of the MMA's block and the MMA
/// computes one of its registers.
static bool isLate(Operation *mma) {
  llvm::SmallPtrSet<Operation *, 32> behindFence;
  Operation *above = mma->getPrevNode();
  for (; above && !isa<NVVM::WgmmaFenceAlignedOp>(above);
       above = above->getPrevNode())
    behindFence.insert(above);
  // Whether a fence is missing altogether shows when the kernel runs.
  if (!above)
    return false;
  llvm::SetVector<Value> registers;
  registers.insert_range(mma->getOperands());
  for (size_t index = 0; index < registers.size(); ++index) {
    Operation *op = registers[index].getDefiningOp();
    // Descriptors are not what the fence is for.
    if (registers[index].getType().isInteger(64) || !op ||
        !behindFence.contains(op) || isMma(op) || op->getNumOperands() == 0)
      continue;
    if (!onlyMoves(op) && !isa<LLVM::BitcastOp, wgmma::WaitGroupOp>(op))
      return true;
    registers.insert_range(op->getOperands());
  }
  return false;
}

void attune::prepareMmas(LLVM::LLVMFuncOp function, HostRewriter &rewriter) {
  llvm::SetVector<Value> values;
  function.walk([&](Operation *op) {
    if (!isMma(op))
      return;
    values.insert(op->getResult(0));
    if (isLate(op))
      rewriter.lateMmas.insert(op);
  });
  SmallVector<OpOperand *> reads;
  for (size_t index = 0; index < values.size(); ++index)
    for (OpOperand &use : values[index].getUses()) {
      Operation *user = use.getOwner();
      auto branch = dyn_cast<BranchOpInterface>(user);
      auto argument =
          branch ? branch.getSuccessorBlockArgument(use.getOperandNumber())
                 : std::nullopt;
      if (argument)
        values.insert(*argument);
      else if (onlyMoves(user))
        values.insert(user->getResult(0));
      else if (isa<wgmma::WaitGroupOp>(user))
        values.insert(user->getResult(use.getOperandNumber()));
      else if (!isMma(user))
        reads.push_back(&use);
    }
  for (OpOperand *use : reads)
    use->set(rewriter.readMma(use->getOwner(), use->get()));
}

void attune::populateWarpgroupHostOps(HostOps &ops) {
  ops.addCall<NVVM::WgmmaFenceAlignedOp>("attuneHostFenceMmas");
  ops.add<NVVM::WgmmaMmaAsyncOp>(rewriteWarpgroupMma);
  ops.add<wgmma::MmaAsyncOp>(rewriteRegisterMma);
  ops.add<wgmma::WaitGroupOp>(rewriteWait);
  ops.addCall<NVVM::WgmmaGroupSyncAlignedOp>("attuneHostCommitMmas");
  ops.add<NVVM::WgmmaWaitGroupSyncOp>(
      [](NVVM::WgmmaWaitGroupSyncOp op, HostRewriter &rewriter) {
        rewriter.replaceWithCall(op, "attuneHostWaitMmas",
                                 {static_cast<int64_t>(op.getGroup())});
        return success();
      });
  ops.add<NVVM::FenceProxyOp>(
      [](NVVM::FenceProxyOp op, HostRewriter &rewriter) {
        if (op.getKind() == NVVM::ProxyKind::async ||
            op.getKind() == NVVM::ProxyKind::async_shared)
          rewriter.replaceWithCall(op, "attuneHostFenceProxy");
        else
          op->erase();
        return success();
      });
}
