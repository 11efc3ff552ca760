// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of matrices by four warps, whose results come later than the values
// that stand for them.

#include "HostOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace attune;

static LogicalResult rewriteProduct(NVVM::WgmmaMmaAsyncOp op,
                                    HostRewriter &rewriter) {
  auto shape = op.getShape();
  bool isBrain = op.getTypeA() == NVVM::WGMMATypes::bf16;
  auto registers = cast<LLVM::LLVMStructType>(op.getType()).getBody();
  if (shape.getM() != 64 || shape.getK() != 16 || shape.getN() < 8 ||
      shape.getN() > 256 || shape.getN() % 8 != 0 ||
      op.getTypeA() != op.getTypeB() ||
      (!isBrain && op.getTypeA() != NVVM::WGMMATypes::f16) ||
      op.getTypeD() != NVVM::WGMMATypes::f32 || op.getSatfinite() ||
      registers.size() != size_t(shape.getN()) / 2 ||
      !llvm::all_of(registers, [](Type type) { return type.isF32(); }))
    return op.emitOpError() << "expects m64nNk16 of f16 or bf16 with f32 "
                               "results to be executed on the host";
  int64_t flags = 0;
  if (op.getScaleD() == NVVM::WGMMAScaleOut::one)
    flags |= kHostProductAccumulate;
  if (op.getScaleA() == NVVM::WGMMAScaleIn::neg)
    flags |= kHostProductNegateA;
  if (op.getScaleB() == NVVM::WGMMAScaleIn::neg)
    flags |= kHostProductNegateB;
  if (op.getLayoutA() == NVVM::MMALayout::col)
    flags |= kHostProductTransposeA;
  if (op.getLayoutB() == NVVM::MMALayout::row)
    flags |= kHostProductTransposeB;
  rewriter.replaceWithCall(
      op, "attuneHostMultiplyAsync",
      {shape.getN(), isBrain ? kHostBF16 : kHostF16, flags});
  return success();
}

/// Whether the op moves values and does not look at them.
static bool onlyMoves(Operation *op) {
  return isa<LLVM::ExtractValueOp, LLVM::InsertValueOp, LLVM::ExtractElementOp,
             LLVM::InsertElementOp, LLVM::ShuffleVectorOp>(op);
}

void attune::readProducts(LLVM::LLVMFuncOp function, HostRewriter &rewriter) {
  llvm::SetVector<Value> values;
  function.walk(
      [&](NVVM::WgmmaMmaAsyncOp op) { values.insert(op.getResult()); });
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
      else if (!isa<NVVM::WgmmaMmaAsyncOp>(user))
        reads.push_back(&use);
    }
  for (OpOperand *use : reads)
    use->set(rewriter.readProduct(use->getOwner(), use->get()));
}

void attune::populateWarpgroupHostOps(HostOps &ops) {
  ops.addCall<NVVM::WgmmaFenceAlignedOp>("attuneHostFenceProducts");
  ops.add<NVVM::WgmmaMmaAsyncOp>(rewriteProduct);
  ops.addCall<NVVM::WgmmaGroupSyncAlignedOp>("attuneHostCommitProducts");
  ops.add<NVVM::WgmmaWaitGroupSyncOp>(
      [](NVVM::WgmmaWaitGroupSyncOp op, HostRewriter &rewriter) {
        rewriter.replaceWithCall(op, "attuneHostWaitProducts",
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
