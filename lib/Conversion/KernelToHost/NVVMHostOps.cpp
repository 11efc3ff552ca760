// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops of NVVM that can be executed on the host.

#include "HostOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include <cstddef>

using namespace mlir;
using namespace attune;

/// Reports what the runtime has no function for.
static LogicalResult refuse(Operation *op, const Twine &expected) {
  return op->emitOpError() << "expects " << expected
                           << " to be executed on the host";
}

static LogicalResult rewriteShuffle(NVVM::ShflOp op, HostRewriter &rewriter) {
  int64_t kind = 0;
  switch (op.getKind()) {
  case NVVM::ShflKind::bfly:
    kind = kHostShuffleXor;
    break;
  case NVVM::ShflKind::up:
    kind = kHostShuffleUp;
    break;
  case NVVM::ShflKind::down:
    kind = kHostShuffleDown;
    break;
  case NVVM::ShflKind::idx:
    kind = kHostShuffleIndex;
    break;
  }
  rewriter.replaceWithCall(op, "attuneHostShuffle", {kind});
  return success();
}

static LogicalResult rewriteLoadMatrix(NVVM::LdMatrixOp op,
                                       HostRewriter &rewriter) {
  auto shape = op.getShape();
  if (shape.getM() != 8 || shape.getN() != 8 ||
      op.getEltType() != NVVM::LdStMatrixEltType::B16)
    return refuse(op, "matrices of 8x8 16-bit elements");
  rewriter.replaceWithCall(
      op, "attuneHostLoadMatrix",
      {op.getNum(), op.getLayout() == NVVM::MMALayout::col});
  return success();
}

static LogicalResult rewriteStoreMatrix(NVVM::StMatrixOp op,
                                        HostRewriter &rewriter) {
  auto shape = op.getShape();
  if (shape.getM() != 8 || shape.getN() != 8 ||
      op.getEltType() != NVVM::LdStMatrixEltType::B16)
    return refuse(op, "matrices of 8x8 16-bit elements");
  rewriter.replaceWithCall(op, "attuneHostStoreMatrix",
                           {static_cast<int64_t>(op.getSources().size()),
                            op.getLayout() == NVVM::MMALayout::col});
  return success();
}

static LogicalResult rewriteMma(NVVM::MmaOp op, HostRewriter &rewriter) {
  auto shape = op.getShape();
  bool isHalf = isa<VectorType>(op.getOperandA()[0].getType());
  bool isBrain = op.getMultiplicandAPtxType() == NVVM::MMATypes::bf16 &&
                 op.getMultiplicandBPtxType() == NVVM::MMATypes::bf16;
  auto results = cast<LLVM::LLVMStructType>(op.getType()).getBody();
  if (shape.getM() != 16 || shape.getN() != 8 ||
      (shape.getK() != 8 && shape.getK() != 16) || (!isHalf && !isBrain) ||
      !results[0].isF32() || op.getLayoutA() != NVVM::MMALayout::row ||
      op.getLayoutB() != NVVM::MMALayout::col)
    return refuse(op, "m16n8k16 or m16n8k8 of f16 or bf16 with f32 results");
  HostElementType type = isBrain ? kHostBF16 : kHostF16;
  rewriter.replaceWithCall(op, "attuneHostMmaSync", {shape.getK(), type, type});
  return success();
}

/// The upper half of a product of words.
static LogicalResult rewriteMultiplyHigh(Operation *op,
                                         HostRewriter &rewriter) {
  OpBuilder &b = rewriter.at(op);
  Location loc = op->getLoc();
  auto extend = [&](Value word) -> Value {
    return LLVM::ZExtOp::create(b, loc, b.getI64Type(), word);
  };
  Value product = LLVM::MulOp::create(b, loc, extend(op->getOperand(0)),
                                      extend(op->getOperand(1)));
  Value bits = LLVM::ConstantOp::create(b, loc, b.getI64IntegerAttr(32));
  Value high = LLVM::LShrOp::create(b, loc, product, bits);
  rewriter.replace(op, LLVM::TruncOp::create(b, loc, b.getI32Type(), high));
  return success();
}

/// mma.sync.m16n8k32 of floats of 8 bits, which are intrinsics.
static void addFloat8Mmas(HostOps &ops) {
  std::pair<StringRef, HostElementType> types[] = {{"e4m3", kHostF8E4M3FN},
                                                   {"e5m2", kHostF8E5M2}};
  for (auto [nameOfA, typeOfA] : types)
    for (auto [nameOfB, typeOfB] : types)
      ops.addIntrinsic(
          ("llvm.nvvm.mma.m16n8k32.row.col.f32." + nameOfA + "." + nameOfB +
           ".f32")
              .str(),
          [a = typeOfA, b = typeOfB](Operation *op, HostRewriter &rewriter) {
            constexpr int64_t kDepth = 32;
            rewriter.replaceWithCall(op, "attuneHostMmaSync", {kDepth, a, b});
            return success();
          });
}

static LogicalResult rewriteFloat8(NVVM::ConvertF8x2ToF16x2Op op,
                                   HostRewriter &rewriter) {
  bool isE5M2 = isa<Float8E5M2Type>(op.getSrcType());
  if (op.getRelu() || (!isE5M2 && !isa<Float8E4M3FNType>(op.getSrcType())))
    return refuse(op, "a conversion of f8E4M3FN or f8E5M2 without relu");
  rewriter.replaceWithCall(op, "attuneHostWidenFloat8", {isE5M2});
  return success();
}

static LogicalResult rewriteToFloat8(NVVM::ConvertF32x2ToF8x2Op op,
                                     HostRewriter &rewriter) {
  bool isE5M2 = isa<Float8E5M2Type>(op.getDstTy());
  if (op.getRelu() || op.getRnd() != NVVM::FPRoundingMode::RN ||
      op.getSat() != NVVM::SaturationMode::SATFINITE ||
      (!isE5M2 && !isa<Float8E4M3FNType>(op.getDstTy())))
    return refuse(op, "a conversion to f8E4M3FN or f8E5M2 that rounds to "
                      "nearest and saturates");
  rewriter.replaceWithCall(op, "attuneHostNarrowFloat8", {isE5M2});
  return success();
}

static LogicalResult rewritePermute(NVVM::PermuteOp op,
                                    HostRewriter &rewriter) {
  if (op.getMode() != NVVM::PermuteMode::DEFAULT)
    return refuse(op, "a permutation of bytes that selects each");
  rewriter.replaceWithCall(op, "attuneHostPermuteBytes");
  return success();
}

static LogicalResult rewriteBarrier(NVVM::BarrierOp op,
                                    HostRewriter &rewriter) {
  if (op.getReductionOp())
    return refuse(op, "a barrier without a reduction");
  rewriter.replaceWithCall(
      op, "attuneHostBarrier",
      {op.getBarrierId() != nullptr, op.getNumberOfThreads() != nullptr, 1});
  return success();
}

static LogicalResult rewriteVote(NVVM::VoteSyncOp op, HostRewriter &rewriter) {
  int64_t kind = 0;
  switch (op.getKind()) {
  case NVVM::VoteSyncKind::any:
    kind = kHostVoteAny;
    break;
  case NVVM::VoteSyncKind::all:
    kind = kHostVoteAll;
    break;
  case NVVM::VoteSyncKind::ballot:
    kind = kHostVoteBallot;
    break;
  case NVVM::VoteSyncKind::uni:
    kind = kHostVoteUniform;
    break;
  }
  rewriter.replaceWithCall(op, "attuneHostVote", {kind});
  return success();
}

/// The aligned form asks more of the lanes of a warp than is checked here.
template <typename OpTy>
static void addClusterBarrier(HostOps &ops, StringRef function,
                              ArrayRef<int64_t> immediates = {}) {
  ops.add<OpTy>([function, list = SmallVector<int64_t>(immediates)](
                    OpTy op, HostRewriter &rewriter) -> LogicalResult {
    if (op.getAligned())
      return refuse(op, "a barrier of the cluster that is not aligned");
    rewriter.replaceWithCall(op, function, list);
    return success();
  });
}

static void populateSpecialRegisters(HostOps &ops) {
  ops.addFields<NVVM::ThreadIdXOp, NVVM::ThreadIdYOp, NVVM::ThreadIdZOp>(
      offsetof(HostThread, threadId));
  ops.addFields<NVVM::BlockIdXOp, NVVM::BlockIdYOp, NVVM::BlockIdZOp>(
      offsetof(HostThread, blockId));
  ops.addFields<NVVM::BlockDimXOp, NVVM::BlockDimYOp, NVVM::BlockDimZOp>(
      offsetof(HostThread, blockSize));
  ops.addFields<NVVM::GridDimXOp, NVVM::GridDimYOp, NVVM::GridDimZOp>(
      offsetof(HostThread, gridSize));
  ops.addFields<NVVM::LaneIdOp>(offsetof(HostThread, laneId));
  ops.addFields<NVVM::WarpIdOp>(offsetof(HostThread, warpId));
  ops.addFields<NVVM::WarpSizeOp>(offsetof(HostThread, warpSize));
  // Clusters lie along x.
  ops.addFields<NVVM::ClusterIdXOp>(offsetof(HostThread, clusterId));
  ops.addFields<NVVM::ClusterDimXOp>(offsetof(HostThread, numClusters));
  ops.addFields<NVVM::BlockInClusterIdXOp>(offsetof(HostThread, rank));
  ops.addFields<NVVM::ClusterId>(offsetof(HostThread, rank));
  ops.addFields<NVVM::ClusterDimBlocksXOp>(offsetof(HostThread, clusterSize));
  ops.addFields<NVVM::ClusterDim>(offsetof(HostThread, clusterSize));
}

void attune::populateNVVMHostOps(HostOps &ops) {
  populateSpecialRegisters(ops);
  ops.addCall<NVVM::Barrier0Op>("attuneHostBarrier", {0, 0, 1});
  ops.add<NVVM::BarrierOp>(rewriteBarrier);
  ops.add<NVVM::BarrierArriveOp>(
      [](NVVM::BarrierArriveOp op, HostRewriter &rewriter) {
        rewriter.replaceWithCall(op, "attuneHostBarrier",
                                 {op.getBarrierId() != nullptr, 1, 0});
        return success();
      });
  addClusterBarrier<NVVM::ClusterArriveOp>(ops, "attuneHostArriveAtCluster",
                                           {/*relaxed=*/0});
  addClusterBarrier<NVVM::ClusterArriveRelaxedOp>(
      ops, "attuneHostArriveAtCluster", {/*relaxed=*/1});
  addClusterBarrier<NVVM::ClusterWaitOp>(ops, "attuneHostWaitForCluster");
  ops.addCall<NVVM::MapaOp>("attuneHostMapShared");
  ops.add<NVVM::VoteSyncOp>(rewriteVote);
  ops.add<NVVM::ReduxOp>(
      [](NVVM::ReduxOp op, HostRewriter &rewriter) -> LogicalResult {
        if (op.getKind() != NVVM::ReduxKind::OR)
          return refuse(op, "a reduction by or");
        rewriter.replaceWithCall(op, "attuneHostReduceOr");
        return success();
      });
  ops.add<NVVM::ElectSyncOp>([](NVVM::ElectSyncOp op, HostRewriter &rewriter) {
    rewriter.replaceWithCall(op, "attuneHostElect",
                             {op.getMembermask() != nullptr});
    return success();
  });
  ops.addCall<NVVM::SyncWarpOp>("attuneHostSyncWarp");
  ops.add<NVVM::ShflOp>(rewriteShuffle);
  ops.add<NVVM::PermuteOp>(rewritePermute);
  ops.add<NVVM::MmaOp>(rewriteMma);
  addFloat8Mmas(ops);
  ops.add<NVVM::LdMatrixOp>(rewriteLoadMatrix);
  ops.add<NVVM::StMatrixOp>(rewriteStoreMatrix);
  ops.add<NVVM::CpAsyncOp>([](NVVM::CpAsyncOp op, HostRewriter &rewriter) {
    rewriter.replaceWithCall(op, "attuneHostCopyAsync",
                             {op.getSize(), op.getCpSize() != nullptr});
    return success();
  });
  ops.addCall<NVVM::CpAsyncCommitGroupOp>("attuneHostCommitCopies");
  ops.add<NVVM::CpAsyncWaitGroupOp>(
      [](NVVM::CpAsyncWaitGroupOp op, HostRewriter &rewriter) {
        rewriter.replaceWithCall(op, "attuneHostWaitCopies", {op.getN()});
        return success();
      });
  ops.add<NVVM::ConvertF8x2ToF16x2Op>(rewriteFloat8);
  ops.add<NVVM::ConvertF32x2ToF8x2Op>(rewriteToFloat8);
  ops.add<NVVM::RcpApproxFtzF32Op>(rewriteReciprocal);
  for (StringRef name : {"llvm.nvvm.ex2.approx.f", "llvm.nvvm.ex2.approx.ftz.f",
                         "llvm.nvvm.ex2.approx", "llvm.nvvm.ex2.approx.ftz"})
    ops.addIntrinsic(name, rewriteMath<LLVM::Exp2Op>);
  for (StringRef name :
       {"llvm.nvvm.lg2.approx.f", "llvm.nvvm.lg2.approx.ftz.f"})
    ops.addIntrinsic(name, rewriteMath<LLVM::Log2Op>);
  for (StringRef name : {"llvm.nvvm.rcp.approx.ftz.f", "llvm.nvvm.rcp.rn.f",
                         "llvm.nvvm.rcp.rn.ftz.f"})
    ops.addIntrinsic(name, rewriteReciprocal);
  ops.addIntrinsic("llvm.nvvm.mulhi.ui", rewriteMultiplyHigh);
  for (StringRef name : {"llvm.nvvm.tanh.approx.f32", "llvm.nvvm.tanh.approx"})
    ops.addIntrinsic(name, rewriteMath<LLVM::TanhOp>);
  // Budgets of registers, hints to caches and dependences between grids change
  // nothing that a kernel computes, and memory is written in the order of the
  // program here.
  ops.ignore<NVVM::SetMaxRegisterOp, NVVM::PrefetchOp, NVVM::GriddepcontrolOp,
             NVVM::NanosleepOp, NVVM::MembarOp>();
}
