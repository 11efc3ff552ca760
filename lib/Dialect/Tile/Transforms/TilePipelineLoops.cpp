// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Software pipelining of channels. Where a put may go is decided by when its
// slot becomes free; see the pass description.

#include "LoopUtils.h"
#include "attune/Dialect/Tile/IR/Warps.h"
#include "attune/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace attune::tile {
#define GEN_PASS_DEF_TILEPIPELINELOOPSPASS
#include "attune/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attune::tile

using namespace mlir;
using namespace attune;
using namespace attune::tile;

namespace {

/// The two ends of one channel in the body of a loop.
struct Stream {
  /// tile.put, until it has moved, or tile.put_tile.
  Operation *put;
  bool putsTile;
  Value channel, element;
  GetOp get;
  ReleaseOp release;
  int64_t stages;
  /// The put moves behind this get and serves element iv + ahead.
  GetOp anchor;
  int64_t ahead = 0;
  /// Elements put before the loop.
  int64_t early = 0;

  /// What a tile.put_tile writes; null of a tile.put.
  LoadOp getLoad() {
    return putsTile ? cast<PutTileOp>(put).getValue().getDefiningOp<LoadOp>()
                    : LoadOp();
  }
};

class LoopPipeliner {
public:
  explicit LoopPipeliner(scf::ForOp loop) : loop(loop) {}
  void run();

private:
  /// Whether `element` is the number of the iteration: the induction variable,
  /// or that from 0 on.
  bool countsIterations(Value element);
  bool collect();
  void place(Stream &stream);
  void emitEarlyPuts();
  void movePuts();
  /// The same for puts of what was loaded: loads stand in front of all else in
  /// an iteration, puts behind it.
  void moveLoads();
  void countPending();
  /// Clones `op`, and what it computes from the induction variable, with
  /// another value of that.
  Operation *cloneAt(OpBuilder &builder, Operation *op, Value iteration);
  /// Clones a put for another element, if there is one.
  void clonePut(OpBuilder &builder, Stream &stream, Value element);

  scf::ForOp loop;
  SmallVector<Stream> streams;
  SmallVector<GetOp> gets;
};

struct TilePipelineLoops
    : tile::impl::TilePipelineLoopsPassBase<TilePipelineLoops> {
  void runOnOperation() override {
    // Roles run ahead of each other by themselves.
    if (!getRoles(getOperation()).empty())
      return;
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      LoopPipeliner(loop).run();
  }
};

} // namespace

bool LoopPipeliner::countsIterations(Value element) {
  return element == loop.getInductionVar() ||
         foldSum({{element, 1},
                  {loop.getInductionVar(), -1},
                  {loop.getLowerBound(), 1}}) == 0;
}

bool LoopPipeliner::collect() {
  for (Operation &op : *loop.getBody()) {
    if (auto get = dyn_cast<GetOp>(op))
      gets.push_back(get);
    auto put = dyn_cast<PutOp>(op);
    auto putTile = dyn_cast<PutTileOp>(op);
    if ((!put && !putTile) || (put && put.getPredicate()))
      continue;
    Stream stream;
    stream.put = &op;
    stream.putsTile = isa<PutTileOp>(op);
    stream.channel = put ? put.getChannel() : putTile.getChannel();
    stream.element = put ? put.getElement() : putTile.getElement();
    stream.stages = cast<ChannelType>(stream.channel.getType()).getStages();
    LoadOp load = stream.getLoad();
    if (!countsIterations(stream.element) ||
        (putTile &&
         (!load || load->getBlock() != loop.getBody() || !load->hasOneUse())))
      continue;
    for (Operation *user : stream.channel.getUsers()) {
      if (user->getBlock() != loop.getBody())
        continue;
      if (auto get = dyn_cast<GetOp>(user))
        stream.get = get;
      else if (auto release = dyn_cast<ReleaseOp>(user))
        stream.release = release;
    }
    if (stream.get && stream.release)
      streams.push_back(stream);
  }
  return !streams.empty();
}

void LoopPipeliner::place(Stream &stream) {
  // What passes through registers is put at the end of the iteration, and needs
  // no meeting on the way there where it has another slot.
  bool hasOtherSlot = stream.getLoad() && stream.stages > 1;
  for (GetOp get : gets)
    if (!hasOtherSlot && stream.release->isBeforeInBlock(get)) {
      stream.anchor = get;
      stream.ahead = stream.early = stream.stages;
      return;
    }
  // The next get is the first one of the next iteration.
  GetOp first = gets.front();
  if (stream.stages == 1 && first == stream.get)
    return;
  stream.anchor = first;
  stream.ahead = stream.early = stream.stages - 1;
}

Operation *LoopPipeliner::cloneAt(OpBuilder &builder, Operation *op,
                                  Value iteration) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), iteration);
  std::function<void(Value)> copy = [&](Value value) {
    Operation *source = value.getDefiningOp();
    if (mapping.contains(value) || !source ||
        source->getBlock() != loop.getBody())
      return;
    for (Value operand : source->getOperands())
      copy(operand);
    builder.clone(*source, mapping);
  };
  for (Value operand : op->getOperands())
    copy(operand);
  return builder.clone(*op, mapping);
}

void LoopPipeliner::clonePut(OpBuilder &builder, Stream &stream,
                             Value element) {
  auto isThere = [&] {
    return arith::CmpIOp::create(builder, loop.getLoc(),
                                 arith::CmpIPredicate::slt, element,
                                 loop.getUpperBound());
  };
  if (stream.getLoad()) {
    auto guard = scf::IfOp::create(builder, loop.getLoc(), isThere(),
                                   /*withElseRegion=*/false);
    OpBuilder inner = guard.getThenBodyBuilder();
    cloneAt(inner, stream.put, element);
    return;
  }
  auto put = cast<PutOp>(cloneAt(builder, stream.put, element));
  builder.setInsertionPoint(put);
  put.getPredicateMutable().assign(isThere());
  builder.setInsertionPointAfter(put);
}

void LoopPipeliner::emitEarlyPuts() {
  // Behind the last put in front of the loop, so that what is waited for there
  // overlaps with these copies too.
  Operation *point = loop;
  for (Operation &op : llvm::reverse(
           llvm::make_range(loop->getBlock()->begin(), loop->getIterator())))
    if (isa<PutOp, PutTileOp>(op)) {
      point = op.getNextNode();
      break;
    }
  // What the loop and its channels need must be defined by then.
  auto isDefinedBefore = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return !op || op->getBlock() != point->getBlock() ||
           op->isBeforeInBlock(point);
  };
  SmallVector<Value> needed{loop.getLowerBound(), loop.getUpperBound()};
  for (Stream &stream : streams)
    needed.append({stream.channel, stream.getLoad()
                                       ? stream.getLoad().getSource()
                                       : cast<PutOp>(stream.put).getSource()});
  if (!llvm::all_of(needed, isDefinedBefore))
    point = loop;

  OpBuilder builder(point);
  int64_t most = 0, total = 0;
  for (Stream &stream : streams)
    most = std::max(most, stream.early);
  for (int64_t i = 0; i < most; ++i)
    for (Stream &stream : streams) {
      if (i >= stream.early)
        continue;
      Value offset = arith::ConstantIndexOp::create(builder, loop.getLoc(), i);
      Value element = builder.createOrFold<arith::AddIOp>(
          loop.getLoc(), loop.getLowerBound(), offset);
      clonePut(builder, stream, element);
      total += stream.getLoad() ? 0 : 1;
    }
  for (Operation &op :
       llvm::make_range(point->getIterator(), loop->getIterator()))
    if (auto get = dyn_cast<GetOp>(op))
      get.setPending(get.getPending() + total);
}

void LoopPipeliner::moveLoads() {
  OpBuilder first = OpBuilder::atBlockBegin(loop.getBody());
  Value last;
  // What is put first is loaded first, and waited for alone.
  SmallVector<Stream *> order;
  for (bool isAhead : {false, true})
    for (Stream &stream : streams)
      if (stream.getLoad() && (stream.ahead > 0) == isAhead)
        order.push_back(&stream);
  for (Stream *each : order) {
    Stream &stream = *each;
    LoadOp load = stream.getLoad();
    auto put = cast<PutTileOp>(stream.put);
    Location loc = put.getLoc();
    Value iteration = loop.getInductionVar();
    if (stream.ahead > 0) {
      // Behind the last element it is loaded again, and nobody gets it: that
      // costs less than a branch.
      // In 32 bits, which scalar units compare.
      Type word = first.getI32Type();
      if (!last)
        last = arith::IndexCastOp::create(
            first, loc, word,
            arith::SubIOp::create(
                first, loc, loop.getUpperBound(),
                arith::ConstantIndexOp::create(first, loc, 1)));
      Value ahead = arith::ConstantIndexOp::create(first, loc, stream.ahead);
      Value wanted = arith::AddIOp::create(first, loc, iteration, ahead);
      wanted = arith::IndexCastOp::create(first, loc, word, wanted);
      iteration = arith::IndexCastOp::create(
          first, loc, first.getIndexType(),
          arith::MinSIOp::create(first, loc, wanted, last));
      OpBuilder end(loop.getBody()->getTerminator());
      Value element = arith::AddIOp::create(end, loc, stream.element, ahead);
      put->moveBefore(loop.getBody()->getTerminator());
      put.getElementMutable().assign(element);
    } else {
      put->moveBefore(stream.get);
    }
    Operation *loaded = cloneAt(first, load, iteration);
    put.getValueMutable().assign(loaded->getResult(0));
    load.erase();
  }
}

void LoopPipeliner::movePuts() {
  for (Stream &stream : streams) {
    if (!stream.anchor || stream.getLoad())
      continue;
    OpBuilder builder(stream.anchor->getContext());
    builder.setInsertionPointAfter(stream.anchor);
    Value ahead =
        arith::ConstantIndexOp::create(builder, loop.getLoc(), stream.ahead);
    Value element = builder.createOrFold<arith::AddIOp>(
        loop.getLoc(), loop.getInductionVar(), ahead);
    clonePut(builder, stream, element);
    stream.put->erase();
    stream.put = nullptr;
  }
}

/// Plays enough iterations to reach the steady state and takes, for each get,
/// the smallest number of puts that were issued after the one it waits for.
void LoopPipeliner::countPending() {
  DenseMap<Value, size_t> index;
  for (auto [i, stream] : llvm::enumerate(streams))
    index[stream.get.getChannel()] = i;
  SmallVector<SmallVector<int64_t>> issued(streams.size());
  int64_t sequence = 0, most = 0;
  for (Stream &stream : streams)
    most = std::max(most, stream.early);
  for (int64_t i = 0; i < most; ++i)
    for (auto [j, stream] : llvm::enumerate(streams))
      if (i < stream.early) {
        issued[j].push_back(sequence);
        sequence += !stream.putsTile;
      }
  SmallVector<int64_t> pending(streams.size(),
                               std::numeric_limits<int64_t>::max());
  for (int64_t iteration = 0; iteration < most + 2; ++iteration)
    for (Operation &op : *loop.getBody()) {
      if (isa<PutOp, PutTileOp>(op)) {
        if (auto it = index.find(op.getOperand(0)); it != index.end())
          issued[it->second].push_back(sequence);
        // Nobody waits for what passes through registers.
        sequence += isa<PutOp>(op);
      } else if (auto get = dyn_cast<GetOp>(op)) {
        auto it = index.find(get.getChannel());
        if (it == index.end())
          continue;
        int64_t position = issued[it->second][iteration];
        pending[it->second] =
            std::min(pending[it->second], sequence - position - 1);
      }
    }
  // What was loaded has come when it is put.
  for (auto [stream, count] : llvm::zip_equal(streams, pending))
    stream.get.setPending(stream.getLoad() ? 0 : count);
}

void LoopPipeliner::run() {
  if (!collect())
    return;
  for (Stream &stream : streams)
    place(stream);
  emitEarlyPuts();
  movePuts();
  moveLoads();
  countPending();
}
