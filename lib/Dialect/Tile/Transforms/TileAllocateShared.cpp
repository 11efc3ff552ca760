// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lays out shared memory and its barriers, and makes explicit who waits for
// whom before it is used again.

#include "attune/Dialect/Tile/IR/Meetings.h"
#include "attune/Dialect/Tile/IR/SharedMemoryLayout.h"
#include "attune/Dialect/Tile/IR/Warps.h"
#include "attune/Dialect/Tile/Transforms/Passes.h"
#include "mlir/IR/Builders.h"

namespace attune::tile {
#define GEN_PASS_DEF_TILEALLOCATESHAREDPASS
#include "attune/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attune::tile

using namespace mlir;
using namespace attune;
using namespace attune::tile;

namespace {
struct TileAllocateShared
    : tile::impl::TileAllocateSharedPassBase<TileAllocateShared> {
  void runOnOperation() override;
};
} // namespace

/// Gives every channel and buffer its place, and the barriers of those with
/// swizzle atoms and single words theirs behind all of them; returns the bytes
/// used.
static int64_t assignPlaces(gpu::GPUFuncOp kernel) {
  SharedMemoryLayout layout;
  kernel.walk([&](ChannelOp channel) {
    channel.setOffset(
        layout.addTiles(channel.getResult().getType().getSizeInBytes()));
  });
  kernel.walk([&](BufferOp buffer) {
    Operation *user = findUseInRole(buffer);
    int64_t teams = user ? getRole(user).getTeams() : 1;
    buffer.setOffset(
        layout.addTiles(teams * buffer.getResult().getType().getSizeInBytes()));
  });
  kernel.walk([&](ChannelOp channel) {
    ChannelType type = channel.getResult().getType();
    if (int64_t count = SharedMemoryLayout::countBarriers(
            type.getStages(), type.getSwizzleAtom()))
      channel.setBarriers(layout.addWords(count));
  });
  kernel.walk([&](SchedulerOp scheduler) {
    scheduler.setOffset(layout.addWords(SchedulerType::kWords));
  });
  kernel.walk([&](JoinOp join) { join.setOffset(layout.addWords(1)); });
  return layout.getBytes();
}

/// What has barriers is made, and is ready for all warps, at the start.
static void fenceBarriers(gpu::GPUFuncOp kernel) {
  SmallVector<Operation *> schedulers, owners;
  kernel.walk([&](Operation *op) {
    if (auto channel = dyn_cast<ChannelOp>(op);
        channel && channel.getBarriers())
      owners.push_back(op);
    else if (isa<SchedulerOp>(op))
      schedulers.push_back(op);
  });
  owners.insert(owners.begin(), schedulers.begin(), schedulers.end());
  if (owners.empty())
    return;
  Block &entry = kernel.getBody().front();
  for (Operation *op : llvm::reverse(owners))
    op->moveBefore(&entry, entry.begin());
  OpBuilder b(kernel.getContext());
  b.setInsertionPointAfter(owners.back());
  FenceBarriersOp::create(b, kernel.getLoc());
}

/// The workgroups of a cluster use each other's memory, so that none may end
/// before the others are done with it. Consumers are when they have released
/// their last tile: what they store then is not waited for. Where there are no
/// roles, nothing tells when that is.
static void endTogether(gpu::GPUFuncOp kernel) {
  auto isShared = [](ReleaseOp release) {
    return release.getChannel().getType().getCluster() > 1
               ? WalkResult::interrupt()
               : WalkResult::advance();
  };
  bool hasRoles = false;
  kernel.walk([&](SpecializeOp roles) {
    hasRoles = true;
    for (auto [i, program] : llvm::enumerate(roles.getPrograms())) {
      // What one thread does, the others of its role need not wait for.
      if (roles.getRole(i).getThreads() == RoleThreads::One)
        continue;
      Block &body = program.front();
      OpBuilder b = OpBuilder::atBlockBegin(&body);
      for (Operation &op : llvm::reverse(body))
        if (op.walk(isShared).wasInterrupted()) {
          b.setInsertionPointAfter(&op);
          break;
        }
      ArriveClusterOp::create(b, roles.getLoc());
    }
  });
  kernel.walk([&](gpu::ReturnOp end) {
    OpBuilder b(end);
    if (!hasRoles)
      ArriveClusterOp::create(b, end.getLoc());
    WaitClusterOp::create(b, end.getLoc());
  });
}

/// Whether lanes read tiles of the channel for themselves.
static bool isReadByLanes(Value channel) {
  return llvm::any_of(channel.getUsers(), [](Operation *user) {
    return isa<GetOp>(user) &&
           llvm::any_of(user->getUsers(), llvm::IsaPred<ReadOp>);
  });
}

/// Whether all lanes of a warp are done with the get of what is released: they
/// have met since, or multiplied together where they have read nothing
/// themselves, or there is but one.
static bool hasMetSinceGet(ReleaseOp release) {
  RoleAttr role = getRole(release);
  if (role && role.getThreads() == RoleThreads::One)
    return true;
  bool isRead = isReadByLanes(release.getChannel());
  for (Operation *op = release->getPrevNode(); op; op = op->getPrevNode()) {
    if (isa<BarrierOp>(op) || (!isRead && isa<MmaOp, WaitOp>(op)))
      return true;
    auto get = dyn_cast<GetOp>(op);
    if (get && get.getChannel() == release.getChannel())
      return false;
  }
  return false;
}

/// Makes threads meet where a slot could be overwritten too early, or released
/// too early.
static void synchronize(gpu::GPUFuncOp kernel) {
  llvm::DenseSet<Operation *> needless = findNeedlessMeetings(kernel);
  SmallVector<Operation *> puts;
  kernel.walk([&](Operation *op) {
    if (isa<PutOp, PutTileOp>(op) &&
        !cast<ChannelType>(op->getOperand(0).getType()).getSwizzleAtom() &&
        overwritesEarly(op, needless))
      puts.push_back(op);
  });
  for (Operation *put : puts) {
    OpBuilder b(put);
    gpu::BarrierOp::create(b, put->getLoc());
  }
  // A lane that waits for the slot to be full must not find it full again, and
  // wait for ever.
  kernel.walk([&](ReleaseOp release) {
    if (!release.getChannel().getType().getSwizzleAtom() ||
        hasMetSinceGet(release))
      return;
    OpBuilder b(release);
    SyncWarpOp::create(b, release.getLoc());
  });
}

void TileAllocateShared::runOnOperation() {
  gpu::GPUFuncOp kernel = getOperation();
  int64_t bytes = assignPlaces(kernel);
  kernel->setAttr(TileDialect::kSharedBytesAttrName,
                  Builder(&getContext()).getI64IntegerAttr(bytes));
  fenceBarriers(kernel);
  int64_t cluster = 1;
  for (int32_t size :
       kernel.getKnownClusterSize().value_or(ArrayRef<int32_t>()))
    cluster *= size;
  if (cluster > 1)
    endTogether(kernel);
  synchronize(kernel);
}
