// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Barriers in workgroup memory and the bulk copies that they count.

#include "HostOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace attune;

/// Predicates are operands behind those that are always there.
template <typename OpTy>
static void addPredicated(HostOps &ops, StringRef function,
                          ArrayRef<int64_t> first = {}) {
  ops.add<OpTy>([function, list = SmallVector<int64_t>(first)](
                    OpTy op, HostRewriter &rewriter) {
    SmallVector<int64_t> immediates = list;
    immediates.push_back(op.getPredicate() != nullptr);
    rewriter.replaceWithCall(op, function, immediates);
    return success();
  });
}

template <typename OpTy> static void addTest(HostOps &ops) {
  ops.add<OpTy>([](OpTy op, HostRewriter &rewriter) {
    rewriter.replaceWithCall(op, "attuneHostMBarrierTest",
                             {op.getStateOrPhase().getType().isInteger(32)});
    return success();
  });
}

static LogicalResult
rewriteLoadBox(NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp op,
               HostRewriter &rewriter) {
  if (op.getGroup())
    return op.emitOpError() << "expects a copy without a group of workgroups "
                               "to be executed on the host";
  if (op.getMode() != NVVM::TMALoadMode::TILE)
    return op.emitOpError() << "expects the mode 'tile' to be executed on the "
                               "host, but got '"
                            << NVVM::stringifyTMALoadMode(op.getMode()) << "'";
  rewriter.replaceWithCall(op, "attuneHostLoadBox",
                           {static_cast<int64_t>(op.getCoordinates().size()),
                            op.getMulticastMask() != nullptr,
                            op.getL2CacheHint() != nullptr,
                            op.getPredicate() != nullptr});
  return success();
}

static LogicalResult
rewriteStoreBox(NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp op,
                HostRewriter &rewriter) {
  if (op.getMode() != NVVM::TMAStoreMode::TILE)
    return op.emitOpError() << "expects the mode 'tile' to be executed on the "
                               "host, but got '"
                            << NVVM::stringifyTMAStoreMode(op.getMode()) << "'";
  rewriter.replaceWithCall(op, "attuneHostStoreBox",
                           {static_cast<int64_t>(op.getCoordinates().size()),
                            op.getL2CacheHint() != nullptr,
                            op.getPredicate() != nullptr, /*adds=*/0});
  return success();
}

static LogicalResult rewriteAddBox(NVVM::CpAsyncBulkTensorReduceOp op,
                                   HostRewriter &rewriter) {
  if (op.getMode() != NVVM::TMAStoreMode::TILE ||
      op.getRedKind() != NVVM::TMAReduxKind::ADD)
    return op.emitOpError()
           << "expects the mode 'tile' and the kind 'add' to be executed on "
              "the host, but got '"
           << NVVM::stringifyTMAStoreMode(op.getMode()) << "' and '"
           << NVVM::stringifyTMAReduxKind(op.getRedKind()) << "'";
  rewriter.replaceWithCall(op, "attuneHostStoreBox",
                           {static_cast<int64_t>(op.getCoordinates().size()),
                            op.getL2CacheHint() != nullptr,
                            /*hasPredicate=*/0, /*adds=*/1});
  return success();
}

void attune::populateMBarrierHostOps(HostOps &ops) {
  addPredicated<NVVM::MBarrierInitOp>(ops, "attuneHostMBarrierInit");
  ops.addCall<NVVM::MBarrierInvalOp>("attuneHostMBarrierInvalidate");
  ops.add<NVVM::MBarrierArriveOp>(
      [](NVVM::MBarrierArriveOp op, HostRewriter &rewriter) {
        rewriter.replaceWithCall(op, "attuneHostMBarrierArrive",
                                 {op.getCount() != nullptr});
        return success();
      });
  addPredicated<NVVM::MBarrierArriveExpectTxOp>(ops, "attuneHostMBarrierExpect",
                                                {/*arrives=*/1});
  ops.addCall<NVVM::MBarrierExpectTxOp>("attuneHostMBarrierExpect", {0, 0});
  ops.addCall<NVVM::MBarrierTryWaitParityOp>("attuneHostMBarrierWait");
  addTest<NVVM::MBarrierTestWaitOp>(ops);
  addTest<NVVM::MBarrierTryWaitOp>(ops);
  ops.add<NVVM::CpAsyncBulkGlobalToSharedClusterOp>(
      [](NVVM::CpAsyncBulkGlobalToSharedClusterOp op,
         HostRewriter &rewriter) -> LogicalResult {
        if (op.getMulticastMask())
          return op.emitOpError() << "expects a copy to one workgroup to be "
                                     "executed on the host";
        rewriter.replaceWithCall(op, "attuneHostCopyBulk");
        return success();
      });
  ops.addCall<NVVM::FenceMbarrierInitOp>("attuneHostFenceMBarrierInit");
  ops.add<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(rewriteLoadBox);
  ops.add<NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp>(rewriteStoreBox);
  ops.add<NVVM::CpAsyncBulkTensorReduceOp>(rewriteAddBox);
  ops.addCall<NVVM::CpAsyncBulkCommitGroupOp>("attuneHostCommitStores");
  ops.add<NVVM::CpAsyncBulkWaitGroupOp>(
      [](NVVM::CpAsyncBulkWaitGroupOp op, HostRewriter &rewriter) {
        // Stores happen at once when their sources are read.
        rewriter.replaceWithCall(op, "attuneHostWaitStores", {op.getGroup()});
        return success();
      });
  ops.ignore<NVVM::CpAsyncBulkTensorPrefetchOp>();
}
