// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.reduce, tile.any and tile.broadcast: between a tile and what is known of
// its rows.

#include "KernelContext.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune;
using tile::LayoutAttr;

namespace {

struct ReducePattern : KernelPattern<tile::ReduceOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::ReduceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct AnyPattern : KernelPattern<tile::AnyOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::AnyOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value any = vector::ReductionOp::create(
        rewriter, op.getLoc(), vector::CombiningKind::OR, adaptor.getInput());
    rewriter.replaceOp(
        op, context.model->emitAny(rewriter, op.getLoc(), context.target, any));
    return success();
  }
};

struct BroadcastPattern : KernelPattern<tile::BroadcastOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::BroadcastOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

} // namespace

static Value combine(OpBuilder &b, Location loc, tile::ReductionKind kind,
                     Value left, Value right) {
  if (kind == tile::ReductionKind::Add)
    return arith::AddFOp::create(b, loc, left, right);
  return arith::MaxNumFOp::create(b, loc, left, right);
}

/// The registers of `matrix` that hold what is at the place, along `dim`, of
/// each register of `vector`.
static SmallVector<SmallVector<int64_t>>
registersAlong(LayoutAttr matrix, LayoutAttr vector, int64_t dim) {
  SmallVector<SmallVector<int64_t>> result(vector.getNumRegisters());
  for (int64_t reg = 0; reg < matrix.getNumRegisters(); ++reg)
    for (int64_t place = 0; place < vector.getNumRegisters(); ++place)
      if (vector.getRegisterCoordinates(place, 2)[0] ==
          matrix.getRegisterCoordinates(reg, 2)[dim])
        result[place].push_back(reg);
  return result;
}

/// A tree keeps the chain of dependent operations short.
static Value combineAsTree(OpBuilder &b, Location loc, tile::ReductionKind kind,
                           SmallVector<Value> level, size_t operands) {
  while (level.size() > 1) {
    SmallVector<Value> next;
    size_t taken = std::min(operands, level.size()), i = 0;
    for (; i + taken <= level.size(); i += taken) {
      Value sum = level[i];
      for (size_t j = i + 1; j < i + taken; ++j)
        sum = combine(b, loc, kind, sum, level[j]);
      next.push_back(sum);
    }
    // What is left finds others in the next level.
    next.append(level.begin() + static_cast<int64_t>(i), level.end());
    level = next;
  }
  return level.front();
}

/// Adds the elements to what `init` begins with, `together` of them at a time.
static Value addUp(OpBuilder &b, Location loc, Value init,
                   ArrayRef<Value> elements, int64_t together) {
  auto size = static_cast<size_t>(together);
  Value sum = init;
  if (size > 1 && elements.size() > size && elements.size() % size == 0) {
    auto type = VectorType::get(together, b.getF32Type());
    Value sums;
    for (size_t i = 0; i < elements.size(); i += size) {
      Value next =
          vector::FromElementsOp::create(b, loc, type, elements.slice(i, size));
      sums = sums ? arith::AddFOp::create(b, loc, sums, next) : next;
    }
    for (int64_t i = 0; i < together; ++i)
      sum = arith::AddFOp::create(b, loc, sum,
                                  vector::ExtractOp::create(b, loc, sums, i));
    return sum;
  }
  for (Value element : elements)
    sum = arith::AddFOp::create(b, loc, sum, element);
  return sum;
}

LogicalResult
ReducePattern::matchAndRewrite(tile::ReduceOp op, OpAdaptor adaptor,
                               ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  LayoutAttr matrix = op.getInput().getType().getRegisterLayout(),
             rows = op.getResult().getType().getRegisterLayout();
  auto dim = static_cast<int64_t>(op.getDim());
  bool isPartial = op.getResult().getType().getRank() == 2;
  Value init = adaptor.getInit();
  auto getInit = [&](size_t place) -> Value {
    return vector::ExtractOp::create(rewriter, loc, init,
                                     static_cast<int64_t>(place));
  };
  auto combineTwo = [&](Value left, Value right) {
    return combine(rewriter, loc, op.getKind(), left, right);
  };
  auto operands = static_cast<size_t>(op.getKind() == tile::ReductionKind::Max
                                          ? context.model->getMaximumOperands()
                                          : 2);
  if (init && isPartial)
    context.model->emitBeforeSums(rewriter, loc);
  SmallVector<Value> results;
  for (auto [place, registers] :
       llvm::enumerate(registersAlong(matrix, rows, 1 - dim))) {
    SmallVector<Value> elements;
    for (int64_t reg : registers)
      elements.push_back(
          vector::ExtractOp::create(rewriter, loc, adaptor.getInput(), reg));
    results.push_back(
        init && isPartial
            ? addUp(rewriter, loc, getInit(place), elements,
                    context.model->getSumsAtOnce())
            : combineAsTree(rewriter, loc, op.getKind(), elements, operands));
  }
  int64_t below = 1;
  for (const tile::Mode &mode :
       isPartial ? ArrayRef<tile::Mode>() : matrix.getLanes()) {
    if (mode.dim == dim && mode.stride != 0) {
      if (!llvm::isPowerOf2_64(mode.extent) || !llvm::isPowerOf2_64(below))
        return op.emitOpError()
               << "expects lanes along a row or column in powers of two, but "
                  "got "
               << mode.extent;
      for (int64_t distance = 1; distance < mode.extent; distance *= 2)
        for (Value &value : results) {
          auto shuffle = gpu::ShuffleOp::create(
              rewriter, loc, value, distance * below, context.target.getLanes(),
              gpu::ShuffleMode::XOR);
          value = combineTwo(value, shuffle.getShuffleResult());
        }
    }
    below *= mode.extent;
  }
  if (init && !isPartial)
    for (auto [place, value] : llvm::enumerate(results))
      value = combineTwo(getInit(place), value);
  rewriter.replaceOpWithNewOp<vector::FromElementsOp>(
      op, laneVectorType(op.getResult().getType()), results);
  return success();
}

LogicalResult
BroadcastPattern::matchAndRewrite(tile::BroadcastOp op, OpAdaptor adaptor,
                                  ConversionPatternRewriter &rewriter) const {
  LayoutAttr matrix = op.getResult().getType().getRegisterLayout(),
             rows = op.getInput().getType().getRegisterLayout();
  SmallVector<int64_t> source(matrix.getNumRegisters());
  for (auto [row, registers] : llvm::enumerate(
           registersAlong(matrix, rows, static_cast<int64_t>(op.getDim()))))
    for (int64_t reg : registers)
      source[reg] = row;
  rewriter.replaceOpWithNewOp<vector::ShuffleOp>(
      op, laneVectorType(op.getResult().getType()), adaptor.getInput(),
      adaptor.getInput(), source);
  return success();
}

void attune::populateRowPatterns(TypeConverter &converter,
                                 RewritePatternSet &patterns,
                                 const KernelContext &context) {
  patterns.add<ReducePattern, AnyPattern, BroadcastPattern>(
      converter, patterns.getContext(), context);
}
