// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last conversion of an AMD kernel. Base-2 exponentials and logarithms are
// intrinsics here, where upstream's conversion would call a device library.

#include "AMD.h"
#include "attune/Target/ScalarIntrinsic.h"
#include "attune/Target/TargetModel.h"
#include "mlir/Conversion/AMDGPUToROCDL/AMDGPUToROCDL.h"
#include "mlir/Conversion/GPUCommon/GPUCommonPass.h"
#include "mlir/Conversion/GPUToROCDL/GPUToROCDLPass.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/AMDGPU/Utils/Chipset.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace attune;

void attune::amd::populateGPUToROCDL(LLVMTypeConverter &converter,
                                     RewritePatternSet &patterns,
                                     ConversionTarget &conversionTarget,
                                     tile::TargetAttr target) {
  FailureOr<amdgpu::Chipset> chipset = amdgpu::Chipset::parse(target.getChip());
  assert(succeeded(chipset) && "descriptions of chips are tested");
  amdgpu::populateCommonGPUTypeAndAttributeConversions(converter);
  populateAMDGPUTypeAndAttributeConversions(converter);
  populateGpuToROCDLConversionPatterns(converter, patterns,
                                       gpu::amd::Runtime::HIP, *chipset);
  populateAMDGPUToROCDLConversionPatterns(converter, patterns, *chipset);
  patterns.add<ScalarIntrinsicPattern<math::Exp2Op>>(
      converter, "llvm.amdgcn.exp2", kTargetBenefit);
  patterns.add<ScalarIntrinsicPattern<math::Log2Op>>(
      converter, "llvm.amdgcn.log", kTargetBenefit);
  conversionTarget.addLegalDialect<ROCDL::ROCDLDialect>();
}

void attune::amd::configureKernel(LLVM::LLVMFuncOp kernel, int64_t threads,
                                  int64_t wavesPerSIMD) {
  Builder builder(kernel.getContext());
  kernel->setAttr("rocdl.flat_work_group_size",
                  builder.getStringAttr(Twine(threads) + "," + Twine(threads)));
  kernel->setAttr(
      "rocdl.reqd_work_group_size",
      builder.getDenseI32ArrayAttr({static_cast<int32_t>(threads), 1, 1}));
  if (wavesPerSIMD > 0)
    kernel->setAttr("rocdl.waves_per_eu",
                    builder.getI32IntegerAttr(wavesPerSIMD));
}
