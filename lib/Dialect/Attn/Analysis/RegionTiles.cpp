// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attune/Dialect/Attn/Analysis/RegionTiles.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace attune;

/// Arguments of a region, behind the score that one of scores has.
enum : unsigned { kBatch, kHead, kQuery, kKey };

static unsigned getFirstArgument(Region &region) {
  return region.getNumArguments() - kKey - 1;
}

/// Whether an index is computed of these arguments of the region, of what
/// surrounds it, and of constants alone.
static bool isComputedOf(Value index, Region &region,
                         ArrayRef<unsigned> arguments) {
  if (!region.isAncestor(index.getParentRegion()))
    return true;
  if (auto argument = dyn_cast<BlockArgument>(index))
    return llvm::is_contained(arguments, argument.getArgNumber() -
                                             getFirstArgument(region));
  Operation *op = index.getDefiningOp();
  return isPure(op) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isComputedOf(operand, region, arguments);
         });
}

/// Whether tiles have elements of this type.
static bool isOfTiles(Type type) {
  return type.isInteger(8) ||
         (type.isFloat() &&
          llvm::is_contained({8, 16, 32}, type.getIntOrFloatBitWidth()));
}

static void findTiles(Region &region, SmallVector<tensor::ExtractOp> &tiles) {
  if (region.empty())
    return;
  ValueRange places =
      region.getArguments().drop_front(getFirstArgument(region));
  for (auto extract : region.front().getOps<tensor::ExtractOp>()) {
    ValueRange indices = extract.getIndices();
    Type type = extract.getType();
    if (indices.size() < 2 ||
        region.isAncestor(extract.getTensor().getParentRegion()) ||
        indices.take_back(2) != places.take_back(2) || !isOfTiles(type))
      continue;
    if (llvm::all_of(indices.drop_back(2), [&](Value index) {
          return isComputedOf(index, region, {kBatch, kHead});
        }))
      tiles.push_back(extract);
  }
}

SmallVector<tensor::ExtractOp>
attune::findRegionTiles(attn::AttentionOpInterface op) {
  SmallVector<tensor::ExtractOp> tiles;
  if (op.hasLengths() || op.getPages())
    return tiles;
  findTiles(op.getScore(), tiles);
  // With lists, few blocks ask the mask.
  if (!op.hasBlockLists())
    findTiles(op.getMask(), tiles);
  return tiles;
}

bool attune::isOfAllBatches(tensor::ExtractOp tile) {
  return llvm::all_of(tile.getIndices().drop_back(2), [&](Value index) {
    return isComputedOf(index, *tile->getParentRegion(), {kHead});
  });
}

/// Which argument of its region an index is; none where it is no such.
static std::optional<unsigned> getArgument(Value index, Region &region) {
  auto argument = dyn_cast<BlockArgument>(index);
  if (!argument || argument.getOwner()->getParent() != &region)
    return std::nullopt;
  return argument.getArgNumber() - getFirstArgument(region);
}

bool attune::isOfOneHead(attn::AttentionOpInterface op,
                         tensor::ExtractOp tile) {
  Region &region = *tile->getParentRegion();
  auto tells = [&](unsigned number, int64_t size) {
    return size == 1 ||
           llvm::any_of(tile.getIndices().drop_back(2), [&](Value index) {
             return getArgument(index, region) == number;
           });
  };
  int64_t reads = 0;
  for (Operation *user : tile.getTensor().getUsers())
    if (op->isProperAncestor(user))
      ++reads;
  return reads == 1 && tells(kBatch, op.getBatch()) &&
         tells(kHead, op.getHeadsQ());
}

bool attune::coversTensor(attn::AttentionOpInterface op,
                          tensor::ExtractOp tile) {
  Region &region = *tile->getParentRegion();
  const int64_t sizes[] = {op.getBatch(), op.getHeadsQ(), op.getSeqQ(),
                           op.getSeqK()};
  auto type = cast<RankedTensorType>(tile.getTensor().getType());
  for (auto [index, size] :
       llvm::zip_equal(tile.getIndices(), type.getShape())) {
    std::optional<unsigned> argument = getArgument(index, region);
    if (ShapedType::isDynamic(size) ||
        size != (argument ? sizes[*argument] : 1))
      return false;
  }
  return true;
}

bool attune::readsTensorAt(Region &region, MaskDim dim) {
  unsigned number =
      getFirstArgument(region) + (dim == MaskDim::Query ? kQuery : kKey);
  SetVector<Operation *> users;
  getForwardSlice(region.getArgument(number), &users);
  return llvm::any_of(users, llvm::IsaPred<tensor::ExtractOp>);
}
