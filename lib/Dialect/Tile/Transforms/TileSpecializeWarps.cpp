// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Splits a kernel into the warps that copy and those that compute. What the
// copies need of the kernel's control flow and arithmetic is computed twice.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Dialect/Tile/Transforms/Passes.h"
#include "attune/Schedule/Attention/Legality.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace attune::tile {
#define GEN_PASS_DEF_TILESPECIALIZEWARPSPASS
#include "attune/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attune::tile

using namespace mlir;
using namespace attune;
using namespace attune::tile;

namespace {

struct TileSpecializeWarps
    : tile::impl::TileSpecializeWarpsPassBase<TileSpecializeWarps> {
  void runOnOperation() override;
};

/// Writes the producer's program: the puts of the consumer's region, the
/// control flow around them, and the arithmetic that they read.
class ProducerBuilder {
public:
  ProducerBuilder(Region &consumer, OpBuilder &builder)
      : consumer(consumer), b(builder) {}

  LogicalResult copyPuts(Block &from);

private:
  LogicalResult copyLoop(scf::ForOp loop);
  LogicalResult copyBranch(scf::IfOp branch);
  LogicalResult copyBlock(Block &from, Block *to);
  /// Makes the value available to the producer.
  LogicalResult require(Value value);

  Region &consumer;
  OpBuilder &b;
  IRMapping mapping;
};

} // namespace

static bool holds(Operation &op, function_ref<bool(Operation *)> test) {
  return op
      .walk([&](Operation *inner) {
        return test(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult ProducerBuilder::require(Value value) {
  Operation *op = value.getDefiningOp();
  if (mapping.contains(value) || !consumer.isAncestor(value.getParentRegion()))
    return success();
  if (!op || op->getNumRegions() != 0 ||
      !(isMemoryEffectFree(op) || isa<memref::LoadOp>(op)))
    return emitError(value.getLoc())
           << "expects what a put reads to be computed by arithmetic, but got "
           << value;
  for (Value operand : op->getOperands())
    if (failed(require(operand)))
      return failure();
  b.clone(*op, mapping);
  return success();
}

LogicalResult ProducerBuilder::copyBlock(Block &from, Block *to) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(to->getTerminator());
  // What is computed in there is not seen outside.
  IRMapping outside = mapping;
  LogicalResult copied = copyPuts(from);
  mapping = outside;
  return copied;
}

LogicalResult ProducerBuilder::copyLoop(scf::ForOp loop) {
  for (Value bound :
       {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
    if (failed(require(bound)))
      return failure();
  // Of what the loop carries, counts are the producer's business too.
  SmallVector<unsigned> counts;
  SmallVector<Value> initial;
  for (auto [i, value] : llvm::enumerate(loop.getInitArgs()))
    if (value.getType().isIndex()) {
      if (failed(require(value)))
        return failure();
      counts.push_back(i);
      initial.push_back(mapping.lookupOrDefault(value));
    }
  auto copy = scf::ForOp::create(
      b, loop.getLoc(), mapping.lookupOrDefault(loop.getLowerBound()),
      mapping.lookupOrDefault(loop.getUpperBound()),
      mapping.lookupOrDefault(loop.getStep()), initial);
  mapping.map(loop.getInductionVar(), copy.getInductionVar());
  for (auto [i, argument] : llvm::zip_equal(counts, copy.getRegionIterArgs()))
    mapping.map(loop.getRegionIterArg(i), argument);
  if (counts.empty())
    return copyBlock(*loop.getBody(), copy.getBody());
  OpBuilder::InsertionGuard guard(b);
  IRMapping outside = mapping;
  b.setInsertionPointToStart(copy.getBody());
  if (failed(copyPuts(*loop.getBody())))
    return failure();
  SmallVector<Value> yielded;
  for (unsigned i : counts) {
    Value value = loop.getYieldedValues()[i];
    if (failed(require(value)))
      return failure();
    yielded.push_back(mapping.lookupOrDefault(value));
  }
  scf::YieldOp::create(b, loop.getLoc(), yielded);
  mapping = outside;
  return success();
}

LogicalResult ProducerBuilder::copyBranch(scf::IfOp branch) {
  if (failed(require(branch.getCondition())))
    return failure();
  auto copy = scf::IfOp::create(
      b, branch.getLoc(), mapping.lookupOrDefault(branch.getCondition()),
      /*withElseRegion=*/branch.elseBlock() != nullptr);
  if (failed(copyBlock(*branch.thenBlock(), copy.thenBlock())))
    return failure();
  return branch.elseBlock() ? copyBlock(*branch.elseBlock(), copy.elseBlock())
                            : success();
}

LogicalResult ProducerBuilder::copyPuts(Block &from) {
  for (Operation &op : from) {
    if (!holds(op, [](Operation *inner) { return isa<PutOp>(inner); }))
      continue;
    LogicalResult copied = success();
    if (auto put = dyn_cast<PutOp>(op)) {
      for (Value operand : put->getOperands())
        if (failed(require(operand)))
          return failure();
      b.clone(op, mapping);
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      copied = copyLoop(loop);
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      copied = copyBranch(branch);
    } else {
      return op.emitOpError()
             << "expects puts in loops and branches alone, but got one in this";
    }
    if (failed(copied))
      return failure();
  }
  return success();
}

void TileSpecializeWarps::runOnOperation() {
  gpu::GPUFuncOp kernel = getOperation();
  auto schedule = kernel->getAttrOfType<schedule::AttentionAttr>(
      TileDialect::kScheduleAttrName);
  auto target = TargetAttr::lookup(kernel);
  if (!schedule || !target || !schedule.getProducerWarps())
    return;
  Block &body = kernel.getBody().front();
  SmallVector<ChannelOp> channels(body.getOps<ChannelOp>());
  for (ChannelOp channel : llvm::reverse(channels))
    channel->moveBefore(&body, body.begin());
  // Everything from the first use of a channel on is of one of the roles.
  auto usesChannel = [](Operation *op) { return isa<PutOp, GetOp>(op); };
  auto first = llvm::find_if(body.getOperations(), [&](Operation &op) {
    return holds(op, usesChannel);
  });
  if (first == body.end())
    return;

  OpBuilder b(&*first);
  IntegerAttr ofProducer, ofConsumer;
  if (std::optional<RoleRegisters> registers =
          getRoleRegisters(schedule, target)) {
    ofProducer = b.getI64IntegerAttr(registers->producer);
    ofConsumer = b.getI64IntegerAttr(registers->consumer);
  }
  auto roles = SpecializeOp::create(
      b, kernel.getLoc(), b.getI64IntegerAttr(schedule.getProducerWarps()),
      ofProducer, ofConsumer);
  Block *producer = b.createBlock(&roles.getProducer()),
        *consumer = b.createBlock(&roles.getConsumer());
  consumer->getOperations().splice(consumer->end(), body.getOperations(),
                                   std::next(roles->getIterator()),
                                   std::prev(body.end()));
  b.setInsertionPointToStart(producer);
  if (failed(ProducerBuilder(roles.getConsumer(), b).copyPuts(*consumer)))
    return signalPassFailure();
  SmallVector<PutOp> puts;
  roles.getConsumer().walk([&](PutOp put) { puts.push_back(put); });
  for (PutOp put : puts)
    put.erase();
}
