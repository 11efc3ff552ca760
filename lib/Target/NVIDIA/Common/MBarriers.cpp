// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 8.0 and later, "mbarrier", "barrier.cluster", "bar".

#include "MBarriers.h"
#include "SharedPointer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace attune;
using namespace attune::nvidia;

static Value pointerTo(OpBuilder &b, Location loc,
                       const SharedBarrier &barrier) {
  return sharedPointer(b, loc, barrier.barriers, barrier.number);
}

void MBarriers::init(OpBuilder &b, Location loc, const SharedBarrier &barrier,
                     int64_t arrivals) const {
  NVVM::MBarrierInitOp::create(b, loc, pointerTo(b, loc, barrier),
                               constantI32(b, loc, arrivals), Value());
}

void MBarriers::publish(OpBuilder &b, Location loc) const {
  NVVM::FenceMbarrierInitOp::create(b, loc);
}

void MBarriers::arrive(OpBuilder &b, Location loc,
                       const SharedBarrier &barrier) const {
  NVVM::MBarrierArriveOp::create(b, loc, Type(), pointerTo(b, loc, barrier),
                                 Value());
}

void MBarriers::arriveAt(OpBuilder &b, Location loc,
                         const SharedBarrier &barrier, Value rank) const {
  Value there = NVVM::MapaOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), kSharedClusterSpace),
      pointerTo(b, loc, barrier), toI32(b, loc, rank));
  // With the scope of a cluster the arrival would wait for all earlier accesses
  // to global memory. All that it orders are reads of MMAs that were
  // waited for.
  NVVM::MBarrierArriveOp::create(b, loc, Type(), there, Value(),
                                 NVVM::MemScopeKind::CTA, /*relaxed=*/false);
}

void MBarriers::arriveExpecting(OpBuilder &b, Location loc,
                                const SharedBarrier &barrier,
                                int64_t bytes) const {
  NVVM::MBarrierArriveExpectTxOp::create(
      b, loc, Type(), pointerTo(b, loc, barrier), constantI32(b, loc, bytes),
      NVVM::MemScopeKind::CTA, /*relaxed=*/false, Value());
}

void MBarriers::wait(OpBuilder &b, Location loc, const SharedBarrier &barrier,
                     Value parity) const {
  // How long one attempt may sleep, in nanoseconds; the op tries for ever.
  constexpr int64_t kTicks = 10000000;
  NVVM::MBarrierTryWaitParityOp::create(b, loc, pointerTo(b, loc, barrier),
                                        toI32(b, loc, parity),
                                        constantI32(b, loc, kTicks));
}

void MBarriers::arriveAtCluster(OpBuilder &b, Location loc,
                                bool isFirst) const {
  // Not aligned: the lanes of a producer's warp come one by one. What was made
  // so far the fence behind it orders; the other form waits for all accesses.
  if (isFirst)
    NVVM::ClusterArriveRelaxedOp::create(b, loc, UnitAttr());
  else
    NVVM::ClusterArriveOp::create(b, loc, UnitAttr());
}

void MBarriers::waitForCluster(OpBuilder &b, Location loc) const {
  NVVM::ClusterWaitOp::create(b, loc, UnitAttr());
}

void MBarriers::syncWarp(OpBuilder &b, Location loc) const {
  NVVM::SyncWarpOp::create(b, loc,
                           arith::ConstantIntOp::create(b, loc, -1, 32));
}

void MBarriers::syncThreads(OpBuilder &b, Location loc, Value number,
                            int64_t threads, bool wait) const {
  Value id = toI32(b, loc, number), count = constantI32(b, loc, threads);
  if (wait)
    NVVM::BarrierOp::create(b, loc, Type(), id, count,
                            NVVM::BarrierReductionAttr(), Value());
  else
    NVVM::BarrierArriveOp::create(b, loc, id, count);
}
