// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.specialize and the turns of groups of warps.

#include "LaneContext.h"
#include "attune/Target/WarpgroupModel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attune;

namespace {

struct SpecializePattern : KernelPattern<tile::SpecializeOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::SpecializeOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct StartTurnsPattern : KernelPattern<tile::StartTurnsOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::StartTurnsOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct TakeTurnPattern : KernelPattern<tile::TakeTurnOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::TakeTurnOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct GiveTurnPattern : KernelPattern<tile::GiveTurnOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::GiveTurnOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

} // namespace

static Value compare(OpBuilder &b, Location loc, arith::CmpIPredicate predicate,
                     Value left, int64_t right) {
  return arith::CmpIOp::create(b, loc, predicate, left,
                               constant(b, loc, right));
}

LogicalResult
SpecializePattern::matchAndRewrite(tile::SpecializeOp op, OpAdaptor,
                                   ConversionPatternRewriter &b) const {
  const WarpgroupModel *model = context.model->getWarpgroups();
  Location loc = op.getLoc();
  Value warp = model->makeUniform(b, loc, warpNumber(b, loc, context));
  int64_t consumers = context.computingWarps;
  auto roles = scf::IfOp::create(
      b, loc, compare(b, loc, arith::CmpIPredicate::uge, warp, consumers),
      /*withElseRegion=*/true);
  auto moveInto = [&](Region &region, Block *block) {
    b.inlineBlockBefore(&region.front(), block,
                        block->getTerminator()->getIterator());
  };
  {
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(roles.thenBlock());
    if (std::optional<int64_t> registers = op.getProducerRegisters())
      model->setRegisters(b, loc, *registers, /*more=*/false);
    // One lane of one warp issues all copies.
    auto first = scf::IfOp::create(
        b, loc, compare(b, loc, arith::CmpIPredicate::eq, warp, consumers),
        /*withElseRegion=*/false);
    b.setInsertionPointToStart(first.thenBlock());
    auto elected = scf::IfOp::create(b, loc, model->electLane(b, loc),
                                     /*withElseRegion=*/false);
    moveInto(op.getProducer(), elected.thenBlock());
    // Where consumers do so, all lanes of the other warps have to.
    b.setInsertionPointAfter(first);
    if (context.cluster > 1)
      model->arriveAtCluster(b, loc, /*isFirst=*/false);
    b.setInsertionPointToStart(roles.elseBlock());
    if (std::optional<int64_t> registers = op.getConsumerRegisters())
      model->setRegisters(b, loc, *registers, /*more=*/true);
    moveInto(op.getConsumer(), roles.elseBlock());
  }
  b.eraseOp(op);
  return success();
}

//===----------------------------------------------------------------------===//
// Groups of warps
//===----------------------------------------------------------------------===//

Value attune::groupNumber(OpBuilder &b, Location loc,
                          const KernelContext &context, int64_t groups) {
  Value warps = constant(b, loc, context.computingWarps / groups);
  Value group =
      b.createOrFold<arith::DivUIOp>(loc, warpNumber(b, loc, context), warps);
  return context.model->getWarpgroups()->makeUniform(b, loc, group);
}

Value attune::isFirstOfGroup(OpBuilder &b, Location loc,
                             const KernelContext &context) {
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  int64_t threads = context.groupWarps * context.target.getLanes();
  Value number =
      b.createOrFold<arith::RemUIOp>(loc, thread, constant(b, loc, threads));
  return compare(b, loc, arith::CmpIPredicate::eq, number, 0);
}

/// The barriers behind those of turns.
void attune::meetInGroup(OpBuilder &b, Location loc,
                         const KernelContext &context) {
  Value number = b.createOrFold<arith::AddIOp>(
      loc, groupNumber(b, loc, context, context.groups),
      constant(b, loc, 1 + context.groups));
  context.model->getWarpgroups()->meet(
      b, loc, number, context.groupWarps * context.target.getLanes(),
      /*wait=*/true);
}

//===----------------------------------------------------------------------===//
// Turns: group g waits at barrier 1 + g, where the group before it arrives.
//===----------------------------------------------------------------------===//

/// Arrives at the barrier of a turn, which waits for the group whose turn it is
/// and the one before it.
static void meetForTurn(OpBuilder &b, Location loc,
                        const KernelContext &context, int64_t groups,
                        Value number, bool wait) {
  int64_t threads =
      2 * context.computingWarps / groups * context.target.getLanes();
  context.model->getWarpgroups()->meet(b, loc, number, threads, wait);
}

LogicalResult
StartTurnsPattern::matchAndRewrite(tile::StartTurnsOp op, OpAdaptor,
                                   ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  int64_t groups = op.getGroups();
  Value group = groupNumber(b, loc, context, groups);
  auto last = scf::IfOp::create(
      b, loc, compare(b, loc, arith::CmpIPredicate::eq, group, groups - 1),
      /*withElseRegion=*/false);
  OpBuilder inner = last.getThenBodyBuilder();
  meetForTurn(inner, loc, context, groups, constant(inner, loc, 1),
              /*wait=*/false);
  b.eraseOp(op);
  return success();
}

LogicalResult
TakeTurnPattern::matchAndRewrite(tile::TakeTurnOp op, OpAdaptor,
                                 ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  int64_t groups = op.getGroups();
  Value number = b.createOrFold<arith::AddIOp>(
      loc, groupNumber(b, loc, context, groups), constant(b, loc, 1));
  meetForTurn(b, loc, context, groups, number, /*wait=*/true);
  b.eraseOp(op);
  return success();
}

LogicalResult
GiveTurnPattern::matchAndRewrite(tile::GiveTurnOp op, OpAdaptor,
                                 ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  int64_t groups = op.getGroups();
  Value group = groupNumber(b, loc, context, groups);
  Value isLast = compare(b, loc, arith::CmpIPredicate::eq, group, groups - 1);
  Value next = b.createOrFold<arith::AddIOp>(loc, group, constant(b, loc, 2));
  Value number =
      arith::SelectOp::create(b, loc, isLast, constant(b, loc, 1), next);
  meetForTurn(b, loc, context, groups, number, /*wait=*/false);
  b.eraseOp(op);
  return success();
}

void attune::populateRolePatterns(TypeConverter &converter,
                                  RewritePatternSet &patterns,
                                  const KernelContext &context) {
  patterns.add<SpecializePattern, StartTurnsPattern, TakeTurnPattern,
               GiveTurnPattern>(converter, patterns.getContext(), context);
}
