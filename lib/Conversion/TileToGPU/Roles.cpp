// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.specialize and the ping-pong of warpgroups.

#include "KernelContext.h"
#include "attune/Target/Barriers.h"
#include "attune/Target/WarpRoles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attune;

namespace {

struct IsTurnPattern : KernelPattern<tile::IsTurnOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::IsTurnOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct PingPongInitPattern : KernelPattern<tile::PingPongInitOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::PingPongInitOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct PingPongWaitPattern : KernelPattern<tile::PingPongWaitOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::PingPongWaitOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct PingPongArrivePattern : KernelPattern<tile::PingPongArriveOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::PingPongArriveOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct PingPongEndPattern : KernelPattern<tile::PingPongEndOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::PingPongEndOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct BarrierPattern : KernelPattern<tile::BarrierOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::BarrierOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

} // namespace

static Value compare(OpBuilder &b, Location loc, arith::CmpIPredicate predicate,
                     Value left, int64_t right) {
  return arith::CmpIOp::create(b, loc, predicate, left,
                               constant(b, loc, right));
}

/// Whether a role gets more registers than the threads start with, which is
/// their mean.
static bool getsMore(tile::RoleAttr own, ArrayRef<tile::RoleAttr> roles) {
  int64_t warps = 0, registers = 0;
  for (tile::RoleAttr role : roles) {
    warps += role.getWarps();
    registers += role.getWarps() * role.getRegisters();
  }
  return own.getRegisters() * warps > registers;
}

/// Puts the program of role `i` where the builder stands.
static void emitProgram(OpBuilder &b, tile::SpecializeOp op, unsigned i,
                        Value warp, const KernelContext &context) {
  Location loc = op.getLoc();
  const WarpRoles &model = *context.model->getWarpRoles();
  tile::RoleAttr role = op.getRole(i);
  auto moveTo = [&](Block *block) {
    Block &program = op.getPrograms()[i].front();
    block->getOperations().splice(block->getTerminator()->getIterator(),
                                  program.getOperations());
  };
  if (role.getThreads() == tile::RoleThreads::All)
    return moveTo(b.getInsertionBlock());
  // One thread of one warp issues all copies.
  OpBuilder::InsertionGuard restore(b);
  Value isFirst =
      compare(b, loc, arith::CmpIPredicate::eq, warp, op.getFirstWarp(i));
  auto first = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/false);
  b.setInsertionPointToStart(first.thenBlock());
  auto elected = scf::IfOp::create(b, loc, model.electThread(b, loc),
                                   /*withElseRegion=*/false);
  moveTo(elected.thenBlock());
  // Where consumers do so, all lanes of the other warps have to.
  b.setInsertionPointAfter(first);
  if (context.cluster > 1)
    context.model->getBarriers()->arriveAtCluster(b, loc, /*isFirst=*/false);
}

/// The number of the warp in the workgroup, known to be the same in all lanes.
static Value uniformWarpNumber(OpBuilder &b, Location loc,
                               const KernelContext &context) {
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  Value number = b.createOrFold<arith::DivUIOp>(
      loc, thread, constant(b, loc, context.target.getLanes()));
  return context.model->emitFirstLane(b, loc, context.target, number);
}

/// The first of the roles up to `last` that ask for registers together: those
/// of a warpgroup, all of whose warps do so by one instruction.
static unsigned getFirstTogether(tile::SpecializeOp op, unsigned last,
                                 const KernelContext &context) {
  while (op.getRole(last).getRegisters() &&
         op.getFirstWarp(last) % context.warpgroupWarps != 0)
    --last;
  return last;
}

/// Calls `emit` for the warps from that of role `first` on, and leaves the
/// builder where those before are.
static void emitFrom(OpBuilder &b, tile::SpecializeOp op, unsigned first,
                     Value warp, function_ref<void()> emit) {
  Location loc = op.getLoc();
  Value isOwn =
      compare(b, loc, arith::CmpIPredicate::uge, warp, op.getFirstWarp(first));
  auto branch = scf::IfOp::create(b, loc, isOwn, /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  emit();
  b.setInsertionPointToStart(branch.elseBlock());
}

/// Puts the programs of roles `first` to `last` where the builder stands.
static void emitTogether(OpBuilder &b, tile::SpecializeOp op, unsigned first,
                         unsigned last, Value warp,
                         const KernelContext &context) {
  tile::RoleAttr role = op.getRole(first);
  if (role.getRegisters())
    context.model->getWarpRoles()->setRegisters(
        b, op.getLoc(), role.getRegisters(), getsMore(role, context.roles));
  for (unsigned i = last; i > first; --i)
    emitFrom(b, op, i, warp, [&] { emitProgram(b, op, i, warp, context); });
  emitProgram(b, op, first, warp, context);
}

void attune::lowerRoles(gpu::GPUFuncOp kernel, const KernelContext &context) {
  SmallVector<tile::SpecializeOp> ops(
      kernel.getBody().getOps<tile::SpecializeOp>());
  for (tile::SpecializeOp op : ops) {
    OpBuilder b(op);
    Value warp = uniformWarpNumber(b, op.getLoc(), context);
    // The last roles first, for their warps are those from a number on.
    unsigned last = op.getRoles().size() - 1,
             first = getFirstTogether(op, last, context);
    while (first > 0) {
      emitFrom(b, op, first, warp,
               [&] { emitTogether(b, op, first, last, warp, context); });
      last = first - 1;
      first = getFirstTogether(op, last, context);
    }
    emitTogether(b, op, first, last, warp, context);
    op.erase();
  }
}

//===----------------------------------------------------------------------===//
// Teams and warpgroups
//===----------------------------------------------------------------------===//

/// The number of this thread's run of `length` warps, among all of the role.
static Value numberInRole(OpBuilder &b, Location loc,
                          const KernelContext &context, tile::WarpRange warps,
                          int64_t length) {
  // Asked for where the kernel starts: what follows from it, as the address of
  // a warpgroup's rows does, can then be moved out of loops.
  Value warp;
  {
    OpBuilder::InsertionGuard restore(b);
    Operation *parent = b.getInsertionBlock()->getParentOp();
    auto kernel = dyn_cast<gpu::GPUFuncOp>(parent);
    if (!kernel)
      kernel = parent->getParentOfType<gpu::GPUFuncOp>();
    b.setInsertionPointToStart(&kernel.getBody().front());
    warp = uniformWarpNumber(b, loc, context);
  }
  if (warps.first)
    warp =
        b.createOrFold<arith::SubIOp>(loc, warp, constant(b, loc, warps.first));
  return b.createOrFold<arith::DivUIOp>(loc, warp, constant(b, loc, length));
}

Value attune::groupNumber(OpBuilder &b, Location loc,
                          const KernelContext &context, int64_t groups) {
  tile::WarpRange warps = context.getWarps(b);
  Value number = numberInRole(b, loc, context, warps, warps.count / groups);
  return warps.teams > 1 ? b.createOrFold<arith::RemUIOp>(
                               loc, number, constant(b, loc, groups))
                         : number;
}

Value attune::teamNumber(OpBuilder &b, Location loc,
                         const KernelContext &context, tile::WarpRange warps) {
  return numberInRole(b, loc, context, warps, warps.count);
}

LogicalResult
IsTurnPattern::matchAndRewrite(tile::IsTurnOp op, OpAdaptor adaptor,
                               ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  tile::WarpRange warps = context.getWarps(op);
  if (warps.teams == 1 || isOfOneThread(op)) {
    b.replaceOpWithNewOp<arith::ConstantOp>(op, b.getBoolAttr(true));
    return success();
  }
  Value number = b.createOrFold<arith::RemUIOp>(loc, adaptor.getNumber(),
                                                constant(b, loc, warps.teams));
  b.replaceOpWithNewOp<arith::CmpIOp>(op, arith::CmpIPredicate::eq, number,
                                      teamNumber(b, loc, context, warps));
  return success();
}

Value attune::isFirstOfGroup(OpBuilder &b, Location loc,
                             const KernelContext &context) {
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  int64_t threads = context.warpgroupWarps * context.target.getLanes();
  Value number =
      b.createOrFold<arith::RemUIOp>(loc, thread, constant(b, loc, threads));
  return compare(b, loc, arith::CmpIPredicate::eq, number, 0);
}

/// The barriers behind those of ping-pong, of which there is one a warpgroup.
/// Chips without warpgroups have a warp in their place.
void attune::meetInGroup(OpBuilder &b, Location loc,
                         const KernelContext &context) {
  const Barriers &barriers = *context.model->getBarriers();
  if (context.warpgroupWarps == 1)
    return barriers.syncWarp(b, loc);
  tile::WarpRange warps = context.getWarps(b);
  int64_t first =
      1 + context.countWarpgroups() + context.countWarpgroupsBefore(warps);
  // The back end sets all barriers aside where it does not know which one.
  Value number = constant(b, loc, first);
  if (context.countWarpgroups(warps) * warps.teams > 1)
    number = b.createOrFold<arith::AddIOp>(
        loc, numberInRole(b, loc, context, warps, context.warpgroupWarps),
        number);
  barriers.syncThreads(b, loc, number,
                       context.warpgroupWarps * context.target.getLanes(),
                       /*wait=*/true);
}

/// The barriers behind those of warpgroups, of which there is one a role or
/// team.
void attune::meetInRole(OpBuilder &b, Location loc,
                        const KernelContext &context) {
  tile::WarpRange warps = context.getWarps(b);
  int64_t number =
      1 + 2 * context.countWarpgroups() + context.countWarpgroupsBefore(warps);
  Value own = constant(b, loc, number);
  if (warps.teams > 1)
    own = b.createOrFold<arith::AddIOp>(loc, own,
                                        teamNumber(b, loc, context, warps));
  context.model->getBarriers()->syncThreads(
      b, loc, own, warps.count * context.target.getLanes(), /*wait=*/true);
}

//===----------------------------------------------------------------------===//
// Ping-pong: warpgroup g of a role waits at barrier 1 + g, counted over all
// roles, where the one before it arrives. Where all threads meet or none, the
// second of two halves is a meeting behind the first one.
//===----------------------------------------------------------------------===//

/// Whether groups are halves of a workgroup.
static bool haveHalves(const KernelContext &context) {
  return !context.model->getBarriers();
}

static int64_t firstPingPongBarrier(OpBuilder &b,
                                    const KernelContext &context) {
  return 1 + context.countWarpgroupsBefore(context.getWarps(b));
}

/// Which of the groups this thread is in, of those of all teams.
static Value pingPongNumber(OpBuilder &b, Location loc,
                            const KernelContext &context, int64_t groups) {
  tile::WarpRange warps = context.getWarps(b);
  return numberInRole(b, loc, context, warps, warps.getAll() / groups);
}

/// Arrives at the barrier of a turn, which waits for the group whose turn it is
/// and the one before it.
static void meetForPingPong(OpBuilder &b, Location loc,
                            const KernelContext &context, int64_t groups,
                            Value number, bool wait) {
  int64_t threads =
      2 * context.getWarps(b).getAll() / groups * context.target.getLanes();
  context.model->getBarriers()->syncThreads(b, loc, number, threads, wait);
}

/// One half meets the other one, wherever that is.
static void meetOnceMore(OpBuilder &b, Location loc,
                         const KernelContext &context, int64_t half) {
  constexpr int64_t kHalves = 2;
  Value isIt = compare(b, loc, arith::CmpIPredicate::eq,
                       pingPongNumber(b, loc, context, kHalves), half);
  auto branch = scf::IfOp::create(b, loc, isIt, /*withElseRegion=*/false);
  OpBuilder inner = branch.getThenBodyBuilder();
  context.model->emitBarrier(inner, loc);
}

LogicalResult
PingPongInitPattern::matchAndRewrite(tile::PingPongInitOp op, OpAdaptor,
                                     ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  int64_t groups = op.getGroups();
  if (haveHalves(context)) {
    meetOnceMore(b, loc, context, /*half=*/1);
    b.eraseOp(op);
    return success();
  }
  Value group = pingPongNumber(b, loc, context, groups);
  auto last = scf::IfOp::create(
      b, loc, compare(b, loc, arith::CmpIPredicate::eq, group, groups - 1),
      /*withElseRegion=*/false);
  OpBuilder inner = last.getThenBodyBuilder();
  meetForPingPong(inner, loc, context, groups,
                  constant(inner, loc, firstPingPongBarrier(inner, context)),
                  /*wait=*/false);
  b.eraseOp(op);
  return success();
}

LogicalResult
PingPongWaitPattern::matchAndRewrite(tile::PingPongWaitOp op, OpAdaptor,
                                     ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  int64_t groups = op.getGroups();
  if (haveHalves(context)) {
    context.model->emitBarrier(b, loc);
    context.model->emitPriority(b, loc, /*isRaised=*/true);
    b.eraseOp(op);
    return success();
  }
  Value number = b.createOrFold<arith::AddIOp>(
      loc, pingPongNumber(b, loc, context, groups),
      constant(b, loc, firstPingPongBarrier(b, context)));
  meetForPingPong(b, loc, context, groups, number, /*wait=*/true);
  b.eraseOp(op);
  return success();
}

LogicalResult
PingPongArrivePattern::matchAndRewrite(tile::PingPongArriveOp op, OpAdaptor,
                                       ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  int64_t groups = op.getGroups();
  if (haveHalves(context)) {
    // Nothing moves across a change of priority, neither MMAs behind the
    // meeting nor other arithmetic in front of it.
    context.model->emitPriority(b, loc, /*isRaised=*/false);
    context.model->emitBarrier(b, loc);
    context.model->emitPriority(b, loc, /*isRaised=*/false);
    b.eraseOp(op);
    return success();
  }
  Value group = pingPongNumber(b, loc, context, groups);
  Value isLast = compare(b, loc, arith::CmpIPredicate::eq, group, groups - 1);
  int64_t first = firstPingPongBarrier(b, context);
  Value next =
      b.createOrFold<arith::AddIOp>(loc, group, constant(b, loc, first + 1));
  Value number =
      arith::SelectOp::create(b, loc, isLast, constant(b, loc, first), next);
  meetForPingPong(b, loc, context, groups, number, /*wait=*/false);
  b.eraseOp(op);
  return success();
}

LogicalResult
PingPongEndPattern::matchAndRewrite(tile::PingPongEndOp op, OpAdaptor,
                                    ConversionPatternRewriter &b) const {
  if (haveHalves(context))
    meetOnceMore(b, op.getLoc(), context, /*half=*/0);
  b.eraseOp(op);
  return success();
}

/// The barriers behind those of warpgroups, of which a team has one.
LogicalResult
BarrierPattern::matchAndRewrite(tile::BarrierOp op, OpAdaptor,
                                ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  if (tile::getRole(op)) {
    meetInRole(b, loc, context);
  } else {
    gpu::BarrierOp::create(b, loc);
  }
  b.eraseOp(op);
  return success();
}

void attune::populateRolePatterns(TypeConverter &converter,
                                  RewritePatternSet &patterns,
                                  const KernelContext &context) {
  patterns.add<BarrierPattern, IsTurnPattern, PingPongInitPattern,
               PingPongWaitPattern, PingPongArrivePattern, PingPongEndPattern>(
      converter, patterns.getContext(), context);
}
