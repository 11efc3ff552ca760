// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One function for each op.

#include "LoopEmitter.h"
#include "attune/Conversion/Passes.h"
#include "attune/Dialect/Tile/IR/Widening.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune;

/// Whether a value is held in a buffer: a tile, also one that is pending.
static bool isTile(Value value) {
  return isa<tile::TileType, tile::PendingType>(value.getType());
}

LoopEmitter::LoopEmitter(gpu::GPUFuncOp kernel)
    : kernel(kernel), builder(kernel.getLoc(), kernel.getContext()) {
  builder.setInsertionPointToStart(&kernel.getBody().front());
  puts = allocateCounter();
}

//===----------------------------------------------------------------------===//
// Buffers and elements
//===----------------------------------------------------------------------===//

Value LoopEmitter::allocate(MemRefType type) {
  Type element = type.getElementType();
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  bytes += type.getNumElements() * llvm::divideCeil(bits, 8);
  // Once for each kernel, not once for each iteration.
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&kernel.getBody().front());
  return memref::AllocaOp::create(builder, type);
}

Value LoopEmitter::define(Value tile) {
  auto pending = dyn_cast<tile::PendingType>(tile.getType());
  auto type =
      pending ? pending.getTile() : cast<tile::TileType>(tile.getType());
  return buffers[tile] =
             allocate(MemRefType::get(type.getShape(), type.getElementType()));
}

Value LoopEmitter::read(Value tile) {
  if (auto get = tile.getDefiningOp<tile::GetOp>())
    expectHeld(get.getChannel(), get.getElement(),
               "expects a tile that is read before its slot is released");
  return buffers.lookup(tile);
}

Value LoopEmitter::allocateCounter() {
  Value counter = allocate(MemRefType::get({}, builder.getIndexType()));
  store(index(0), counter, {});
  return counter;
}

Value LoopEmitter::countOne(Value counter) {
  Value sum = arith::AddIOp::create(builder, load(counter, {}), index(1));
  store(sum, counter, {});
  return sum;
}

Value LoopEmitter::index(int64_t value) {
  return arith::ConstantIndexOp::create(builder, value);
}

Value LoopEmitter::zero(Type type) {
  return arith::ConstantOp::create(builder, builder.getZeroAttr(type));
}

void LoopEmitter::forEach(ArrayRef<int64_t> shape, Body body) {
  SmallVector<Value> lower(shape.size(), index(0)),
      step(shape.size(), index(1)), upper;
  for (int64_t size : shape)
    upper.push_back(index(size));
  scf::buildLoopNest(builder, builder.getLoc(), lower, upper, step,
                     [&](OpBuilder &nested, Location, ValueRange indices) {
                       OpBuilder::InsertionGuard guard(builder);
                       builder.restoreInsertionPoint(
                           nested.saveInsertionPoint());
                       body(indices);
                     });
}

Value LoopEmitter::load(Value buffer, ValueRange indices) {
  return memref::LoadOp::create(builder, buffer, indices);
}

void LoopEmitter::store(Value value, Value buffer, ValueRange indices) {
  memref::StoreOp::create(builder, value, buffer, indices);
}

SmallVector<Value> LoopEmitter::asPlace(ValueRange indices, int64_t rank) {
  SmallVector<Value> place(indices);
  while (static_cast<int64_t>(place.size()) < rank)
    place.insert(place.begin(), index(0));
  return place;
}

void LoopEmitter::copy(Value source, Value target, bool transposed) {
  int64_t rank = cast<MemRefType>(source.getType()).getRank();
  forEach(cast<MemRefType>(target.getType()).getShape(),
          [&](ValueRange indices) {
            SmallVector<Value> place = asPlace(indices, rank);
            if (transposed)
              std::swap(place[0], place[1]);
            store(load(source, place), target, indices);
          });
}

Value LoopEmitter::isInside(Value buffer, ValueRange position) {
  Value inside;
  for (auto [dim, index] : llvm::enumerate(position)) {
    Value size = memref::DimOp::create(builder, buffer, dim);
    // Unsigned, so that what lies before the start is outside too.
    Value here =
        arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, index, size);
    inside = inside ? arith::AndIOp::create(builder, inside, here) : here;
  }
  return inside;
}

Value LoopEmitter::loadOrZero(Value buffer, ValueRange position,
                              bool inBounds) {
  if (inBounds)
    return load(buffer, position);
  Type type = cast<MemRefType>(buffer.getType()).getElementType();
  auto branch = scf::IfOp::create(builder, type, isInside(buffer, position),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, load(buffer, position));
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, zero(type));
  return branch.getResult(0);
}

void LoopEmitter::expect(Value condition, StringRef message) {
  Value wrong = arith::XOrIOp::create(
      builder, condition,
      arith::ConstantOp::create(builder, builder.getBoolAttr(true)));
  auto branch = scf::IfOp::create(builder, wrong, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  auto trap = LLVM::Trap::create(builder);
  trap->setAttr(kTrapMessageAttrName, builder.getStringAttr(message));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// `base + offset` in each dimension.
static SmallVector<Value> add(ImplicitLocOpBuilder &builder, ValueRange base,
                              ValueRange offset) {
  SmallVector<Value> sum;
  for (auto [left, right] : llvm::zip_equal(base, offset))
    sum.push_back(arith::AddIOp::create(builder, left, right));
  return sum;
}

void LoopEmitter::emitLoad(tile::LoadOp op) {
  Value result = define(op.getResult());
  tile::TileType type = op.getResult().getType();
  forEach(type.getShape(), [&](ValueRange indices) {
    SmallVector<Value> place =
        op.getByThreads()
            ? findByThreads(type, indices)
            : asPlace(indices, op.getSource().getType().getRank());
    auto [source, position] =
        locate(op.getSource(), add(builder, op.getIndices(), place));
    store(loadOrZero(source, position, op.getInBounds()), result, indices);
  });
}

void LoopEmitter::emitStore(Value tile, Value view, ValueRange first,
                            bool accumulate, bool byThreads) {
  Value value = read(tile);
  auto type = cast<tile::TileType>(tile.getType());
  forEach(type.getShape(), [&](ValueRange indices) {
    SmallVector<Value> place(indices);
    if (byThreads)
      place = findByThreads(type, indices);
    auto [target, position] = locate(view, add(builder, first, place));
    auto branch = scf::IfOp::create(builder, isInside(target, position),
                                    /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    Value element = load(value, indices);
    if (accumulate)
      memref::AtomicRMWOp::create(builder, arith::AtomicRMWKind::addf, element,
                                  target, position);
    else
      store(element, target, position);
  });
}

Value LoopEmitter::getSlot(Value channel, Value element) {
  int64_t stages = cast<tile::ChannelType>(channel.getType()).getStages();
  return arith::RemUIOp::create(builder, element, index(stages));
}

void LoopEmitter::expectHeld(Value channel, Value element, StringRef message) {
  const Channel &parts = channels.find(channel)->second;
  Value slot = getSlot(channel, element);
  Value same = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                     load(parts.element, slot), element);
  expect(arith::AndIOp::create(builder, same, load(parts.held, slot)), message);
}

void LoopEmitter::emitChannel(tile::ChannelOp op) {
  tile::ChannelType type = op.getResult().getType();
  int64_t stages = type.getStages();
  SmallVector<int64_t> shape{stages};
  llvm::append_range(shape, type.getShape());
  Channel parts;
  parts.slots = allocate(MemRefType::get(shape, type.getElementType()));
  parts.element = allocate(MemRefType::get(stages, builder.getIndexType()));
  parts.sequence = allocate(MemRefType::get(stages, builder.getIndexType()));
  parts.held = allocate(MemRefType::get(stages, builder.getI1Type()));
  forEach(stages, [&](ValueRange slot) {
    store(index(-1), parts.element, slot);
    store(zero(builder.getI1Type()), parts.held, slot);
  });
  parts.released = allocateCounter();
  channels[op.getResult()] = parts;
}

void LoopEmitter::expectFree(Value channel, Value element) {
  Value held =
      load(channels.find(channel)->second.held, getSlot(channel, element));
  Value isFree = arith::XOrIOp::create(
      builder, held,
      arith::ConstantOp::create(builder, builder.getBoolAttr(true)));
  expect(isFree, "expects a slot whose earlier element was released");
}

Value LoopEmitter::takeSlot(Value channel, Value element) {
  const Channel &parts = channels.find(channel)->second;
  Value slot = getSlot(channel, element);
  store(element, parts.element, slot);
  store(load(puts, {}), parts.sequence, slot);
  store(arith::ConstantOp::create(builder, builder.getBoolAttr(true)),
        parts.held, slot);
  return slot;
}

void LoopEmitter::emitPutTile(tile::PutTileOp op) {
  countOne(puts);
  expectFree(op.getChannel(), op.getElement());
  Value slot = takeSlot(op.getChannel(), op.getElement());
  Value value = read(op.getValue());
  bool isRow = op.getValue().getType().getRank() == 1;
  forEach(op.getChannel().getType().getShape(), [&](ValueRange indices) {
    store(load(value, indices.drop_front(isRow)),
          channels.find(op.getChannel())->second.slots,
          {slot, indices[0], indices[1]});
  });
}

void LoopEmitter::emitRestage(tile::RestageOp op) {
  countOne(puts);
  expectFree(op.getChannel(), op.getElement());
  Value slot = takeSlot(op.getChannel(), op.getElement());
  Value source = read(op.getSource());
  ArrayRef<int64_t> shape = op.getSource().getType().getShape();
  Type to = op.getChannel().getType().getElementType();
  forEach(shape, [&](ValueRange at) {
    Value element = load(source, at),
          slots = channels.find(op.getChannel())->second.slots;
    if (op.getTransposed())
      return store(element, slots, {slot, at[1], at[0]});
    auto put = [&](Value own, Value column) {
      store(tile::widen(builder, builder.getLoc(), own, to), slots,
            {slot, at[0], column});
    };
    if (!op.getPacked())
      return put(element, at[1]);
    put(tile::unpack(builder, builder.getLoc(), element, /*upper=*/false),
        at[1]);
    Value columns = arith::ConstantIndexOp::create(builder, shape[1]);
    put(tile::unpack(builder, builder.getLoc(), element, /*upper=*/true),
        arith::AddIOp::create(builder, at[1], columns));
  });
}

void LoopEmitter::emitPut(tile::PutOp op) {
  countOne(puts);
  OpBuilder::InsertionGuard guard(builder);
  if (Value predicate = op.getPredicate()) {
    auto branch =
        scf::IfOp::create(builder, predicate, /*withElseRegion=*/false);
    builder.setInsertionPointToStart(branch.thenBlock());
  }
  expectFree(op.getChannel(), op.getElement());
  fillSlot(op);
}

void LoopEmitter::fillSlot(tile::PutOp op) {
  const Channel &parts = channels.find(op.getChannel())->second;
  Value slot = takeSlot(op.getChannel(), op.getElement());
  forEach(op.getChannel().getType().getShape(), [&](ValueRange indices) {
    auto [source, position] = locate(
        op.getSource(), add(builder, {op.getRow(), op.getColumn()}, indices));
    store(loadOrZero(source, position, op.getInBounds()), parts.slots,
          {slot, indices[0], indices[1]});
  });
}

void LoopEmitter::emitDeinterleave(tile::DeinterleaveOp op) {
  Value input = read(op.getInput());
  auto block = static_cast<int64_t>(op.getBlock());
  for (auto [i, part] : llvm::enumerate(op.getParts())) {
    Value result = define(part);
    forEach(
        cast<tile::TileType>(part.getType()).getShape(),
        [&, i = static_cast<int64_t>(i)](ValueRange indices) {
          SmallVector<Value> place(indices);
          Value &along = place[op.getDim()];
          Value number = arith::DivUIOp::create(builder, along, index(block));
          // Blocks of the parts before it, up to here, and its own of those
          // behind.
          Value others = arith::MulIOp::create(
              builder, number,
              index(block * (static_cast<int64_t>(op.getParts().size()) - 1)));
          along = arith::AddIOp::create(
              builder, arith::AddIOp::create(builder, along, others),
              index(i * block));
          store(load(input, place), result, indices);
        });
  }
}

void LoopEmitter::emitGet(tile::GetOp op) {
  const Channel &parts = channels.find(op.getChannel())->second;
  if (isProduced(op.getChannel()))
    emitFetch(op);
  expectHeld(op.getChannel(), op.getElement(),
             "expects an element that was put");
  Value slot = getSlot(op.getChannel(), op.getElement());
  Value later = arith::SubIOp::create(builder, load(puts, {}),
                                      load(parts.sequence, slot));
  // Else the copy that is waited for may itself be among the pending ones.
  expect(arith::CmpIOp::create(builder, arith::CmpIPredicate::uge, later,
                               index(op.getPending())),
         "expects at least as many puts after that of the element as may be "
         "pending");
  auto type = cast<MemRefType>(parts.slots.getType());
  Builder &b = builder;
  SmallVector<OpFoldResult> offsets{slot, b.getIndexAttr(0), b.getIndexAttr(0)};
  SmallVector<OpFoldResult> sizes{b.getIndexAttr(1),
                                  b.getIndexAttr(type.getDimSize(1)),
                                  b.getIndexAttr(type.getDimSize(2))};
  SmallVector<OpFoldResult> strides(3, b.getIndexAttr(1));
  MemRefType view = memref::SubViewOp::inferRankReducedResultType(
      type.getShape().drop_front(), type, offsets, sizes, strides);
  buffers[op.getResult()] = memref::SubViewOp::create(
      builder, view, parts.slots, offsets, sizes, strides);
}

void LoopEmitter::emitRelease(tile::ReleaseOp op) {
  expectHeld(op.getChannel(), op.getElement(),
             "expects an element that was put and not released");
  const Channel &parts = channels.find(op.getChannel())->second;
  store(zero(builder.getI1Type()), parts.held,
        getSlot(op.getChannel(), op.getElement()));
  countOne(parts.released);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void LoopEmitter::carry(Operation *terminator, ValueRange targets) {
  builder.setLoc(terminator->getLoc());
  builder.setInsertionPoint(terminator);
  // All are read before the first is written: a loop may swap what it carries.
  SmallVector<std::pair<Value, Value>> copies;
  for (auto [value, target] :
       llvm::zip_equal(terminator->getOperands(), targets)) {
    if (!isTile(value))
      continue;
    Value source = read(value);
    if (source == target)
      continue;
    if (llvm::is_contained(targets, source)) {
      Value saved = allocate(cast<MemRefType>(source.getType()));
      copy(source, saved);
      source = saved;
    }
    copies.push_back({source, target});
  }
  for (auto [source, target] : copies)
    copy(source, target);
}

LogicalResult LoopEmitter::emitFor(scf::ForOp op) {
  SmallVector<Value> carried;
  for (auto [init, argument, result] : llvm::zip_equal(
           op.getInitArgs(), op.getRegionIterArgs(), op.getResults())) {
    if (!isTile(init)) {
      carried.push_back(Value());
      continue;
    }
    carried.push_back(define(argument));
    buffers[result] = carried.back();
    copy(read(init), carried.back());
  }
  if (failed(emit(*op.getBody())))
    return failure();
  carry(op.getBody()->getTerminator(), carried);
  carriers.push_back(op);
  return success();
}

LogicalResult LoopEmitter::emitWhile(scf::WhileOp op) {
  for (TypeRange types : {TypeRange(op.getInits()), TypeRange(op.getResults())})
    for (Type type : types)
      if (isa<tile::TileDialect>(type.getDialect()))
        return op.emitOpError()
               << "expects a loop that carries no tiles, but got " << type;
  return failure(failed(emit(*op.getBeforeBody())) ||
                 failed(emit(*op.getAfterBody())));
}

LogicalResult LoopEmitter::emitIf(scf::IfOp op) {
  SmallVector<Value> carried;
  for (Value result : op.getResults())
    carried.push_back(isTile(result) ? define(result) : Value());
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    if (failed(emit(region.front())))
      return failure();
    carry(region.front().getTerminator(), carried);
  }
  carriers.push_back(op);
  return success();
}

LogicalResult LoopEmitter::emit(Block &block) {
  // What is emitted stands before the op.
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      return checkOperands(&op);
    if (failed(emit(&op)))
      return failure();
  }
  return success();
}

LogicalResult LoopEmitter::checkOperands(Operation *op) {
  for (Value operand : op->getOperands()) {
    Type type = operand.getType();
    bool isKnown = true;
    if (isa<tile::ChannelType>(type))
      isKnown = channels.contains(operand) &&
                isa<tile::TileDialect>(op->getDialect());
    else if (isa<tile::PendingType>(type))
      isKnown = buffers.contains(operand) &&
                isa<tile::WaitOp, tile::WaitReadsOp, tile::MmaAsyncOp,
                    scf::ForOp, scf::YieldOp>(op);
    else if (isTile(operand))
      isKnown = buffers.contains(operand);
    if (!isKnown)
      return op->emitError()
             << "expects tiles that the kernel makes, and channels and "
                "MMAs that no op but loops and branches hand on, but got "
                "an operand "
                "of "
                "type "
             << type;
  }
  return success();
}

void LoopEmitter::emitWithoutRules(Operation *op) {
  TypeSwitch<Operation *>(op)
      .Case([&](tile::LoadOp op) { emitLoad(op); })
      .Case([&](tile::StoreOp op) {
        emitStore(op.getValue(), op.getDestination(), op.getIndices(),
                  op.getAccumulate(), op.getByThreads());
      })
      // Done at once, so that nobody waits for it.
      .Case([&](tile::StoreAsyncOp op) {
        emitStore(op.getSource(), op.getDestination(),
                  {op.getRow(), op.getColumn()}, op.getAccumulate());
      })
      .Case([&](tile::BufferOp op) { define(op.getResult()); })
      .Case([&](tile::AlternateOp op) {
        buffers[op.getResult()] = tile::buildChoice(
            builder, op, read(op.getEven()), read(op.getOdd()));
      })
      .Case([&](tile::WriteOp op) {
        Value value = read(op.getValue());
        copy(value, read(op.getDestination()), op.getTransposed());
      })
      .Case([&](tile::ReadOp op) {
        Value source = read(op.getSource());
        copy(source, define(op.getResult()), op.getTransposed());
      })
      .Case([&](tile::ChannelOp op) { emitChannel(op); })
      .Case([&](tile::PutOp op) { emitPut(op); })
      .Case([&](tile::PutTileOp op) { emitPutTile(op); })
      .Case([&](tile::RestageOp op) { emitRestage(op); })
      .Case([&](tile::GetOp op) { emitGet(op); })
      .Case([&](tile::ReleaseOp op) { emitRelease(op); })
      .Case([&](tile::FillOp op) {
        Value result = define(op.getResult());
        forEach(op.getResult().getType().getShape(), [&](ValueRange indices) {
          store(op.getValue(), result, indices);
        });
      })
      .Case([&](tile::WaitOp op) {
        emitWait(op.getPending());
        buffers[op.getResult()] = buffers.lookup(op.getPending());
      })
      .Case([&](tile::WaitReadsOp op) { emitWait(op.getPending()); })
      // One thread has no ping-pong and waits for nobody, and its tiles are
      // assigned in advance.
      .Case<tile::SchedulerOp, tile::DoneOp, tile::PingPongInitOp,
            tile::PingPongWaitOp, tile::PingPongArriveOp, tile::PingPongEndOp,
            tile::FenceBarriersOp, tile::SyncWarpOp, tile::BarrierOp,
            tile::ArriveClusterOp, tile::WaitClusterOp, tile::PagedOp,
            tile::FlattenedOp, tile::InterleavedOp>([](auto) {})
      // And is the only team.
      .Case([&](tile::IsTurnOp op) {
        Value yes =
            arith::ConstantOp::create(builder, builder.getBoolAttr(true));
        op.getResult().replaceAllUsesWith(yes);
      })
      .Case([&](tile::DeinterleaveOp op) { emitDeinterleave(op); })
      .Case([&](tile::MapOp op) { emitMap(op); })
      .Case([&](tile::AnyOp op) { emitAny(op); })
      .Case([&](tile::BroadcastOp op) {
        Value input = read(op.getInput()), result = define(op.getResult());
        forEach(op.getResult().getType().getShape(), [&](ValueRange indices) {
          store(load(input, indices[op.getDim()]), result, indices);
        });
      })
      .Case([&](tile::SwapColumnsOp op) { emitSwapColumns(op); })
      // The values stay, wherever they are held.
      .Case<tile::ConvertLayoutOp, tile::HandOverOp>([&](auto op) {
        buffers[op.getResult()] = buffers.lookup(op.getInput());
      });
}

LogicalResult LoopEmitter::emit(Operation *op) {
  builder.setLoc(op->getLoc());
  builder.setInsertionPoint(op);
  if (failed(checkOperands(op)))
    return failure();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return emitFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return emitIf(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return emitWhile(loop);
  if (!isa<tile::TileDialect>(op->getDialect())) {
    auto usesTiles = [](Operation *nested) {
      return isa<tile::TileDialect>(nested->getDialect()) ||
                     llvm::any_of(nested->getOperands(), isTile)
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    };
    if (op->walk(usesTiles).wasInterrupted())
      return op->emitError() << "expects tiles in tile ops, 'scf.for', "
                                "'scf.while' and 'scf.if' alone, but got '"
                             << op->getName() << "'";
    return success();
  }
  emitted.push_back(op);
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tile::ReduceOp op) { return emitReduce(op); })
      .Case<tile::MmaOp, tile::MmaAsyncOp>(
          [&](auto op) { return emitMultiply(op); })
      .Case([&](tile::SpecializeOp op) { return emitSpecialize(op); })
      .Default([&](Operation *) {
        emitWithoutRules(op);
        return success();
      });
}
