// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StoresThroughShared.h"
#include "attune/Dialect/Tile/IR/Alignment.h"
#include "attune/Dialect/Tile/IR/Warps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace attune;
using namespace attune::tile;

int64_t attune::tile::getSwizzleAtom(gpu::GPUFuncOp kernel, TileType type) {
  return TargetAttr::lookup(kernel).getSwizzleAtom(type.getShape()[1],
                                                   type.getElementType());
}

Value attune::tile::createBuffer(gpu::GPUFuncOp kernel, TileType type) {
  Block &entry = kernel.getBody().front();
  OpBuilder b(&entry, entry.begin());
  auto slot = ChannelType::get(type.getContext(), type.getShape(),
                               type.getElementType(),
                               /*stages=*/1, getSwizzleAtom(kernel, type));
  return BufferOp::create(b, kernel.getLoc(), slot.getTileType(),
                          /*offset=*/IntegerAttr());
}

Value attune::tile::getUntransposed(Value view) {
  auto transpose = view.getDefiningOp<memref::TransposeOp>();
  bool isTransposed = transpose &&
                      transpose.getPermutation().getNumDims() == 2 &&
                      !transpose.getPermutation().isIdentity();
  return isTransposed ? transpose.getIn() : Value();
}

TileType attune::tile::transpose(TileType type) {
  return TileType::get({type.getShape()[1], type.getShape()[0]},
                       type.getElementType());
}

/// Whether the rows and columns of a view end where those of its tensor do.
static bool reachesEnds(Value view) {
  if (auto cast = view.getDefiningOp<memref::CastOp>())
    return reachesEnds(cast.getSource());
  auto subview = view.getDefiningOp<memref::SubViewOp>();
  if (!subview)
    return isa<BlockArgument>(view);
  llvm::SmallBitVector dropped = findDroppedDims(subview);
  MemRefType source = subview.getSourceType();
  for (int64_t dim = 0, rank = source.getRank(); dim < rank; ++dim) {
    if (dropped[dim])
      continue;
    OpFoldResult size = subview.getMixedSizes()[dim];
    bool isWhole = !source.isDynamicDim(dim) &&
                   isConstantIntValue(size, source.getDimSize(dim));
    if (auto value = dyn_cast<Value>(size))
      if (auto asked = value.getDefiningOp<memref::DimOp>())
        isWhole = asked.getSource() == subview.getSource() &&
                  asked.getConstantIndex() == dim;
    if (!isWhole || !isConstantIntValue(subview.getMixedOffsets()[dim], 0))
      return false;
  }
  return reachesEnds(subview.getSource());
}

/// A left operand of MMAs, of the shape of `type`, that `block` gets.
static GetOp findOperand(Block *block, TileType type) {
  for (auto get : block->getOps<GetOp>()) {
    TileType tile = get.getResult().getType();
    if (tile.getShape() == type.getShape() &&
        tile.getElementType() == type.getElementType() &&
        llvm::any_of(get->getUses(), [](OpOperand &use) {
          auto mma = dyn_cast<MmaOp>(use.getOwner());
          return mma && &use == &mma.getLhsMutable();
        }))
      return get;
  }
  return {};
}

/// Whether the groups of warps of a store have columns each of what it stores,
/// and all of its rows.
static bool isAlongColumns(StoreOp store) {
  if (getUntransposed(store.getDestination()))
    return true; // of scores, of which groups have rows
  auto mma = store.getValue().getDefiningOp<MmaOp>();
  std::optional<WarpRange> warps = getWarps(store);
  if (!mma || !warps)
    return false;
  MmaAtomAttr atom = TargetAttr::lookup(store).findAtom(
      mma.getLhs().getType().getElementType(),
      mma.getRhs().getType().getElementType(),
      mma.getAcc().getType().getElementType(), mma.getScope());
  return atom && static_cast<int64_t>(mma.getWarpsN()) * atom.getWarps() ==
                     warps->count;
}

StoresThroughShared::Turn *StoresThroughShared::findTurn(StoreOp store,
                                                         TileType type,
                                                         bool isAlongColumns) {
  auto *found = llvm::find_if(turns, [&](const Turn &turn) {
    return turn.type == type && turn.isAlongColumns && isAlongColumns &&
           turn.last->getBlock() == store->getBlock();
  });
  return found == turns.end() ? nullptr : found;
}

void StoresThroughShared::waitBefore(WriteOp write, Value token) {
  // Not between what rounds the tile and its write: a back end packs pairs of
  // what is rounded only where both are in one block.
  auto map = write.getValue().getDefiningOp<MapOp>();
  bool isOwn = map && map->hasOneUse() && map->getBlock() == write->getBlock();
  OpBuilder b(isOwn ? map.getOperation() : write);
  WaitReadsOp::create(b, write.getLoc(), token);
}

LogicalResult StoresThroughShared::handOver(StoreOp store, OrderedOp ordered) {
  Location loc = store.getLoc();
  TileType type = store.getValue().getType();
  if ((ordered && !ordered.getRole()) || store.getPath() != StorePath::Buffer ||
      type.getRank() != 2 || !reachesEnds(store.getDestination()))
    return store.emitOpError()
           << "expects a role of which one thread runs the program to store a "
              "tile by way of a buffer, to a view that ends where its tensor "
              "does";
  auto channelType = ChannelType::get(
      type.getContext(), type.getShape(), type.getElementType(),
      store.getStages().value_or(1), getSwizzleAtom(kernel, type));
  Block &entry = kernel.getBody().front();
  OpBuilder b(&entry, entry.begin());
  Value channel = ChannelOp::create(b, loc, channelType,
                                    /*offset=*/IntegerAttr(),
                                    /*barriers=*/IntegerAttr());
  Operation *place = ordered ? ordered.getOperation() : store;
  b.setInsertionPoint(place);
  Value element = numbers.get(b, loc, place->getParentOfType<scf::ForOp>());
  // A count makes another loop, whose block is another.
  b.setInsertionPoint(place);
  PutTileOp::create(b, loc, channel, element, store.getValue(),
                    ordered ? store.getRoleAttr() : StringAttr());
  b.setInsertionPoint(store);
  Value get = GetOp::create(b, loc, channelType.getTileType(), channel, element,
                            /*pending=*/0);
  auto stored = StoreAsyncOp::create(
      b, loc, get, store.getDestination(), store.getIndices()[0],
      store.getIndices()[1], store.getAccumulateAttr(), /*map=*/Value(),
      store.getEvictionAttr(), ordered ? StringAttr() : store.getRoleAttr());
  WaitReadsOp::create(b, loc, stored);
  ReleaseOp::create(b, loc, channel, element);
  store.erase();
  return success();
}

LogicalResult StoresThroughShared::lower(StoreOp store) {
  if (auto ordered = dyn_cast<OrderedOp>(store->getParentOp()))
    return handOver(store, ordered);
  if (std::optional<StringRef> role = store.getRole();
      role && findRole(getRoles(kernel), *role, RoleThreads::One))
    return handOver(store, /*ordered=*/OrderedOp());
  TileType type = store.getValue().getType();
  StorePath path = store.getPath();
  store.setPath(StorePath::Direct);
  Value destination = store.getDestination();
  SmallVector<Value, 2> at(store.getIndices());
  bool groupsHaveColumns = isAlongColumns(store);
  Value untransposed = getUntransposed(destination);
  if (untransposed) {
    destination = untransposed;
    std::swap(at[0], at[1]);
    type = transpose(type);
  }
  if (type.getRank() != 2 || !reachesEnds(destination))
    return success();
  Location loc = store.getLoc();
  Block *block = store->getBlock();
  auto loop = dyn_cast<scf::ForOp>(block->getParentOp());
  Turn *turn = nullptr;
  Value place;
  Operation *release = nullptr;
  if (path == StorePath::OperandSlot) {
    GetOp get = findOperand(block, type);
    for (auto candidate : block->getOps<ReleaseOp>())
      if (get && candidate.getChannel() == get.getChannel() &&
          candidate.getElement() == get.getElement())
        release = candidate;
    if (!release)
      return store.emitOpError()
             << "expects a left-hand operand of an MMA of the type of the "
                "tile in the same block, whose slot it can take";
    place = get.getResult();
  } else {
    turn = loop ? findTurn(store, type, groupsHaveColumns) : nullptr;
    place = turn ? turn->last.getSource() : createBuffer(kernel, type);
  }
  OpBuilder b(store);
  auto write = WriteOp::create(b, loc, store.getValue(), place,
                               /*transposed=*/untransposed != nullptr);
  auto stored = StoreAsyncOp::create(b, loc, place, destination, at[0], at[1],
                                     store.getAccumulateAttr(),
                                     /*map=*/Value(), store.getEvictionAttr(),
                                     /*role=*/StringAttr());
  store.erase();
  // A slot is wanted for the next tile, a buffer not before its next write.
  if (release || !loop) {
    Operation *last = block->getTerminator();
    b.setInsertionPoint(last);
    WaitReadsOp::create(b, loc, stored);
    if (release)
      release->moveBefore(last);
    return success();
  }
  if (turn) {
    // The next iteration waits for the last one.
    turn->last.getToken().replaceAllUsesWith(stored.getToken());
    waitBefore(write, turn->last.getToken());
    turn->last = stored;
    return success();
  }
  b.setInsertionPoint(loop);
  Value none = DoneOp::create(b, loc);
  Value before = numbers.addCarried(
      loop, none, [&](OpBuilder &, Value) { return stored.getToken(); });
  waitBefore(write, before);
  b.setInsertionPoint(loop->getBlock()->getTerminator());
  WaitReadsOp::create(b, loc, loop.getResults().back());
  turns.push_back({type, groupsHaveColumns, stored});
  return success();
}
