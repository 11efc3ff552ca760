// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the rows of tile.paged, tile.flattened and tile.interleaved lie.

#include "LoopEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attune;

std::pair<Value, SmallVector<Value>>
LoopEmitter::locate(Value view, ArrayRef<Value> position) {
  SmallVector<Value> place(position);
  if (auto interleaved = view.getDefiningOp<tile::InterleavedOp>()) {
    Value &along = place[interleaved.getDim()],
          block = index(interleaved.getBlock()),
          count = index(interleaved.getSources().size());
    Value number = arith::DivUIOp::create(builder, along, block);
    Value part = arith::RemUIOp::create(builder, number, count);
    Value first = arith::MulIOp::create(
        builder, arith::DivUIOp::create(builder, number, count), block);
    along = arith::AddIOp::create(
        builder, first, arith::RemUIOp::create(builder, along, block));
    Value source = interleaved.getSources().front();
    for (auto [i, other] :
         llvm::drop_begin(llvm::enumerate(interleaved.getSources()))) {
      Value isOther = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                            part, index(i));
      source = arith::SelectOp::create(builder, isOther, other, source);
    }
    return {source, place};
  }
  if (auto flattened = view.getDefiningOp<tile::FlattenedOp>()) {
    Value inner = index(flattened.getInnerRows());
    place[0] = arith::RemUIOp::create(builder, position[0], inner);
    place.insert(place.begin(),
                 arith::DivUIOp::create(builder, position[0], inner));
    return {flattened.getSource(), place};
  }
  auto paged = view.getDefiningOp<tile::PagedOp>();
  if (!paged)
    return {view, place};
  if (paged.hasPageDim())
    return {paged.getSource(), locateInPages(paged, place)};
  Value size = index(paged.getPage());
  Value page = arith::DivUIOp::create(builder, position[0], size);
  auto branch = scf::IfOp::create(builder, builder.getIndexType(),
                                  isInside(paged.getTable(), page),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Value entry = arith::IndexCastOp::create(builder, builder.getIndexType(),
                                           load(paged.getTable(), page));
  Value row = arith::AddIOp::create(
      builder, arith::MulIOp::create(builder, entry, size),
      arith::RemUIOp::create(builder, position[0], size));
  scf::YieldOp::create(builder, row);
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, index(-1));
  place[0] = branch.getResult(0);
  return {paged.getSource(), place};
}

SmallVector<Value> LoopEmitter::locateInPages(tile::PagedOp paged,
                                              ArrayRef<Value> position) {
  Value size = index(paged.getPageSize()), row = position[0];
  Value page = arith::DivUIOp::create(builder, row, size),
        inPage = arith::RemUIOp::create(builder, row, size);
  Value exists = isInside(paged.getTable(), page);
  if (Value rows = paged.getRows()) {
    Value unit = index(paged.getUnit());
    Value after = arith::MulIOp::create(
        builder, arith::CeilDivUIOp::create(builder, rows, unit), unit);
    Value last = arith::SubIOp::create(builder, after, unit);
    auto compare = [&](arith::CmpIPredicate predicate, Value other) -> Value {
      return arith::CmpIOp::create(builder, predicate, row, other);
    };
    exists = compare(arith::CmpIPredicate::slt, after);
    Value back = arith::SelectOp::create(
        builder, compare(arith::CmpIPredicate::sge, last),
        arith::SubIOp::create(builder, after, rows), index(0));
    inPage = arith::SubIOp::create(builder, inPage, back);
  }
  auto branch = scf::IfOp::create(builder, builder.getIndexType(), exists,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Value entry = arith::IndexCastOp::create(builder, builder.getIndexType(),
                                           load(paged.getTable(), page));
  scf::YieldOp::create(builder, entry);
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, index(-1));
  SmallVector<Value> place{branch.getResult(0), inPage};
  llvm::append_range(place, position.drop_front());
  return place;
}
