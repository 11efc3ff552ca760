// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KeySource.h"
#include "Views.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attune;
using Predicate = arith::CmpIPredicate;

KeySource::KeySource(ImplicitLocOpBuilder &b, attn::AttentionOp op,
                     const KernelInputs &inputs, const KernelSizes &sizes,
                     const OwnedKeys &own)
    : op(op), inputs(inputs), own(own), blockSize(sizes.blockN), unit(1) {
  schedule::AttentionAttr schedule = op.getScheduleAttr();
  bool isByBoxes = schedule.getMmaWarps() > 1;
  if (isByBoxes)
    // Pages are read by TMA boxes, each of which is one, or a part of one.
    unit = inputs.pages
               ? std::min(op.getPageSize(), blockSize / schedule.getCluster())
               : blockSize;
  if (hasEnd() && isByBoxes)
    lastUnit.emplace(b, own.length, unit);
  keys = viewRows(b, inputs.key);
  values = viewRows(b, inputs.value);
}

Value KeySource::viewRows(ImplicitLocOpBuilder &b, Value buffer) {
  if (inputs.pages)
    return viewPages(b, op.getOrder(), buffer, inputs.pages, own.batch,
                     own.head, inputs.keyLengths ? own.length : Value(),
                     lastUnit ? unit : 1);
  Value batch = own.batch, end = own.length;
  if (own.first) {
    batch = arith::ConstantIndexOp::create(b, 0);
    end = b.createOrFold<arith::AddIOp>(own.first, own.length);
  }
  Value rows = viewHeads(b, op.getOrder(), buffer, batch, own.head);
  return !hasEnd() || lastUnit ? rows : limitRows(b, rows, end);
}

Value KeySource::getRow(ImplicitLocOpBuilder &b, const Block &block) const {
  if (inputs.pages)
    return block.first;
  return own.first ? b.createOrFold<arith::AddIOp>(own.first, block.read)
                   : block.read;
}

KeySource::Block KeySource::getBlock(ImplicitLocOpBuilder &b,
                                     Value first) const {
  if (!lastUnit || unit != blockSize)
    return {first, first};
  Value back = lastUnit->getBack(b, b.getLoc(), first);
  return {first, arith::SubIOp::create(b, first, back)};
}

Value KeySource::getKey(OpBuilder &inner, Location loc, const Block &block,
                        Value column, bool clamp) const {
  if (!lastUnit)
    return elementPosition(inner, loc, block.read, column, own.capacity, clamp);
  Value key = arith::AddIOp::create(inner, loc, block.read, column);
  if (unit != blockSize)
    key = arith::SubIOp::create(inner, loc, key,
                                lastUnit->getBack(inner, loc, key));
  if (!clamp)
    return key;
  Value zero = arith::ConstantIndexOp::create(inner, loc, 0);
  key = elementPosition(inner, loc, key, zero, own.capacity, clamp);
  return arith::MaxSIOp::create(inner, loc, key, zero);
}

std::pair<Value, Value> KeySource::locate(OpBuilder &inner, Location loc,
                                          Value key) const {
  Value zero = arith::ConstantIndexOp::create(inner, loc, 0);
  auto clampTo = [&](Value place, int64_t dim) -> Value {
    Value size = memref::DimOp::create(inner, loc, inputs.key, dim);
    return arith::MinUIOp::create(
        inner, loc, place,
        arith::SubIOp::create(inner, loc, size,
                              arith::ConstantIndexOp::create(inner, loc, 1)));
  };
  if (own.first)
    return {zero, clampTo(arith::AddIOp::create(inner, loc, own.first, key),
                          op.getSeqPos())};
  if (!inputs.pages)
    return {own.batch, key};
  Value page = arith::ConstantIndexOp::create(inner, loc, op.getPageSize());
  Value entry = memref::LoadOp::create(
      inner, loc, inputs.pages,
      ValueRange{own.batch, arith::DivUIOp::create(inner, loc, key, page)});
  Value number =
      arith::IndexCastOp::create(inner, loc, inner.getIndexType(), entry);
  return {clampTo(number, op.getBatchPos()),
          arith::RemUIOp::create(inner, loc, key, page)};
}

Value KeySource::isKey(OpBuilder &inner, Location loc, const Block &block,
                       Value column, Value key) const {
  auto compare = [&](Predicate predicate, Value other) -> Value {
    return arith::CmpIOp::create(inner, loc, predicate, key, other);
  };
  if (lastUnit && unit == blockSize)
    return compare(Predicate::sge, block.first);
  Value isBefore = compare(Predicate::slt, own.length);
  if (!lastUnit)
    return isBefore;
  Value place = arith::AddIOp::create(inner, loc, block.first, column);
  Value first = lastUnit->selectInLast(inner, loc, place, lastUnit->first);
  return arith::AndIOp::create(inner, loc, isBefore,
                               compare(Predicate::sge, first));
}
