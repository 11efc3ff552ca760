// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference of attn.merge: for each query the largest logarithm, the sum of
// weights, and the weighted sum of parts.

#include "AttnLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attune::attn;

namespace {
class MergeEmitter : public RowEmitter {
public:
  MergeEmitter(RewriterBase &rewriter, MergeOp op, ReferencePrecision output,
               ReferencePrecision precision)
      : RowEmitter(rewriter, op, op.getOrder(),
                   cast<FloatType>(getElementTypeOrSelf(op.getResult())),
                   output, precision),
        op(op) {}

  void emit();

private:
  void emitRow(ValueRange row);

  MergeOp op;
  SmallVector<Value> parts, lses;
  Value result, lse;
};
} // namespace

void MergeEmitter::emitRow(ValueRange row) {
  Value minusInfinity = createF32(-std::numeric_limits<float>::infinity());
  Value none = createF32(0.0f);
  SmallVector<Value> logs;
  Value largest = minusInfinity;
  for (Value buffer : lses) {
    logs.push_back(memref::LoadOp::create(builder, buffer, row));
    largest = arith::MaxNumFOp::create(builder, largest, logs.back());
  }
  // -inf - -inf is no number.
  Value isEmpty = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ,
                                        largest, minusInfinity);
  Value shift = arith::SelectOp::create(builder, isEmpty, none, largest);
  SmallVector<Value> weights;
  Value total = none;
  for (Value log : logs) {
    weights.push_back(math::ExpOp::create(
        builder, arith::SubFOp::create(builder, log, shift)));
    total = arith::AddFOp::create(builder, total, weights.back());
  }
  Value isZero =
      arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, total, none);
  Value divisor =
      arith::SelectOp::create(builder, isZero, createF32(1.0f), total);
  Value sum = createZeros(op.getHeadDim()), zeros = sum;
  SmallVector<Value, 4> place = getIndices(row[0], row[1], row[2]);
  for (auto [part, weight] : llvm::zip_equal(parts, weights)) {
    Value elements = loadF32(part, place, op.getHeadDim());
    Value hasNoWeight =
        arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, weight, none);
    elements = arith::SelectOp::create(builder, hasNoWeight, zeros, elements);
    Value share = arith::DivFOp::create(builder, weight, divisor);
    sum = addMultiple(sum, share, elements);
  }
  store(round(sum), result, place);
  if (!lse)
    return;
  Value logarithm = arith::AddFOp::create(builder, shift,
                                          math::LogOp::create(builder, total));
  memref::StoreOp::create(builder, logarithm, lse, row);
}

void MergeEmitter::emit() {
  builder.setInsertionPoint(op);
  for (Value part : op.getParts())
    parts.push_back(toBuffer(part));
  for (Value logs : op.getLses())
    lses.push_back(toBuffer(logs));
  zero = createIndex(0);
  one = createIndex(1);
  Value sizes[] = {getSize(parts.front(), find('b')),
                   getSize(parts.front(), find('h')),
                   getSize(parts.front(), find('s'))};
  auto type = cast<RankedTensorType>(op.getResult().getType());
  if (output == ReferencePrecision::F32)
    type = type.clone(builder.getF32Type());
  result = allocate(type, getIndices(sizes[0], sizes[1], sizes[2]));
  if (op.getLse())
    lse = allocate(cast<RankedTensorType>(op.getLse().getType()), sizes);
  auto loop =
      scf::ParallelOp::create(builder, ValueRange{zero, zero, zero},
                              ValueRange(sizes), ValueRange{one, one, one});
  builder.setInsertionPointToStart(loop.getBody());
  emitRow(loop.getInductionVars());
  builder.setInsertionPointAfter(loop);
  SmallVector<Value> results{toTensor(result)};
  if (lse)
    results.push_back(toTensor(lse));
  rewriter.replaceOp(op, results);
}

void attune::attn::emitMergeLoops(RewriterBase &rewriter, MergeOp op,
                                  ReferencePrecision output,
                                  ReferencePrecision precision) {
  MergeEmitter(rewriter, op, output, precision).emit();
}
