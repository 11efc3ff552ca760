// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RegionTiles.h"
#include "Views.h"
#include "attune/Conversion/RegionClone.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Schedule/Attention/Legality.h"

using namespace mlir;
using namespace attune;

/// An index of a region that its batch and head say, outside of it.
static Value emitIndex(ImplicitLocOpBuilder &b, Value index, Region &region,
                       IRMapping &mapping) {
  if (Operation *op = index.getDefiningOp();
      op && region.isAncestor(op->getParentRegion()) &&
      !mapping.contains(index)) {
    for (Value operand : op->getOperands())
      emitIndex(b, operand, region, mapping);
    cloneOntoBuffers(b, *op, mapping);
  }
  return mapping.lookupOrDefault(index);
}

void RegionTiles::enterTile(ImplicitLocOpBuilder &b, IRMapping captures,
                            Value batch, Value head) {
  if (reads.empty())
    return;
  views.clear();
  for (Region *region : {&op.getScore(), &op.getMask()})
    if (!region->empty())
      captures.map(region->getArguments().take_back(4).take_front(2),
                   ValueRange{batch, head});
  ofHead = std::move(captures);
  for (tensor::ExtractOp read : reads)
    views.push_back(view(b, read, ofHead.lookup(read.getTensor())));
}

Value RegionTiles::view(ImplicitLocOpBuilder &b, tensor::ExtractOp read,
                        Value buffer) {
  for (Value index : read.getIndices().drop_back(2))
    buffer = viewPart(b, buffer,
                      emitIndex(b, index, *read->getParentRegion(), ofHead));
  return rowsAreKeys ? transposeView(b, buffer) : buffer;
}

void RegionTiles::load(ImplicitLocOpBuilder &b, int64_t rows, int64_t columns,
                       Value row, Value column) {
  tiles.clear();
  for (Value view : views) {
    auto type = tile::TileType::get(
        {rows, columns}, cast<MemRefType>(view.getType()).getElementType());
    tiles.push_back(tile::LoadOp::create(
        b, type, view, ValueRange{row, column}, /*in_bounds=*/UnitAttr(),
        b.getI64IntegerAttr(stages), /*read_once=*/UnitAttr(),
        /*role=*/StringAttr(),
        tile::EvictionAttr::get(b.getContext(), tile::Eviction::First)));
  }
}

SmallVector<Value> RegionTiles::get(Region &region) const {
  SmallVector<Value> ofRegion;
  for (auto [read, tile] : llvm::zip_equal(reads, tiles))
    if (read->getParentRegion() == &region)
      ofRegion.push_back(tile);
  return ofRegion;
}

void RegionTiles::map(Region &region, IRMapping &mapping,
                      ValueRange elements) const {
  for (tensor::ExtractOp read : reads)
    if (read->getParentRegion() == &region) {
      mapping.map(read.getResult(), elements.front());
      elements = elements.drop_front();
    }
}
