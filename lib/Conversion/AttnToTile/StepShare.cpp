// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StepShare.h"
#include "Lanes.h"
#include "Views.h"
#include "VisitedBlocks.h"
#include "attune/Dialect/Attn/IR/SizeFacts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attune;

/// What a tile costs besides its steps, in steps: less than the 5 of FlashMLA's
/// plan, which counts it for each part. A share is of at least so many more.
static constexpr int64_t kStart = 3, kFewestSteps = 4;
/// What one of so many of a share's steps more are worth: that batches of about
/// one length, of which each sharer could have one, have no parts to merge.
static constexpr int64_t kWorthWhole = 8;

namespace {
/// Goes through the batches, of which each lane of a warp looks at another one.
/// All values are those of the lane where it is not said that all lanes have
/// the same; numbers of steps are i32.
class StepCounter {
public:
  StepCounter(ImplicitLocOpBuilder &b, attn::AttentionOp op,
              const KernelInputs &inputs, const KernelSizes &sizes,
              Value batches)
      : b(b), op(op), inputs(inputs), blockSize(sizes.blockN),
        seqK(countRoomForKeys(b, op, inputs.key, inputs.pages)),
        batches(batches),
        lastBatch(b.createOrFold<arith::SubIOp>(batches, constant(b, 1))),
        rounds(constant(b, sizes.rounds)), lanes(sizes.lanes) {
    Value thread = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
    lane = arith::RemUIOp::create(b, thread, constant(b, lanes));
  }

  /// Of all tiles and of the longest one, with what each costs besides. All
  /// lanes have the same.
  struct Count {
    Value all, longest;
  };
  Count countAll();
  /// Of steps among all, so counted: the tile, and which of its steps it is,
  /// the first one for what comes before it. Or the tile behind the last one
  /// and 0. All lanes have and get the same.
  struct Place {
    Value tile, step;
  };
  SmallVector<Place, 2> find(ArrayRef<Value> steps);

private:
  /// Steps of each of the batch's tiles.
  Value countSteps(Value batch);
  /// What each of the batch's tiles counts for.
  Value countTile(Value batch);
  /// Emits a loop over batches, whose body is given what each of a batch's
  /// tiles counts for, 0 behind the last batch, and values that it returns the
  /// next ones of. Returns the last values.
  SmallVector<Value> forEachBatch(
      ValueRange initial,
      function_ref<SmallVector<Value>(Value steps, ValueRange values)> body);
  /// The sum of the values of the lanes before this one, and of all.
  std::pair<Value, Value> addUpBefore(Value value);
  Value toWord(Value index) {
    return b.createOrFold<arith::IndexCastOp>(b.getI32Type(), index);
  }
  /// What all lanes have, as the back end is to know.
  Value toUniformIndex(Value word) {
    return gpu::SubgroupBroadcastOp::create(
        b, b.createOrFold<arith::IndexCastUIOp>(b.getIndexType(), word),
        /*lane=*/Value(), gpu::BroadcastType::first_active_lane);
  }

  ImplicitLocOpBuilder &b;
  attn::AttentionOp op;
  const KernelInputs &inputs;
  int64_t blockSize;
  Value seqK, batches, lastBatch, rounds, lane;
  int64_t lanes;
};
} // namespace

Value StepCounter::countSteps(Value batch) {
  auto load = [&](Value buffer, Value place) -> Value {
    return memref::LoadOp::create(b, buffer, place);
  };
  auto getLength = [&](Value lengths, Value room) {
    return attn::getBatchRows(b, /*starts=*/Value(), lengths, batch, room, load)
        .length;
  };
  Value zero = constant(b, 0),
        queries = getLength(inputs.queryLengths, constant(b, op.getSeqQ())),
        keys = getLength(inputs.keyLengths, seqK);
  if (inputs.queryLengths)
    keys = arith::SelectOp::create(
        b, arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, queries, zero),
        keys, zero);
  Value last = b.createOrFold<arith::SubIOp>(queries, constant(b, 1));
  std::unique_ptr<VisitedBlocks> blocks =
      makeVisitedBlocks(b, op, inputs, blockSize,
                        {MaskDim::Query, batch, zero, zero, last, keys});
  return b.createOrFold<arith::SubIOp>(blocks->end, blocks->begin);
}

Value StepCounter::countTile(Value batch) {
  Value steps =
      b.createOrFold<arith::AddIOp>(countSteps(batch), constant(b, kStart));
  return toWord(steps);
}

std::pair<Value, Value> StepCounter::addUpBefore(Value value) {
  // Of groups of twice as many lanes each time, the upper half is behind what
  // the lower one has.
  Value zero = arith::ConstantIntOp::create(b, 0, 32);
  Value before = zero, all = value;
  for (int64_t distance = 1; distance < lanes; distance *= 2) {
    Value other = exchangeLanes(b, all, distance, lanes);
    Value bit = arith::AndIOp::create(b, lane, constant(b, distance));
    Value isUpper =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bit, constant(b, 0));
    before = arith::AddIOp::create(
        b, before, arith::SelectOp::create(b, isUpper, other, zero));
    all = arith::AddIOp::create(b, all, other);
  }
  return {before, all};
}

SmallVector<Value> StepCounter::forEachBatch(
    ValueRange initial,
    function_ref<SmallVector<Value>(Value steps, ValueRange values)> body) {
  auto loop = scf::ForOp::create(b, constant(b, 0), batches, constant(b, lanes),
                                 initial);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value batch = arith::AddIOp::create(b, loop.getInductionVar(), lane);
  Value counted = countTile(arith::MinUIOp::create(b, batch, lastBatch));
  Value exists =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, batch, batches);
  Value steps = arith::SelectOp::create(b, exists, counted,
                                        arith::ConstantIntOp::create(b, 0, 32));
  scf::YieldOp::create(b, body(steps, loop.getRegionIterArgs()));
  return SmallVector<Value>(loop.getResults());
}

StepCounter::Count StepCounter::countAll() {
  auto count = [&](Value steps, ValueRange before) -> SmallVector<Value> {
    return {arith::AddIOp::create(b, before[0], steps),
            arith::MaxUIOp::create(b, before[1], steps)};
  };
  Value zero = arith::ConstantIntOp::create(b, 0, 32);
  SmallVector<Value> counts = forEachBatch({zero, zero}, count);
  Value all = toUniformIndex(combineLanes<arith::AddIOp>(b, counts[0], lanes));
  return {b.createOrFold<arith::MulIOp>(all, rounds),
          toUniformIndex(combineLanes<arith::MaxUIOp>(b, counts[1], lanes))};
}

SmallVector<StepCounter::Place, 2> StepCounter::find(ArrayRef<Value> wanted) {
  // The steps before the next batches, the same in all lanes; and for each
  // step, how many batches are before it, and their steps.
  Value zero = arith::ConstantIntOp::create(b, 0, 32);
  SmallVector<Value> initial(1 + 2 * wanted.size(), zero);
  auto look = [&](Value ofTile, ValueRange values) {
    Value steps = arith::MulIOp::create(b, ofTile, toWord(rounds));
    auto [ofLanes, all] = addUpBefore(steps);
    Value first = arith::AddIOp::create(b, values[0], ofLanes);
    Value after = arith::AddIOp::create(b, first, steps);
    Value exists =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, steps, zero);
    SmallVector<Value> next{arith::AddIOp::create(b, values[0], all)};
    for (auto [number, step] : llvm::enumerate(wanted)) {
      Value isBefore = arith::AndIOp::create(
          b, exists,
          arith::CmpIOp::create(b, arith::CmpIPredicate::ule, after,
                                toWord(step)));
      Value one = arith::ExtUIOp::create(b, b.getI32Type(), isBefore);
      next.push_back(arith::AddIOp::create(b, values[1 + 2 * number], one));
      next.push_back(arith::AddIOp::create(
          b, values[2 + 2 * number],
          arith::SelectOp::create(b, isBefore, steps, zero)));
    }
    return next;
  };
  SmallVector<Value> found = forEachBatch(initial, look);
  SmallVector<Place, 2> places;
  for (auto [number, step] : llvm::enumerate(wanted)) {
    ValueRange before = ValueRange(found).slice(1 + 2 * number, 2);
    Value batch =
        toUniformIndex(combineLanes<arith::AddIOp>(b, before[0], lanes));
    Value first =
        toUniformIndex(combineLanes<arith::AddIOp>(b, before[1], lanes));
    Value exists =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, batch, batches);
    Value ofTile = toUniformIndex(
        countTile(b.createOrFold<arith::MinUIOp>(batch, lastBatch)));
    Value inBatch = arith::SelectOp::create(
        b, exists, b.createOrFold<arith::SubIOp>(step, first), constant(b, 0));
    Value ofBatch = b.createOrFold<arith::MulIOp>(batch, rounds);
    Value head = b.createOrFold<arith::DivUIOp>(inBatch, ofTile);
    Value inTile = b.createOrFold<arith::RemUIOp>(inBatch, ofTile);
    Value counted = b.createOrFold<arith::MaxUIOp>(inTile, constant(b, kStart));
    places.push_back(
        {b.createOrFold<arith::AddIOp>(ofBatch, head),
         b.createOrFold<arith::SubIOp>(counted, constant(b, kStart))});
  }
  return places;
}

StepShare::StepShare(ImplicitLocOpBuilder &b, attn::AttentionOp op,
                     const KernelInputs &inputs, const KernelSizes &sizes,
                     Value batches, Value sharer) {
  StepCounter counter(b, op, inputs, sizes, batches);
  StepCounter::Count steps = counter.countAll();
  Value zero = constant(b, 0);
  Value fair = b.createOrFold<arith::MaxUIOp>(
      b.createOrFold<arith::CeilDivUIOp>(steps.all, constant(b, sizes.sharers)),
      constant(b, kStart + kFewestSteps));
  // Batches of one length have a share each, if that is little longer.
  Value most = b.createOrFold<arith::AddIOp>(
      fair, b.createOrFold<arith::DivUIOp>(fair, constant(b, kWorthWhole)));
  Value isWorth = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ule,
                                                steps.longest, most);
  length = b.createOrFold<arith::SelectOp>(
      isWorth, b.createOrFold<arith::MaxUIOp>(fair, steps.longest), fair);
  Value begin = b.createOrFold<arith::MulIOp>(sharer, length),
        end = b.createOrFold<arith::AddIOp>(begin, length);
  SmallVector<StepCounter::Place, 2> places = counter.find({begin, end});
  // The first one has those that have no steps and are before all others.
  auto is = [&](arith::CmpIPredicate predicate, Value x) {
    return b.createOrFold<arith::CmpIOp>(predicate, x, zero);
  };
  firstTile = b.createOrFold<arith::SelectOp>(
      is(arith::CmpIPredicate::eq, sharer), zero, places[0].tile);
  firstStep = places[0].step;
  // Of the tile of the next share's first step, those before that step, if
  // there are any.
  Value reaches = is(arith::CmpIPredicate::ne, places[1].step);
  afterTile = b.createOrFold<arith::AddIOp>(
      places[1].tile,
      b.createOrFold<arith::SelectOp>(reaches, constant(b, 1), zero));
  afterStep = b.createOrFold<arith::SelectOp>(reaches, places[1].step,
                                              constant(b, kAll));
}
