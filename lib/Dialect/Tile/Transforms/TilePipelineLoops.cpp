// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Software pipelining of channels. Where a put may go is decided by when its
// slot becomes free; see the pass description.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Dialect/Tile/IR/Tile.h"
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
  PutOp put;
  GetOp get;
  ReleaseOp release;
  int64_t stages;
  /// The put moves behind this get and serves element iv + ahead.
  GetOp anchor;
  int64_t ahead = 0;
  /// Elements put before the loop.
  int64_t early = 0;
};

class LoopPipeliner {
public:
  explicit LoopPipeliner(scf::ForOp loop) : loop(loop) {}
  void run();

private:
  /// Whether `element` is the number of the iteration: the induction variable,
  /// from 0 on.
  bool countsIterations(Value element);
  bool collect();
  void place(Stream &stream);
  void emitEarlyPuts();
  void movePuts();
  void countPending();
  /// Clones a put, and what it computes from the induction variable, for
  /// another element.
  void clonePut(OpBuilder &builder, Stream &stream, Value element);

  scf::ForOp loop;
  SmallVector<Stream> streams;
  SmallVector<GetOp> gets;
};

struct TilePipelineLoops
    : tile::impl::TilePipelineLoopsPassBase<TilePipelineLoops> {
  void runOnOperation() override {
    auto schedule = getOperation()->getAttrOfType<schedule::AttentionAttr>(
        TileDialect::kScheduleAttrName);
    if (schedule && schedule.getProducerWarps())
      return;
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      LoopPipeliner(loop).run();
  }
};

} // namespace

bool LoopPipeliner::countsIterations(Value element) {
  auto difference = element.getDefiningOp<arith::SubIOp>();
  return element == loop.getInductionVar() ||
         (difference && difference.getLhs() == loop.getInductionVar() &&
          difference.getRhs() == loop.getLowerBound());
}

bool LoopPipeliner::collect() {
  for (Operation &op : *loop.getBody()) {
    if (auto get = dyn_cast<GetOp>(op))
      gets.push_back(get);
    auto put = dyn_cast<PutOp>(op);
    if (!put || !countsIterations(put.getElement()) || put.getPredicate())
      continue;
    Stream stream{put, {}, {}, put.getChannel().getType().getStages(), {}};
    for (Operation *user : put.getChannel().getUsers()) {
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
  for (GetOp get : gets)
    if (stream.release->isBeforeInBlock(get)) {
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

void LoopPipeliner::clonePut(OpBuilder &builder, Stream &stream,
                             Value element) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), element);
  std::function<void(Value)> copy = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (mapping.contains(value) || !op || op->getBlock() != loop.getBody())
      return;
    for (Value operand : op->getOperands())
      copy(operand);
    builder.clone(*op, mapping);
  };
  for (Value operand : stream.put->getOperands())
    copy(operand);
  Value more =
      arith::CmpIOp::create(builder, loop.getLoc(), arith::CmpIPredicate::slt,
                            element, loop.getUpperBound());
  auto put = cast<PutOp>(builder.clone(*stream.put, mapping));
  put.getPredicateMutable().assign(more);
}

void LoopPipeliner::emitEarlyPuts() {
  // Behind the last put in front of the loop, so that what is waited for there
  // overlaps with these copies too.
  Operation *point = loop;
  for (Operation &op : llvm::reverse(
           llvm::make_range(loop->getBlock()->begin(), loop->getIterator())))
    if (isa<PutOp>(op)) {
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
    needed.append({stream.put.getChannel(), stream.put.getSource()});
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
      ++total;
    }
  for (Operation &op :
       llvm::make_range(point->getIterator(), loop->getIterator()))
    if (auto get = dyn_cast<GetOp>(op))
      get.setPending(get.getPending() + total);
}

void LoopPipeliner::movePuts() {
  for (Stream &stream : streams) {
    if (!stream.anchor)
      continue;
    OpBuilder builder(stream.anchor->getContext());
    builder.setInsertionPointAfter(stream.anchor);
    Value ahead =
        arith::ConstantIndexOp::create(builder, loop.getLoc(), stream.ahead);
    Value element = builder.createOrFold<arith::AddIOp>(
        loop.getLoc(), loop.getInductionVar(), ahead);
    clonePut(builder, stream, element);
    stream.put.erase();
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
      if (i < stream.early)
        issued[j].push_back(sequence++);
  SmallVector<int64_t> pending(streams.size(),
                               std::numeric_limits<int64_t>::max());
  for (int64_t iteration = 0; iteration < most + 2; ++iteration)
    for (Operation &op : *loop.getBody()) {
      if (auto put = dyn_cast<PutOp>(op)) {
        if (auto it = index.find(put.getChannel()); it != index.end())
          issued[it->second].push_back(sequence);
        ++sequence;
      } else if (auto get = dyn_cast<GetOp>(op)) {
        auto it = index.find(get.getChannel());
        if (it == index.end())
          continue;
        int64_t position = issued[it->second][iteration];
        pending[it->second] =
            std::min(pending[it->second], sequence - position - 1);
      }
    }
  for (auto [stream, count] : llvm::zip_equal(streams, pending))
    stream.get.setPending(count);
}

void LoopPipeliner::run() {
  if (!collect())
    return;
  for (Stream &stream : streams)
    place(stream);
  emitEarlyPuts();
  movePuts();
  countPending();
}
