// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-to-loops makes an scf.parallel over batch, head and query; upstream's
// passes make a launch of it. Nothing here is shared with the kernels that the
// reference is there to check, but for the last step to the chip's assembly.

#include "attune/Execution/Reference.h"
#include "attune/Conversion/Passes.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/SCFToGPU/SCFToGPUPass.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace attune;

/// Queries of one workgroup; the most that all devices allow in the third
/// dimension of one.
static constexpr int64_t kQueriesPerGroup = 64;

FailureOr<OwningOpRef<ModuleOp>>
attune::compileReference(func::FuncOp source, StringRef chip,
                         attn::ReferencePrecision precision) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(source.getLoc());
  module->push_back(source->clone());

  PassManager pm(source.getContext());
  pm.enableVerifier(false);
  attn::AttnToLoopsPassOptions loops;
  loops.output = attn::ReferencePrecision::F32;
  loops.precision = precision;
  pm.addPass(attn::createAttnToLoopsPass(loops));
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createParallelLoopTilingPass({1, 1, kQueriesPerGroup},
                                                 /*noMinMaxBounds=*/true));
  functions.addPass(createGpuMapParallelLoopsPass());
  functions.addPass(createConvertParallelLoopToGpuPass());
  functions.addPass(createLowerAffinePass());
  // Constants too, of which a vector is no argument that a kernel can take.
  pm.addPass(createGpuLaunchSinkIndexComputationsPass());
  pm.addPass(createGpuKernelOutliningPass());
  AttuneAttachTargetPassOptions target;
  target.chip = chip.str();
  pm.addPass(createAttuneAttachTargetPass(target));
  pm.addNestedPass<gpu::GPUModuleOp>(createCSEPass());
  pm.addNestedPass<gpu::GPUModuleOp>(createConvertKernelToLLVMPass());
  pm.addPass(createAttuneEmitBinaryPass());
  if (failed(pm.run(*module))) {
    source.emitError() << "expects a function whose reference can be compiled "
                          "for '"
                       << chip << "', but that failed";
    return failure();
  }
  return module;
}
