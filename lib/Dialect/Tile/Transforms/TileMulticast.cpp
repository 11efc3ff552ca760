// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Channels that the workgroups of a cluster share. Which ones can be is found
// from what tells workgroups apart: whatever is computed from that varies, and
// what remains is the same in all of them.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"

namespace attune::tile {
#define GEN_PASS_DEF_TILEMULTICASTPASS
#include "attune/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attune::tile

using namespace mlir;
using namespace attune;
using namespace attune::tile;

namespace {

struct TileMulticast : tile::impl::TileMulticastPassBase<TileMulticast> {
  void runOnOperation() override;
};

/// The values of a kernel that the workgroups of a cluster may disagree on, and
/// the ops whose regions they may run differently often.
class Variation {
public:
  explicit Variation(gpu::GPUFuncOp kernel);

  /// Whether all workgroups of a cluster do the same, and as often.
  bool isSame(Operation *op) const;

private:
  void add(ValueRange values);
  void spread(OpOperand &use);

  llvm::DenseSet<Value> varying;
  llvm::DenseSet<Operation *> uneven;
  SmallVector<Value> worklist;
};

} // namespace

/// Whether the op may give workgroups of a cluster different results for equal
/// operands. Kernels read no buffer that they write.
static bool isSource(Operation *op) {
  if (isa<gpu::ClusterIdOp, gpu::ClusterDimOp, gpu::GridDimOp, gpu::BlockDimOp,
          memref::LoadOp>(op))
    return false;
  return isa<gpu::GPUDialect>(op->getDialect()) ||
         (op->getNumRegions() == 0 && !isMemoryEffectFree(op));
}

Variation::Variation(gpu::GPUFuncOp kernel) {
  kernel.walk([&](Operation *op) {
    if (isSource(op) && !isa<ChannelOp>(op))
      add(op->getResults());
  });
  while (!worklist.empty())
    for (OpOperand &use : worklist.pop_back_val().getUses())
      spread(use);
}

void Variation::add(ValueRange values) {
  for (Value value : values)
    if (varying.insert(value).second)
      worklist.push_back(value);
}

void Variation::spread(OpOperand &use) {
  Operation *op = use.getOwner();
  unsigned number = use.getOperandNumber();
  auto loop = dyn_cast<scf::ForOp>(op);
  if (isa<scf::YieldOp>(op)) {
    add(op->getParentOp()->getResult(number));
    if (auto around = dyn_cast<scf::ForOp>(op->getParentOp()))
      add(around.getRegionIterArg(number));
  } else if (loop && number >= loop.getNumControlOperands()) {
    unsigned carried = number - loop.getNumControlOperands();
    add(loop.getRegionIterArg(carried));
    add(loop.getResult(carried));
  } else {
    add(op->getResults());
    uneven.insert(op);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        add(block.getArguments());
  }
}

bool Variation::isSame(Operation *op) const {
  if (llvm::any_of(op->getOperands(),
                   [&](Value value) { return varying.contains(value); }))
    return false;
  for (Operation *around = op->getParentOp(); around;
       around = around->getParentOp())
    if (uneven.contains(around))
      return false;
  return true;
}

void TileMulticast::runOnOperation() {
  gpu::GPUFuncOp kernel = getOperation();
  auto schedule = kernel->getAttrOfType<schedule::AttentionAttr>(
      TileDialect::kScheduleAttrName);
  if (!schedule || schedule.getCluster() == 1)
    return;
  auto refuse = [&](const Twine &what) {
    emitError(kernel.getLoc())
        << "expects " << what
        << " where the schedule says cluster = " << schedule.getCluster();
    signalPassFailure();
  };
  auto cluster = static_cast<int32_t>(schedule.getCluster());
  std::optional<ArrayRef<int32_t>> size = kernel.getKnownClusterSize();
  if (!size || *size != ArrayRef<int32_t>({cluster, 1, 1}))
    return refuse("a known_cluster_size of " + Twine(cluster) + ", 1, 1");
  auto allRoles = kernel.getBody().getOps<SpecializeOp>();
  if (allRoles.empty())
    return refuse("roles of warps, of tile-specialize-warps,");
  Variation variation(kernel);
  bool isAny = false;
  for (auto channel : kernel.getBody().getOps<ChannelOp>()) {
    auto puts = llvm::make_filter_range(
        channel->getUsers(), [](Operation *user) { return isa<PutOp>(user); });
    if (puts.empty() || !llvm::all_of(puts, [&](Operation *put) {
          return variation.isSame(put);
        }))
      continue;
    isAny = true;
    ChannelType shared = channel.getResult().getType().withCluster(
        [&] { return channel.emitOpError(); }, schedule.getCluster());
    if (!shared)
      return signalPassFailure();
    channel.getResult().setType(shared);
  }
  if (!isAny)
    refuse("a channel whose puts are the same in all workgroups of a cluster");
}
