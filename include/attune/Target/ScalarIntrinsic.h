// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Math ops that a back end offers as an intrinsic of one float alone.

#ifndef ATTUNE_TARGET_SCALARINTRINSIC_H
#define ATTUNE_TARGET_SCALARINTRINSIC_H

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace attune {

// Pattern: math.f(x) of f32 -> call_intrinsic "name"(x), element by element
template <typename MathOp>
class ScalarIntrinsicPattern : public mlir::ConvertOpToLLVMPattern<MathOp> {
public:
  ScalarIntrinsicPattern(const mlir::LLVMTypeConverter &converter,
                         llvm::StringRef name, mlir::PatternBenefit benefit)
      : mlir::ConvertOpToLLVMPattern<MathOp>(converter, benefit), name(name) {}

  llvm::LogicalResult
  matchAndRewrite(MathOp op, typename MathOp::Adaptor adaptor,
                  mlir::ConversionPatternRewriter &rewriter) const override {
    if (!mlir::getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "not f32");
    mlir::Location loc = op.getLoc();
    auto call = [&](mlir::Value x) -> mlir::Value {
      return mlir::LLVM::CallIntrinsicOp::create(
                 rewriter, loc, rewriter.getF32Type(),
                 rewriter.getStringAttr(name), x)
          .getResult(0);
    };
    auto type = mlir::dyn_cast<mlir::VectorType>(op.getType());
    if (!type) {
      rewriter.replaceOp(op, call(adaptor.getOperand()));
      return llvm::success();
    }
    if (type.getRank() != 1)
      return rewriter.notifyMatchFailure(op, "more than one dimension");
    mlir::Value result = mlir::LLVM::PoisonOp::create(
        rewriter, loc, adaptor.getOperand().getType());
    for (int64_t i = 0; i < type.getNumElements(); ++i) {
      mlir::Value index = mlir::LLVM::ConstantOp::create(
          rewriter, loc, rewriter.getI32IntegerAttr(i));
      mlir::Value element = mlir::LLVM::ExtractElementOp::create(
          rewriter, loc, adaptor.getOperand(), index);
      result = mlir::LLVM::InsertElementOp::create(rewriter, loc, result,
                                                   call(element), index);
    }
    rewriter.replaceOp(op, result);
    return llvm::success();
  }

private:
  llvm::StringRef name;
};

} // namespace attune

#endif // ATTUNE_TARGET_SCALARINTRINSIC_H
