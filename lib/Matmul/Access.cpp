// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Coordinates of dimensions, and how neighbours of them become one run.

#include "attune/Matmul/Access.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attune::matmul;

StringRef attune::matmul::toString(Dim dim) {
  static constexpr StringLiteral names[] = {"batch", "m", "n", "k"};
  return names[static_cast<unsigned>(dim)];
}

static int64_t multiply(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b)
             ? ShapedType::kDynamic
             : a * b;
}

int64_t Space::getSize(Dim dim) const {
  int64_t size = 1;
  for (int64_t loop : (*this)[dim])
    size = multiply(size, loop);
  return size;
}

bool Coordinate::matches(const Coordinate &other) const {
  if (isZero || other.isZero)
    return isZero == other.isZero;
  return dim == other.dim && loop == other.loop && stride == other.stride &&
         (size == other.size || ShapedType::isDynamic(size) ||
          ShapedType::isDynamic(other.size));
}

std::optional<Dim> Run::getDim() const {
  if (auto dim = dyn_cast<AffineDimExpr>(index))
    return static_cast<Dim>(dim.getPosition());
  return std::nullopt;
}

Type TensorAccess::getElementType() const {
  return getElementTypeOrSelf(tensor.getType());
}

bool TensorAccess::reads(Dim dim) const {
  return llvm::any_of(runs, [&](const Run &run) {
    return run.index.isFunctionOfDim(static_cast<unsigned>(dim));
  });
}

std::optional<unsigned> TensorAccess::findRun(Dim dim) const {
  for (auto [number, run] : llvm::enumerate(runs))
    if (run.getDim() == dim)
      return number;
  return std::nullopt;
}

bool TensorAccess::isPlain() const {
  return llvm::all_of(runs,
                      [](const Run &run) { return run.getDim().has_value(); });
}

SmallVector<int64_t, 4> TensorAccess::getRunSizes() const {
  SmallVector<int64_t, 4> sizes;
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  for (const Run &run : runs) {
    int64_t size = 1;
    for (unsigned dim = run.first; dim < run.first + run.count; ++dim)
      size = multiply(size, type.getDimSize(dim));
    sizes.push_back(size);
  }
  return sizes;
}

AffineMap TensorAccess::getMap(MLIRContext *context) const {
  SmallVector<AffineExpr> indices;
  for (const Run &run : runs)
    indices.push_back(run.index);
  return AffineMap::get(kNumDims, /*symbolCount=*/0, indices, context);
}

Value attune::matmul::emitIndex(OpBuilder &builder, Location loc,
                                AffineExpr index, ValueRange indices) {
  if (auto dim = dyn_cast<AffineDimExpr>(index))
    return indices[dim.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(index))
    return arith::ConstantIndexOp::create(builder, loc, constant.getValue());
  auto binary = cast<AffineBinaryOpExpr>(index);
  Value lhs = emitIndex(builder, loc, binary.getLHS(), indices);
  Value rhs = emitIndex(builder, loc, binary.getRHS(), indices);
  // No index is negative.
  if (index.getKind() == AffineExprKind::FloorDiv)
    return builder.createOrFold<arith::DivUIOp>(loc, lhs, rhs);
  assert(index.getKind() == AffineExprKind::Mod && "no run has other indices");
  return builder.createOrFold<arith::RemUIOp>(loc, lhs, rhs);
}

SmallVector<Value>
TensorAccess::getIndices(OpBuilder &builder, Location loc, ValueRange indices,
                         function_ref<Value(unsigned)> getSize) const {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> result(type ? type.getRank() : 0);
  for (const Run &run : runs) {
    Value rest = emitIndex(builder, loc, run.index, indices);
    for (unsigned dim = run.first + run.count - 1; dim > run.first; --dim) {
      Value size = getSize(dim);
      result[dim] = arith::RemUIOp::create(builder, loc, rest, size);
      rest = arith::DivUIOp::create(builder, loc, rest, size);
    }
    result[run.first] = rest;
  }
  for (Value &index : result)
    if (!index)
      index = arith::ConstantIndexOp::create(builder, loc, 0);
  return result;
}

/// Whether a loop is covered as a whole, from its first to its last index.
static bool isWhole(const Space &space, const Coordinate &coordinate) {
  return coordinate.stride == 1 &&
         coordinate.size == space[coordinate.dim][coordinate.loop];
}

namespace {
/// Neighbours that are one: a part of a loop, or several loops as a whole.
struct Part {
  unsigned first, count;
  Coordinate outer, inner;
  bool isWhole;
};
} // namespace

/// Makes `next` a part of `part`, if it goes on in the same loop where that
/// ends.
static bool joinWithin(Part &part, const Part &next, const Space &space) {
  const Coordinate &outer = part.inner, &inner = next.outer;
  if (inner.dim != outer.dim || inner.loop != outer.loop ||
      ShapedType::isDynamic(inner.size) ||
      inner.stride * inner.size != outer.stride)
    return false;
  part.inner.size = multiply(outer.size, inner.size);
  part.inner.stride = inner.stride;
  part.outer = part.inner;
  part.isWhole = isWhole(space, part.inner);
  part.count += next.count;
  return true;
}

/// Makes `next` a part of `part`, if both are loops as a whole and neighbours.
static bool joinLoops(Part &part, const Part &next, const Space &space) {
  if (next.outer.dim != part.inner.dim || !part.isWhole || !next.isWhole ||
      next.outer.loop != part.inner.loop + 1)
    return false;
  part.inner = next.inner;
  part.count += next.count;
  return true;
}

using Join = bool(Part &, const Part &, const Space &);
static SmallVector<Part> joinNeighbours(ArrayRef<Part> parts,
                                        const Space &space, Join *join) {
  SmallVector<Part> joined;
  for (const Part &part : parts)
    if (joined.empty() ||
        joined.back().first + joined.back().count != part.first ||
        !join(joined.back(), part, space))
      joined.push_back(part);
  return joined;
}

/// The index of a part; none where it would need a size that is not known.
static AffineExpr getIndex(const Part &part, const Space &space,
                           MLIRContext *context) {
  Dim dim = part.outer.dim;
  ArrayRef<int64_t> loops = space[dim];
  AffineExpr index = getAffineDimExpr(static_cast<unsigned>(dim), context);
  int64_t stride = part.inner.stride, size = part.outer.size;
  for (int64_t loop : loops.drop_front(part.inner.loop + 1))
    stride = multiply(stride, loop);
  for (unsigned loop = part.outer.loop + 1; loop <= part.inner.loop; ++loop)
    size = multiply(size, loops[loop]);
  if (ShapedType::isDynamic(stride))
    return {};
  if (stride != 1)
    index = index.floorDiv(stride);
  int64_t outerLoop = loops[part.outer.loop];
  bool isOutermost = part.outer.loop == 0 &&
                     (part.isWhole ||
                      (ShapedType::isDynamic(outerLoop)
                           ? ShapedType::isDynamic(part.outer.size)
                           : part.outer.stride * part.outer.size == outerLoop));
  if (isOutermost)
    return index;
  if (ShapedType::isDynamic(size))
    return {};
  return index % size;
}

std::optional<TensorAccess>
attune::matmul::makeAccess(Value tensor, const Space &space,
                           ArrayRef<Coordinate> coordinates) {
  SmallVector<Part> parts;
  for (auto [dim, coordinate] : llvm::enumerate(coordinates))
    if (!coordinate.isZero)
      parts.push_back({static_cast<unsigned>(dim), 1, coordinate, coordinate,
                       isWhole(space, coordinate)});
  parts = joinNeighbours(parts, space, joinWithin);
  parts = joinNeighbours(parts, space, joinLoops);
  TensorAccess access{tensor, {}};
  for (const Part &part : parts) {
    AffineExpr index = getIndex(part, space, tensor.getContext());
    if (!index)
      return std::nullopt;
    access.runs.push_back({part.first, part.count, index});
  }
  return access;
}

std::optional<Coordinates> attune::matmul::expandCoordinates(
    ArrayRef<Coordinate> source, RankedTensorType result,
    ArrayRef<ReassociationIndices> reassociation) {
  Coordinates expanded(result.getRank(), Coordinate::zero());
  for (auto [coordinate, dims] : llvm::zip_equal(source, reassociation)) {
    int64_t stride = coordinate.stride;
    bool isPlaced = coordinate.isZero;
    for (int64_t dim : llvm::reverse(dims)) {
      // Upstream's verifier does not look at these numbers.
      if (dim < 0 || dim >= result.getRank())
        return std::nullopt;
      int64_t size = result.getDimSize(dim);
      if (coordinate.isZero || size == 1)
        continue;
      if (ShapedType::isDynamic(stride))
        return std::nullopt;
      expanded[dim] = coordinate;
      expanded[dim].stride = stride;
      expanded[dim].size = size;
      stride = multiply(stride, size);
      isPlaced = true;
    }
    // The only row stays one.
    if (!isPlaced && !dims.empty())
      expanded[dims.front()] = coordinate;
  }
  return expanded;
}

std::optional<Coordinates> attune::matmul::collapseCoordinates(
    ArrayRef<Coordinate> source, ArrayRef<ReassociationIndices> reassociation) {
  Coordinates collapsed;
  for (const ReassociationIndices &dims : reassociation) {
    Coordinate whole = Coordinate::zero();
    for (int64_t dim : dims) {
      if (dim < 0 || dim >= int64_t(source.size()))
        return std::nullopt;
      const Coordinate &next = source[dim];
      if (next.isZero)
        continue;
      if (whole.isZero) {
        whole = next;
        continue;
      }
      if (next.dim != whole.dim || next.loop != whole.loop ||
          ShapedType::isDynamic(next.size) ||
          next.stride * next.size != whole.stride)
        return std::nullopt;
      whole.stride = next.stride;
      whole.size = multiply(whole.size, next.size);
    }
    collapsed.push_back(whole);
  }
  return collapsed;
}
