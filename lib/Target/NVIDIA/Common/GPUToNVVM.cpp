// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last conversion of an NVIDIA kernel, and the dialects it ends in.

#include "NVIDIA.h"
#include "attune/Dialect/WGMMA/IR/WGMMA.h"
#include "attune/Target/ScalarIntrinsic.h"
#include "attune/Target/TargetModel.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/NVGPUToNVVM/NVGPUToNVVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Target/LLVM/NVVM/Target.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace attune;

namespace {
// Pattern: mului_extended(x, y) of i32 -> x * y and call_intrinsic mulhi(x, y),
// element by element. Of the halves of a product of 64 bits, the back end makes
// numbers of 64 bits again, which it multiplies in several instructions.
struct MultiplyExtendedPattern
    : ConvertOpToLLVMPattern<arith::MulUIExtendedOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult
  matchAndRewrite(arith::MulUIExtendedOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type type = op.getLow().getType();
    auto vector = dyn_cast<VectorType>(type);
    if (!getElementTypeOrSelf(type).isInteger(32) ||
        (vector && vector.getRank() != 1))
      return rewriter.notifyMatchFailure(op, "not i32 or a vector of these");
    Location loc = op.getLoc();
    Value lhs = adaptor.getLhs(), rhs = adaptor.getRhs();
    auto multiply = [&](Value left, Value right) -> std::array<Value, 2> {
      auto high = LLVM::CallIntrinsicOp::create(
          rewriter, loc, rewriter.getI32Type(),
          rewriter.getStringAttr(nvidia::kMultiplyHigh),
          ValueRange{left, right});
      return {LLVM::MulOp::create(rewriter, loc, left, right),
              high.getResult(0)};
    };
    if (!vector) {
      rewriter.replaceOp(op, multiply(lhs, rhs));
      return success();
    }
    std::array<Value, 2> halves;
    halves.fill(LLVM::PoisonOp::create(rewriter, loc, lhs.getType()));
    for (int64_t i = 0; i < vector.getNumElements(); ++i) {
      Value index = LLVM::ConstantOp::create(rewriter, loc,
                                             rewriter.getI32IntegerAttr(i));
      auto extract = [&](Value from) -> Value {
        return LLVM::ExtractElementOp::create(rewriter, loc, from, index);
      };
      for (auto [half, element] :
           llvm::zip_equal(halves, multiply(extract(lhs), extract(rhs))))
        half =
            LLVM::InsertElementOp::create(rewriter, loc, half, element, index);
    }
    rewriter.replaceOp(op, halves);
    return success();
  }
};
} // namespace

void attune::nvidia::populateGPUToNVVM(LLVMTypeConverter &converter,
                                       RewritePatternSet &patterns,
                                       ConversionTarget &target) {
  configureGpuToNVVMTypeConverter(converter);
  nvgpu::populateCommonGPUTypeAndAttributeConversions(converter);
  converter.addConversion([](nvgpu::TensorMapDescriptorType type) {
    return LLVM::LLVMPointerType::get(type.getContext());
  });
  populateGpuToNVVMConversionPatterns(converter, patterns);
  populateNVGPUToNVVMConversionPatterns(converter, patterns);
  // The back end has no rule for LLVM's log2 intrinsic.
  patterns.add<ScalarIntrinsicPattern<math::Log2Op>>(
      converter, "llvm.nvvm.lg2.approx.ftz.f", kTargetBenefit);
  patterns.add<MultiplyExtendedPattern>(converter, kTargetBenefit);
  target.addLegalDialect<NVVM::NVVMDialect, wgmma::WGMMADialect>();
}

void attune::nvidia::configureKernel(LLVM::LLVMFuncOp kernel, int64_t threads,
                                     int64_t workgroupsPerSm) {
  Builder builder(kernel.getContext());
  kernel->setAttr(
      NVVM::NVVMDialect::getReqntidAttrName(),
      builder.getDenseI32ArrayAttr({static_cast<int32_t>(threads), 1, 1}));
  kernel->removeAttr(NVVM::NVVMDialect::getMaxntidAttrName());
  if (workgroupsPerSm > 0)
    kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                    builder.getI32IntegerAttr(workgroupsPerSm));
}

void attune::nvidia::configureParameter(LLVM::LLVMFuncOp kernel,
                                        unsigned parameter, Type argument) {
  if (!isa<nvgpu::TensorMapDescriptorType>(argument))
    return;
  constexpr int64_t bytes = 128, alignment = 64;
  Builder builder(kernel.getContext());
  kernel.setArgAttr(
      parameter, LLVM::LLVMDialect::getByValAttrName(),
      TypeAttr::get(LLVM::LLVMArrayType::get(builder.getI8Type(), bytes)));
  kernel.setArgAttr(parameter, LLVM::LLVMDialect::getAlignAttrName(),
                    builder.getI64IntegerAttr(alignment));
  kernel.setArgAttr(parameter, NVVM::NVVMDialect::getGridConstantAttrName(),
                    builder.getUnitAttr());
}

void attune::nvidia::registerDialects(DialectRegistry &registry) {
  registry
      .insert<NVVM::NVVMDialect, nvgpu::NVGPUDialect, wgmma::WGMMADialect>();
  NVVM::registerNVVMTargetInterfaceExternalModels(registry);
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  registerConvertNVVMToLLVMInterface(registry);
}
