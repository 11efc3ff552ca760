// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows views back to the argument whose type knows the strides.

#include "attune/Dialect/Tile/IR/Alignment.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
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

/// Upstream tells the dimensions of a view by strides, and of those that are 1
/// takes the last ones of a stride. Where `kept` are others, transposes the
/// buffer, and all that names its dimensions, to have these last.
static Value putLast(ImplicitLocOpBuilder &b, Value buffer,
                     SmallVectorImpl<OpFoldResult> &offsets,
                     SmallVectorImpl<OpFoldResult> &extents,
                     SmallVectorImpl<int64_t> &kept) {
  auto rank = static_cast<int64_t>(offsets.size());
  SmallVector<int64_t> order;
  bool isTaken = true;
  for (int64_t dim : llvm::seq(rank)) {
    if (llvm::is_contained(kept, dim))
      continue;
    order.push_back(dim);
    isTaken &= llvm::none_of(kept, [&](int64_t other) {
      return other < dim && isConstantIntValue(extents[other], 1);
    });
  }
  if (isTaken)
    return buffer;
  llvm::append_range(order, kept);
  offsets = applyPermutation(ArrayRef(offsets), order);
  extents = applyPermutation(ArrayRef(extents), order);
  auto first = rank - static_cast<int64_t>(kept.size());
  kept.assign(llvm::seq(first, rank).begin(), llvm::seq(first, rank).end());
  return memref::TransposeOp::create(
      b, buffer,
      AffineMapAttr::get(AffineMap::getPermutationMap(order, b.getContext())));
}

Value tile::viewDims(ImplicitLocOpBuilder &b, Value buffer,
                     ArrayRef<OpFoldResult> allOffsets,
                     ArrayRef<OpFoldResult> allExtents,
                     ArrayRef<int64_t> keptDims) {
  SmallVector<OpFoldResult> offsets(allOffsets), extents(allExtents);
  SmallVector<int64_t> kept(keptDims);
  buffer = putLast(b, buffer, offsets, extents, kept);
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<OpFoldResult> ones(type.getRank(), b.getIndexAttr(1));
  MemRefType whole =
      memref::SubViewOp::inferResultType(type, offsets, extents, ones);
  auto [strides, offset] = whole.getStridesAndOffset();
  SmallVector<int64_t> shape, keptStrides;
  for (int64_t dim : kept) {
    shape.push_back(whole.getDimSize(dim));
    keptStrides.push_back(strides[dim]);
  }
  auto layout = StridedLayoutAttr::get(b.getContext(), offset, keptStrides);
  return memref::SubViewOp::create(b,
                                   MemRefType::get(shape, type.getElementType(),
                                                   layout,
                                                   type.getMemorySpace()),
                                   buffer, offsets, extents, ones);
}

Value tile::selectAt(ImplicitLocOpBuilder &b, Value buffer, int64_t dim,
                     OpFoldResult index) {
  int64_t rank = cast<MemRefType>(buffer.getType()).getRank();
  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)),
      extents = memref::getMixedSizes(b, b.getLoc(), buffer);
  offsets[dim] = index;
  extents[dim] = b.getIndexAttr(1);
  auto kept = llvm::to_vector(llvm::seq(rank));
  kept.erase(kept.begin() + dim);
  return viewDims(b, buffer, offsets, extents, kept);
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
