// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When rows of several heads are the rows of one matrix.

#include "attune/Schedule/Attention/HeadPacking.h"

using namespace mlir;
using namespace attune;

/// Whether the queries of a head follow those of the head before.
static bool areHeadsAdjacent(attn::AttentionOp op) {
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
  if (length == 1 || areHeadsAdjacent(op))
    packing.group = headsQ / headsKV;
  return packing;
}

int64_t
HeadPacking::count(const schedule::AttentionAttr::View &schedule) const {
  // The TMA boxes of a copy engine do not go on from one head to the next.
  if (length > 1 && schedule.getMmaWarps() > 1)
    return 1;
  int64_t heads = std::min(group, schedule.getBlockM() / length);
  while (heads > 1 && group % heads != 0)
    --heads;
  return std::max<int64_t>(heads, 1);
}
