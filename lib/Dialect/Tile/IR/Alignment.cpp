// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows views back to the argument whose type knows the strides.

#include "attune/Dialect/Tile/IR/Alignment.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include <numeric>

using namespace mlir;
using namespace attune;
using namespace attune::tile;

// Upstream tells by strides alone, and keeps the first one of its stride.
llvm::SmallBitVector tile::findDroppedDims(memref::SubViewOp view) {
  llvm::SmallBitVector dropped = view.getDroppedDims();
  MemRefType source = view.getSourceType();
  SmallVector<int64_t> strides = source.getStridesAndOffset().first;
  for (int64_t kept : llvm::seq(source.getRank())) {
    if (dropped[kept] || view.getStaticSizes()[kept] != 1 ||
        source.getDimSize(kept) == 1)
      continue;
    for (int64_t dim : llvm::seq(source.getRank()))
      if (dropped[dim] && source.getDimSize(dim) == 1 &&
          strides[dim] == strides[kept]) {
        dropped.reset(dim);
        dropped.set(kept);
        break;
      }
  }
  return dropped;
}

int64_t tile::knownRowDivisor(Value buffer) {
  // Views of a head keep the strides of the tensor; the argument's type knows
  // more of them than the view's.
  while (Operation *op = buffer.getDefiningOp()) {
    if (auto view = dyn_cast<memref::SubViewOp>(op))
      buffer = view.getSource();
    else if (auto transpose = dyn_cast<memref::TransposeOp>(op))
      buffer = transpose.getIn();
    else if (auto known = dyn_cast<memref::CastOp>(op))
      buffer = known.getSource();
    else if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op))
      buffer = collapse.getSrc();
    else if (auto paged = dyn_cast<PagedOp>(op))
      buffer = paged.getSource();
    else if (auto flattened = dyn_cast<FlattenedOp>(op))
      buffer = flattened.getSource();
    else if (auto interleaved = dyn_cast<InterleavedOp>(op)) {
      int64_t divisor = 0;
      for (Value source : interleaved.getSources())
        divisor = std::gcd(divisor, knownRowDivisor(source));
      return divisor;
    } else
      break;
  }
  auto type = cast<MemRefType>(buffer.getType());
  int64_t divisor = 0;
  if (type.getLayout().isIdentity()) {
    // Every stride but the last is a multiple of the last dimension.
    int64_t last = type.getShape().back();
    return ShapedType::isDynamic(last) ? 1 : last;
  }
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return 1;
  int64_t unknown = 1;
  if (auto argument = dyn_cast<BlockArgument>(buffer))
    if (auto kernel =
            dyn_cast<gpu::GPUFuncOp>(argument.getOwner()->getParentOp()))
      if (auto known = kernel.getArgAttrOfType<IntegerAttr>(
              argument.getArgNumber(), TileDialect::kDivisorAttrName))
        unknown = known.getInt();
  for (int64_t stride : strides)
    if (stride != 1)
      divisor =
          std::gcd(divisor, ShapedType::isDynamic(stride) ? unknown : stride);
  return divisor == 0 ? 1 : divisor;
}
