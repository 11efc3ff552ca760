// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The op's own passes make an scf.parallel of three dimensions; upstream's
// passes make a launch of it. Nothing here is shared with the kernels that the
// reference is there to check, but for the last step to the chip's assembly.

#include "attune/Execution/Reference.h"
#include "attune/Conversion/Passes.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/SCFToGPU/SCFToGPUPass.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace attune;

/// Iterations of the innermost one in a workgroup; the most that all devices
/// allow in the third dimension of one.
static constexpr int64_t kPointsPerGroup = 64;

template <typename AccessOp> static void align(AccessOp access) {
  MemRefType type = access.getMemRefType();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) || offset != 0)
    return;
  uint64_t bytes = type.getElementTypeBitWidth() / 8, alignment = 16;
  for (int64_t stride : ArrayRef(strides).drop_back()) {
    if (ShapedType::isDynamic(stride))
      return;
    alignment = llvm::MinAlign(alignment, stride * bytes);
  }
  access.setAlignment(alignment);
}

void attune::buildReference(func::FuncOp source, OpPassManager &pm,
                            ReferenceRun run) {
  SetVector<const KnobSet *> built;
  source.walk([&](TunableOpInterface op) {
    if (built.insert(&op.getKnobSet()))
      op.buildReference(pm, run);
  });
}

void attune::alignRows(ModuleOp loops) {
  loops.walk([](vector::LoadOp load) { align(load); });
  loops.walk([](vector::StoreOp store) { align(store); });
}

FailureOr<OwningOpRef<ModuleOp>> attune::compileReference(func::FuncOp source,
                                                          StringRef chip,
                                                          ReferenceRun run) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(source.getLoc());
  module->push_back(source->clone());

  auto refuse = [&] {
    return source.emitError() << "expects a function whose reference can be "
                                 "compiled for '"
                              << chip << "', but that failed";
  };
  PassManager toLoops(source.getContext());
  buildReference(source, toLoops, run);
  if (failed(toLoops.run(*module)))
    return refuse();
  alignRows(*module);

  PassManager pm(source.getContext());
  pm.enableVerifier(false);
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createParallelLoopTilingPass({1, 1, kPointsPerGroup},
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
  if (failed(pm.run(*module)))
    return refuse();
  return module;
}

FailureOr<ModuleOp> CompiledReferences::get(ReferenceRun run) {
  OwningOpRef<ModuleOp> &module = modules[run];
  if (!module) {
    auto compiled = compileReference(source, chip, run);
    if (failed(compiled))
      return failure();
    module = std::move(*compiled);
  }
  return *module;
}
