// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Orders of tiles.

#include "Raster.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace attune;

MatrixTile attune::orderTiles(ImplicitLocOpBuilder &b, Value number, Value rows,
                              Value columns, int64_t group, bool alongColumns) {
  if (alongColumns)
    std::swap(rows, columns);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  Value ofMatrix = b.createOrFold<arith::MulIOp>(rows, columns);
  Value batch = b.createOrFold<arith::DivUIOp>(number, ofMatrix);
  Value inMatrix = b.createOrFold<arith::RemUIOp>(number, ofMatrix);
  Value ofGroup = b.createOrFold<arith::MulIOp>(columns, constant(group));
  Value first = b.createOrFold<arith::MulIOp>(
      b.createOrFold<arith::DivUIOp>(inMatrix, ofGroup), constant(group));
  Value inGroup = b.createOrFold<arith::RemUIOp>(inMatrix, ofGroup);
  // The last group may be smaller.
  Value size = constant(group);
  std::optional<int64_t> known = getConstantIntValue(rows);
  if (!known || *known % group != 0)
    size = b.createOrFold<arith::MinUIOp>(
        b.createOrFold<arith::SubIOp>(rows, first), size);
  Value row = b.createOrFold<arith::AddIOp>(
      first, b.createOrFold<arith::RemUIOp>(inGroup, size));
  Value column = b.createOrFold<arith::DivUIOp>(inGroup, size);
  if (alongColumns)
    std::swap(row, column);
  return {batch, row, column};
}
