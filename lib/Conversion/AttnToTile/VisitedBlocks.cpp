// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two sources of blocks: ranges that the mask is known to be true in, and lists
// that are given or that another kernel has made.

#include "VisitedBlocks.h"
#include "Views.h"
#include "attune/Conversion/RegionClone.h"
#include "attune/Dialect/Attn/IR/SizeFacts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attune;

Value VisitedBlocks::maskStep(
    ImplicitLocOpBuilder &b, Value step, Value scores,
    llvm::function_ref<Value(bool asksRegion)> mask) const {
  if (allFull)
    return scores;
  if (!fullBegin)
    return mask(/*asksRegion=*/true);
  Value atLeast =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sge, step, fullBegin);
  Value below =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, step, fullEnd);
  Value full = arith::AndIOp::create(b, atLeast, below);
  auto branch =
      scf::IfOp::create(b, scores.getType(), full, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b,
                       fullReachBeyond ? mask(/*asksRegion=*/false) : scores);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, mask(/*asksRegion=*/true));
  return branch.getResult(0);
}

void VisitedBlocks::setSteps(Value first, Value after) {
  // As before, where a loop that is split need not ask.
  if (fullBegin == begin)
    fullBegin = first;
  if (fullEnd == end)
    fullEnd = after;
  begin = first;
  end = after;
}

Value VisitedBlocks::getFirst(ImplicitLocOpBuilder &b, Value step) {
  return locate(b, ends ? b.createOrFold<arith::SubIOp>(ends, step) : step);
}

void VisitedBlocks::reverse(ImplicitLocOpBuilder &b) {
  Value sum = b.createOrFold<arith::AddIOp>(begin, end);
  ends = b.createOrFold<arith::SubIOp>(sum, constant(b, 1));
  if (!fullBegin)
    return;
  // As setSteps() leaves them, those at an end stay what they are.
  auto reversed = [&](Value bound) {
    return bound == begin ? end
           : bound == end ? begin
                          : b.createOrFold<arith::SubIOp>(sum, bound);
  };
  Value first = reversed(fullEnd);
  fullEnd = reversed(fullBegin);
  fullBegin = first;
}

void VisitedBlocks::takePart(ImplicitLocOpBuilder &b, Value number,
                             int64_t count) {
  Value steps = b.createOrFold<arith::SubIOp>(end, begin),
        parts = constant(b, count);
  auto startOf = [&](Value part) {
    Value before = b.createOrFold<arith::DivUIOp>(
        b.createOrFold<arith::MulIOp>(steps, part), parts);
    return b.createOrFold<arith::AddIOp>(begin, before);
  };
  Value next = b.createOrFold<arith::AddIOp>(number, constant(b, 1));
  setSteps(startOf(number), startOf(next));
}

void VisitedBlocks::take(ImplicitLocOpBuilder &b, Value first, Value after) {
  auto startOf = [&](Value number) {
    return b.createOrFold<arith::MinUIOp>(
        b.createOrFold<arith::AddIOp>(begin, number), end);
  };
  setSteps(startOf(first), startOf(after));
}

/// Whether blocks of such a size of what is visited all end before the last
/// position, or with it.
static bool areWhole(attn::AttentionOpInterface op, MaskDim owns,
                     int64_t blockSize) {
  attn::SizeFacts facts =
      owns == MaskDim::Query ? attn::getKeyFacts(op) : attn::getQueryFacts(op);
  int64_t length = owns == MaskDim::Query ? op.getSeqK() : op.getSeqQ();
  return facts.divisor % blockSize == 0 || length == 0;
}

//===----------------------------------------------------------------------===//
// Ranges of a mask
//===----------------------------------------------------------------------===//

namespace {
/// What is seen lies in one range, with at most one hole. Where there is one,
/// the numbers of steps go on behind it.
class MaskedBlocks : public VisitedBlocks {
public:
  MaskedBlocks(ImplicitLocOpBuilder &b, attn::AttentionOpInterface op,
               const KernelInputs &inputs, int64_t blockSize,
               const OwnedRows &rows);

private:
  Value locate(ImplicitLocOpBuilder &b, Value step) override;
  /// Numbers the blocks that are visited without those in these positions.
  void leaveOut(ImplicitLocOpBuilder &b, Value first, Value after);

  int64_t blockSize;
  /// The first block that is not visited, and how many these are. Null for
  /// none.
  Value hole, holeSize;
};
} // namespace

MaskedBlocks::MaskedBlocks(ImplicitLocOpBuilder &b,
                           attn::AttentionOpInterface op,
                           const KernelInputs &inputs, int64_t blockSize,
                           const OwnedRows &rows)
    : blockSize(blockSize) {
  Value zero = constant(b, 0), size = constant(b, blockSize),
        length = rows.visitedLength;
  bool visitsKeys = rows.dim == MaskDim::Query;
  int64_t seqQ = op.getSeqQ(), seqK = op.getSeqK();
  MaskRanges ranges{{Value(), Value()}, MaskInterval{Value(), Value()}};
  if (op.hasMask()) {
    IRMapping mapping = inputs.captures;
    mapping.map(op.getMask().getArgument(0), rows.batch);
    mapping.map(op.getMask().getArgument(1), rows.head);
    ranges = analyzeMaskRanges(
        b, b.getLoc(), op.getMask(),
        {rows.dim, rows.first, rows.last, visitsKeys ? seqQ : seqK},
        visitsKeys ? seqK : seqQ, mapping,
        [](OpBuilder &builder, Operation &scalar, IRMapping &known) {
          cloneOntoBuffers(builder, scalar, known);
        });
  }
  auto clampBegin = [&](Value v) {
    return v ? b.createOrFold<arith::MaxSIOp>(v, zero) : zero;
  };
  auto clampEnd = [&](Value v) {
    return v ? b.createOrFold<arith::MinSIOp>(v, length) : length;
  };
  Value firstSeen = clampBegin(ranges.visible.begin),
        afterSeen = clampEnd(ranges.visible.end);
  begin = b.createOrFold<arith::DivUIOp>(firstSeen, size);
  end = ranges.visible.end
            ? b.createOrFold<arith::CeilDivSIOp>(afterSeen, size)
            : b.createOrFold<arith::CeilDivUIOp>(afterSeen, size);
  if (ranges.visible.begin || ranges.visible.end)
    end = b.createOrFold<arith::MaxSIOp>(end, begin);
  wholeBlocks = areWhole(op, rows.dim, blockSize);
  allFull = !op.hasMask() && wholeBlocks;
  if (!allFull && ranges.full) {
    Value firstFull = clampBegin(ranges.full->begin),
          afterFull = clampEnd(ranges.full->end);
    fullBegin = ranges.full->begin
                    ? b.createOrFold<arith::CeilDivSIOp>(firstFull, size)
                    : begin;
    fullEnd = ranges.full->end
                  ? b.createOrFold<arith::FloorDivSIOp>(afterFull, size)
                  : b.createOrFold<arith::DivUIOp>(afterFull, size);
  }
  if (ranges.hole)
    leaveOut(b, clampBegin(ranges.hole->begin), clampEnd(ranges.hole->end));
}

void MaskedBlocks::leaveOut(ImplicitLocOpBuilder &b, Value first, Value after) {
  Value size = constant(b, blockSize);
  auto within = [&](Value block, Value least) -> Value {
    return b.createOrFold<arith::MinSIOp>(
        b.createOrFold<arith::MaxSIOp>(block, least), end);
  };
  hole = within(b.createOrFold<arith::CeilDivSIOp>(first, size), begin);
  Value afterHole =
      within(b.createOrFold<arith::FloorDivSIOp>(after, size), hole);
  holeSize = b.createOrFold<arith::SubIOp>(afterHole, hole);
  auto renumber = [&](Value block) -> Value {
    Value before = b.createOrFold<arith::MinSIOp>(block, hole);
    Value behind = b.createOrFold<arith::SubIOp>(block, holeSize);
    return b.createOrFold<arith::MaxSIOp>(before, behind);
  };
  end = b.createOrFold<arith::SubIOp>(end, holeSize);
  if (!fullBegin)
    return;
  fullBegin = renumber(fullBegin);
  fullEnd = renumber(fullEnd);
}

Value MaskedBlocks::locate(ImplicitLocOpBuilder &b, Value step) {
  Value block = step;
  if (hole) {
    Value isBefore =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, step, hole);
    Value offset =
        arith::SelectOp::create(b, isBefore, constant(b, 0), holeSize);
    block = arith::AddIOp::create(b, step, offset);
  }
  return arith::MulIOp::create(b, block, constant(b, blockSize));
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

namespace {
/// The blocks of the list of full ones, then those of the other list; each of
/// them in as many steps as it has room for.
class ListedBlocks : public VisitedBlocks {
public:
  ListedBlocks(ImplicitLocOpBuilder &b, attn::AttentionOpInterface op,
               const KernelInputs &inputs, int64_t stepSize,
               const OwnedRows &rows);

private:
  Value locate(ImplicitLocOpBuilder &b, Value step) override;
  /// An element of a list that the tile has.
  Value load(ImplicitLocOpBuilder &b, Value list, Value number = {});

  int64_t blockSize, stepSize;
  Value batch, head, tile;
  Value indices, fullIndices;
  /// Of the list of full blocks; null where there is none.
  Value fullCount, fullSteps;
};
} // namespace

ListedBlocks::ListedBlocks(ImplicitLocOpBuilder &b,
                           attn::AttentionOpInterface op,
                           const KernelInputs &inputs, int64_t stepSize,
                           const OwnedRows &rows)
    : blockSize(inputs.listedKeys), stepSize(stepSize), batch(rows.batch),
      head(rows.head), indices(inputs.blockIndices),
      fullIndices(inputs.fullBlockIndices) {
  int64_t tileSize = inputs.listedQueries;
  if (rows.dim == MaskDim::Key)
    std::swap(blockSize, tileSize);
  tile = b.createOrFold<arith::DivUIOp>(rows.first, constant(b, tileSize));
  Value steps = constant(b, blockSize / stepSize);
  auto countSteps = [&](Value count) {
    return b.createOrFold<arith::MulIOp>(count, steps);
  };
  begin = constant(b, 0);
  Value count = load(b, inputs.blockCounts);
  if (fullIndices) {
    fullCount = load(b, inputs.fullBlockCounts);
    fullSteps = countSteps(fullCount);
    count = b.createOrFold<arith::AddIOp>(count, fullCount);
  }
  end = countSteps(count);
  wholeBlocks = areWhole(op, rows.dim, blockSize);
  allFull = !op.hasMask() && wholeBlocks;
  if (fullIndices && op.hasMask()) {
    fullBegin = begin;
    fullEnd = fullSteps;
    fullReachBeyond = !wholeBlocks;
  }
}

Value ListedBlocks::load(ImplicitLocOpBuilder &b, Value list, Value number) {
  SmallVector<Value> place{batch, head, tile};
  auto type = cast<MemRefType>(list.getType());
  for (int64_t dim : {0, 1})
    if (type.getDimSize(dim) == 1)
      place[dim] = constant(b, 0);
  if (number) {
    // Loads that run ahead ask for blocks behind the last one.
    int64_t dim = type.getRank() - 1;
    Value last = b.createOrFold<arith::SubIOp>(
        b.createOrFold<memref::DimOp>(list, dim), constant(b, 1));
    place.push_back(b.createOrFold<arith::MinUIOp>(number, last));
  }
  Value element = memref::LoadOp::create(b, list, place);
  return arith::IndexCastOp::create(b, b.getIndexType(), element);
}

Value ListedBlocks::locate(ImplicitLocOpBuilder &b, Value step) {
  Value steps = constant(b, blockSize / stepSize);
  Value number = b.createOrFold<arith::DivUIOp>(step, steps);
  Value part = b.createOrFold<arith::RemUIOp>(step, steps);
  Value block;
  if (fullIndices) {
    // As the kernel asks, so that loops which are split know the answer.
    Value isFull =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, step, fullSteps);
    // A difference below 0 is a large number, which load() limits.
    Value others = arith::SubIOp::create(b, number, fullCount);
    block = arith::SelectOp::create(b, isFull, load(b, fullIndices, number),
                                    load(b, indices, others));
  } else {
    block = load(b, indices, number);
  }
  Value first = arith::MulIOp::create(b, block, constant(b, blockSize));
  Value offset = b.createOrFold<arith::MulIOp>(part, constant(b, stepSize));
  return b.createOrFold<arith::AddIOp>(first, offset);
}

std::unique_ptr<VisitedBlocks> attune::makeVisitedBlocks(
    ImplicitLocOpBuilder &b, attn::AttentionOpInterface op,
    const KernelInputs &inputs, int64_t blockSize, const OwnedRows &rows) {
  if (inputs.blockCounts)
    return std::make_unique<ListedBlocks>(b, op, inputs, blockSize, rows);
  return std::make_unique<MaskedBlocks>(b, op, inputs, blockSize, rows);
}
