// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tile schedulers: the numbers of the next tiles on their way from the thread
// that produces to the warps that compute. Workgroup memory holds, for each of
// two slots, a barrier that says full, one that says empty, and the number.

#include "KernelContext.h"
#include "SharedMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attune;

namespace {

struct SchedulerPattern : KernelPattern<tile::SchedulerOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::SchedulerOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct FetchWorkPattern : KernelPattern<tile::FetchWorkOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::FetchWorkOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct GetWorkPattern : KernelPattern<tile::GetWorkOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::GetWorkOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

} // namespace

static constexpr int64_t kSlots = tile::SchedulerType::kSlots;

/// Where the number is that stands in a slot, behind all barriers.
static Value placeOf(OpBuilder &b, Location loc, const RingSlot &slot) {
  return b.createOrFold<arith::AddIOp>(loc, slot.number,
                                       constant(b, loc, 2 * kSlots));
}

LogicalResult
SchedulerPattern::matchAndRewrite(tile::SchedulerOp op, OpAdaptor,
                                  ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  const Barriers &barriers = *context.model->getBarriers();
  auto type = cast<MemRefType>(
      getTypeConverter()->convertType(op.getResult().getType()));
  Value words = createSharedView(b, loc, type, *op.getOffset());
  SmallVector<Operation *> get;
  llvm::copy_if(op->getUsers(), std::back_inserter(get),
                llvm::IsaPred<tile::GetWorkOp>);
  auto guard = scf::IfOp::create(b, loc, isThread(b, loc, 0),
                                 /*withElseRegion=*/false);
  OpBuilder inner = guard.getThenBodyBuilder();
  for (int64_t slot = 0; slot < kSlots; ++slot) {
    barriers.init(inner, loc, {words, constant(inner, loc, slot)}, 1);
    barriers.init(inner, loc, {words, constant(inner, loc, slot + kSlots)},
                  context.countArrivals(get));
  }
  b.replaceOp(op, words);
  return success();
}

LogicalResult
FetchWorkPattern::matchAndRewrite(tile::FetchWorkOp op, OpAdaptor adaptor,
                                  ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  const Barriers &barriers = *context.model->getBarriers();
  Value zero = constant(b, loc, 0);
  auto literal = [&](OpBuilder &at, int64_t value) -> Value {
    return arith::ConstantIntOp::create(at, loc, value, 32);
  };
  Value before = memref::AtomicRMWOp::create(
      b, loc, arith::AtomicRMWKind::addi, literal(b, 1), op.getCounter(), zero);
  // Each tile is taken once, the first of each workgroup without the counter,
  // and each workgroup once learns that there are no more: as many as tiles.
  Value total =
      arith::IndexCastOp::create(b, loc, b.getI32Type(), op.getTotal());
  Value last = arith::SubIOp::create(b, loc, total, literal(b, 1));
  Value isLast =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, before, last);
  auto guard = scf::IfOp::create(b, loc, isLast, /*withElseRegion=*/false);
  OpBuilder inner = guard.getThenBodyBuilder();
  memref::StoreOp::create(inner, loc, literal(inner, 0), op.getCounter(), zero);

  Value taken = arith::IndexCastOp::create(b, loc, b.getIndexType(), before);
  Value grid = gpu::GridDimOp::create(b, loc, gpu::Dimension::x);
  Value next = arith::AddIOp::create(b, loc, taken, grid);
  RingSlot slot =
      slotOf(b, loc, adaptor.getScheduler(), kSlots, op.getElement());
  Value free =
      b.createOrFold<arith::XOrIOp>(loc, slot.parity, constant(b, loc, 1));
  barriers.wait(b, loc, slot.empty, free);
  Value word = arith::IndexCastOp::create(b, loc, b.getI64Type(), next);
  memref::StoreOp::create(b, loc, word, adaptor.getScheduler(),
                          placeOf(b, loc, slot));
  barriers.arrive(b, loc, slot.full);
  b.replaceOp(op, next);
  return success();
}

LogicalResult
GetWorkPattern::matchAndRewrite(tile::GetWorkOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  const Barriers &barriers = *context.model->getBarriers();
  RingSlot slot =
      slotOf(b, loc, adaptor.getScheduler(), kSlots, op.getElement());
  barriers.wait(b, loc, slot.full, slot.parity);
  if (isOfOneThread(op)) {
    Value word = memref::LoadOp::create(b, loc, adaptor.getScheduler(),
                                        placeOf(b, loc, slot));
    barriers.arrive(b, loc, slot.empty);
    b.replaceOpWithNewOp<arith::IndexCastOp>(op, b.getIndexType(), word);
    return success();
  }
  Value isFirst =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                            laneNumber(b, loc, context), constant(b, loc, 0));
  auto read = scf::IfOp::create(
      b, loc, isFirst,
      [&](OpBuilder &inner, Location at) {
        Value word = memref::LoadOp::create(inner, at, adaptor.getScheduler(),
                                            placeOf(inner, at, slot));
        scf::YieldOp::create(
            inner, at,
            arith::IndexCastOp::create(inner, at, inner.getIndexType(), word)
                .getResult());
      },
      [&](OpBuilder &inner, Location at) {
        scf::YieldOp::create(inner, at, constant(inner, at, 0));
      });
  Value number =
      context.model->emitFirstLane(b, loc, context.target, read.getResult(0));
  // All lanes of the warp have passed the barrier by now: one that had not
  // might find it full again and wait for ever. The lane that frees the slot
  // for them is the one that has read it.
  auto done = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/false);
  OpBuilder inner = done.getThenBodyBuilder();
  barriers.arrive(inner, loc, slot.empty);
  b.replaceOp(op, number);
  return success();
}

void attune::populateSchedulerPatterns(TypeConverter &converter,
                                       RewritePatternSet &patterns,
                                       const KernelContext &context) {
  patterns.add<SchedulerPattern, FetchWorkPattern, GetWorkPattern>(
      converter, patterns.getContext(), context);
}
