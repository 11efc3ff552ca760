// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The patterns then need not fail.

#include "KernelChecks.h"
#include "TensorMaps.h"
#include "attune/Dialect/Tile/IR/ColumnSwap.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attune;

/// The patterns ask every tile in registers for its layout. One thread holds
/// none.
static LogicalResult checkRegisters(Operation *op) {
  auto isInRegisters = [](Type type) {
    auto tile = dyn_cast<tile::TileType>(type);
    return (tile && tile.isRegisters()) || isa<tile::PendingType>(type);
  };
  if (isOfOneThread(op) && (llvm::any_of(op->getResultTypes(), isInRegisters) ||
                            llvm::any_of(op->getOperandTypes(), isInRegisters)))
    return op->emitOpError() << "expects tiles in registers in roles of which "
                                "all threads run the program, but got one in '"
                             << tile::getRole(op).getName() << "'";
  for (Type type : op->getResultTypes())
    if (auto tile = dyn_cast<tile::TileType>(type);
        tile && tile.isRegisters() && !tile.getLayout())
      return op->emitOpError()
             << "expects a layout on every tile in registers, but got " << tile
             << "; run tile-assign-layouts first";
  return success();
}

/// The columns of a swizzle atom in which a tile in shared memory is stored; 0
/// for whole rows, and for tiles in registers.
static int64_t getSwizzleAtom(Value value) {
  tile::SwizzleAttr swizzle =
      cast<tile::TileType>(value.getType()).getSwizzle();
  return swizzle ? swizzle.getSwizzleAtom() : 0;
}

static LogicalResult checkMatrixUnit(Operation *op,
                                     const KernelContext &context) {
  return checkPart(op, context, context.model->getMatrixUnit(),
                   "a matrix unit that warpgroups issue to");
}

static LogicalResult checkCopyEngine(Operation *op,
                                     const KernelContext &context) {
  return checkPart(op, context, context.model->getCopyEngine(),
                   "an engine that copies TMA boxes of tensors");
}

/// Whether the warps of the role of `op` are a multiple of `count`.
static bool dividesWarps(Operation *op, const KernelContext &context,
                         int64_t count) {
  int64_t warps = context.getWarps(op).count;
  return warps != 0 && warps % count == 0;
}

/// Whether pairs of columns of a tile in shared memory alternate.
static bool isPaired(Value value) {
  tile::SwizzleAttr swizzle =
      cast<tile::TileType>(value.getType()).getSwizzle();
  return swizzle && swizzle.getPaired();
}

/// That a right operand is stored as the instruction of a warpgroup reads it.
template <typename OpTy> static LogicalResult checkRhs(OpTy op) {
  tile::MmaAtomAttr atom = op.getAtomAttr();
  Type stored = op.getRhs().getType().getElementType();
  if (atom.getScope() == tile::MmaScope::Warpgroup &&
      (stored != atom.getRhsType() || op.getPackedRhs()))
    return op.emitOpError()
           << "expects a right operand of " << atom.getRhsType()
           << " for a warpgroup, but got " << op.getRhs().getType()
           << "; run tile-promote-to-shared first";
  if (atom.readsColumns() && !op.getTransposeRhs())
    return op.emitOpError()
           << "expects a right operand of " << atom.getRhsType()
           << " that is stored by columns; run "
              "tile-promote-to-shared first";
  bool wantsPairs = atom.isPaired() && op.getLhs().getType().isRegisters();
  if (isPaired(op.getRhs()) == wantsPairs && !isPaired(op.getLhs()))
    return success();
  return op.emitOpError() << "expects a right operand "
                          << (wantsPairs ? "with" : "without")
                          << " pairs that alternate, and no left one with "
                             "them, but got "
                          << op.getRhs().getType();
}

/// That a warp reads bytes once whose both parts it multiplies.
template <typename OpTy> static LogicalResult checkPacking(OpTy op) {
  if (!op.getPackedRhs())
    return success();
  if (!op.getRhs().getType().isShared())
    return op.emitOpError()
           << "expects a packed rhs in shared memory, but got "
           << op.getRhs().getType() << "; run tile-promote-to-shared first";
  if (op.getWarpsN() > 1 && !op.getTransposeRhs())
    return op.emitOpError() << "expects a warp to multiply all columns of a "
                               "packed rhs, but got warps_n "
                            << op.getWarpsN();
  return success();
}

template <typename OpTy>
static LogicalResult checkMultiply(OpTy op, const KernelContext &context) {
  tile::MmaAtomAttr atom = op.getAtomAttr();
  if (!atom)
    return op.emitOpError()
           << "expects a matrix instruction; run tile-assign-layouts first";
  if ((op->hasAttr(tile::TileDialect::kRaisePriorityAttrName) ||
       op->hasAttr(tile::TileDialect::kIssueGroupsAttrName)) &&
      !context.model->schedulesMmas())
    return checkPart(op, context, nullptr, "MMAs that it is told how to issue");
  int64_t warps = atom.getWarps();
  if (warps > 1) {
    if (failed(checkMatrixUnit(op, context)))
      return failure();
    if (!dividesWarps(op, context, warps))
      return op.emitOpError()
             << "expects a multiple of " << warps
             << " warps that compute, but got " << context.getWarps(op).count;
    // Chips know which warps are a warpgroup by their numbers.
    if (int64_t first = context.getWarps(op).first; first % warps != 0)
      return op.emitOpError()
             << "expects the warps of its role to start at a multiple of "
             << warps << ", but got " << first;
  }
  for (Value operand : {Value(op.getLhs()), Value(op.getRhs())}) {
    if (cast<tile::TileType>(operand.getType()).isShared() &&
        (getSwizzleAtom(operand) != 0) != (warps > 1))
      return op.emitOpError()
             << "expects operands in shared memory to be stored in "
             << (warps > 1 ? "swizzle atoms" : "whole rows") << ", but got "
             << operand.getType();
  }
  if (failed(checkRhs(op)) || failed(checkPacking(op)))
    return failure();
  int64_t parts = op.getWarpsN();
  if (parts > 1 && !op.getTransposeRhs())
    if (int64_t atoms = parts * getSwizzleAtom(op.getRhs()),
        columns = op.getRhs().getType().getShape()[1];
        atoms && columns % atoms != 0)
      return op.emitOpError()
             << "expects a right operand of a multiple of " << atoms
             << " columns, whole swizzle atoms for each of " << parts
             << " groups of warps, but got " << columns;
  return success();
}

static LogicalResult checkChannel(Operation *op, Value channel,
                                  const KernelContext &context) {
  if (!channel.getDefiningOp<tile::ChannelOp>())
    return op->emitOpError() << "expects a channel that 'tile.channel' makes";
  auto type = cast<tile::ChannelType>(channel.getType());
  if (type.getChunk() && context.target.getCopySync() != tile::CopySync::Count)
    return op->emitOpError()
           << "expects a channel without chunks on '"
           << context.target.getChip()
           << "', whose warps do not count their copies, but got " << type;
  if (type.getSwizzleAtom())
    return isa<tile::PutOp>(op) ? checkCopyEngine(op, context)
                                : checkBarriers(op, context);
  if (op->getParentOfType<tile::SpecializeOp>())
    return op->emitOpError() << "expects a channel with swizzle atoms between "
                                "producers and consumers, but got "
                             << type;
  return success();
}

/// Its barriers hear as often of each element.
static LogicalResult checkReleases(tile::ChannelOp op) {
  tile::ReleaseOp first;
  for (Operation *user : op->getUsers()) {
    auto release = dyn_cast<tile::ReleaseOp>(user);
    tile::RoleAttr role = tile::getRole(user);
    if (!release || !role || role.getTeams() == 1)
      continue;
    if (!first)
      first = release;
    else if (tile::isOfOneTeam(first) != tile::isOfOneTeam(release))
      return release.emitOpError()
             << "expects all elements of a channel to be released by one team, "
                "or all by every team, but got both";
  }
  return success();
}

/// Workgroups share channels with their cluster, or with nobody.
static LogicalResult checkCluster(tile::ChannelOp op,
                                  const KernelContext &context) {
  int64_t cluster = op.getResult().getType().getCluster();
  if (cluster == 1 || cluster == context.cluster)
    return success();
  return op.emitOpError() << "expects a kernel with a known_cluster_size of "
                          << cluster << ", but got " << context.cluster;
}

/// Each team has its own, of which no other role knows.
static LogicalResult checkUsers(tile::BufferOp op) {
  Operation *first = tile::findUseInRole(op);
  tile::RoleAttr role = first ? tile::getRole(first) : tile::RoleAttr();
  if (!role || role.getTeams() == 1)
    return success();
  for (Operation *user : op->getUsers())
    if (tile::getRole(user) != role)
      return user->emitOpError()
             << "expects to stand in role '" << role.getName()
             << "', whose teams have a buffer each";
  return success();
}

/// Tiles in shared memory that warpgroups write and store.
static LogicalResult checkSharedTile(Operation *op, Value tile,
                                     const KernelContext &context) {
  if (failed(checkCopyEngine(op, context)))
    return failure();
  if (!getSwizzleAtom(tile) || isPaired(tile))
    return op->emitOpError()
           << "expects a tile that is stored in swizzle atoms"
           << (isPaired(tile) ? ", without pairs that alternate" : "")
           << ", but got " << tile.getType();
  auto type = cast<tile::TileType>(tile.getType());
  if (isOfOneThread(op))
    return success();
  // Swizzle atoms are permuted in groups of eight rows.
  constexpr int64_t kRows = 8;
  tile::WarpRange warps = context.getWarps(op);
  StoredParts parts = StoredParts::get(op, tile, context);
  if (int64_t groups = context.countWarpgroups(warps);
      groups % parts.alongColumns != 0)
    return op->emitOpError()
           << "expects parts along columns that divide the " << groups
           << " warpgroups that compute, but got " << parts.alongColumns;
  if (!dividesWarps(op, context, context.warpgroupWarps) ||
      type.getShape()[0] % (kRows * parts.alongRows) != 0)
    return op->emitOpError()
           << "expects groups of " << context.warpgroupWarps
           << " warps with as many rows each, a multiple of " << kRows
           << ", but got " << warps.count << " warps that compute and "
           << type.getShape()[0] << " rows";
  // Several groups may write matrices of 16 columns of one atom, but copies are
  // of whole ones.
  constexpr int64_t kMatrix = 16;
  int64_t atom = getSwizzleAtom(tile),
          columns = type.getShape()[1] / parts.alongColumns;
  bool sharesAtom = !isa<tile::StoreAsyncOp>(op) && columns % kMatrix == 0 &&
                    atom % columns == 0;
  if (type.getShape()[1] % (parts.alongColumns * atom) != 0 && !sharesAtom)
    return op->emitOpError() << "expects " << parts.alongColumns
                             << " parts of whole swizzle atoms, a multiple of "
                             << parts.alongColumns * atom
                             << " columns, but got " << type.getShape()[1];
  return success();
}

/// Whether warps are assigned to rows first, whole groups of `groupWarps`, and
/// then to columns, as the copy engine's threads take it.
static bool areAlongRowsFirst(ArrayRef<tile::Mode> warps, int64_t groupWarps) {
  ArrayRef<tile::Mode> rows =
      warps.take_while([](const tile::Mode &mode) { return mode.dim == 0; });
  int64_t count = 1;
  for (const tile::Mode &mode : rows)
    count *= mode.extent;
  return count % groupWarps == 0 &&
         llvm::all_of(warps.drop_front(rows.size()),
                      [](const tile::Mode &mode) { return mode.dim == 1; });
}

/// Matrices of 32 rows and 16 columns of bytes, or runs of 8 that become 16
/// bytes each.
static LogicalResult checkRestage(tile::RestageOp op,
                                  const KernelContext &context) {
  if (failed(checkMatrixUnit(op, context)) ||
      failed(checkChannel(op, op.getChannel(), context)) ||
      failed(checkCopyEngine(op, context)))
    return failure();
  if (isOfOneThread(op))
    return op.emitOpError() << "expects to stand in a role of which all "
                               "threads run the program";
  for (Operation *user : op.getChannel().getUsers())
    if (isa<tile::PutOp, tile::PutTileOp>(user) ||
        (isa<tile::RestageOp>(user) &&
         tile::getRole(user) != tile::getRole(op)))
      return user->emitOpError() << "expects a channel that no "
                                    "'tile.restage' of another role, or "
                                    "beside it, puts into";
  constexpr unsigned kBits = 8, kWideBits = 16;
  bool transposes = op.getTransposed();
  int64_t rows = transposes ? 32 : 16, columns = 16;
  unsigned bits = transposes ? kBits : kWideBits;
  tile::TileType type = op.getSource().getType();
  tile::ChannelType channel = op.getChannel().getType();
  if (getSwizzleAtom(op.getSource()) && channel.getSwizzleAtom() &&
      !isPaired(op.getSource()) &&
      type.getElementType().getIntOrFloatBitWidth() == kBits &&
      channel.getElementType().getIntOrFloatBitWidth() == bits &&
      type.getShape()[0] % rows == 0 && type.getShape()[1] % columns == 0)
    return success();
  return op.emitOpError() << "expects tiles in swizzle atoms, of elements of "
                          << kBits << " bits that become " << bits
                          << ", and a source of a multiple of " << rows << "x"
                          << columns
                          << " without pairs that alternate, but got " << type
                          << " and " << channel;
}

/// That warpgroups write this tile to swizzle atoms, or read it, as it is.
static LogicalResult checkOfAtoms(Operation *op, tile::TileType type,
                                  const KernelContext &context) {
  // Matrices of 8x8 elements, two neighbours in the registers of a lane.
  tile::LayoutAttr layout = type.getRegisterLayout();
  const tile::Mode pairs{2, 1, 1}, lanes[] = {{4, 1, 2}, {8, 0, 1}};
  unsigned bits = type.getElementType().getIntOrFloatBitWidth();
  if ((bits != 8 && bits != 16 && bits != 32) ||
      layout.getLanes() != ArrayRef(lanes) || layout.getRegisters().empty() ||
      !(layout.getRegisters().front() == pairs) ||
      findRegister(layout, {8, 0}) < 0 || findRegister(layout, {0, 8}) < 0)
    return op->emitOpError()
           << "expects elements of 8, 16 or 32 bits in the layout of the "
              "accumulator of a warpgroup MMA, but got "
           << type;
  if (!areAlongRowsFirst(layout.getWarps(), context.warpgroupWarps))
    return op->emitOpError()
           << "expects warps along rows first, whole groups of "
           << context.warpgroupWarps << ", and then along columns, but got "
           << type;
  return success();
}

/// That warpgroups find each 16 columns of a tile in shared memory, which are
/// rows of theirs, in one swizzle atom, and that groups have columns each.
static LogicalResult checkTransposed(Operation *op, Value shared,
                                     tile::TileType type) {
  constexpr int64_t kMatrix = 16;
  int64_t atom = getSwizzleAtom(shared);
  tile::LayoutAttr layout = type.getRegisterLayout();
  bool isApart = atom && llvm::all_of(layout.getRegisters(), [&](auto &mode) {
                   return mode.dim != 0 || mode.stride < kMatrix ||
                          mode.stride % atom == 0;
                 });
  if (isApart && atom % kMatrix == 0 &&
      llvm::all_of(layout.getWarps(), [](const tile::Mode &mode) {
        return mode.dim == 0 || mode.extent == 1 || mode.stride == 0;
      }))
    return success();
  return op->emitOpError()
         << "expects swizzle atoms of a multiple of " << kMatrix
         << " columns, and warps along rows alone, where a tile is transposed, "
            "but got "
         << shared.getType() << " and " << type;
}

/// Threads read whole rows, a single one, or what they hold of an accumulator.
static LogicalResult checkRead(tile::ReadOp op, const KernelContext &context) {
  if (isPaired(op.getSource()))
    return op.emitOpError()
           << "expects a tile without pairs that alternate, but got "
           << op.getSource().getType();
  tile::TileType type = op.getResult().getType();
  if (op.getTransposed()) {
    if (failed(checkCopyEngine(op, context)) ||
        failed(checkOfAtoms(op, type, context)))
      return failure();
    return checkTransposed(op, op.getSource(), type);
  }
  if (!getSwizzleAtom(op.getSource()) ||
      op.getSource().getType().getShape()[0] == 1)
    return success();
  return checkOfAtoms(op, type, context);
}

static LogicalResult checkWrite(tile::WriteOp op,
                                const KernelContext &context) {
  tile::TileType type = op.getValue().getType();
  if (failed(checkSharedTile(op, op.getDestination(), context)) ||
      failed(checkOfAtoms(op, type, context)))
    return failure();
  return op.getTransposed() ? checkTransposed(op, op.getDestination(), type)
                            : success();
}

/// What a role computes is put as warpgroups write it, and counted by warps.
static LogicalResult checkPutTile(tile::PutTileOp op,
                                  const KernelContext &context) {
  if (failed(checkChannel(op, op.getChannel(), context)))
    return failure();
  tile::ChannelType channel = op.getChannel().getType();
  if (!channel.getSwizzleAtom())
    return success();
  if (failed(checkCopyEngine(op, context)))
    return failure();
  for (Operation *user : op.getChannel().getUsers())
    if (isa<tile::PutOp>(user))
      return user->emitOpError()
             << "expects a channel that no 'tile.put_tile' puts into";
  return channel.getShape()[0] == 1
             ? success()
             : checkOfAtoms(op, op.getValue().getType(), context);
}

LogicalResult attune::checkPlace(Operation *op, std::optional<int64_t> offset) {
  if (offset)
    return success();
  return op->emitOpError() << "expects a place in shared memory; run "
                              "tile-allocate-shared first";
}

/// That each element of what lies by threads is one thread's.
static LogicalResult checkByThreads(Operation *op, tile::TileType type) {
  tile::LayoutAttr layout = type.getRegisterLayout();
  for (ArrayRef<tile::Mode> modes : {layout.getLanes(), layout.getWarps()})
    if (llvm::any_of(modes,
                     [](const tile::Mode &mode) { return mode.stride == 0; }))
      return op->emitOpError()
             << "expects a tile of which each element is one thread's with "
                "'by_threads', but got "
             << type;
  return success();
}

static LogicalResult checkAccess(tile::StoreOp op) {
  return op.getByThreads() ? checkByThreads(op, op.getValue().getType())
                           : success();
}

static LogicalResult checkAccess(tile::LoadOp op) {
  if (op.getByThreads())
    return checkByThreads(op, op.getResult().getType());
  if (!op.getSource().getDefiningOp<tile::InterleavedOp>())
    return success();
  return op.emitOpError() << "expects a tile of interleaved buffers to go "
                             "through a channel; run tile-promote-to-shared "
                             "on a load with 'stages' first";
}

/// That taking a tile apart is a renaming of registers.
static LogicalResult checkParts(tile::DeinterleaveOp op) {
  auto found = op.getInput().getType().getRegisterLayout().deinterleave(
      op.getDim(), op.getBlock(), op.getParts().size());
  for (Value part : op.getParts())
    if (auto type = cast<tile::TileType>(part.getType());
        !found || type.getLayout() != found->first)
      return op.emitOpError()
             << "expects a layout in which a thread holds the same elements "
                "of all parts, but got "
             << op.getInput().getType().getLayout() << " and "
             << type.getLayout();
  return success();
}

/// Lanes of one warp exchange what they hold.
static LogicalResult checkReduce(tile::ReduceOp op) {
  tile::LayoutAttr layout = op.getInput().getType().getRegisterLayout();
  auto dim = static_cast<int64_t>(op.getDim());
  if (!tile::crossesWarps(layout, dim))
    return success();
  return op.emitOpError() << "expects each " << (dim == 1 ? "row" : "column")
                          << " inside one warp, but got layout " << layout;
}

/// Warps may differ in what they run by the result.
static LogicalResult checkAny(tile::AnyOp op) {
  for (Operation *user : op.getResult().getUsers()) {
    auto branch = dyn_cast<scf::IfOp>(user);
    if (!branch || isMemoryEffectFree(branch))
      continue;
    return branch.emitOpError()
           << "expects no effects on memory where warps may differ in the "
              "condition";
  }
  return success();
}

/// Partners are in one thread, or where a shuffle reaches.
static LogicalResult checkSwap(tile::SwapColumnsOp op) {
  tile::TileType type = op.getInput().getType();
  std::optional<SmallVector<tile::ColumnSource>> sources =
      tile::findSwappedColumns(type.getRegisterLayout(),
                               static_cast<int64_t>(op.getStride()));
  if (!sources)
    return op.emitOpError()
           << "expects columns " << op.getStride()
           << " apart in one thread, or in lanes whose numbers differ in one "
              "binary digit, which tells their registers, but got layout "
           << type.getLayout();
  unsigned bits = type.getElementType().getIntOrFloatBitWidth();
  auto isOfLanes = [](tile::ColumnSource source) {
    return source.laneMask != 0;
  };
  if (bits == 16 || bits == 32 || llvm::none_of(*sources, isOfLanes))
    return success();
  return op.emitOpError() << "expects elements of 16 or 32 bits where lanes "
                             "exchange them, but got "
                          << type.getElementType();
}

LogicalResult attune::checkKernel(gpu::GPUFuncOp kernel,
                                  const KernelContext &context) {
  if (kernel->hasAttr(tile::TileDialect::kRolesAttrName))
    return emitError(kernel.getLoc())
           << "expects a program for each role, but got '"
           << tile::TileDialect::kRolesAttrName
           << "'; run tile-specialize-warps first";
  WalkResult result = kernel.walk([&](Operation *op) {
    if (failed(checkRegisters(op)))
      return WalkResult::interrupt();
    LogicalResult checked =
        TypeSwitch<Operation *, LogicalResult>(op)
            .Case<tile::MmaOp, tile::MmaAsyncOp>(
                [&](auto mma) { return checkMultiply(mma, context); })
            .Case<tile::PutOp, tile::GetOp, tile::ReleaseOp>([&](auto end) {
              return checkChannel(end, end.getChannel(), context);
            })
            .Case(
                [&](tile::PutTileOp put) { return checkPutTile(put, context); })
            .Case([&](tile::ChannelOp channel) {
              if (failed(checkPlace(channel, channel.getOffset())) ||
                  failed(checkReleases(channel)) ||
                  failed(checkCluster(channel, context)))
                return failure();
              return channel.getResult().getType().getSwizzleAtom()
                         ? checkBarriers(channel, context)
                         : success();
            })
            .Case([&](tile::ReadOp read) { return checkRead(read, context); })
            .Case([&](tile::SchedulerOp scheduler) {
              return checkPlace(scheduler, scheduler.getOffset());
            })
            .Case([&](tile::BufferOp buffer) {
              if (failed(checkPlace(buffer, buffer.getOffset())) ||
                  failed(checkUsers(buffer)))
                return failure();
              return checkSharedTile(buffer, buffer.getResult(), context);
            })
            .Case(
                [&](tile::WriteOp write) { return checkWrite(write, context); })
            .Case([&](tile::RestageOp restage) {
              return checkRestage(restage, context);
            })
            .Case([&](tile::StoreAsyncOp store) {
              return checkSharedTile(store, store.getSource(), context);
            })
            .Case([&](tile::WaitReadsOp wait) {
              return isa<tile::TokenType>(wait.getPending().getType())
                         ? checkCopyEngine(wait, context)
                         : success();
            })
            .Case<tile::FenceBarriersOp, tile::SyncWarpOp,
                  tile::ArriveClusterOp, tile::WaitClusterOp>(
                [&](auto wait) { return checkBarriers(wait, context); })
            .Case<tile::LoadOp, tile::StoreOp>(
                [](auto op) { return checkAccess(op); })
            .Case([](tile::DeinterleaveOp op) { return checkParts(op); })
            .Case([](tile::ReduceOp reduce) { return checkReduce(reduce); })
            .Case([](tile::AnyOp any) { return checkAny(any); })
            .Case([](tile::SwapColumnsOp swap) { return checkSwap(swap); })
            .Case([](tile::OrderedOp ordered) { return checkOrdered(ordered); })
            .Case([&](tile::JoinOp join) { return checkJoin(join, context); })
            .Case([&](tile::SpecializeOp roles) {
              return checkRoles(roles, context);
            })
            .Case([&](tile::BarrierOp barrier) {
              return checkBarrier(barrier, context);
            })
            .Case<tile::FetchWorkOp, tile::GetWorkOp>([&](auto end) {
              return checkScheduler(end, end.getScheduler(), context);
            })
            .Case<tile::PingPongInitOp, tile::PingPongWaitOp,
                  tile::PingPongArriveOp, tile::PingPongEndOp>([&](auto turn) {
              return checkPingPong(turn, turn.getGroups(), context);
            })
            .Default([](Operation *) { return success(); });
    return failed(checked) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
