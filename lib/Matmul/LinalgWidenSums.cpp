// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// linalg-widen-sums: matmuls whose sums are rounded to 16 bits add in f32.

#include "attune/Matmul/Contraction.h"
#include "attune/Matmul/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace attune::matmul {
#define GEN_PASS_DEF_LINALGWIDENSUMSPASS
#include "attune/Matmul/Passes.h.inc"
} // namespace attune::matmul

using namespace mlir;
using namespace attune::matmul;

static void widen(RewriterBase &rewriter, linalg::LinalgOp op) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value init = op.getDpsInits()[0];
  auto fill = init.getDefiningOp<linalg::FillOp>();
  bool isZero = matchPattern(fill ? fill.value() : init, m_AnyZeroFloat());
  auto type = cast<RankedTensorType>(init.getType());
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, fill ? fill.output() : init);
  Type f32 = rewriter.getF32Type();
  Value zero =
      arith::ConstantOp::create(rewriter, loc, rewriter.getF32FloatAttr(0.0));
  Value empty = tensor::EmptyOp::create(rewriter, loc, sizes, f32);
  Value zeros = linalg::FillOp::create(rewriter, loc, zero, empty).getResult(0);
  SmallVector<Value> inputs{
      linalg::ContractOp::create(rewriter, loc, TypeRange{zeros.getType()},
                                 op.getDpsInputs(), ValueRange{zeros},
                                 op.getIndexingMaps())
          .getResult(0)};
  if (!isZero)
    inputs.push_back(init);
  SmallVector<AffineMap> maps(inputs.size() + 1,
                              rewriter.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  Value result =
      tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
  rewriter.replaceOpWithNewOp<linalg::GenericOp>(
      op, type, inputs, result, maps, loops,
      [&](OpBuilder &body, Location at, ValueRange arguments) {
        Value sum = arguments[0];
        if (inputs.size() == 2) {
          Value first = arith::ExtFOp::create(body, at, f32, arguments[1]);
          sum = arith::AddFOp::create(body, at, sum, first);
        }
        Value rounded =
            arith::TruncFOp::create(body, at, type.getElementType(), sum);
        linalg::YieldOp::create(body, at, rounded);
      });
  // Nobody else cleans up the host side.
  if (fill && fill->use_empty()) {
    Operation *filled = fill.output().getDefiningOp();
    rewriter.eraseOp(fill);
    if (filled && isOpTriviallyDead(filled))
      rewriter.eraseOp(filled);
  }
}

namespace {
struct LinalgWidenSums
    : attune::matmul::impl::LinalgWidenSumsPassBase<LinalgWidenSums> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> narrow;
    getOperation().walk([&](linalg::LinalgOp op) {
      Mismatch why;
      bool isEmpty = op.getNumDpsInits() == 1 &&
                     op.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>();
      if (failed(matchContraction(op, &why)) && why.isNarrow && !isEmpty)
        narrow.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : narrow)
      widen(rewriter, op);
  }
};
} // namespace
