// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What runs beside something else: the warps that produce, and MMAs.
//
// One thread cannot be two programs at once. It is the consumers, of whose
// roles one program is made, be they of one thread or of all, and runs the
// producers at each get, from their start up to the put that is waited for:
// they read what no kernel writes, so that it does not matter when they do, and
// only that one copies. All puts on the way there must have found a free slot
// by then, else producers and consumers would wait for each other for ever.

#include "LoopEmitter.h"
#include "RoleFuser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attune;

bool LoopEmitter::isProduced(Value channel) {
  return findProducers(channel) != nullptr;
}

Region *LoopEmitter::findProducers(Value channel) {
  for (Operation *user : channel.getUsers())
    for (Region *program : producers)
      if (isa<tile::PutOp>(user) &&
          program->isAncestor(user->getParentRegion()))
        return program;
  return nullptr;
}

/// Assigns the tiles of a persistent workgroup in advance.
template <typename OpTy> static void assignInAdvance(OpTy op) {
  OpBuilder b(op);
  Value grid = gpu::GridDimOp::create(b, op.getLoc(), gpu::Dimension::x);
  op.getResult().replaceAllUsesWith(
      arith::AddIOp::create(b, op.getLoc(), op.getAfter(), grid).getResult());
  op.erase();
}

/// Whether a program takes what others put, and puts nothing.
static bool takesAlone(Region &program) {
  bool gets = false;
  WalkResult result = program.walk([&](Operation *op) {
    gets |= isa<tile::GetOp>(op);
    return isa<tile::PutOp>(op) ? WalkResult::interrupt()
                                : WalkResult::advance();
  });
  return gets && !result.wasInterrupted();
}

LogicalResult LoopEmitter::emitSpecialize(tile::SpecializeOp op) {
  op.walk([](tile::FetchWorkOp fetch) { assignInAdvance(fetch); });
  op.walk([](tile::GetWorkOp get) { assignInAdvance(get); });
  SmallVector<Region *> consumers;
  for (auto [i, program] : llvm::enumerate(op.getPrograms())) {
    if (op.getRole(i).getThreads() == tile::RoleThreads::One &&
        !takesAlone(program)) {
      producers.push_back(&program);
      continue;
    }
    consumers.push_back(&program);
  }
  for (Region *program : producers) {
    WalkResult result = program->walk([](Operation *inner) {
      if (!isa<tile::TileDialect>(inner->getDialect()) ||
          isa<tile::PutOp>(inner))
        return WalkResult::advance();
      inner->emitError() << "expects producers that put alone, but got '"
                         << inner->getName() << "'";
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return failure();
  }
  auto expectTogether = [&](OpBuilder &b, Value condition) {
    builder.setLoc(condition.getLoc());
    builder.setInsertionPoint(b.getInsertionBlock(), b.getInsertionPoint());
    expect(condition, "expects roles that meet in as many iterations");
  };
  if (failed(fuseRoles(*consumers.front(), ArrayRef(consumers).drop_front(),
                       expectTogether)))
    return failure();
  Block &consumer = consumers.front()->front();
  if (failed(emit(consumer)))
    return failure();
  producers.clear();
  op->getBlock()->getOperations().splice(op->getIterator(),
                                         consumer.getOperations());
  return success();
}

void LoopEmitter::emitFetch(tile::GetOp op) {
  Value found = allocate(MemRefType::get({}, builder.getI1Type()));
  store(zero(builder.getI1Type()), found, {});
  IRMapping mapping;
  SmallVector<tile::PutOp> copies;
  for (Operation &inner : findProducers(op.getChannel())->front())
    builder.clone(inner, mapping)->walk([&](tile::PutOp put) {
      copies.push_back(put);
    });
  for (tile::PutOp put : copies)
    emitFetchedPut(put, op, found);
  builder.setLoc(op.getLoc());
  builder.setInsertionPoint(op);
  expect(load(found, {}), "expects an element that the producers put");
}

void LoopEmitter::emitFetchedPut(tile::PutOp put, tile::GetOp get,
                                 Value found) {
  builder.setLoc(put.getLoc());
  builder.setInsertionPoint(put);
  Value yes = arith::ConstantOp::create(builder, builder.getBoolAttr(true));
  Value runs = arith::XOrIOp::create(builder, load(found, {}), yes);
  if (Value predicate = put.getPredicate())
    runs = arith::AndIOp::create(builder, runs, predicate);
  auto branch = scf::IfOp::create(builder, runs, /*withElseRegion=*/false);
  builder.setInsertionPointToStart(branch.thenBlock());
  const Channel &parts = channels.find(put.getChannel())->second;
  Value end =
      arith::AddIOp::create(builder, load(parts.released, {}),
                            index(put.getChannel().getType().getStages()));
  expect(arith::CmpIOp::create(builder, arith::CmpIPredicate::ult,
                               put.getElement(), end),
         "expects a slot that is released before a later put is waited for");
  if (put.getChannel() == get.getChannel()) {
    Value isIt = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                       put.getElement(), get.getElement());
    auto match = scf::IfOp::create(builder, isIt, /*withElseRegion=*/false);
    builder.setInsertionPointToStart(match.thenBlock());
    fillSlot(put);
    store(yes, found, {});
  }
  put.erase();
}

void LoopEmitter::emitWait(Value pending) {
  // Slots that it reads must not have been released meanwhile.
  if (auto multiply = pending.getDefiningOp<tile::MmaAsyncOp>())
    for (Value operand : {Value(multiply.getLhs()), Value(multiply.getRhs())})
      read(operand);
}
