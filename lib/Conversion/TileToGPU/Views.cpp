// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arithmetic from a row to its place, by one read of the table if there is
// one, and from a block to its buffer.

#include "Views.h"
#include "KernelContext.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attune;

static Value compare(OpBuilder &b, Location loc, arith::CmpIPredicate predicate,
                     Value left, Value right) {
  return arith::CmpIOp::create(b, loc, predicate, left, right);
}

Value PagedRows::readTable(OpBuilder &b, Location loc, Value number,
                           Value condition) {
  auto read = [&](OpBuilder &at) -> Value {
    Value entry = memref::LoadOp::create(at, loc, paged.getTable(), number);
    return arith::IndexCastOp::create(at, loc, at.getIndexType(), entry);
  };
  if (!condition)
    return read(b);
  auto guarded = scf::IfOp::create(
      b, loc, condition,
      [&](OpBuilder &inner, Location innerLoc) {
        scf::YieldOp::create(inner, innerLoc, read(inner));
      },
      [&](OpBuilder &inner, Location innerLoc) {
        scf::YieldOp::create(inner, innerLoc, constant(inner, innerLoc, -1));
      });
  return guarded.getResult(0);
}

Value PagedRows::hasEntry(OpBuilder &b, Location loc, Value number) {
  return compare(b, loc, arith::CmpIPredicate::ult, number,
                 b.createOrFold<memref::DimOp>(loc, paged.getTable(), 0));
}

Value PagedRows::locateInBuffer(OpBuilder &b, Location loc, Value row,
                                Value outside) {
  Value page = constant(b, loc, getPage());
  Value number = b.createOrFold<arith::DivUIOp>(loc, row, page);
  Value isEntry;
  if (outside)
    isEntry = hasEntry(b, loc, number);
  Value entry = readTable(b, loc, number, isEntry);
  Value first = b.createOrFold<arith::MulIOp>(loc, entry, page);
  Value inPage = b.createOrFold<arith::RemUIOp>(loc, row, page);
  Value place = b.createOrFold<arith::AddIOp>(loc, first, inPage);
  if (!outside)
    return place;
  Value rows = b.createOrFold<memref::DimOp>(loc, paged.getSource(), 0);
  // Unsigned: an entry below 0 is no page either.
  Value isRow = compare(b, loc, arith::CmpIPredicate::ult, place, rows);
  return arith::SelectOp::create(b, loc, isRow, place, outside);
}

SmallVector<Value, 2> PagedRows::locateInPage(OpBuilder &b, Location loc,
                                              Value row, Value outside,
                                              bool isBox) {
  Value page = constant(b, loc, getPage());
  Value number = b.createOrFold<arith::DivUIOp>(loc, row, page);
  Value inPage = b.createOrFold<arith::RemUIOp>(loc, row, page);
  Value exists;
  if (Value rows = paged.getRows()) {
    Value unit = constant(b, loc, getUnit());
    Value after = b.createOrFold<arith::MulIOp>(
        loc, b.createOrFold<arith::CeilDivUIOp>(loc, rows, unit), unit);
    exists = compare(b, loc, arith::CmpIPredicate::slt, row, after);
    if (getUnit() > 1) {
      Value last = b.createOrFold<arith::SubIOp>(loc, after, unit),
            missing = b.createOrFold<arith::SubIOp>(loc, after, rows);
      Value isLast = compare(b, loc, arith::CmpIPredicate::sge, row, last);
      Value back =
          arith::SelectOp::create(b, loc, isLast, missing, constant(b, loc, 0));
      inPage = arith::SubIOp::create(b, loc, inPage, back);
    }
  } else if (outside) {
    exists = hasEntry(b, loc, number);
  }
  Value entry = readTable(b, loc, number, outside ? exists : Value());
  if (!outside)
    return {entry, inPage};
  Value pages = b.createOrFold<memref::DimOp>(loc, paged.getSource(), 0);
  Value isInside = compare(b, loc, arith::CmpIPredicate::ult, entry, pages);
  if (getUnit() > 1 && !isBox)
    isInside = arith::AndIOp::create(b, loc, isInside,
                                     compare(b, loc, arith::CmpIPredicate::sge,
                                             inPage, constant(b, loc, 0)));
  return {arith::SelectOp::create(b, loc, isInside, entry, outside), inPage};
}

SmallVector<Value, 2> PagedRows::locate(OpBuilder &b, Location loc, Value row,
                                        bool inBounds) {
  if (flattened)
    return locateInOrder(b, loc, row);
  if (!paged)
    return {row};
  Value outside;
  if (!inBounds)
    outside = b.createOrFold<memref::DimOp>(loc, paged.getSource(), 0);
  if (hasPageDim())
    return locateInPage(b, loc, row, outside, /*isBox=*/false);
  return {locateInBuffer(b, loc, row, outside)};
}

PagedRows::RowsOfPage PagedRows::locateRows(OpBuilder &b, Location loc,
                                            Value row, int64_t count,
                                            bool inBounds) {
  Value size = constant(b, loc, getPage()), all = constant(b, loc, count);
  Value number = b.createOrFold<arith::DivUIOp>(loc, row, size);
  RowsOfPage found;
  found.row = b.createOrFold<arith::RemUIOp>(loc, row, size);
  if (inBounds) {
    found.page = readTable(b, loc, number, /*condition=*/Value());
    return found;
  }
  Value exists, there = all;
  if (Value rows = paged.getRows()) {
    exists = compare(b, loc, arith::CmpIPredicate::slt, row, rows);
    there = arith::MinSIOp::create(
        b, loc, all, b.createOrFold<arith::SubIOp>(loc, rows, row));
  } else {
    exists = hasEntry(b, loc, number);
  }
  found.page = readTable(b, loc, number, exists);
  // An entry that is not read is no page.
  Value isPage =
      compare(b, loc, arith::CmpIPredicate::ult, found.page,
              b.createOrFold<memref::DimOp>(loc, paged.getSource(), 0));
  there = arith::SelectOp::create(b, loc, isPage, there, constant(b, loc, 0));
  found.count = arith::IndexCastOp::create(b, loc, b.getI32Type(), there);
  return found;
}

SmallVector<Value, 2> PagedRows::locateInOrder(OpBuilder &b, Location loc,
                                               Value row) {
  Value page = constant(b, loc, getPage());
  return {b.createOrFold<arith::DivUIOp>(loc, row, page),
          b.createOrFold<arith::RemUIOp>(loc, row, page)};
}

SmallVector<Value, 2> PagedRows::locateBox(OpBuilder &b, Location loc,
                                           Value row, Value outside) {
  if (flattened)
    return locateInOrder(b, loc, row);
  if (hasPageDim())
    return locateInPage(b, loc, row, outside, /*isBox=*/true);
  return {locateInBuffer(b, loc, row, outside)};
}

Value PagedRows::areThere(OpBuilder &b, Location loc, Value row,
                          int64_t count) {
  Value after =
            b.createOrFold<arith::AddIOp>(loc, row, constant(b, loc, count)),
        rows = paged.getRows();
  if (!rows)
    rows = b.createOrFold<arith::MulIOp>(
        loc, b.createOrFold<memref::DimOp>(loc, paged.getTable(), 0),
        constant(b, loc, getPage()));
  return compare(b, loc, arith::CmpIPredicate::sle, after, rows);
}

SmallVector<Value, 2> PagedRows::locateThere(OpBuilder &b, Location loc,
                                             Value row, int64_t offset) {
  Value page = constant(b, loc, getPage());
  Value number = b.createOrFold<arith::AddIOp>(
      loc, b.createOrFold<arith::DivUIOp>(loc, row, page),
      constant(b, loc, offset / getPage()));
  Value entry = readTable(b, loc, number, /*condition=*/Value());
  Value inPage = knownDivisor(row) % getPage() == 0
                     ? constant(b, loc, 0)
                     : b.createOrFold<arith::RemUIOp>(loc, row, page);
  if (hasPageDim())
    return {entry, inPage};
  Value first = b.createOrFold<arith::MulIOp>(loc, entry, page);
  return {b.createOrFold<arith::AddIOp>(loc, first, inPage)};
}

/// The boxes of a tile of which two dimensions are the rows.
static SmallVector<BoxRows, 2> getFlattenedBoxes(tile::PutOp put) {
  int64_t rows = put.getChannel().getType().getShape()[0],
          page = PagedRows(put.getSource()).getPage();
  SmallVector<BoxRows, 2> boxes;
  if (rows >= page)
    boxes.push_back({rows / page, page});
  if (int64_t left = rows % page)
    boxes.push_back({1, left});
  return boxes;
}

SmallVector<CopiedBuffer, 2> attune::getCopiedBuffers(tile::PutOp put) {
  SmallVector<CopiedBuffer, 2> copied;
  PagedRows places(put.getSource());
  int64_t rows = put.getChannel().getType().getCopiedRows();
  if (places.isFlattened()) {
    for (BoxRows box : getFlattenedBoxes(put))
      copied.push_back({put.getSource(), box});
    return copied;
  }
  auto view = put.getSource().getDefiningOp<tile::InterleavedOp>();
  if (!view) {
    if (int64_t page = places.getPage())
      rows = std::min(rows, page);
    return {{put.getSource(), {1, rows}}};
  }
  if (view.getDim() == 0)
    rows = static_cast<int64_t>(view.getBlock()) /
           put.getChannel().getType().getCluster();
  for (Value source : view.getSources())
    copied.push_back({source, {1, rows}});
  return copied;
}

SmallVector<SourcePiece> attune::getPieces(OpBuilder &b, tile::PutOp put) {
  ArrayRef<int64_t> shape = put.getChannel().getType().getShape();
  SourcePiece whole{put.getSource(), 0, 0, 0, shape[0], shape[1], put.getRow(),
                    put.getColumn()};
  Location loc = put.getLoc();
  SmallVector<SourcePiece> pieces;
  if (PagedRows(put.getSource()).isFlattened()) {
    for (BoxRows box : getFlattenedBoxes(put)) {
      whole.rows = box.count();
      whole.sourceRow = b.createOrFold<arith::AddIOp>(
          loc, put.getRow(), constant(b, loc, whole.row));
      pieces.push_back(whole);
      ++whole.number;
      whole.row += whole.rows;
    }
    return pieces;
  }
  auto view = put.getSource().getDefiningOp<tile::InterleavedOp>();
  if (!view)
    return {whole};
  auto count = static_cast<int64_t>(view.getSources().size()),
       block = static_cast<int64_t>(view.getBlock());
  bool ofRows = view.getDim() == 0;
  Value &start = ofRows ? whole.sourceRow : whole.sourceColumn;
  Value first =
      b.createOrFold<arith::DivUIOp>(loc, start, constant(b, loc, count));
  for (int64_t at = 0; at < shape[ofRows ? 0 : 1]; at += block) {
    whole.number = at / block % count;
    whole.buffer = view.getSources()[whole.number];
    (ofRows ? whole.row : whole.column) = at;
    (ofRows ? whole.rows : whole.columns) = block;
    start = b.createOrFold<arith::AddIOp>(
        loc, first, constant(b, loc, at / block / count * block));
    pieces.push_back(whole);
  }
  return pieces;
}
