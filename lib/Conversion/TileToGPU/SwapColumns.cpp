// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.swap_columns: registers are renamed where a thread holds both columns,
// and lanes exchange them otherwise.

#include "KernelContext.h"
#include "attune/Dialect/Tile/IR/ColumnSwap.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;

namespace {

struct SwapColumnsPattern : KernelPattern<tile::SwapColumnsOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(tile::SwapColumnsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

} // namespace

LogicalResult
SwapColumnsPattern::matchAndRewrite(tile::SwapColumnsOp op, OpAdaptor adaptor,
                                    ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  tile::TileType type = op.getInput().getType();
  std::optional<SmallVector<tile::ColumnSource>> sources =
      tile::findSwappedColumns(type.getRegisterLayout(),
                               static_cast<int64_t>(op.getStride()));
  assert(sources && "expects a kernel that was checked");
  constexpr unsigned kWordBits = 32;
  auto literal = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, loc, value, kWordBits);
  };
  // Whether the lane has the digit of the mask set.
  auto isUpper = [&](int64_t mask) -> Value {
    Value lane = laneNumber(b, loc, context);
    Value digit = arith::AndIOp::create(b, loc, lane, constant(b, loc, mask));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, digit,
                                 constant(b, loc, 0));
  };
  llvm::SmallDenseMap<int64_t, Value> uppers;
  SmallVector<Value> elements;
  for (tile::ColumnSource source : *sources) {
    auto extract = [&](int64_t reg) -> Value {
      return vector::ExtractOp::create(b, loc, adaptor.getInput(), reg);
    };
    Value element = extract(source.reg);
    // A lane gives what the other one asks for, whose digit is the opposite.
    if (source.upperReg != source.reg) {
      Value &upper = uppers[source.laneMask];
      if (!upper)
        upper = isUpper(source.laneMask);
      element = arith::SelectOp::create(b, loc, upper, element,
                                        extract(source.upperReg));
    }
    if (source.laneMask)
      element = shuffleElement(b, loc, element, literal(source.laneMask),
                               literal(context.target.getLanes()),
                               gpu::ShuffleMode::XOR);
    elements.push_back(element);
  }
  b.replaceOpWithNewOp<vector::FromElementsOp>(op, laneVectorType(type),
                                               elements);
  return success();
}

void attune::populateSwapColumnsPatterns(TypeConverter &converter,
                                         RewritePatternSet &patterns,
                                         const KernelContext &context) {
  patterns.add<SwapColumnsPattern>(converter, patterns.getContext(), context);
}
