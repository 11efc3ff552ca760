// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arithmetic from a row to its place, by one read of the table, and from a
// block to its buffer.

#include "Views.h"
#include "KernelContext.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attune;

Value PagedRows::locate(OpBuilder &b, Location loc, Value row, Value outside) {
  if (!paged)
    return row;
  Value page = constant(b, loc, paged.getPage());
  Value number = b.createOrFold<arith::DivUIOp>(loc, row, page);
  Value table = paged.getTable();
  auto read = [&](OpBuilder &at) -> Value {
    Value entry = memref::LoadOp::create(at, loc, table, number);
    return arith::IndexCastOp::create(at, loc, at.getIndexType(), entry);
  };
  auto isBelow = [&](Value left, Value right) -> Value {
    // Unsigned: an entry below 0 is no page either.
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, left,
                                 right);
  };
  Value entry;
  if (outside) {
    Value entries = b.createOrFold<memref::DimOp>(loc, table, 0);
    auto guarded = scf::IfOp::create(
        b, loc, isBelow(number, entries),
        [&](OpBuilder &inner, Location innerLoc) {
          scf::YieldOp::create(inner, innerLoc, read(inner));
        },
        [&](OpBuilder &inner, Location innerLoc) {
          scf::YieldOp::create(inner, innerLoc, constant(inner, innerLoc, -1));
        });
    entry = guarded.getResult(0);
  } else {
    entry = read(b);
  }
  Value first = b.createOrFold<arith::MulIOp>(loc, entry, page);
  Value inPage = b.createOrFold<arith::RemUIOp>(loc, row, page);
  Value place = b.createOrFold<arith::AddIOp>(loc, first, inPage);
  if (!outside)
    return place;
  Value rows = b.createOrFold<memref::DimOp>(loc, paged.getSource(), 0);
  return arith::SelectOp::create(b, loc, isBelow(place, rows), place, outside);
}

Value PagedRows::locate(OpBuilder &b, Location loc, Value row, bool inBounds) {
  if (!paged)
    return row;
  Value outside;
  if (!inBounds)
    outside = b.createOrFold<memref::DimOp>(loc, paged.getSource(), 0);
  return locate(b, loc, row, outside);
}

ValueRange attune::getBuffers(tile::PutOp put) {
  if (auto view = put.getSource().getDefiningOp<tile::InterleavedOp>())
    return view.getSources();
  return put->getOperands().slice(put.getSourceMutable().getOperandNumber(), 1);
}

SmallVector<SourcePiece> attune::getPieces(OpBuilder &b, tile::PutOp put) {
  ArrayRef<int64_t> shape = put.getChannel().getType().getShape();
  SourcePiece whole{put.getSource(), 0, 0, 0, shape[0], shape[1], put.getRow(),
                    put.getColumn()};
  auto view = put.getSource().getDefiningOp<tile::InterleavedOp>();
  if (!view)
    return {whole};
  Location loc = put.getLoc();
  auto count = static_cast<int64_t>(view.getSources().size()),
       block = static_cast<int64_t>(view.getBlock());
  bool ofRows = view.getDim() == 0;
  Value &start = ofRows ? whole.sourceRow : whole.sourceColumn;
  Value first =
      b.createOrFold<arith::DivUIOp>(loc, start, constant(b, loc, count));
  SmallVector<SourcePiece> pieces;
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

int64_t attune::getRowsOfBox(tile::PutOp put) {
  int64_t rows = put.getChannel().getType().getCopiedRows();
  if (auto view = put.getSource().getDefiningOp<tile::InterleavedOp>();
      view && view.getDim() == 0)
    return static_cast<int64_t>(view.getBlock()) /
           put.getChannel().getType().getCluster();
  int64_t page = PagedRows(put.getSource()).getPage();
  return page ? std::min(rows, page) : rows;
}
