// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When rows of several heads are the rows of one matrix.

#include "attune/Schedule/Attention/HeadPacking.h"
#include "attune/Dialect/Attn/Analysis/RegionTiles.h"
#include "attune/Target/CopyEngine.h"
#include <numeric>

using namespace mlir;
using namespace attune;

/// Whether the queries of a head follow those of the head before.
static bool areAdjacent(attn::AttentionOp op) {
  return !op.getQuery().getType().getEncoding() &&
         !op.getResult().getType().getEncoding() &&
         (!op.getLse() ||
          !cast<RankedTensorType>(op.getLse().getType()).getEncoding()) &&
         op.getOrder().find('h') + 1 == op.getOrder().find('s');
}

HeadPacking HeadPacking::get(attn::AttentionOp op) {
  HeadPacking packing;
  bool isPacked = op.getQueryStarts() != nullptr;
  bool queriesFirst = op.getOrder().find('s') < op.getOrder().find('h');
  int64_t headsQ = op.getHeadsQ(), headsKV = op.getHeadsKV(),
          length = isPacked ? 0 : op.getSeqQ();
  if (ShapedType::isDynamic(headsQ) || ShapedType::isDynamic(headsKV) ||
      ShapedType::isDynamic(length) || headsKV == 0 ||
      (isPacked ? !queriesFirst : length == 0))
    return packing;
  // What keys a head sees must not differ in a tile, or too many are visited.
  Region &mask = op.getMask();
  if (!mask.empty() && !mask.getArgument(1).use_empty())
    return packing;
  for (const attn::BlockList &list : attn::getBlockLists(op))
    if (cast<RankedTensorType>(list.tensor.getType()).getDimSize(1) != 1)
      return packing;
  packing.length = length;
  packing.group = headsQ / headsKV;
  packing.areHeadsAdjacent = !isPacked && (length == 1 || areAdjacent(op));
  packing.queriesFirst = queriesFirst;
  packing.readsTiles = !findRegionTiles(op).empty();
  // Each swizzle atom of a row is at least as wide as what divides its columns,
  // or those of a part of them.
  constexpr int64_t kMostRoles = 4;
  int64_t columns = op.getHeadDimQK();
  if (ShapedType::isDynamic(columns))
    return packing;
  if (std::optional<int64_t> latent = op.getLatent())
    columns = std::gcd(columns, *latent) / kMostRoles;
  int64_t bits = op.getQuery().getType().getElementTypeBitWidth();
  packing.rowsOfBoxes = CopyEngine::kSharedAlignment /
                        std::gcd(CopyEngine::kSharedAlignment,
                                 std::max<int64_t>(columns * bits / 8, 1));
  return packing;
}

bool HeadPacking::needsTwoDims(
    const schedule::AttentionAttr::View &schedule) const {
  return length != 1 && (schedule.getMmaWarps() > 1 || !areHeadsAdjacent);
}

bool HeadPacking::areAligned(int64_t heads, int64_t rows) const {
  int64_t ofBox = queriesFirst ? heads : length, left = rows % ofBox;
  return left == 0 || (rows - left) % rowsOfBoxes == 0;
}

int64_t
HeadPacking::count(const schedule::AttentionAttr::View &schedule) const {
  int64_t rows = schedule.getBlockM(),
          heads = std::min(group, rows / std::max<int64_t>(length, 1));
  bool flattens = needsTwoDims(schedule);
  // Other workgroups of a cluster would have no queries; a box of a result in
  // shared memory does not end with the last head of a tile; and tiles of
  // tensors that regions read are those of one head.
  if (flattens && (readsTiles || schedule.getCluster() > 1 ||
                   schedule.getOInShared() != schedule::OutputPath::Registers))
    return 1;
  while (heads > 1 &&
         (group % heads != 0 || (flattens && !areAligned(heads, rows))))
    --heads;
  return std::max<int64_t>(heads, 1);
}

bool HeadPacking::flattens(
    const schedule::AttentionAttr::View &schedule) const {
  return needsTwoDims(schedule) && count(schedule) > 1;
}

int64_t
HeadPacking::countQueries(const schedule::AttentionAttr::View &schedule) const {
  int64_t rows = schedule.getBlockM();
  return length == 0 ? rows / count(schedule) : rows;
}
