// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.ordered: one thread waits for the workgroups before, and counts for the
// ones behind. Its fence orders what it has seen of the other threads, at the
// barriers where they meet, before its count, and a read that acquires what
// they do after the count that it waited for: so what a workgroup adds is there
// before the next one starts to. Other atomic operations do not order others on
// every chip. In a role of one thread there is nobody to meet, and what the
// copy engine stores is waited for until it is there, not only until it has
// been read.
//
// tile.join: one thread counts, with fences likewise, and leaves to the others
// what it has found in a word of workgroup memory. Each has waited before until
// what the copy engine stores for it is there.

#include "KernelContext.h"
#include "SharedMemory.h"
#include "attune/Target/CopyEngine.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace attune;

namespace {

struct OrderedPattern : KernelPattern<tile::OrderedOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::OrderedOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
  /// By the one thread of a role.
  void orderCopies(tile::OrderedOp op, ConversionPatternRewriter &b) const;
};

struct JoinPattern : KernelPattern<tile::JoinOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::JoinOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

/// Where the threads meet that come to an op together: all warps of a workgroup
/// have one barrier. Of a role, each warpgroup has its own, or `asOne`, all do.
class Meeting {
public:
  Meeting(OpBuilder &b, Location loc, const KernelContext &context, bool asOne)
      : b(b), loc(loc), context(context), hasRoles(!context.roles.empty()),
        asOne(asOne) {}

  void meet() {
    if (!hasRoles)
      gpu::BarrierOp::create(b, loc);
    else if (asOne)
      meetInRole(b, loc, context);
    else
      meetInGroup(b, loc, context);
  }
  /// True in one of them.
  Value isFirst() {
    if (!hasRoles)
      return isThread(b, loc, 0);
    if (asOne)
      return isThread(b, loc,
                      context.getWarps(b).first * context.target.getLanes());
    return isFirstOfGroup(b, loc, context);
  }

private:
  OpBuilder &b;
  Location loc;
  const KernelContext &context;
  bool hasRoles, asOne;
};

} // namespace

/// Waits until `counter` is at least `wanted`, and is then behind what those
/// who counted had done: an addition of 0 is a read that acquires.
static void spin(OpBuilder &b, Location loc, Value counter, Value index,
                 Value wanted) {
  scf::WhileOp::create(
      b, loc, TypeRange(), ValueRange(),
      [&](OpBuilder &inner, Location at, ValueRange) {
        Value zero = arith::ConstantIntOp::create(inner, at, 0, 32);
        Value count = memref::AtomicRMWOp::create(
            inner, at, arith::AtomicRMWKind::addi, zero, counter, index);
        Value isEarly = arith::CmpIOp::create(
            inner, at, arith::CmpIPredicate::ult, count, wanted);
        scf::ConditionOp::create(inner, at, isEarly, ValueRange());
      },
      [](OpBuilder &inner, Location at, ValueRange) {
        scf::YieldOp::create(inner, at);
      });
}

/// Lets the next one start behind what this one has done, of which `groups`
/// count for themselves, and starts the count anew behind the last one.
static void leave(OpBuilder &b, tile::OrderedOp op, StringRef scope,
                  int64_t groups) {
  Location loc = op.getLoc();
  auto toWord = [&](Value number) {
    return b.createOrFold<arith::IndexCastOp>(loc, b.getI32Type(), number);
  };
  auto count = [&](Value by) -> Value {
    LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::acq_rel, scope);
    return memref::AtomicRMWOp::create(b, loc, arith::AtomicRMWKind::addi, by,
                                       op.getCounter(), op.getIndex());
  };
  Value one = constant(b, loc, 1);
  if (groups == 1) {
    // The last one takes back what the others have counted. Nobody waits for
    // what counting gives, which takes as long as a tile is stored.
    Value next = b.createOrFold<arith::AddIOp>(loc, op.getTurn(), one);
    Value isLast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, next,
                                         op.getTurns());
    Value back = b.createOrFold<arith::SubIOp>(loc, one, op.getTurns());
    count(arith::SelectOp::create(b, loc, isLast, toWord(back), toWord(one)));
    return;
  }
  Value now = arith::AddIOp::create(b, loc, count(toWord(one)), toWord(one));
  Value all = toWord(b.createOrFold<arith::MulIOp>(loc, op.getTurns(),
                                                   constant(b, loc, groups)));
  Value isLast =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, now, all);
  auto resets = scf::IfOp::create(b, loc, isLast, /*withElseRegion=*/false);
  OpBuilder inner = resets.getThenBodyBuilder();
  memref::StoreOp::create(inner, loc,
                          arith::ConstantIntOp::create(inner, loc, 0, 32),
                          op.getCounter(), op.getIndex());
}

void OrderedPattern::orderCopies(tile::OrderedOp op,
                                 ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  StringRef scope = context.model->getDeviceScope();
  const CopyEngine &engine = *context.model->getCopyEngine();
  Value before =
      arith::IndexCastOp::create(b, loc, b.getI32Type(), op.getTurn());
  spin(b, loc, op.getCounter(), op.getIndex(), before);
  engine.followGlobal(b, loc);
  b.inlineBlockBefore(&op.getBody().front(), op);
  engine.waitStores(b, loc, /*complete=*/true);
  leave(b, op, scope, /*groups=*/1);
  b.eraseOp(op);
}

LogicalResult
OrderedPattern::matchAndRewrite(tile::OrderedOp op, OpAdaptor,
                                ConversionPatternRewriter &b) const {
  if (isOfOneThread(op)) {
    orderCopies(op, b);
    return success();
  }
  Location loc = op.getLoc();
  StringRef scope = context.model->getDeviceScope();
  // Each warpgroup of a role counts for itself.
  int64_t groups =
      context.roles.empty() ? 1 : context.countWarpgroups(context.getWarps(op));
  Meeting threads(b, loc, context, /*asOne=*/false);
  Value isFirst = threads.isFirst();
  // How many have left when the workgroup of a turn may enter.
  Value before = arith::IndexCastOp::create(
      b, loc, b.getI32Type(),
      b.createOrFold<arith::MulIOp>(loc, op.getTurn(),
                                    constant(b, loc, groups)));
  // The first ones wait for nobody.
  if (getConstantIntValue(op.getTurn()) != 0) {
    auto waits = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/false);
    OpBuilder inner = waits.getThenBodyBuilder();
    spin(inner, loc, op.getCounter(), op.getIndex(), before);
    threads.meet();
  }
  b.inlineBlockBefore(&op.getBody().front(), op);
  threads.meet();
  auto leaves = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/false);
  OpBuilder inner = leaves.getThenBodyBuilder();
  leave(inner, op, scope, groups);
  b.eraseOp(op);
  return success();
}

LogicalResult JoinPattern::matchAndRewrite(tile::JoinOp op, OpAdaptor,
                                           ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  StringRef scope = context.model->getDeviceScope();
  Type i32 = b.getI32Type();
  auto space =
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  auto type = MemRefType::get({1}, i32, MemRefLayoutAttrInterface(), space);
  Value zero = constant(b, loc, 0),
        word = createSharedView(b, loc, type, *op.getOffset());
  bool hasGroups = context.countWarpgroups(context.getWarps(op)) > 1;
  Meeting threads(b, loc, context, /*asOne=*/hasGroups);
  // Behind what all of them have stored, and have read from the word before.
  if (context.storesAsync)
    context.model->getCopyEngine()->waitStores(b, loc, /*complete=*/true);
  threads.meet();
  auto counts =
      scf::IfOp::create(b, loc, threads.isFirst(), /*withElseRegion=*/false);
  OpBuilder inner = counts.getThenBodyBuilder();
  auto literal = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(inner, loc, value, 32);
  };
  LLVM::FenceOp::create(inner, loc, LLVM::AtomicOrdering::acq_rel, scope);
  Value before =
      memref::AtomicRMWOp::create(inner, loc, arith::AtomicRMWKind::addi,
                                  literal(1), op.getCounter(), op.getIndex());
  Value now = arith::AddIOp::create(inner, loc, before, literal(1));
  Value total = arith::IndexCastOp::create(inner, loc, i32, op.getTotal());
  Value isLast =
      arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::eq, now, total);
  memref::StoreOp::create(
      inner, loc, arith::ExtUIOp::create(inner, loc, i32, isLast), word, zero);
  auto resets = scf::IfOp::create(inner, loc, isLast, /*withElseRegion=*/false);
  inner = resets.getThenBodyBuilder();
  LLVM::FenceOp::create(inner, loc, LLVM::AtomicOrdering::acq_rel, scope);
  memref::StoreOp::create(inner, loc, literal(0), op.getCounter(),
                          op.getIndex());
  threads.meet();
  Value found = arith::IndexCastOp::create(
      b, loc, b.getIndexType(), memref::LoadOp::create(b, loc, word, zero));
  // The same in all threads, which the back end cannot know.
  found = context.model->emitFirstLane(b, loc, context.target, found);
  b.replaceOpWithNewOp<arith::CmpIOp>(op, arith::CmpIPredicate::ne, found,
                                      zero);
  return success();
}

void attune::populateOrderedPatterns(TypeConverter &converter,
                                     RewritePatternSet &patterns,
                                     const KernelContext &context) {
  patterns.add<OrderedPattern, JoinPattern>(converter, patterns.getContext(),
                                            context);
}
