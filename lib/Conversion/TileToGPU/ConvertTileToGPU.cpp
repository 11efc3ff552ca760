// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass: lays out workgroup memory, finds the barriers that are missing,
// converts, and tells the host how much memory a launch needs.

#include "KernelChecks.h"
#include "LaneContext.h"
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
#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/MathExtras.h"

namespace attune {
#define GEN_PASS_DEF_CONVERTTILETOGPUPASS
#include "attune/Conversion/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

/// Buffers start at multiples of this many bytes, so that the swizzle's eight
/// rows of 128 bytes fall on the banks as planned.
static constexpr int64_t kBufferAlignment = 1024;

/// Gives every channel and buffer its place, and the barriers of those with
/// panels theirs behind all of them; returns the bytes used.
static int64_t assignOffsets(gpu::GPUFuncOp kernel) {
  constexpr int64_t kBarrierBytes = 8;
  int64_t used = 0;
  Builder builder(kernel.getContext());
  kernel.walk([&](tile::ChannelOp channel) {
    used = llvm::alignTo(used, kBufferAlignment);
    channel->setAttr(kSharedOffsetAttrName, builder.getI64IntegerAttr(used));
    used += channel.getResult().getType().getSizeInBytes();
  });
  kernel.walk([&](tile::BufferOp buffer) {
    used = llvm::alignTo(used, kBufferAlignment);
    buffer->setAttr(kSharedOffsetAttrName, builder.getI64IntegerAttr(used));
    tile::TileType type = buffer.getResult().getType();
    used += type.getNumElements() *
            type.getElementType().getIntOrFloatBitWidth() / 8;
  });
  used = llvm::alignTo(used, kBarrierBytes);
  kernel.walk([&](tile::ChannelOp channel) {
    tile::ChannelType type = channel.getResult().getType();
    if (!type.getPanel())
      return;
    channel->setAttr(kBarrierOffsetAttrName, builder.getI64IntegerAttr(used));
    used += 2 * type.getStages() * kBarrierBytes;
  });
  kernel.walk([&](tile::DealerOp dealer) {
    dealer->setAttr(kSharedOffsetAttrName, builder.getI64IntegerAttr(used));
    used += tile::DealerType::kBytes;
  });
  return used;
}

/// Channels with panels are ready when all warps have met after their barriers
/// were made, which happens once, at the start.
static void gatherBoxChannels(gpu::GPUFuncOp kernel) {
  SmallVector<tile::ChannelOp> channels;
  kernel.walk([&](tile::ChannelOp channel) {
    if (channel.getResult().getType().getPanel())
      channels.push_back(channel);
  });
  if (channels.empty())
    return;
  Block &entry = kernel.getBody().front();
  for (tile::ChannelOp channel : llvm::reverse(channels))
    channel->moveBefore(&entry, entry.begin());
  // What else has barriers, too, before the warps meet.
  kernel.walk([&](tile::DealerOp dealer) {
    dealer->moveBefore(&entry, entry.begin());
  });
  UnitAttr mark = UnitAttr::get(kernel.getContext());
  channels.back()->setAttr(kLastChannelAttrName, mark);
  kernel.walk([&](tile::SpecializeOp roles) {
    roles.getProducer().walk(
        [&](tile::PutOp put) { put->setAttr(kOneLaneAttrName, mark); });
  });
}

/// The workgroups of a cluster use each other's memory, so that none may end
/// before the others are done with it. Consumers are when they have released
/// their last tile: what they store then is not waited for. Where there are no
/// roles, nothing tells when that is.
static void endTogether(gpu::GPUFuncOp kernel, const WarpgroupModel &groups) {
  auto isShared = [](tile::ReleaseOp release) {
    return release.getChannel().getType().getCluster() > 1
               ? WalkResult::interrupt()
               : WalkResult::advance();
  };
  bool hasRoles = false;
  kernel.walk([&](tile::SpecializeOp roles) {
    hasRoles = true;
    Block &consumer = roles.getConsumer().front();
    OpBuilder b = OpBuilder::atBlockBegin(&consumer);
    for (Operation &op : llvm::reverse(consumer))
      if (op.walk(isShared).wasInterrupted()) {
        b.setInsertionPointAfter(&op);
        break;
      }
    groups.arriveAtCluster(b, roles.getLoc(), /*isFirst=*/false);
  });
  kernel.walk([&](gpu::ReturnOp end) {
    OpBuilder b(end);
    if (!hasRoles)
      groups.arriveAtCluster(b, end.getLoc(), /*isFirst=*/false);
    groups.waitForCluster(b, end.getLoc());
  });
}

/// Whether all lanes of a warp have passed the get of what is released: they
/// have multiplied together since.
static bool followsMultiply(tile::ReleaseOp release) {
  for (Operation *op = release->getPrevNode(); op; op = op->getPrevNode()) {
    if (isa<tile::MmaOp, tile::AwaitOp>(op))
      return true;
    auto get = dyn_cast<tile::GetOp>(op);
    if (get && get.getChannel() == release.getChannel())
      return false;
  }
  return false;
}

static int64_t countProducerWarps(gpu::GPUFuncOp kernel) {
  int64_t count = 0;
  kernel.walk([&](tile::SpecializeOp op) { count = op.getProducerWarps(); });
  return count;
}

/// Walks backwards from a put to the last release of its channel. If no get
/// (which is a barrier) lies in between, lanes may still read what the put
/// overwrites.
static bool needsBarrier(tile::PutOp put) {
  auto scan = [&](Block *block, Block::iterator from) -> std::optional<bool> {
    for (Operation &op :
         llvm::reverse(llvm::make_range(block->begin(), from))) {
      if (isa<tile::GetOp>(op))
        return false;
      if (auto release = dyn_cast<tile::ReleaseOp>(op);
          release && release.getChannel() == put.getChannel())
        return true;
      WalkResult inside = op.walk([&](tile::ReleaseOp release) {
        return release.getChannel() == put.getChannel()
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      });
      if (inside.wasInterrupted())
        return true;
    }
    return std::nullopt;
  };
  Operation *op = put;
  while (op && !isa<gpu::GPUFuncOp>(op)) {
    if (std::optional<bool> answer = scan(op->getBlock(), op->getIterator()))
      return *answer;
    Operation *parent = op->getParentOp();
    if (isa<scf::ForOp>(parent))
      if (std::optional<bool> answer =
              scan(op->getBlock(), op->getBlock()->end()))
        return *answer;
    op = parent;
  }
  return false;
}

static LogicalResult convertKernel(gpu::GPUFuncOp kernel,
                                   const KernelContext &context) {
  MLIRContext *mlirContext = kernel.getContext();
  TypeConverter converter;
  converter.addConversion([](Type type) { return type; });
  converter.addConversion([](tile::TileType type) -> std::optional<Type> {
    if (!type.isRegisters())
      return sharedTileType(type);
    if (!type.getRegisterLayout())
      return std::nullopt;
    return laneVectorType(type);
  });
  converter.addConversion([](tile::PendingType type) -> std::optional<Type> {
    if (!type.getTile().getRegisterLayout())
      return std::nullopt;
    return laneVectorType(type.getTile());
  });
  converter.addConversion(
      [](tile::ChannelType type) -> Type { return channelBufferType(type); });

  converter.addConversion([](tile::DealerType type) -> Type {
    Builder b(type.getContext());
    return MemRefType::get(
        {tile::DealerType::kBytes / 8}, b.getI64Type(),
        MemRefLayoutAttrInterface(),
        gpu::AddressSpaceAttr::get(type.getContext(),
                                   gpu::AddressSpace::Workgroup));
  });

  ConversionTarget target(*mlirContext);
  RewritePatternSet patterns(mlirContext);
  populateBoxPatterns(converter, patterns, context);
  populateDealerPatterns(converter, patterns, context);
  populateElementwisePatterns(converter, patterns, context);
  populateLayoutPatterns(converter, patterns, context);
  populateMemoryPatterns(converter, patterns, context);
  populateMmaPatterns(converter, patterns, context);
  populateRolePatterns(converter, patterns, context);
  populateRowPatterns(converter, patterns, context);
  populateSharedTilePatterns(converter, patterns, context);
  populateSharedMemoryPatterns(converter, patterns, context);
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                       target);
  target.addIllegalDialect<tile::TileDialect>();
  target.addLegalDialect<
      arith::ArithDialect, gpu::GPUDialect, math::MathDialect,
      memref::MemRefDialect, vector::VectorDialect, LLVM::LLVMDialect,
      NVVM::NVVMDialect, nvgpu::NVGPUDialect, ROCDL::ROCDLDialect,
      amdgpu::AMDGPUDialect, wgmma::WGMMADialect>();
  target.addLegalOp<UnrealizedConversionCastOp>();
  return applyPartialConversion(kernel, target, std::move(patterns));
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

void ConvertTileToGPU::runOnOperation() {
  WalkResult result = getOperation().walk([&](gpu::GPUFuncOp kernel) {
    bool usesTiles = kernel
                         .walk([](Operation *op) {
                           return isa<tile::TileDialect>(op->getDialect())
                                      ? WalkResult::interrupt()
                                      : WalkResult::advance();
                         })
                         .wasInterrupted();
    if (!usesTiles)
      return WalkResult::advance();
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
    int64_t computingWarps =
        (*block)[0] / target.getLanes() - countProducerWarps(kernel);
    int64_t cluster = 1;
    for (int32_t size :
         kernel.getKnownClusterSize().value_or(ArrayRef<int32_t>()))
      cluster *= size;
    KernelContext context{target, model, (*block)[0], computingWarps, cluster};
    for (tile::MmaAtomAttr atom : target.getMma())
      context.groupWarps = std::max(context.groupWarps, atom.getWarps());
    context.groups = std::max<int64_t>(computingWarps / context.groupWarps, 1);
    if (failed(checkKernel(kernel, context)))
      return WalkResult::interrupt();
    int64_t sharedBytes = assignOffsets(kernel);
    if (sharedBytes > target.getShared()) {
      emitError(kernel.getLoc())
          << "expects at most " << target.getShared()
          << " bytes of shared memory on '" << target.getChip() << "', but got "
          << sharedBytes;
      return WalkResult::interrupt();
    }
    gatherBoxChannels(kernel);
    if (const WarpgroupModel *groups = model->getWarpgroups()) {
      if (failed(addTensorMaps(kernel, *groups, context.groups)))
        return WalkResult::interrupt();
      if (context.cluster > 1)
        endTogether(kernel, *groups);
    }
    kernel.walk([&](tile::PutOp put) {
      if (!put.getChannel().getType().getPanel() && needsBarrier(put))
        put->setAttr(kNeedsBarrierAttrName, UnitAttr::get(&getContext()));
    });
    kernel.walk([&](tile::ReleaseOp release) {
      if (release.getChannel().getType().getPanel() &&
          !followsMultiply(release))
        release->setAttr(kLanesLagAttrName, UnitAttr::get(&getContext()));
    });
    if (failed(convertKernel(kernel, context)))
      return WalkResult::interrupt();
    finishKernel(kernel, sharedBytes);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}
