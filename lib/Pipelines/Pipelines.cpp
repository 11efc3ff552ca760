// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Composition of the passes.

#include "attune/Pipelines/Pipelines.h"
#include "attune/Conversion/Passes.h"
#include "attune/Dialect/Attn/Transforms/Passes.h"
#include "attune/Dialect/Tile/Transforms/Passes.h"
#include "attune/Matmul/Passes.h"
#include "attune/Schedule/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace attune;

static void addRaising(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToAttnPass());
  // Of the contractions that are left.
  pm.addNestedPass<func::FuncOp>(matmul::createLinalgWidenSumsPass());
}

LogicalResult attune::raiseAttention(ModuleOp module) {
  // The pipeline says the same.
  ScopedDiagnosticHandler quiet(
      module.getContext(), [](Diagnostic &diagnostic) {
        return success(diagnostic.getSeverity() == DiagnosticSeverity::Remark);
      });
  PassManager pm(module.getContext());
  addRaising(pm);
  return pm.run(module);
}

void attune::buildTensorsToTilePipeline(OpPassManager &pm,
                                        const CompileOptions &options) {
  addRaising(pm);
  pm.addPass(createAttuneKeepSourcePass());
  {
    AttuneAttachTargetPassOptions target;
    target.chip = options.chip;
    target.sms = options.sms;
    pm.addPass(createAttuneAttachTargetPass(target));
  }
  if (!options.tuningSpecs.empty()) {
    AttuneApplyTuningSpecPassOptions specs;
    llvm::append_range(specs.specs, options.tuningSpecs);
    pm.addPass(createAttuneApplyTuningSpecPass(std::move(specs)));
  }
  pm.addPass(createAttuneSelectSchedulePass());
  pm.addPass(createAttuneCheckSchedulePass());
  pm.addNestedPass<func::FuncOp>(attn::createAttnExpandShortFormsPass());
  pm.addPass(createConvertAttnToTilePass());
  pm.addPass(createConvertLinalgToTilePass());
  pm.addNestedPass<gpu::GPUModuleOp>(createCanonicalizerPass());
  pm.addNestedPass<gpu::GPUModuleOp>(createCSEPass());
}

void attune::buildTilePipeline(OpPassManager &pm) {
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>().nest<gpu::GPUFuncOp>();
  kernels.addPass(tile::createTilePromoteToSharedPass());
  kernels.addPass(tile::createTileOverlapMmasPass());
  kernels.addPass(tile::createTileDeferWaitsPass());
  kernels.addPass(tile::createTileIssueAheadPass());
  kernels.addPass(tile::createTileChainMmasPass());
  kernels.addPass(tile::createTileIssueLatePass());
  kernels.addPass(tile::createTilePipelineLoopsPass());
  kernels.addPass(tile::createTilePingPongPass());
  kernels.addPass(tile::createTileSplitLoopsPass());
  kernels.addPass(tile::createTileSpecializeWarpsPass());
  kernels.addPass(tile::createTileTakeTurnsPass());
  kernels.addPass(tile::createTileUseWorkCounterPass());
  kernels.addPass(tile::createTileMulticastPass());
  kernels.addPass(tile::createTileUnrollLoopsPass());
  kernels.addPass(tile::createTileAssignLayoutsPass());
  kernels.addPass(tile::createTileRemoveLayoutConversionsPass());
  kernels.addPass(tile::createTileConvertInSharedPass());
}

static void addTileConversion(OpPassManager &pm) {
  pm.nest<gpu::GPUModuleOp>().addNestedPass<gpu::GPUFuncOp>(
      tile::createTileAllocateSharedPass());
  pm.addPass(createConvertTileToGPUPass());
  pm.addNestedPass<gpu::GPUModuleOp>(createCSEPass());
}

void attune::buildTileToGPUPipeline(OpPassManager &pm) {
  buildTilePipeline(pm);
  addTileConversion(pm);
}

void attune::buildGPUToLLVMPipeline(OpPassManager &pm) {
  pm.addNestedPass<gpu::GPUModuleOp>(createConvertKernelToLLVMPass());
  pm.addNestedPass<gpu::GPUModuleOp>(createCSEPass());
}

void attune::buildTileToLLVMPipeline(OpPassManager &pm) {
  addTileConversion(pm);
  buildGPUToLLVMPipeline(pm);
}

void attune::buildHostToLLVMPipeline(OpPassManager &pm) {
  pm.addPass(createAttuneBufferizeHostPass());
  pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  pm.addPass(createConvertHostToLLVMPass());
}

static void addKernels(OpPassManager &pm, const CompileOptions &options) {
  buildTensorsToTilePipeline(pm, options);
  if (options.format == CompileFormat::Tile)
    return;
  buildTileToGPUPipeline(pm);
  if (options.format == CompileFormat::GPU)
    return;
  buildGPUToLLVMPipeline(pm);
  if (options.format == CompileFormat::LLVM)
    return;
  AttuneEmitBinaryPassOptions binary;
  binary.format = options.format == CompileFormat::Assembly
                      ? BinaryOptions::Format::Assembly
                      : BinaryOptions::Format::Object;
  binary.ptxas = options.assembler;
  binary.outputDir = options.outputDir;
  pm.addPass(createAttuneEmitBinaryPass(binary));
}

void attune::buildCompilePipeline(OpPassManager &pm,
                                  const CompileOptions &options) {
  addKernels(pm, options);
  // Where kernels are not compiled to the end, it says so.
  if (options.host == HostFormat::LLVM)
    buildHostToLLVMPipeline(pm);
}

/// Registers a pipeline of modules. Upstream's registration would end the
/// process where it is nested in another op.
template <typename Options, typename Build>
static void registerPipeline(StringRef name, StringRef description,
                             Build build) {
  registerPassPipeline(
      name, description,
      [name, build](OpPassManager &pm, StringRef text,
                    function_ref<LogicalResult(const Twine &)> emitError)
          -> LogicalResult {
        StringRef anchor = pm.getOpAnchorName(),
                  module = ModuleOp::getOperationName();
        if (anchor != module && anchor != OpPassManager::getAnyOpAnchorName())
          return emitError("expects '" + name + "' to run on '" + module +
                           "', but got '" + anchor + "'");
        Options options;
        if (failed(options.parseFromString(text)))
          return failure();
        build(pm, options);
        return success();
      },
      [](function_ref<void(const detail::PassOptions &)> handle) {
        handle(Options());
      });
}

void attune::registerPipelines() {
  auto withoutOptions = [](void (*build)(OpPassManager &)) {
    return
        [build](OpPassManager &pm, const EmptyPipelineOptions &) { build(pm); };
  };
  registerPipeline<CompileOptions>(
      "tensors-to-tile-pipeline",
      "Attention and matmuls on tensors to kernels that speak tile.",
      buildTensorsToTilePipeline);
  registerPipeline<EmptyPipelineOptions>(
      "tile-pipeline",
      "The passes on tiles, which tile-to-gpu-pipeline begins with.",
      withoutOptions(buildTilePipeline));
  registerPipeline<EmptyPipelineOptions>(
      "tile-to-gpu-pipeline", "Kernels that speak tile to upstream's dialects.",
      withoutOptions(buildTileToGPUPipeline));
  registerPipeline<EmptyPipelineOptions>(
      "gpu-to-llvm-pipeline", "Kernels in upstream's dialects to LLVM dialect.",
      withoutOptions(buildGPUToLLVMPipeline));
  registerPipeline<EmptyPipelineOptions>(
      "host-to-llvm-pipeline",
      "The host side of a compiled module to LLVM dialect.",
      withoutOptions(buildHostToLLVMPipeline));
  registerPipeline<CompileOptions>(
      "attune-compile",
      "Attention and matmuls on tensors to binaries for one chip.",
      buildCompilePipeline);
}
