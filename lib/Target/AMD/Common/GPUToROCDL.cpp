// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last conversion of an AMD kernel. Base-2 exponentials and logarithms are
// intrinsics here, where upstream's conversion would call a device library.

#include "AMD.h"
#include "attune/Target/ScalarIntrinsic.h"
#include "mlir/Conversion/AMDGPUToROCDL/AMDGPUToROCDL.h"
#include "mlir/Conversion/GPUCommon/GPUCommonPass.h"
#include "mlir/Conversion/GPUToROCDL/GPUToROCDLPass.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/AMDGPU/Utils/Chipset.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune;

LogicalResult amd::AMDTarget::populateGPUToLLVM(
    LLVMTypeConverter &converter, RewritePatternSet &patterns,
    ConversionTarget &conversionTarget, tile::TargetAttr target,
    function_ref<InFlightDiagnostic()> emitError) const {
  FailureOr<amdgpu::Chipset> chipset = amdgpu::Chipset::parse(target.getChip());
  if (failed(chipset))
    return emitError() << "expects a chip of the form gfx<version>, but got '"
                       << target.getChip() << "'";
  amdgpu::populateCommonGPUTypeAndAttributeConversions(converter);
  populateAMDGPUTypeAndAttributeConversions(converter);
  populateGpuToROCDLConversionPatterns(converter, patterns,
                                       gpu::amd::Runtime::HIP, *chipset);
  populateAMDGPUToROCDLConversionPatterns(converter, patterns, *chipset);
  patterns.add<ScalarIntrinsicPattern<math::Exp2Op>>(
      converter, "llvm.amdgcn.exp2", kTargetBenefit);
  patterns.add<ScalarIntrinsicPattern<math::Log2Op>>(
      converter, "llvm.amdgcn.log", kTargetBenefit);
  if (!roundsPairs())
    populateLooseRoundingPatterns(converter, patterns, addsPairs(target));
  populateFloat8Conversions(converter, patterns, target);
  populateVotePattern(converter, patterns);
  constexpr unsigned kFirstRDNA = 10;
  populateBufferPatterns(converter, patterns,
                         chipset->majorVersion >= kFirstRDNA);
  populateLanePatterns(converter, patterns);
  conversionTarget.addLegalDialect<ROCDL::ROCDLDialect>();
  return success();
}

void amd::AMDTarget::configureKernel(LLVM::LLVMFuncOp kernel,
                                     tile::TargetAttr target, int64_t threads,
                                     int64_t workgroupsPerSm) const {
  constexpr int64_t kSIMDs = 4;
  int64_t wavesPerSIMD =
      llvm::divideCeil(workgroupsPerSm * threads, target.getLanes() * kSIMDs);
  Builder builder(kernel.getContext());
  kernel->setAttr("rocdl.flat_work_group_size",
                  builder.getStringAttr(Twine(threads) + "," + Twine(threads)));
  kernel->setAttr(
      "rocdl.reqd_work_group_size",
      builder.getDenseI32ArrayAttr({static_cast<int32_t>(threads), 1, 1}));
  if (wavesPerSIMD > 0)
    kernel->setAttr("rocdl.waves_per_eu",
                    builder.getI32IntegerAttr(wavesPerSIMD));
  separateCopies(kernel);
  // Largest numbers are taken of what was just computed, in which there is no
  // signaling NaN: without this, each is made quiet first.
  kernel.setPassthroughAttr(builder.getArrayAttr(
      {builder.getStrArrayAttr({"amdgpu-ieee", "false"})}));
}
