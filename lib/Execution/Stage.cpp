// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of one module may be at different stages: a pass manager takes one
// after the other through its passes.

#include "attune/Execution/Stage.h"
#include "attune/Conversion/Passes.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Schedule/TunableOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace attune;

static bool contains(Operation *op, function_ref<bool(Operation *)> isSought) {
  return op
      ->walk([&](Operation *nested) {
        return isSought(nested) ? WalkResult::interrupt()
                                : WalkResult::advance();
      })
      .wasInterrupted();
}

static bool isTileOp(Operation *op) {
  return isa<tile::TileDialect>(op->getDialect());
}

Stage attune::getStage(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (hasTunableOp(function))
      return Stage::Tensors;
  if (!module.getOps<gpu::BinaryOp>().empty())
    return Stage::Binary;
  Stage stage = Stage::LLVM;
  for (auto holder : module.getOps<gpu::GPUModuleOp>()) {
    if (contains(holder, isTileOp))
      return Stage::Tile;
    if (!holder.getOps<gpu::GPUFuncOp>().empty())
      stage = Stage::GPU;
  }
  return stage;
}

StringRef attune::getStageName(Stage stage) {
  switch (stage) {
  case Stage::Tensors:
    return "tensor";
  case Stage::Tile:
    return "tile";
  case Stage::GPU:
    return "gpu";
  case Stage::LLVM:
    return "llvm";
  case Stage::Binary:
    return "binary";
  }
  llvm_unreachable("a stage that has no name");
}

FailureOr<OwningOpRef<ModuleOp>> attune::lowerForHost(ModuleOp module) {
  OwningOpRef<ModuleOp> lowered = module.clone();
  if (getStage(module) == Stage::Tile) {
    PassManager pm(module.getContext());
    pm.addPass(createConvertTileToLoopsPass());
    if (failed(pm.run(*lowered)))
      return failure();
  }
  for (auto holder : lowered->getOps<gpu::GPUModuleOp>()) {
    if (holder.getOps<gpu::GPUFuncOp>().empty())
      continue;
    PassManager pm(module.getContext(), gpu::GPUModuleOp::getOperationName());
    pm.addPass(createConvertKernelToLLVMPass());
    if (failed(pm.run(holder)))
      return failure();
  }
  return lowered;
}
