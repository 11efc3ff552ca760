// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rotates an attention loop by one MMA, so that the arithmetic between its
// two MMAs runs under them.

#include "LoopUtils.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace attune::tile {
#define GEN_PASS_DEF_TILEOVERLAPMMASPASS
#include "attune/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attune::tile

using namespace mlir;
using namespace attune;
using namespace attune::tile;

namespace {

/// A loop `(state, acc) -> (state', first MMA, arithmetic, second MMA
/// into acc)`, taken apart. The second half is the second MMA with what
/// its right operand needs; all else is the first half.
class LoopRotator {
public:
  LoopRotator(scf::ForOp loop, bool rescalesLate)
      : loop(loop), rescalesLate(rescalesLate) {}
  LogicalResult run();

private:
  bool matchLoop();
  /// Takes the arithmetic on the accumulator out of `after`.
  void splitRescaling();
  /// The accumulator, as it is or as the second MMA wants it.
  Value getCarriedAcc() {
    return rescalesLate ? Value(loop.getRegionIterArg(accNumber))
                        : Value(second.getAcc());
  }
  /// What the next iteration reads of this one.
  SmallVector<Value> carried(IRMapping &mapping);
  /// Maps what an iteration carried to what the next one has of it.
  void mapCarried(IRMapping &mapping, ValueRange values);
  void cloneAll(OpBuilder &b, ArrayRef<Operation *> ops, IRMapping &mapping);
  /// Moves the releases of what runs under both MMAs behind the arithmetic.
  void releaseLate();
  /// Clones `fetch`, with the arithmetic of the first half that it reads.
  void cloneFetch(OpBuilder &b, IRMapping &mapping);
  /// The first half for the first iteration.
  void emitPrologue(OpBuilder &b, IRMapping &mapping);
  /// The second half of the iteration before, under the first half of this one.
  scf::ForOp emitLoop(OpBuilder &b, IRMapping &prologue);
  /// The second half of the last iteration; returns its accumulator.
  Value emitEpilogue(OpBuilder &b, scf::ForOp rotated);
  SmallVector<Value> emitAll(OpBuilder &b);

  scf::ForOp loop;
  bool rescalesLate;
  MmaOp first, second;
  /// Which of the loop's values the second MMA accumulates into.
  unsigned accNumber = 0;
  /// The first half: up to its MMA; what runs under both MMAs; and
  /// what needs the second one's result, or overwrites what it reads.
  SmallVector<Operation *> before, under, after;
  /// What of that is only done in front of the second MMA.
  SmallVector<Operation *> rescale;
  /// What the second half reads of the first, beside the accumulator.
  SmallVector<Value> extra;
  /// The second half, but for the MMA: in front of it, and behind it.
  SmallVector<Operation *> fetch, release;
  /// Releases behind the loop of what it read.
  SmallVector<ReleaseOp> released;
};

struct TileOverlapMmas : tile::impl::TileOverlapMmasPassBase<TileOverlapMmas> {
  void runOnOperation() override;
};

} // namespace

/// Channel that a put, get or release is of.
static Value channelOf(Operation *op) {
  return isa<PutOp, PutTileOp, GetOp, ReleaseOp>(op) ? op->getOperand(0)
                                                     : Value();
}

/// Whether `op` reads one of `values`, inside its regions too.
static bool reads(Operation *op, const llvm::SetVector<Value> &values) {
  return op
      ->walk([&](Operation *inner) {
        return llvm::any_of(inner->getOperands(),
                            [&](Value v) { return values.contains(v); })
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

bool LoopRotator::matchLoop() {
  SmallVector<MmaOp> multiplies(loop.getBody()->getOps<MmaOp>());
  if (multiplies.size() != 2)
    return false;
  first = multiplies[0];
  second = multiplies[1];
  auto fetched = second.getRhs().getDefiningOp<GetOp>();
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  auto yielded = llvm::find(yield.getOperands(), second.getResult());
  if (!fetched || yielded == yield.getOperands().end() ||
      !second.getResult().hasOneUse())
    return false;
  accNumber = yielded - yield.getOperands().begin();

  // What depends on the accumulator of the iteration before comes late, and so
  // does what the second MMA reads: its registers are in use until then.
  llvm::SetVector<Value> late;
  late.insert(loop.getRegionIterArg(accNumber));
  Operation *weights = second.getLhs().getDefiningOp();
  if (isa_and_nonnull<BufferOp>(weights)) {
    auto writes = loop.getBody()->getOps<WriteOp>();
    auto write = llvm::find_if(writes, [&](WriteOp op) {
      return op.getDestination() == second.getLhs();
    });
    weights = write == writes.end() ? nullptr : (*write).getOperation();
  } else {
    extra.push_back(second.getLhs());
  }
  bool beforeFirst = true;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (&op == second)
      continue;
    if (channelOf(&op) == fetched.getChannel()) {
      (isa<ReleaseOp>(op) ? release : fetch).push_back(&op);
      continue;
    }
    if (&op == weights || reads(&op, late)) {
      late.insert(op.result_begin(), op.result_end());
      after.push_back(&op);
      continue;
    }
    (beforeFirst ? before : under).push_back(&op);
    beforeFirst &= &op != first;
  }
  // What is fetched late must not be wanted early, as where keys are values.
  llvm::SetVector<Value> fetchedLate;
  for (Operation *op : fetch)
    fetchedLate.insert(op->result_begin(), op->result_end());
  for (ArrayRef<Operation *> half :
       {ArrayRef(before), ArrayRef(under), ArrayRef(after)})
    if (llvm::any_of(half,
                     [&](Operation *op) { return reads(op, fetchedLate); }))
      return false;
  if (rescalesLate)
    splitRescaling();
  // The first MMA, and what is yielded beside the accumulator, must not
  // wait for it.
  return !beforeFirst && weights &&
         llvm::none_of(llvm::enumerate(yield.getOperands()), [&](auto it) {
           return it.index() != accNumber && late.contains(it.value());
         });
}

void LoopRotator::releaseLate() {
  // Where the accumulator is rescaled in each iteration, much of the arithmetic
  // is behind the wait anyway; and where warpgroups do not take turns, keys
  // that are freed late come late. Neither was seen to be faster.
  if (!loop->hasAttr(TileDialect::kPingPongAttrName) ||
      llvm::none_of(after, llvm::IsaPred<scf::IfOp>))
    return;
  // What is carried to the next iteration and nothing else here reads comes
  // last: sums of rows, which read all exponentials.
  SmallVector<Value> last;
  for (Value value : loop.getBody()->getTerminator()->getOperands())
    if (llvm::is_contained(under, value.getDefiningOp()) &&
        isa<TileType>(value.getType()) && value.hasOneUse())
      last.push_back(value);
  auto isRelease = [](Operation *op) { return isa<ReleaseOp>(op); };
  if (last.empty() || llvm::none_of(under, isRelease))
    return;
  SmallVector<Operation *> releases;
  llvm::copy_if(under, std::back_inserter(releases), isRelease);
  llvm::erase_if(under, isRelease);
  for (Operation *release : releases)
    cast<ReleaseOp>(release).getAfterMutable().assign(last);
  llvm::append_range(under, releases);
}

void LoopRotator::splitRescaling() {
  llvm::SetVector<Value> scaled;
  scaled.insert(loop.getRegionIterArg(accNumber));
  SmallVector<Operation *> others;
  for (Operation *op : after) {
    if (!reads(op, scaled)) {
      others.push_back(op);
      continue;
    }
    scaled.insert(op->result_begin(), op->result_end());
    rescale.push_back(op);
  }
  after = others;
  // A row's factor is carried, not its copies.
  llvm::erase_if(under, [&](Operation *op) {
    bool isCopy = isa<BroadcastOp>(op) &&
                  llvm::all_of(op->getUsers(), [&](Operation *user) {
                    return llvm::is_contained(rescale, user);
                  });
    if (isCopy)
      rescale.insert(rescale.begin(), op);
    return isCopy;
  });
  llvm::SetVector<Value> read;
  for (Operation *op : rescale)
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (operand.getParentRegion() == &loop.getRegion() &&
            operand != loop.getRegionIterArg(accNumber) &&
            !llvm::is_contained(rescale, operand.getDefiningOp()))
          read.insert(operand);
    });
  llvm::append_range(extra, read);
}

SmallVector<Value> LoopRotator::carried(IRMapping &mapping) {
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  Value acc = getCarriedAcc();
  SmallVector<Value> values;
  for (auto [i, value] : llvm::enumerate(yield.getOperands()))
    values.push_back(mapping.lookupOrDefault(i == accNumber ? acc : value));
  for (Value value : extra)
    values.push_back(mapping.lookupOrDefault(value));
  return values;
}

void LoopRotator::mapCarried(IRMapping &mapping, ValueRange values) {
  mapping.map(getCarriedAcc(), values[accNumber]);
  for (auto [value, carried] :
       llvm::zip_equal(extra, values.take_back(extra.size())))
    mapping.map(value, carried);
}

void LoopRotator::cloneAll(OpBuilder &b, ArrayRef<Operation *> ops,
                           IRMapping &mapping) {
  for (Operation *op : ops)
    b.clone(*op, mapping);
}

void LoopRotator::cloneFetch(OpBuilder &b, IRMapping &mapping) {
  std::function<void(Value)> require = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != loop.getBody() || mapping.contains(value))
      return;
    for (Value operand : op->getOperands())
      require(operand);
    b.clone(*op, mapping);
  };
  for (Operation *op : fetch) {
    for (Value operand : op->getOperands())
      require(operand);
    b.clone(*op, mapping);
  }
}

void LoopRotator::emitPrologue(OpBuilder &b, IRMapping &mapping) {
  mapping.map(loop.getInductionVar(), loop.getLowerBound());
  mapping.map(loop.getRegionIterArgs(), loop.getInitArgs());
  for (ArrayRef<Operation *> ops :
       {ArrayRef(before), ArrayRef(under), ArrayRef(after)})
    cloneAll(b, ops, mapping);
}

scf::ForOp LoopRotator::emitLoop(OpBuilder &b, IRMapping &prologue) {
  Location loc = loop.getLoc();
  Value start =
      b.createOrFold<arith::AddIOp>(loc, loop.getLowerBound(), loop.getStep());
  auto rotated = scf::ForOp::create(b, loc, start, loop.getUpperBound(),
                                    loop.getStep(), carried(prologue));
  rotated->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(rotated.getBody());
  ValueRange state = rotated.getRegionIterArgs();
  IRMapping current, previous;
  current.map(loop.getInductionVar(), rotated.getInductionVar());
  for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs()))
    if (i != accNumber)
      current.map(argument, state[i]);
  Value last =
      arith::SubIOp::create(b, loc, rotated.getInductionVar(), loop.getStep());
  previous.map(loop.getInductionVar(), last);
  mapCarried(previous, state);

  auto issueMma = [&](MmaOp mma, IRMapping &mapping) {
    MmaAsyncOp issued =
        tile::issueMma(b, mma, mapping.lookupOrDefault(mma.getLhs()),
                       mapping.lookupOrDefault(mma.getRhs()),
                       mapping.lookupOrDefault(mma.getAcc()));
    issued->setDiscardableAttrs(mma->getDiscardableAttrDictionary());
    return issued;
  };
  cloneAll(b, ArrayRef(before).drop_back(), current);
  Value scores = issueMma(first, current);
  cloneAll(b, rescale, previous);
  cloneFetch(b, previous);
  Value sum = issueMma(second, previous);
  current.map(first.getResult(),
              WaitOp::create(b, loc, first.getAcc().getType(), scores));
  cloneAll(b, under, current);
  current.map(loop.getRegionIterArg(accNumber),
              WaitOp::create(b, loc, second.getAcc().getType(), sum));
  cloneAll(b, release, previous);
  cloneAll(b, after, current);
  scf::YieldOp::create(b, loc, carried(current));
  return rotated;
}

Value LoopRotator::emitEpilogue(OpBuilder &b, scf::ForOp rotated) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), getLastIteration(b, loop));
  mapCarried(mapping, rotated.getResults());
  cloneAll(b, rescale, mapping);
  cloneFetch(b, mapping);
  b.clone(*second, mapping);
  cloneAll(b, release, mapping);
  return mapping.lookup(second.getResult());
}

SmallVector<Value> LoopRotator::emitAll(OpBuilder &b) {
  IRMapping prologue;
  emitPrologue(b, prologue);
  scf::ForOp rotated = emitLoop(b, prologue);
  SmallVector<Value> results(rotated.getResults().drop_back(extra.size()));
  // What the loop alone read is free before the last MMA.
  for (ReleaseOp op : released)
    b.clone(*op);
  results[accNumber] = emitEpilogue(b, rotated);
  return results;
}

LogicalResult LoopRotator::run() {
  if (!matchLoop())
    return failure();
  releaseLate();
  for (Operation *op = loop->getNextNode(); isa_and_nonnull<ReleaseOp>(op);
       op = op->getNextNode())
    released.push_back(cast<ReleaseOp>(op));
  replaceLoop(
      loop, [&](OpBuilder &b) { return emitAll(b); },
      [&](OpBuilder &b) {
        for (ReleaseOp op : released)
          b.clone(*op);
      });
  for (ReleaseOp op : released)
    op.erase();
  return success();
}

void TileOverlapMmas::runOnOperation() {
  SmallVector<scf::ForOp> loops;
  getOperation().walk([&](scf::ForOp loop) {
    if (loop->hasAttr(TileDialect::kOverlapAttrName))
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops) {
    auto overlap =
        cast<OverlapAttr>(loop->removeAttr(TileDialect::kOverlapAttrName));
    (void)LoopRotator(loop, overlap.getValue() == Overlap::Late).run();
  }
}
