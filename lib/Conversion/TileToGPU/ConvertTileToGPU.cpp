// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass: makes tensor maps, converts, and tells the host how much memory a
// launch needs.

#include "Completion.h"
#include "KernelChecks.h"
#include "KernelContext.h"
#include "SharedMemory.h"
#include "TensorMaps.h"
#include "attune/Conversion/Passes.h"
#include "attune/Dialect/Launch/IR/Launch.h"
#include "attune/Dialect/WGMMA/IR/WGMMA.h"
#include "attune/Target/TargetRegistry.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

namespace attune {
#define GEN_PASS_DEF_CONVERTTILETOGPUPASS
#include "attune/Conversion/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

/// Says of the bounds of loops that multiply by warpgroups, and of the numbers
/// that these carry, that they are the same in all lanes, which the back end
/// does not know of what follows from memory, as lengths are. Slots are counted
/// by them, and the descriptors of MMAs are to be in registers of a warp: each
/// is moved there from one of lanes where that is not known.
static void makeLoopsUniform(gpu::GPUFuncOp kernel,
                             const KernelContext &context) {
  bool readsNumbers = false;
  SetVector<scf::ForOp> loops;
  kernel.walk([&](Operation *op) {
    auto load = dyn_cast<memref::LoadOp>(op);
    readsNumbers |= load && load.getType().isInteger(32);
    if (isa<tile::MmaAsyncOp>(op))
      for (auto loop = op->getParentOfType<scf::ForOp>(); loop;
           loop = loop->getParentOfType<scf::ForOp>())
        loops.insert(loop);
  });
  if (!readsNumbers)
    return;
  for (scf::ForOp loop : loops)
    for (Operation *op :
         {loop.getOperation(), loop.getBody()->getTerminator()}) {
      OpBuilder b(op);
      for (OpOperand &operand : op->getOpOperands()) {
        Value value = operand.get();
        if (value.getType().isIndex() && !matchPattern(value, m_Constant()))
          operand.set(context.model->emitUniform(b, loop.getLoc(),
                                                 context.target, value));
      }
    }
}

/// Numbers that the first lane has, as the back end knows that all have them.
static void lowerBroadcasts(gpu::GPUFuncOp kernel,
                            const KernelContext &context) {
  kernel.walk([&](gpu::SubgroupBroadcastOp op) {
    if (op.getBroadcastType() != gpu::BroadcastType::first_active_lane ||
        !op.getType().isIndex())
      return;
    OpBuilder b(op);
    op.replaceAllUsesWith(context.model->emitUniform(
        b, op.getLoc(), context.target, op.getSrc()));
    op.erase();
  });
}

/// Marks MMAs of loops whose left operands, which these do not change, have
/// more places than a warp has registers to keep their descriptors in beside
/// the numbers of a loop.
static void markManyOperands(gpu::GPUFuncOp kernel) {
  constexpr int64_t kMost = 32;
  llvm::MapVector<Operation *, SmallVector<tile::MmaAsyncOp>> loops;
  kernel.walk([&](tile::MmaAsyncOp mma) {
    auto lhs = dyn_cast<tile::TileType>(mma.getLhs().getType());
    auto loop = mma->getParentOfType<scf::ForOp>();
    if (loop && lhs && lhs.isShared() &&
        loop.isDefinedOutsideOfLoop(mma.getLhs()))
      loops[loop].push_back(mma);
  });
  for (auto &[loop, mmas] : loops) {
    int64_t places = 0;
    for (tile::MmaAsyncOp mma : mmas) {
      tile::MmaAtomAttr atom = mma.getAtomAttr();
      places += cast<tile::TileType>(mma.getLhs().getType()).getNumElements() /
                (atom.getM() * atom.getK());
    }
    if (places > kMost)
      for (tile::MmaAsyncOp mma : mmas)
        mma->setAttr(kComputesPlacesAttrName,
                     UnitAttr::get(kernel.getContext()));
  }
}

static LogicalResult convertKernel(gpu::GPUFuncOp kernel,
                                   const KernelContext &context) {
  makeLoopsUniform(kernel, context);
  lowerBroadcasts(kernel, context);
  markManyOperands(kernel);
  MLIRContext *mlirContext = kernel.getContext();
  TypeConverter converter;
  converter.addConversion([](Type type) { return type; });
  converter.addConversion([](tile::TileType type) -> std::optional<Type> {
    switch (type.getSpace()) {
    case tile::MemorySpace::Registers:
      if (!type.getRegisterLayout())
        return std::nullopt;
      return laneVectorType(type);
    case tile::MemorySpace::Shared:
      return sharedTileType(type);
    }
    llvm_unreachable("a switch over all spaces");
  });
  converter.addConversion([](tile::PendingType type) -> std::optional<Type> {
    if (!type.getTile().getRegisterLayout())
      return std::nullopt;
    return laneVectorType(type.getTile());
  });
  converter.addConversion(
      [](tile::ChannelType type) -> Type { return channelBufferType(type); });

  converter.addConversion(
      [](tile::TokenType, SmallVectorImpl<Type> &) { return success(); });
  converter.addConversion([](tile::SchedulerType type) -> Type {
    Builder b(type.getContext());
    return MemRefType::get(
        {tile::SchedulerType::kWords}, b.getI64Type(),
        MemRefLayoutAttrInterface(),
        gpu::AddressSpaceAttr::get(type.getContext(),
                                   gpu::AddressSpace::Workgroup));
  });

  ConversionTarget target(*mlirContext);
  RewritePatternSet patterns(mlirContext);
  populateTMABoxPatterns(converter, patterns, context);
  populateSchedulerPatterns(converter, patterns, context);
  populateElementwisePatterns(converter, patterns, context);
  populateLayoutPatterns(converter, patterns, context);
  populateMemoryPatterns(converter, patterns, context);
  populateMmaPatterns(converter, patterns, context);
  populateOrderedPatterns(converter, patterns, context);
  populateRolePatterns(converter, patterns, context);
  populateRowPatterns(converter, patterns, context);
  populateSharedTilePatterns(converter, patterns, context);
  populateSwapColumnsPatterns(converter, patterns, context);
  populateByThreadsPatterns(converter, patterns, context);
  populateSharedMemoryPatterns(converter, patterns, context);
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                       target);
  target.addIllegalDialect<tile::TileDialect>();
  // Its programs ask it for their warps.
  target.addLegalOp<tile::SpecializeOp>();
  target.addLegalOp<tile::AddRunOp>();
  target.addLegalDialect<
      arith::ArithDialect, gpu::GPUDialect, math::MathDialect,
      memref::MemRefDialect, vector::VectorDialect, LLVM::LLVMDialect,
      NVVM::NVVMDialect, nvgpu::NVGPUDialect, ROCDL::ROCDLDialect,
      amdgpu::AMDGPUDialect, wgmma::WGMMADialect>();
  target.addLegalOp<UnrealizedConversionCastOp>();
  if (failed(applyPartialConversion(kernel, target, std::move(patterns))))
    return failure();
  lowerRoles(kernel, context);
  return success();
}

namespace {

struct ConvertTileToGPU
    : attune::impl::ConvertTileToGPUPassBase<ConvertTileToGPU> {
  void runOnOperation() override;
  void finishKernel(gpu::GPUFuncOp kernel, int64_t sharedBytes);
};

} // namespace

void ConvertTileToGPU::finishKernel(gpu::GPUFuncOp kernel,
                                    int64_t sharedBytes) {
  if (launch::ManifestAttr manifest = launch::getManifest(kernel))
    launch::setManifest(kernel, manifest.withSharedBytes(sharedBytes));
  auto gpuModule = kernel->getParentOfType<gpu::GPUModuleOp>();
  getOperation().walk([&](gpu::LaunchFuncOp launch) {
    if (launch.getKernelModuleName() != gpuModule.getName() ||
        launch.getKernelName() != kernel.getName())
      return;
    OpBuilder host(launch);
    Value bytes =
        arith::ConstantIntOp::create(host, launch.getLoc(), sharedBytes, 32);
    launch.getDynamicSharedMemorySizeMutable().assign(bytes);
  });
}

/// Whether elements of the channel are got behind the loop that it put: its
/// copies run ahead into those. What is put anew before is none of them.
static bool isGotBehind(Value channel, scf::ForOp loop) {
  Operation *first = nullptr;
  for (Operation *user : channel.getUsers()) {
    Operation *ancestor = loop->getBlock()->findAncestorOpInBlock(*user);
    if (isa<tile::PutOp, tile::GetOp>(user) && ancestor &&
        loop->isBeforeInBlock(ancestor) &&
        (!first || ancestor->isBeforeInBlock(first)))
      first = ancestor;
  }
  return first && !isa<tile::PutOp>(first);
}

/// Finds how many copies a put is, and waits for all of them behind the last
/// loop: the last ones are of elements that are not there, which nobody gets.
static void countCopies(gpu::GPUFuncOp kernel, KernelContext &context) {
  SetVector<Operation *> loops;
  kernel.walk([&](tile::PutOp put) {
    if (!put.getChannel().getType().getChunk())
      return;
    int64_t copies = countWarpCopies(put, context);
    context.fewestCopies =
        std::min(context.fewestCopies.value_or(copies), copies);
    auto loop = put->getParentOfType<scf::ForOp>();
    if (loop && !isGotBehind(put.getChannel(), loop))
      loops.insert(loop);
  });
  for (Operation *loop : loops) {
    OpBuilder b(loop);
    b.setInsertionPointAfter(loop);
    context.model->emitAsyncWait(b, loop->getLoc(), /*pending=*/0);
  }
}

void ConvertTileToGPU::runOnOperation() {
  WalkResult result = getOperation().walk([&](gpu::GPUFuncOp kernel) {
    bool usesTiles = kernel
                         .walk([](Operation *op) {
                           return isa<tile::TileDialect>(op->getDialect())
                                      ? WalkResult::interrupt()
                                      : WalkResult::advance();
                         })
                         .wasInterrupted();
    if (!usesTiles) {
      kernel->removeAttr(tile::TileDialect::kSharedBytesAttrName);
      return WalkResult::advance();
    }
    auto target = tile::TargetAttr::lookup(kernel);
    if (!target) {
      emitError(kernel.getLoc())
          << "expects a '" << tile::TileDialect::kTargetAttrName
          << "' attribute on the kernel or around it; run attune-attach-target "
             "first";
      return WalkResult::interrupt();
    }
    const TargetModel *model = getTargetModel(target.getFamily());
    if (!model) {
      emitError(kernel.getLoc())
          << "expects a family that this build knows, but got '"
          << target.getFamily() << "'";
      return WalkResult::interrupt();
    }
    std::optional<ArrayRef<int32_t>> block = kernel.getKnownBlockSize();
    if (!block) {
      emitError(kernel.getLoc()) << "expects 'known_block_size' on the kernel";
      return WalkResult::interrupt();
    }
    auto context = KernelContext::get(kernel, target, model);
    if (failed(checkKernel(kernel, context)))
      return WalkResult::interrupt();
    auto allocated = dyn_cast_or_null<IntegerAttr>(
        kernel->removeAttr(tile::TileDialect::kSharedBytesAttrName));
    int64_t sharedBytes = allocated ? allocated.getInt() : 0;
    if (sharedBytes > target.getShared()) {
      emitError(kernel.getLoc())
          << "expects at most " << target.getShared()
          << " bytes of shared memory on '" << target.getChip() << "', but got "
          << sharedBytes;
      return WalkResult::interrupt();
    }
    if (model->getCopyEngine() && failed(addTensorMaps(kernel, context)))
      return WalkResult::interrupt();
    context.laterMmas = countLaterMmas(kernel);
    countCopies(kernel, context);
    context.needlessMeetings = tile::findNeedlessMeetings(kernel);
    if (failed(convertKernel(kernel, context)))
      return WalkResult::interrupt();
    finishKernel(kernel, sharedBytes);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}
