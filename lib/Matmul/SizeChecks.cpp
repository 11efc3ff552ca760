// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dynamic sizes that differ would be read or written out of bounds by the
// kernel; the host side is the last that sees all of them.

#include "attune/Matmul/SizeChecks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace attune::matmul;

namespace {
/// Dimensions of a tensor that together are one of the contraction, and how a
/// message calls the tensor: as the manifest does.
struct NamedSize {
  std::string name;
  Value tensor;
  unsigned first = 0, count = 0;

  bool isDynamic() const {
    return llvm::is_contained(
        cast<RankedTensorType>(tensor.getType()).getShape().slice(first, count),
        ShapedType::kDynamic);
  }
};

class CheckEmitter {
public:
  CheckEmitter(OpBuilder &builder, Location loc) : b(loc, builder) {}

  void emit(const ContractionGroup &group);

private:
  void add(const std::string &name, const TensorAccess &access);
  Value emitSize(const NamedSize &size);
  void expectEqual(NamedSize left, NamedSize right, Dim dim);

  ImplicitLocOpBuilder b;
  /// The tensor that a dimension's size is taken from: the first that has it.
  std::array<std::optional<NamedSize>, kNumDims> sizes;
};
} // namespace

/// A dimension's size, of what a tensor is written into where it is made so:
/// the ops of a group go, and no size must need them.
static Value emitDim(ImplicitLocOpBuilder &b, Value tensor, unsigned dim) {
  while (auto op = tensor.getDefiningOp<DestinationStyleOpInterface>())
    tensor = op.getTiedOpOperand(cast<OpResult>(tensor))->get();
  if (auto empty = tensor.getDefiningOp<tensor::EmptyOp>();
      empty && empty.getType().isDynamicDim(dim))
    return empty.getDynamicSize(dim);
  return b.createOrFold<tensor::DimOp>(tensor, dim);
}

Value CheckEmitter::emitSize(const NamedSize &size) {
  Value product;
  for (unsigned dim = size.first; dim < size.first + size.count; ++dim) {
    Value factor = emitDim(b, size.tensor, dim);
    product = product ? b.createOrFold<arith::MulIOp>(product, factor) : factor;
  }
  return product;
}

static bool areSame(Value left, Value right) {
  if (left == right)
    return true;
  auto one = left.getDefiningOp<tensor::DimOp>(),
       other = right.getDefiningOp<tensor::DimOp>();
  return one && other && one.getSource() == other.getSource() &&
         one.getConstantIndex() &&
         one.getConstantIndex() == other.getConstantIndex();
}

void CheckEmitter::expectEqual(NamedSize left, NamedSize right, Dim dim) {
  // Canonicalization puts constants last.
  if (!left.isDynamic())
    std::swap(left, right);
  if (!left.isDynamic() || left.tensor == right.tensor)
    return;
  Value first = emitSize(left), second = emitSize(right);
  if (areSame(first, second))
    return;
  Value holds =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, first, second);
  std::string message = "expects " + left.name + " and " + right.name +
                        " to have one size of " + toString(dim).str();
  cf::AssertOp::create(b, holds, message);
}

void CheckEmitter::add(const std::string &name, const TensorAccess &access) {
  for (const Run &run : access.runs) {
    std::optional<Dim> dim = run.getDim();
    // What is a part of a dimension belongs to a size that is known.
    if (!dim)
      continue;
    NamedSize size{name, access.tensor, run.first, run.count};
    std::optional<NamedSize> &known = sizes[static_cast<unsigned>(*dim)];
    if (known)
      expectEqual(*known, size, *dim);
    else
      known = size;
  }
}

void CheckEmitter::emit(const ContractionGroup &group) {
  auto number = [](StringRef name, size_t i, size_t count) {
    return count == 1 ? name.str() : (name + Twine(i)).str();
  };
  add("lhs", group.contractions.front().lhs);
  for (auto [i, contraction] : llvm::enumerate(group.contractions))
    add(number("rhs", i, group.contractions.size()), contraction.rhs);
  for (auto [i, operand] : llvm::enumerate(group.operands))
    add(number("operand", i, group.operands.size()), operand.access);
  for (auto [i, result] : llvm::enumerate(group.results))
    add(number("result", i, group.results.size()), result);
}

void attune::matmul::emitSizeChecks(OpBuilder &builder,
                                    const ContractionGroup &group) {
  CheckEmitter(builder, group.contractions[0].op->getLoc()).emit(group);
}
