// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What passes ask an attention op: sizes, scale, captures, regions.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace attune::attn;

namespace {
class AttentionOpTest : public testing::Test {
protected:
  AttentionOpTest() {
    context.loadDialect<AttnDialect, arith::ArithDialect, func::FuncDialect,
                        tensor::TensorDialect>();
  }

  /// The only attention op of a module.
  AttentionOp parse(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    AttentionOp found;
    if (module)
      module->walk([&](AttentionOp op) { found = op; });
    return found;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

TEST_F(AttentionOpTest, SizesComeFromAnyOperandThatHasThem) {
  AttentionOp op = parse(R"(
    func.func @f(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x2x64xf16>,
                 %v: tensor<3x7x?x32xf16>, %sinks: tensor<8xf32>) {
      %o = attn.attention %q, %k, %v sinks(%sinks : tensor<8xf32>) order(bshd)
        : tensor<?x?x?x64xf16>, tensor<?x?x2x64xf16>, tensor<3x7x?x32xf16>
      return
    })");
  ASSERT_TRUE(op);
  EXPECT_EQ(op.getBatch(), 3);
  EXPECT_EQ(op.getHeadsQ(), 8);
  EXPECT_EQ(op.getHeadsKV(), 2);
  EXPECT_EQ(op.getSeqQ(), ShapedType::kDynamic);
  EXPECT_EQ(op.getSeqK(), 7);
  EXPECT_EQ(op.getHeadDimQK(), 64);
  EXPECT_EQ(op.getHeadDimV(), 32);
  EXPECT_EQ(op.getBatchPos(), 0);
  EXPECT_EQ(op.getSeqPos(), 1);
  EXPECT_EQ(op.getHeadPos(), 2);
  EXPECT_EQ(op.getHeadDimPos(), 3);
  EXPECT_EQ(op.getEffectiveScale(), 0.125f);
  EXPECT_TRUE(op.getElementType().isF16());
}

TEST_F(AttentionOpTest, CapturesAreInOrderOfUseAndHoldNoConstants) {
  AttentionOp op = parse(R"(
    func.func @f(%q: tensor<1x2x8x16xf16>, %bias: tensor<8xf32>, %x: f32,
                 %y: f32) {
      %two = arith.constant 2.0 : f32
      %o = attn.attention %q, %q, %q scale(0.5) score (%s, %b, %h, %m, %n) {
        %0 = arith.mulf %s, %two : f32
        %1 = arith.addf %0, %y : f32
        %2 = tensor.extract %bias[%n] : tensor<8xf32>
        %3 = arith.addf %1, %2 : f32
        attn.yield %3 : f32
      } mask (%b, %h, %m, %n) {
        %0 = arith.cmpf olt, %x, %y : f32
        attn.yield %0 : i1
      } : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
      return
    })");
  ASSERT_TRUE(op);
  Block *entry = op->getBlock();
  EXPECT_EQ(op.getCaptures(),
            (SmallVector<Value>{entry->getArgument(3), entry->getArgument(1),
                                entry->getArgument(2)}));
  EXPECT_EQ(op.getEffectiveScale(), 0.5f);
  EXPECT_TRUE(op.hasScore());
  EXPECT_TRUE(op.hasMask());
}

TEST_F(AttentionOpTest, InliningClonesConstantsAndMapsCaptures) {
  AttentionOp op = parse(R"(
    func.func @f(%q: tensor<1x2x8x16xf16>, %x: f32) {
      %two = arith.constant 2.0 : f32
      %o = attn.attention %q, %q, %q score (%s, %b, %h, %m, %n) {
        %0 = arith.mulf %s, %two : f32
        %1 = arith.addf %0, %x : f32
        attn.yield %1 : f32
      } : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
      return
    }
    func.func @g(%s: f32, %i: index, %x: f32) {
      return
    })");
  ASSERT_TRUE(op);
  auto target = module->lookupSymbol<func::FuncOp>("g");
  auto builder = OpBuilder::atBlockBegin(&target.getBody().front());
  Value score = target.getArgument(0), index = target.getArgument(1);
  IRMapping mapping;
  mapping.map(op.getCaptures().front(), target.getArgument(2));
  Value result = inlineRegion(builder, op.getScore(),
                              {score, index, index, index, index}, mapping);
  auto sum = result.getDefiningOp<arith::AddFOp>();
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum.getRhs(), target.getArgument(2));
  auto product = sum.getLhs().getDefiningOp<arith::MulFOp>();
  ASSERT_TRUE(product);
  EXPECT_EQ(product.getLhs(), score);
  EXPECT_EQ(product.getRhs().getParentBlock(), &target.getBody().front());
}

TEST_F(AttentionOpTest, BuilderInfersResults) {
  OpBuilder builder(&context);
  module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToStart(module->getBody());
  auto type = RankedTensorType::get({2, 128, 8, 64}, builder.getBF16Type());
  Value query =
      tensor::EmptyOp::create(builder, module->getLoc(), type, ValueRange{});
  auto op = AttentionOp::create(builder, module->getLoc(), query, query, query,
                                "bshd", /*returnLse=*/true);
  EXPECT_EQ(op.getResult().getType(), type);
  EXPECT_EQ(op.getLse().getType(),
            RankedTensorType::get({2, 8, 128}, builder.getF32Type()));
  EXPECT_TRUE(succeeded(op.verify()));
}
