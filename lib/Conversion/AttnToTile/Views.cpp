// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Views.h"
#include "attune/Dialect/Tile/IR/Alignment.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace attune;

Value attune::viewHeads(ImplicitLocOpBuilder &b, StringRef order, Value buffer,
                        Value batch, Value headIndex,
                        std::optional<int64_t> heads) {
  auto position = [&](char dim) -> int64_t { return order.find(dim); };
  auto size = [&](char dim) -> Value {
    return b.createOrFold<memref::DimOp>(buffer, position(dim));
  };
  auto type = cast<MemRefType>(buffer.getType());
  OpFoldResult count = b.getIndexAttr(heads.value_or(1));
  if (!heads)
    count =
        getAsOpFoldResult(b.createOrFold<arith::SubIOp>(size('h'), headIndex));
  SmallVector<OpFoldResult> offsets(4, b.getIndexAttr(0)), extents(4);
  offsets[position('b')] = batch;
  offsets[position('h')] = headIndex;
  SmallVector<int64_t> kept;
  char rows = heads == 1 ? 's' : 'h';
  for (auto [pos, dim] : llvm::enumerate(order)) {
    if (dim == 'b')
      extents[pos] = b.getIndexAttr(1);
    else if (dim == 'h')
      extents[pos] = count;
    else if (type.isDynamicDim(pos))
      extents[pos] = size(dim);
    else
      extents[pos] = b.getIndexAttr(type.getDimSize(pos));
    bool isOne = dim == 'b' || (dim == 'h' && heads == 1) ||
                 (dim == 's' && rows == 'h' && type.getDimSize(pos) == 1);
    if (!isOne)
      kept.push_back(static_cast<int64_t>(pos));
  }
  Value view = tile::viewDims(b, buffer, offsets, extents, kept);
  bool transposed = position('d') < position(rows);
  if (kept.size() == 3)
    view = memref::CollapseShapeOp::create(
        b, view,
        transposed ? ArrayRef<ReassociationIndices>{{0}, {1, 2}}
                   : ArrayRef<ReassociationIndices>{{0, 1}, {2}});
  return transposed ? transposeView(b, view) : view;
}

Value attune::transposeView(ImplicitLocOpBuilder &b, Value view) {
  AffineMap swap =
      AffineMap::getPermutationMap(ArrayRef<unsigned>{1, 0}, b.getContext());
  return memref::TransposeOp::create(b, view, AffineMapAttr::get(swap));
}

Value attune::viewPages(ImplicitLocOpBuilder &b, StringRef order, Value buffer,
                        Value table, Value batch, Value headIndex, Value rows,
                        int64_t unit) {
  auto heads = static_cast<int64_t>(order.find('h'));
  Value pool = tile::selectAt(b, buffer, heads, headIndex);
  std::string others = order.str();
  others.erase(heads, 1);
  SmallVector<unsigned, 3> permutation;
  for (char dim : StringRef("bsd"))
    permutation.push_back(others.find(dim));
  AffineMap map = AffineMap::getPermutationMap(permutation, b.getContext());
  if (!map.isIdentity())
    pool = memref::TransposeOp::create(b, pool, AffineMapAttr::get(map));
  Value numbers = tile::selectAt(b, table, 0, batch);
  return tile::PagedOp::create(b, tile::PagedOp::getViewOf(pool.getType()),
                               pool, numbers, rows, /*page=*/1, unit);
}

Value attune::limitRows(ImplicitLocOpBuilder &b, Value view, Value rows) {
  auto type = cast<MemRefType>(view.getType());
  SmallVector<OpFoldResult> offsets(2, b.getIndexAttr(0)),
      strides(2, b.getIndexAttr(1)),
      extents{rows, b.getIndexAttr(type.getDimSize(1))};
  return memref::SubViewOp::create(b, view, offsets, extents, strides);
}

Value attune::dropRows(ImplicitLocOpBuilder &b, Value view, Value first) {
  auto type = cast<MemRefType>(view.getType());
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value left = arith::SubIOp::create(
      b, b.createOrFold<memref::DimOp>(view, zero), first);
  SmallVector<OpFoldResult> offsets{first, b.getIndexAttr(0)},
      strides(2, b.getIndexAttr(1)),
      extents{b.createOrFold<arith::MaxSIOp>(left, zero),
              b.getIndexAttr(type.getDimSize(1))};
  return memref::SubViewOp::create(b, view, offsets, extents, strides);
}

Value attune::viewRowNumbers(ImplicitLocOpBuilder &b, Value buffer, Value batch,
                             Value head, int64_t heads, Value length,
                             bool isPacked) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<OpFoldResult> offsets{batch, head, b.getIndexAttr(0)};
  int64_t known = isPacked ? ShapedType::kDynamic : type.getDimSize(2);
  OpFoldResult rows = b.getIndexAttr(known);
  if (ShapedType::isDynamic(known))
    rows = length;
  SmallVector<OpFoldResult> extents{b.getIndexAttr(1), b.getIndexAttr(heads),
                                    rows};
  SmallVector<int64_t> kept;
  if (heads > 1)
    kept.push_back(1);
  if (heads == 1 || known != 1)
    kept.push_back(2);
  Value view = tile::viewDims(b, buffer, offsets, extents, kept);
  if (kept.size() == 2)
    view = memref::CollapseShapeOp::create(
        b, view, ArrayRef<ReassociationIndices>{{0, 1}});
  return view;
}

Value attune::viewSharedRows(ImplicitLocOpBuilder &b, StringRef order,
                             Value buffer, Value batch, Value head,
                             std::optional<int64_t> heads, bool queriesFirst,
                             Value after) {
  Value view =
      tile::selectAt(b, buffer, static_cast<int64_t>(order.find('b')), batch);
  std::string dims = order.str();
  dims.erase(order.find('b'), 1);
  std::string wanted = queriesFirst ? "sh" : "hs";
  auto type = cast<MemRefType>(view.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)),
      ones(type.getRank(), b.getIndexAttr(1)),
      extents = memref::getMixedSizes(b, b.getLoc(), view);
  size_t ofHeads = dims.find('h'), ofOuter = dims.find(wanted.front());
  offsets[ofHeads] = head;
  extents[ofHeads] = heads ? OpFoldResult(b.getIndexAttr(*heads))
                           : getAsOpFoldResult(b.createOrFold<arith::SubIOp>(
                                 b.createOrFold<memref::DimOp>(
                                     view, static_cast<int64_t>(ofHeads)),
                                 head));
  if (after)
    extents[ofOuter] = after;
  view = memref::SubViewOp::create(b, view, offsets, extents, ones);
  if (dims.size() > wanted.size())
    wanted.push_back('d');
  SmallVector<unsigned, 3> permutation;
  for (char dim : wanted)
    permutation.push_back(dims.find(dim));
  AffineMap map = AffineMap::getPermutationMap(permutation, b.getContext());
  if (!map.isIdentity())
    view = memref::TransposeOp::create(b, view, AffineMapAttr::get(map));
  return tile::FlattenedOp::create(
      b, tile::FlattenedOp::getViewOf(view.getType()), view);
}

Value attune::viewPart(ImplicitLocOpBuilder &b, Value buffer,
                       OpFoldResult part) {
  return tile::selectAt(b, buffer, 0, part);
}

Value attune::viewColumns(ImplicitLocOpBuilder &b, Value view, int64_t first,
                          int64_t columns) {
  if (columns == cast<MemRefType>(view.getType()).getDimSize(1))
    return view;
  SmallVector<OpFoldResult> offsets{b.getIndexAttr(0), b.getIndexAttr(first)},
      strides(2, b.getIndexAttr(1)),
      extents{memref::getMixedSize(b, b.getLoc(), view, 0),
              b.getIndexAttr(columns)};
  return memref::SubViewOp::create(b, view, offsets, extents, strides);
}

Value attune::boundSize(ImplicitLocOpBuilder &b, Value size,
                        const attn::SizeFacts &facts) {
  if (getConstantIntValue(size))
    return size;
  if (facts.min > attn::SizeFacts().min)
    size = b.createOrFold<arith::MaxUIOp>(size, constant(b, facts.min));
  // Not to 0, which would leave no loop: its MMAs decide how all else lies.
  if (facts.max < attn::SizeFacts().max)
    size = b.createOrFold<arith::MinUIOp>(
        size, constant(b, std::max<int64_t>(facts.max, 1)));
  return size;
}

Value attune::countRoomForKeys(ImplicitLocOpBuilder &b,
                               attn::AttentionOpInterface op, Value key,
                               Value pages) {
  Value keys = b.createOrFold<memref::DimOp>(key, op.getSeqPos());
  if (pages)
    keys = b.createOrFold<arith::MulIOp>(
        b.createOrFold<memref::DimOp>(pages, 1), keys);
  return boundSize(b, keys, attn::getKeyFacts(op));
}

/// Whether a value is computed from `source` and constants alone.
static bool isComputedOf(Value value, Value source) {
  Operation *op = value.getDefiningOp();
  return value == source ||
         (op && (op->hasTrait<OpTrait::ConstantLike>() ||
                 (isPure(op) && op->getNumRegions() == 0 &&
                  llvm::all_of(op->getOperands(), [&](Value operand) {
                    return isComputedOf(operand, source);
                  }))));
}

bool attune::readsTensor(Region &region) {
  if (region.empty())
    return false;
  // Every tile is of a batch that there is.
  Value batch = attn::getBatchArgument(region);
  return llvm::any_of(region.front(), [&](Operation &inner) {
    auto extract = dyn_cast<tensor::ExtractOp>(inner);
    return extract && !llvm::all_of(extract.getIndices(), [&](Value index) {
             return isComputedOf(index, batch);
           });
  });
}

Value attune::elementPosition(OpBuilder &builder, Location loc, Value first,
                              Value offset, Value length, bool clamp) {
  Value position = arith::AddIOp::create(builder, loc, first, offset);
  if (!clamp)
    return position;
  Value last = arith::SubIOp::create(
      builder, loc, length, arith::ConstantIndexOp::create(builder, loc, 1));
  return arith::MinSIOp::create(builder, loc, position, last);
}
