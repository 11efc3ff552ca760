// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attune/Dialect/Attn/Analysis/ScoreTiles.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace attune;

/// Arguments of a score region.
enum : unsigned { kBatch = 1, kHead, kQuery, kKey };

/// Whether an index is computed of these arguments of the region, of what
/// surrounds it, and of constants alone.
static bool isComputedOf(Value index, Region &region,
                         ArrayRef<unsigned> arguments) {
  if (!region.isAncestor(index.getParentRegion()))
    return true;
  if (auto argument = dyn_cast<BlockArgument>(index))
    return llvm::is_contained(arguments, argument.getArgNumber());
  Operation *op = index.getDefiningOp();
  return isPure(op) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isComputedOf(operand, region, arguments);
         });
}

SmallVector<tensor::ExtractOp> attune::findScoreTiles(attn::AttentionOp op) {
  SmallVector<tensor::ExtractOp> tiles;
  if (!op.hasScore() || op.hasLengths() || op.getPages())
    return tiles;
  Region &region = op.getScore();
  for (auto extract : region.front().getOps<tensor::ExtractOp>()) {
    ValueRange indices = extract.getIndices();
    if (indices.size() < 2 ||
        region.isAncestor(extract.getTensor().getParentRegion()) ||
        indices.back() != region.getArgument(kKey) ||
        indices.drop_back().back() != region.getArgument(kQuery) ||
        !isa<FloatType>(extract.getType()))
      continue;
    if (llvm::all_of(indices.drop_back(2), [&](Value index) {
          return isComputedOf(index, region, {kBatch, kHead});
        }))
      tiles.push_back(extract);
  }
  return tiles;
}

bool attune::isOfAllBatches(tensor::ExtractOp tile) {
  return llvm::all_of(tile.getIndices().drop_back(2), [&](Value index) {
    return isComputedOf(index, *tile->getParentRegion(), {kHead});
  });
}
