// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits swizzled addresses with as little run-time arithmetic as possible.

#include "attune/Target/SharedAddress.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace attune;

Value SplitIndex::materialize(OpBuilder &builder, Location loc) const {
  if (!dynamic)
    return arith::ConstantIndexOp::create(builder, loc, constant);
  if (constant == 0)
    return dynamic;
  return builder.createOrFold<arith::AddIOp>(
      loc, dynamic, arith::ConstantIndexOp::create(builder, loc, constant));
}

/// The column at which element (row, column) is stored.
static SplitIndex swizzleColumn(OpBuilder &b, Location loc,
                                tile::SwizzleAttr swizzle,
                                const SplitIndex &row,
                                const SplitIndex &column) {
  if (swizzle.getBits() == 0)
    return column;
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  int64_t vector = swizzle.getVector(),
          mask = (int64_t(1) << swizzle.getBits()) - 1;
  int64_t period = int64_t(1) << (swizzle.getBits() + swizzle.getShift());

  // The permutation in units of elements: ((row >> shift) & mask) * vector.
  // Rows that differ by whole periods share it.
  SplitIndex phaseRow = row;
  int64_t constantPhase = 0;
  if (row.constant % period == 0)
    phaseRow.constant = 0;
  Value phase;
  if (phaseRow.dynamic) {
    Value full = phaseRow.materialize(b, loc);
    Value shifted =
        b.createOrFold<arith::ShRUIOp>(loc, full, constant(swizzle.getShift()));
    Value masked = b.createOrFold<arith::AndIOp>(loc, shifted, constant(mask));
    phase = b.createOrFold<arith::MulIOp>(loc, masked, constant(vector));
  } else {
    constantPhase = ((phaseRow.constant >> swizzle.getShift()) & mask) * vector;
  }
  // Where the constant part of the column shares no bit with the dynamic part,
  // adding is xor, and the constant can be applied last. What lies above all
  // bits that vary is added instead.
  bool disjoint =
      !column.dynamic ||
      (column.possibleBits & static_cast<uint64_t>(column.constant)) == 0;
  Value result = column.dynamic;
  int64_t last = constantPhase, above = 0;
  if (disjoint) {
    uint64_t varying = static_cast<uint64_t>(vector * mask) |
                       (column.dynamic ? column.possibleBits : 0);
    int64_t below = static_cast<int64_t>(llvm::bit_ceil(varying + 1));
    above = below > 0 ? column.constant / below * below : 0;
    last ^= column.constant - above;
  } else {
    result = column.materialize(b, loc);
  }
  if (phase)
    result = result ? b.createOrFold<arith::XOrIOp>(loc, result, phase) : phase;
  if (!result)
    return {Value(), last + above};
  if (last)
    result = b.createOrFold<arith::XOrIOp>(loc, result, constant(last));
  return {result, above};
}

SplitIndex attune::sharedPosition(OpBuilder &b, Location loc,
                                  tile::SwizzleAttr swizzle, int64_t rowLength,
                                  const SplitIndex &row,
                                  const SplitIndex &column) {
  SplitIndex stored = swizzleColumn(b, loc, swizzle, row, column);
  SplitIndex position{stored.dynamic,
                      row.constant * rowLength + stored.constant};
  if (!row.dynamic)
    return position;
  position.dynamic = b.createOrFold<arith::MulIOp>(
      loc, row.dynamic, arith::ConstantIndexOp::create(b, loc, rowLength));
  if (stored.dynamic)
    position.dynamic =
        b.createOrFold<arith::AddIOp>(loc, position.dynamic, stored.dynamic);
  return position;
}

Value attune::flattenBuffer(OpBuilder &b, Location loc, Value buffer) {
  int64_t rank = cast<MemRefType>(buffer.getType()).getRank();
  if (rank == 1)
    return buffer;
  ReassociationIndices all = llvm::to_vector<2>(llvm::seq<int64_t>(0, rank));
  return memref::CollapseShapeOp::create(b, loc, buffer,
                                         ArrayRef<ReassociationIndices>(all));
}
