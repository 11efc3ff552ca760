// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fewest reshapes between two ways to group the same digits.

#include "Reshape.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attune::raising;

/// Which dimensions of `fine` make up each of `coarse`, if neighbours do.
static std::optional<SmallVector<ReassociationIndices>>
group(const TensorDigits &fine, const TensorDigits &coarse) {
  SmallVector<ReassociationIndices> groups;
  size_t next = 0;
  for (const DimDigits &dim : coarse) {
    ReassociationIndices &members = groups.emplace_back();
    DimDigits digits;
    do {
      if (next == fine.size())
        return std::nullopt;
      llvm::append_range(digits, fine[next]);
      members.push_back(next++);
    } while (digits.size() < dim.size());
    if (digits != dim)
      return std::nullopt;
  }
  for (; next < fine.size(); ++next) {
    if (!fine[next].empty() || (groups.empty() && !coarse.empty()))
      return std::nullopt;
    if (!groups.empty())
      groups.back().push_back(next);
  }
  return groups;
}

static int64_t getSizeOf(const DimDigits &digits) {
  int64_t size = 1;
  for (const Digit &digit : digits)
    size = multiplySizes(size, digit.size);
  return size;
}

/// By one op; null where that is not possible.
static Value reshapeOnce(OpBuilder &builder, Location loc, Value tensor,
                         const TensorDigits &from, const TensorDigits &to) {
  if (from == to)
    return tensor;
  if (from.size() >= to.size())
    if (auto groups = group(from, to))
      return tensor::CollapseShapeOp::create(builder, loc, tensor, *groups);
  auto groups = group(to, from);
  if (!groups)
    return {};
  auto source = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(to.size(), 1);
  for (auto [dim, members] : llvm::enumerate(*groups))
    for (int64_t member : members)
      // What is a dimension already keeps what is known of its size.
      if (!to[member].empty())
        shape[member] = to[member] == from[dim] ? source.getDimSize(dim)
                                                : getSizeOf(to[member]);
  return tensor::ExpandShapeOp::create(builder, loc, source.clone(shape),
                                       tensor, *groups);
}

/// Splits every dimension into its digits and drops those of size 1.
static std::pair<Value, TensorDigits> split(OpBuilder &builder, Location loc,
                                            Value tensor,
                                            const TensorDigits &from) {
  TensorDigits without, full;
  for (const DimDigits &dim : from) {
    if (!dim.empty())
      without.push_back(dim);
    for (const Digit &digit : dim)
      full.push_back({digit});
  }
  tensor = reshapeOnce(builder, loc, tensor, from, without);
  return {reshapeOnce(builder, loc, tensor, without, full), full};
}

static Value transpose(OpBuilder &builder, Location loc, Value tensor,
                       ArrayRef<int64_t> permutation) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, tensor),
                            permuted;
  for (int64_t dim : permutation)
    permuted.push_back(sizes[dim]);
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  Value empty = tensor::EmptyOp::create(builder, loc, permuted, element);
  return linalg::TransposeOp::create(builder, loc, tensor, empty, permutation)
      ->getResult(0);
}

Value attune::raising::rearrange(OpBuilder &builder, Location loc, Value tensor,
                                 const TensorDigits &from,
                                 const TensorDigits &to) {
  DimDigits before, after;
  for (const DimDigits &dim : from)
    llvm::append_range(before, dim);
  for (const DimDigits &dim : to)
    llvm::append_range(after, dim);
  if (before == after)
    if (Value reshaped = reshapeOnce(builder, loc, tensor, from, to))
      return reshaped;
  auto [current, digits] = split(builder, loc, tensor, from);
  if (before != after) {
    SmallVector<int64_t> permutation;
    TensorDigits permuted;
    for (const Digit &digit : after) {
      permutation.push_back(llvm::find(before, digit) - before.begin());
      permuted.push_back({digit});
    }
    current = transpose(builder, loc, current, permutation);
    digits = permuted;
  }
  TensorDigits without;
  for (const DimDigits &dim : to)
    if (!dim.empty())
      without.push_back(dim);
  current = reshapeOnce(builder, loc, current, digits, without);
  return reshapeOnce(builder, loc, current, without, to);
}
