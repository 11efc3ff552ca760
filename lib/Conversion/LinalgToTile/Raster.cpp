// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Orders of tiles, and what the cache keeps of their operands.

#include "Raster.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace attune;
using matmul::Dim;

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

Evictions attune::chooseEvictions(const MatmulProblem &problem,
                                  schedule::MatmulAttr schedule,
                                  tile::TargetAttr target) {
  for (Dim dim : {Dim::Batch, Dim::M, Dim::N, Dim::K})
    if (ShapedType::isDynamic(problem.sizes[dim]))
      return {};
  // Of one batch.
  auto count = [&](Dim rows, Dim columns,
                   ArrayRef<MatmulProblem::Matrix> matrices) {
    int64_t bits = 0;
    for (const MatmulProblem::Matrix &matrix : matrices)
      bits += matrix.elementType.getIntOrFloatBitWidth();
    return static_cast<double>(bits) / 8 *
           static_cast<double>(problem.sizes[rows]) *
           static_cast<double>(problem.sizes[columns]);
  };
  double lhs = count(Dim::M, Dim::K, problem.lhs),
         rhs = count(Dim::K, Dim::N, problem.rhs),
         results = count(Dim::M, Dim::N, problem.results);
  auto cache = static_cast<double>(target.getCache());
  Evictions evictions;
  if (static_cast<double>(problem.sizes[Dim::Batch]) * (lhs + rhs + results) <=
      cache)
    return evictions;
  evictions.result = tile::Eviction::First;
  bool keepsLhs = schedule.getRaster() == schedule::Raster::AlongM;
  if ((keepsLhs ? rhs : lhs) > cache) {
    (keepsLhs ? evictions.lhs : evictions.rhs) = tile::Eviction::Last;
    (keepsLhs ? evictions.rhs : evictions.lhs) = tile::Eviction::First;
  }
  return evictions;
}
