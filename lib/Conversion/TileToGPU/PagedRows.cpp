// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arithmetic from a row to its place, by one read of the table.

#include "PagedRows.h"
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

int64_t attune::getRowsOfBox(tile::PutOp put) {
  int64_t rows = put.getChannel().getType().getCopiedRows();
  int64_t page = PagedRows(put.getSource()).getPage();
  return page ? std::min(rows, page) : rows;
}
