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
  int64_t headsQ = op.getHeadsQ(), headsKV = op.getHeadsKV(),
          length = op.getSeqQ();
  if (ShapedType::isDynamic(headsQ) || ShapedType::isDynamic(headsKV) ||
      ShapedType::isDynamic(length) || headsKV == 0 || length == 0 ||
      op.getQueryStarts())
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
  packing.areHeadsAdjacent = length == 1 || areAdjacent(op);
  packing.queriesFirst = op.getOrder().find('s') < op.getOrder().find('h');
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

bool HeadPacking::areAligned(int64_t heads, int64_t rows) const {
  int64_t ofBox = queriesFirst ? heads : length, left = rows % ofBox;
  return left == 0 || (rows - left) % rowsOfBoxes == 0;
}

int64_t
HeadPacking::count(const schedule::AttentionAttr::View &schedule) const {
  int64_t rows = schedule.getBlockM(), heads = std::min(group, rows / length);
  bool byBoxes = length > 1 && schedule.getMmaWarps() > 1;
  // The rows of a single warp's tile are one dimension of memory.
  if (!byBoxes && !areHeadsAdjacent)
    return 1;
  // Other workgroups of a cluster would have no queries; a box of a result in
  // shared memory does not end with the last head of a tile; and tiles of
  // tensors that regions read are those of one head.
  if (byBoxes && (readsTiles || schedule.getCluster() > 1 ||
                  schedule.getOInShared() != schedule::OutputPath::Registers))
    return 1;
  while (heads > 1 &&
         (group % heads != 0 || (byBoxes && !areAligned(heads, rows))))
    --heads;
  return std::max<int64_t>(heads, 1);
}

bool HeadPacking::isByBoxes(
    const schedule::AttentionAttr::View &schedule) const {
  return length > 1 && schedule.getMmaWarps() > 1 && count(schedule) > 1;
}
