// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StepShare.h"
#include "Views.h"
#include "VisitedBlocks.h"
#include "attune/Dialect/Attn/IR/SizeFacts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace attune;

/// What a tile costs besides its steps, in steps: less than the 5 of FlashMLA's
/// plan, which counts it for each part. A share is of at least so many more.
static constexpr int64_t kStart = 3, kFewestSteps = 4;
/// What one of so many of a share's steps more are worth: that batches of about
/// one length, of which each sharer could have one, have no parts to merge.
static constexpr int64_t kWorthWhole = 8;
/// Batches whose lengths are loaded at once.
static constexpr int64_t kAtOnce = 16;

namespace {
/// Goes through the batches.
class StepCounter {
public:
  StepCounter(ImplicitLocOpBuilder &b, attn::AttentionOp op,
              const KernelInputs &inputs, const KernelSizes &sizes,
              Value batches)
      : b(b), op(op), inputs(inputs), blockSize(sizes.blockN),
        seqK(countRoomForKeys(b, op, inputs.key, inputs.pages)),
        batches(batches), rounds(constant(sizes.rounds)) {}

  /// Of all tiles and of the longest one, with what each costs besides.
  struct Count {
    Value all, longest;
  };
  Count countAll();
  /// Of steps among all, so counted: the tile, and which of its steps it is,
  /// the first one for what comes before it. Or the tile behind the last one
  /// and 0.
  struct Place {
    Value tile, step;
  };
  SmallVector<Place, 2> find(ArrayRef<Value> steps);

private:
  /// Steps of each of the batch's tiles.
  Value countSteps(Value batch);
  /// Emits a loop over batches, whose body is given a batch, the first of its
  /// steps among all, how many each of its tiles counts for, or 0 behind the
  /// last batch, and values that it returns the next ones of. Returns the
  /// number of all steps and the last values.
  SmallVector<Value>
  forEachBatch(ValueRange initial,
               function_ref<SmallVector<Value>(Value batch, Value first,
                                               Value steps, ValueRange values)>
                   body);
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }

  ImplicitLocOpBuilder &b;
  attn::AttentionOp op;
  const KernelInputs &inputs;
  int64_t blockSize;
  Value seqK, batches, rounds;
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
  Value zero = constant(0),
        queries = getLength(inputs.queryLengths, constant(op.getSeqQ())),
        keys = getLength(inputs.keyLengths, seqK);
  if (inputs.queryLengths)
    keys = arith::SelectOp::create(
        b, arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, queries, zero),
        keys, zero);
  Value last = b.createOrFold<arith::SubIOp>(queries, constant(1));
  std::unique_ptr<VisitedBlocks> blocks =
      makeVisitedBlocks(b, op, inputs, blockSize,
                        {MaskDim::Query, batch, zero, zero, last, keys});
  return b.createOrFold<arith::SubIOp>(blocks->end, blocks->begin);
}

SmallVector<Value> StepCounter::forEachBatch(
    ValueRange initial,
    function_ref<SmallVector<Value>(Value batch, Value first, Value steps,
                                    ValueRange values)>
        body) {
  Value zero = constant(0);
  SmallVector<Value> start{zero};
  llvm::append_range(start, initial);
  int64_t atOnce =
      std::min(kAtOnce, getConstantIntValue(batches).value_or(kAtOnce));
  auto loop = scf::ForOp::create(b, zero, batches, constant(atOnce), start);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value last = b.createOrFold<arith::SubIOp>(batches, constant(1));
  SmallVector<Value> next(loop.getRegionIterArgs());
  for (int64_t i = 0; i < atOnce; ++i) {
    Value batch =
        b.createOrFold<arith::AddIOp>(loop.getInductionVar(), constant(i));
    Value steps = countSteps(b.createOrFold<arith::MinUIOp>(batch, last));
    Value exists = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ult,
                                                 batch, batches);
    steps = b.createOrFold<arith::SelectOp>(
        exists, b.createOrFold<arith::AddIOp>(steps, constant(kStart)), zero);
    SmallVector<Value> behind =
        body(batch, next.front(), steps, ArrayRef(next).drop_front());
    Value ofAll = b.createOrFold<arith::MulIOp>(steps, rounds);
    next = {b.createOrFold<arith::AddIOp>(next.front(), ofAll)};
    llvm::append_range(next, behind);
  }
  scf::YieldOp::create(b, next);
  return SmallVector<Value>(loop.getResults());
}

StepCounter::Count StepCounter::countAll() {
  auto compare = [&](Value, Value, Value steps,
                     ValueRange longest) -> SmallVector<Value> {
    return {b.createOrFold<arith::MaxUIOp>(longest.front(), steps)};
  };
  SmallVector<Value> counts = forEachBatch(constant(0), compare);
  return {counts[0], counts[1]};
}

SmallVector<StepCounter::Place, 2> StepCounter::find(ArrayRef<Value> wanted) {
  // Of each: the batch, its first step, and how many each of its heads has.
  SmallVector<Value> initial;
  for (Value step : wanted)
    initial.append({batches, step, constant(1)});
  auto look = [&](Value batch, Value first, Value steps, ValueRange values) {
    Value after = b.createOrFold<arith::AddIOp>(
        first, b.createOrFold<arith::MulIOp>(steps, rounds));
    SmallVector<Value> next;
    for (auto [number, step] : llvm::enumerate(wanted)) {
      Value isHere = b.createOrFold<arith::AndIOp>(
          b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::uge, step, first),
          b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ult, step,
                                        after));
      for (auto [here, before] :
           llvm::zip_equal(std::array<Value, 3>{batch, first, steps},
                           values.slice(3 * number, 3)))
        next.push_back(b.createOrFold<arith::SelectOp>(isHere, here, before));
    }
    return next;
  };
  SmallVector<Value> found = forEachBatch(initial, look);
  SmallVector<Place, 2> places;
  for (auto [number, step] : llvm::enumerate(wanted)) {
    ValueRange batch = ValueRange(found).slice(1 + 3 * number, 3);
    Value inBatch = b.createOrFold<arith::SubIOp>(step, batch[1]);
    Value ofBatch = b.createOrFold<arith::MulIOp>(batch[0], rounds);
    Value head = b.createOrFold<arith::DivUIOp>(inBatch, batch[2]);
    Value inTile = b.createOrFold<arith::RemUIOp>(inBatch, batch[2]);
    Value counted = b.createOrFold<arith::MaxUIOp>(inTile, constant(kStart));
    places.push_back(
        {b.createOrFold<arith::AddIOp>(ofBatch, head),
         b.createOrFold<arith::SubIOp>(counted, constant(kStart))});
  }
  return places;
}

StepShare::StepShare(ImplicitLocOpBuilder &b, attn::AttentionOp op,
                     const KernelInputs &inputs, const KernelSizes &sizes,
                     Value batches, Value sharer) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  StepCounter counter(b, op, inputs, sizes, batches);
  StepCounter::Count steps = counter.countAll();
  Value zero = constant(0);
  Value fair = b.createOrFold<arith::MaxUIOp>(
      b.createOrFold<arith::CeilDivUIOp>(steps.all, constant(sizes.sharers)),
      constant(kStart + kFewestSteps));
  // Batches of one length have a share each, if that is little longer.
  Value most = b.createOrFold<arith::AddIOp>(
      fair, b.createOrFold<arith::DivUIOp>(fair, constant(kWorthWhole)));
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
      b.createOrFold<arith::SelectOp>(reaches, constant(1), zero));
  afterStep =
      b.createOrFold<arith::SelectOp>(reaches, places[1].step, constant(kAll));
}
