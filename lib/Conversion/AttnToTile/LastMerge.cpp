// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LastMerge.h"
#include "MergeParts.h"
#include "Views.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace attune;

namespace {
/// Rows that are merged at once, and parts of them that are loaded at once.
struct MergePlan {
  int64_t rows, parts;

  /// For tiles of at most `mostRows`.
  MergePlan(schedule::AttentionAttr schedule, int64_t columns,
            int64_t mostRows) {
    // Elements of a warp that registers have room for, beside what a kernel
    // keeps from tile to tile; more parts do not hide more of the time that a
    // load takes.
    constexpr int64_t kElements = 2048, kMostParts = 16;
    int64_t warps = schedule.getNumWarps();
    parts = std::clamp<int64_t>(kElements / columns, 1, kMostParts);
    while (schedule.getSplitK() % parts != 0)
      --parts;
    // Each warp has rows of its own.
    auto wanted = static_cast<int64_t>(llvm::PowerOf2Ceil(mostRows));
    for (rows = warps;
         2 * rows <= wanted && 2 * rows * parts * columns <= warps * kElements;)
      rows *= 2;
  }
};
} // namespace

/// How many rows of the tile there are to store: from `at.getRow()` on.
static OpFoldResult countRows(TileBuilder &b, attn::AttentionOp op,
                              const KernelSizes &sizes, TilePlace &at) {
  if (sizes.heads > 1 && !at.packed.after)
    return b.getIndexAttr(sizes.heads * op.getSeqQ());
  Value after = at.getAfter(b);
  if (after)
    after = b.createOrFold<arith::MulIOp>(
        after, arith::ConstantIndexOp::create(b, sizes.heads));
  Value left = after ? arith::SubIOp::create(b, after, at.getRow())
                     : arith::SubIOp::create(b, at.seqQ, at.firstRow);
  // Of a cluster, a tile may lie behind all rows.
  return b.createOrFold<arith::MinSIOp>(
      left, arith::ConstantIndexOp::create(b, sizes.blockM));
}

void attune::buildLastMerge(TileBuilder &b, attn::AttentionOp op,
                            const KernelOperands &operands,
                            const KernelSizes &sizes, TilePlace &at) {
  schedule::AttentionAttr schedule = op.getScheduleAttr();
  Value isLast = tile::JoinOp::create(
      b, b.getI1Type(), operands.merged.counters, at.tileNumber,
      constant(b, schedule.getSplitK()), /*offset=*/IntegerAttr());
  auto branch = scf::IfOp::create(b, isLast, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  OpFoldResult count = countRows(b, op, sizes, at);
  int64_t mostRows =
      std::min(sizes.blockM, getConstantIntValue(count).value_or(sizes.blockM));
  if (int64_t queries = op.getSeqQ();
      sizes.heads == 1 && !ShapedType::isDynamic(queries))
    mostRows = std::min(mostRows, queries);
  MergePlan plan(schedule, sizes.headDimV, mostRows);
  auto loop = scf::ForOp::create(
      b, constant(b, 0), getValueOrCreateConstantIndexOp(b, b.getLoc(), count),
      constant(b, plan.rows));
  b.setInsertionPointToStart(loop.getBody());

  MergeOperands merge;
  merge.splits = {operands.output, operands.lse};
  merge.numSplits = schedule.getSplitK();
  merge.atOnce = plan.parts;
  merge.sinks = operands.merged.sinks;
  merge.resultScales = operands.merged.resultScales;
  merge.output = operands.merged.output;
  merge.lse = operands.merged.lse;
  MergeRows own;
  own.rows = plan.rows;
  own.columns = sizes.headDimV;
  Value inTile = loop.getInductionVar();
  own.first = arith::AddIOp::create(b, at.getRow(), inTile);
  own.batch = at.getQueryBatch();
  if (operands.queryLengths)
    own.length = at.lengthQ;
  own.viewRows = [&](ImplicitLocOpBuilder &inner, StringRef dims, Value buffer,
                     Value batch) {
    return at.viewRows(inner, dims, buffer, batch);
  };
  own.viewNumbers = [&](ImplicitLocOpBuilder &inner, Value buffer,
                        Value batch) {
    return at.viewNumbers(inner, buffer, batch);
  };
  own.locate = [&](OpBuilder &inner, Location loc,
                   Value row) -> std::pair<Value, Value> {
    Value place = arith::AddIOp::create(inner, loc, inTile, row);
    return {at.locateRow(inner, loc, place, /*clamp=*/true).first,
            at.locateRow(inner, loc, place, /*clamp=*/false).second};
  };
  buildMerge(b, b.getLoc(), op.getOrder(), merge, own);
}

void attune::storeSharers(TileBuilder &b, attn::AttentionOp op, Value buffer,
                          const KernelSizes &sizes, TilePlace &at) {
  Type f32 = b.getF32Type();
  bool headsFirst = sizes.flattens && !sizes.queriesFirst;
  Value after = arith::SelectOp::create(
      b, at.sharers->isFirst,
      constant(b, headsFirst ? sizes.heads : op.getSeqQ()), constant(b, 0));
  for (auto [part, number] :
       llvm::enumerate(std::array{at.sharers->first, at.sharers->count})) {
    Value word = arith::IndexCastOp::create(b, b.getI32Type(), number);
    Value rows =
        b.map(tile::TileType::get({sizes.blockM}, f32), ValueRange(),
              [&](OpBuilder &inner, Location loc, ValueRange) -> Value {
                return arith::UIToFPOp::create(inner, loc, f32, word);
              });
    Value ofPart = viewPart(b, buffer, b.getIndexAttr(part));
    Value view =
        sizes.flattens
            ? viewSharedRows(b, "bhs", ofPart, at.batch, at.headQ, sizes.heads,
                             sizes.queriesFirst, after)
            : viewRowNumbers(b, ofPart, at.batch, at.headQ, sizes.heads, after,
                             /*isPacked=*/true);
    tile::StoreOp::create(b, rows, view, constant(b, 0), /*accumulate=*/false,
                          tile::StorePath::Direct);
  }
}
