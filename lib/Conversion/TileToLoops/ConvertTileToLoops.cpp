// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass: emits loops, removes the tiles, and makes launches of one thread.

#include "LoopEmitter.h"
#include "attune/Conversion/Passes.h"
#include "attune/Dialect/Launch/IR/Launch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MathExtras.h"

namespace attune {
#define GEN_PASS_DEF_CONVERTTILETOLOOPSPASS
#include "attune/Conversion/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

/// Buffers are on the stack of the one thread.
static constexpr int64_t kMaxBytes = int64_t(32) << 20;

namespace {
struct ConvertTileToLoops
    : attune::impl::ConvertTileToLoopsPassBase<ConvertTileToLoops> {
  void runOnOperation() override;
};
} // namespace

static bool usesTiles(gpu::GPUFuncOp kernel) {
  return kernel
      .walk([](Operation *op) {
        return isa<tile::TileDialect>(op->getDialect())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// One thread cannot stand for all where they are told apart.
static LogicalResult refuseThreads(gpu::GPUFuncOp kernel) {
  WalkResult result = kernel.walk([](Operation *op) {
    if (!isa<gpu::GPUDialect>(op->getDialect()) ||
        isa<gpu::GPUFuncOp, gpu::ReturnOp, gpu::BlockIdOp, gpu::GridDimOp,
            gpu::ClusterIdOp, gpu::ClusterDimOp, gpu::ClusterBlockIdOp,
            gpu::BarrierOp>(op))
      return WalkResult::advance();
    op->emitError() << "expects a kernel whose threads are not told apart, but "
                       "got '"
                    << op->getName() << "'";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// The size of a tile or a channel of the widest elements; 0 for other types.
static int64_t getBytes(Type type) {
  ArrayRef<int64_t> shape;
  uint64_t bytes = 8;
  if (auto tile = dyn_cast<tile::TileType>(type)) {
    shape = tile.getShape();
  } else if (auto channel = dyn_cast<tile::ChannelType>(type)) {
    shape = channel.getShape();
    bytes = llvm::SaturatingMultiply<uint64_t>(bytes, channel.getStages());
  } else {
    return 0;
  }
  for (int64_t size : shape)
    bytes = llvm::SaturatingMultiply<uint64_t>(bytes, size);
  return static_cast<int64_t>(std::min<uint64_t>(bytes, INT64_MAX));
}

/// Sizes that can be added up, then.
static LogicalResult refuseLargeTiles(gpu::GPUFuncOp kernel) {
  WalkResult result = kernel.walk([](Operation *op) {
    for (Type type : op->getResultTypes())
      if (int64_t bytes = getBytes(type); bytes > kMaxBytes) {
        op->emitError() << "expects tiles of at most " << kMaxBytes
                        << " bytes with 8 bytes for an element, but got "
                        << bytes;
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Which values of a range are tiles.
static BitVector findTiles(TypeRange types) {
  BitVector tiles(types.size());
  for (auto [position, type] : llvm::enumerate(types))
    if (isa<tile::TileType, tile::PendingType>(type))
      tiles.set(position);
  return tiles;
}

/// Drops the tiles from what the op's regions and inits hand on.
static void eraseCarriedOperands(Operation *carrier) {
  BitVector tiles = findTiles(carrier->getResultTypes());
  if (tiles.none())
    return;
  for (Region &region : carrier->getRegions())
    if (!region.empty())
      region.front().getTerminator()->eraseOperands(tiles);
  if (auto loop = dyn_cast<scf::ForOp>(carrier)) {
    BitVector operands(loop.getNumControlOperands());
    for (unsigned position = 0; position < tiles.size(); ++position)
      operands.push_back(tiles[position]);
    loop->eraseOperands(operands);
  }
}

/// Replaces the op by one without results that are tiles.
static void eraseCarriedResults(Operation *carrier) {
  BitVector tiles = findTiles(carrier->getResultTypes());
  if (tiles.none())
    return;
  SmallVector<Value> kept;
  for (OpResult result : carrier->getResults())
    if (!tiles[result.getResultNumber()])
      kept.push_back(result);
  OperationState state(carrier->getLoc(), carrier->getName(),
                       carrier->getOperands(), ValueRange(kept).getTypes(),
                       carrier->getAttrs());
  for (Region &region : carrier->getRegions()) {
    if (auto loop = dyn_cast<scf::ForOp>(carrier)) {
      BitVector arguments(loop.getNumInductionVars());
      for (unsigned position = 0; position < tiles.size(); ++position)
        arguments.push_back(tiles[position]);
      region.front().eraseArguments(arguments);
    }
    state.addRegion()->takeBody(region);
  }
  Operation *replacement = OpBuilder(carrier).create(state);
  for (auto [from, to] : llvm::zip_equal(kept, replacement->getResults()))
    from.replaceAllUsesWith(to);
  carrier->erase();
}

/// A workgroup waits for its turn at the start of the body, and counts at its
/// end.
static void writeOutOrder(tile::OrderedOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto literal = [&](int64_t value) {
    return arith::ConstantIntOp::create(b, value, 32);
  };
  auto add = [&](int64_t value) {
    return memref::AtomicRMWOp::create(b, arith::AtomicRMWKind::addi,
                                       literal(value), op.getCounter(),
                                       op.getIndex());
  };
  auto toInteger = [&](Value index) {
    return arith::IndexCastOp::create(b, b.getI32Type(), index);
  };
  Value turn = toInteger(op.getTurn());
  auto loop = scf::WhileOp::create(b, TypeRange(), ValueRange());
  b.createBlock(&loop.getBefore());
  Value isEarly =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, add(0), turn);
  scf::ConditionOp::create(b, isEarly, ValueRange());
  b.createBlock(&loop.getAfter());
  scf::YieldOp::create(b);

  op->getBlock()->getOperations().splice(op->getIterator(),
                                         op.getBody().front().getOperations());
  b.setInsertionPoint(op);
  Value now = arith::AddIOp::create(b, add(1), literal(1));
  Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, now,
                                       toInteger(op.getTurns()));
  auto branch = scf::IfOp::create(b, isLast, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  memref::StoreOp::create(b, literal(0), op.getCounter(), op.getIndex());
  op.erase();
}

/// A workgroup counts, and the last one starts the count anew.
static void countIn(tile::JoinOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto literal = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, value, 32);
  };
  Value before =
      memref::AtomicRMWOp::create(b, arith::AtomicRMWKind::addi, literal(1),
                                  op.getCounter(), op.getIndex());
  Value isLast = arith::CmpIOp::create(
      b, arith::CmpIPredicate::eq, arith::AddIOp::create(b, before, literal(1)),
      arith::IndexCastOp::create(b, b.getI32Type(), op.getTotal()));
  auto branch = scf::IfOp::create(b, isLast, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  memref::StoreOp::create(b, literal(0), op.getCounter(), op.getIndex());
  op.replaceAllUsesWith(isLast);
  op.erase();
}

/// Stores are done at once, so that a token is a bit that nobody reads.
static void replaceTokens(gpu::GPUFuncOp kernel) {
  Block &entry = kernel.getBody().front();
  OpBuilder b(&entry, entry.begin());
  Value bit =
      arith::ConstantOp::create(b, kernel.getLoc(), b.getBoolAttr(true));
  auto retype = [&](ValueRange values) {
    for (Value value : values)
      if (isa<tile::TokenType>(value.getType()))
        value.setType(b.getI1Type());
  };
  kernel.walk([&](Operation *op) {
    auto wait = dyn_cast<tile::WaitReadsOp>(op);
    if (wait && !isa<tile::PendingType>(wait.getPending().getType())) {
      wait.erase();
    } else if (isa<tile::StoreAsyncOp, tile::DoneOp>(op)) {
      op->getResult(0).replaceAllUsesWith(bit);
    } else {
      retype(op->getResults());
      for (Region &region : op->getRegions())
        for (Block &block : region)
          retype(block.getArguments());
    }
  });
}

static LogicalResult convert(gpu::GPUFuncOp kernel) {
  if (!kernel.getBody().hasOneBlock())
    return kernel.emitOpError() << "expects a kernel of one block";
  if (failed(refuseThreads(kernel)) || failed(refuseLargeTiles(kernel)))
    return failure();
  kernel.walk([](tile::OrderedOp op) { writeOutOrder(op); });
  kernel.walk([](tile::JoinOp op) { countIn(op); });
  replaceTokens(kernel);
  LoopEmitter emitter(kernel);
  if (failed(emitter.emit(kernel.getBody().front())))
    return failure();
  if (emitter.getBytes() > kMaxBytes)
    return kernel.emitOpError()
           << "expects at most " << kMaxBytes
           << " bytes of tiles in all ops together, but got "
           << emitter.getBytes();
  for (Operation *carrier : emitter.getCarriers())
    eraseCarriedOperands(carrier);
  for (Operation *op : llvm::reverse(emitter.getEmitted()))
    op->erase();
  for (Operation *carrier : emitter.getCarriers())
    eraseCarriedResults(carrier);

  int64_t threads = 1;
  if (std::optional<ArrayRef<int32_t>> block = kernel.getKnownBlockSize())
    for (int32_t size : *block)
      threads *= size;
  kernel.setKnownBlockSize(ArrayRef<int32_t>{1, 1, 1});
  if (launch::ManifestAttr manifest = launch::getManifest(kernel))
    launch::setManifest(
        kernel,
        manifest.withBlock({1, 1, 1}).withSharedBytes(0).withThreadsInOne(
            threads));
  return success();
}

static void launchOneThread(gpu::LaunchFuncOp launch) {
  OpBuilder builder(launch);
  Value one = arith::ConstantIndexOp::create(builder, launch.getLoc(), 1);
  launch.getBlockSizeXMutable().assign(one);
  launch.getBlockSizeYMutable().assign(one);
  launch.getBlockSizeZMutable().assign(one);
  launch.getDynamicSharedMemorySizeMutable().clear();
}

void ConvertTileToLoops::runOnOperation() {
  SmallVector<gpu::GPUFuncOp> kernels;
  getOperation().walk([&](gpu::GPUFuncOp kernel) {
    if (usesTiles(kernel))
      kernels.push_back(kernel);
    else
      kernel->removeAttr(tile::TileDialect::kSharedBytesAttrName);
  });
  llvm::DenseSet<Attribute> names;
  for (gpu::GPUFuncOp kernel : kernels) {
    if (failed(convert(kernel)))
      return signalPassFailure();
    // There are no warps to be given roles, and no places in shared memory.
    kernel->removeAttr(tile::TileDialect::kRolesAttrName);
    kernel->removeAttr(tile::TileDialect::kSharedBytesAttrName);
    names.insert(SymbolRefAttr::get(
        kernel->getParentOfType<gpu::GPUModuleOp>().getNameAttr(),
        FlatSymbolRefAttr::get(kernel.getNameAttr())));
  }
  getOperation().walk([&](gpu::LaunchFuncOp launch) {
    if (names.contains(launch.getKernel()))
      launchOneThread(launch);
  });
}
