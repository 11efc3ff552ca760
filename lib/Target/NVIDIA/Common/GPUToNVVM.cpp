// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last conversion of an NVIDIA kernel, and the dialects it ends in.

#include "NVIDIA.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/NVGPUToNVVM/NVGPUToNVVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
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

namespace {

// Pattern: math.log2 of f32 -> lg2.approx, element by element. The back end has
// no rule for LLVM's log2 intrinsic.
struct Log2Pattern : ConvertOpToLLVMPattern<math::Log2Op> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(math::Log2Op op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "not f32");
    Location loc = op.getLoc();
    StringAttr name = rewriter.getStringAttr("llvm.nvvm.lg2.approx.ftz.f");
    auto scalar = [&](Value x) -> Value {
      return LLVM::CallIntrinsicOp::create(rewriter, loc, rewriter.getF32Type(), name, x).getResult(0);
    };
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type) {
      rewriter.replaceOp(op, scalar(adaptor.getOperand()));
      return success();
    }
    if (type.getRank() != 1)
      return rewriter.notifyMatchFailure(op, "more than one dimension");
    Value result = LLVM::PoisonOp::create(rewriter, loc, adaptor.getOperand().getType());
    for (int64_t i = 0; i < type.getNumElements(); ++i) {
      Value index = LLVM::ConstantOp::create(rewriter, loc, rewriter.getI32IntegerAttr(i));
      Value element = LLVM::ExtractElementOp::create(rewriter, loc, adaptor.getOperand(), index);
      result = LLVM::InsertElementOp::create(rewriter, loc, result, scalar(element), index);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void attune::nvidia::populateGPUToNVVM(LLVMTypeConverter &converter, RewritePatternSet &patterns,
                                       ConversionTarget &target) {
  configureGpuToNVVMTypeConverter(converter);
  nvgpu::populateCommonGPUTypeAndAttributeConversions(converter);
  populateGpuToNVVMConversionPatterns(converter, patterns);
  populateNVGPUToNVVMConversionPatterns(converter, patterns);
  // Before the general rule for math.log2.
  patterns.add<Log2Pattern>(converter, /*benefit=*/2);
  target.addLegalDialect<NVVM::NVVMDialect>();
}

void attune::nvidia::configureKernel(LLVM::LLVMFuncOp kernel, int64_t threads, int64_t minBlocksPerCore) {
  Builder builder(kernel.getContext());
  kernel->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                  builder.getDenseI32ArrayAttr({static_cast<int32_t>(threads), 1, 1}));
  kernel->removeAttr(NVVM::NVVMDialect::getMaxntidAttrName());
  if (minBlocksPerCore > 0)
    kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), builder.getI32IntegerAttr(minBlocksPerCore));
}

void attune::nvidia::registerDialects(DialectRegistry &registry) {
  registry.insert<NVVM::NVVMDialect, nvgpu::NVGPUDialect>();
  NVVM::registerNVVMTargetInterfaceExternalModels(registry);
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  registerConvertNVVMToLLVMInterface(registry);
}
