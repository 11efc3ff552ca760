// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LoopPlan.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Schedule/Attention/Legality.h"

using namespace mlir;
using namespace attune;

void attune::planLoop(scf::ForOp loop, schedule::AttentionAttr schedule) {
  Builder b(loop.getContext());
  using Tile = tile::TileDialect;
  if (schedule.getOverlap() != schedule::Overlap::None)
    loop->setAttr(
        Tile::kOverlapAttrName,
        tile::OverlapAttr::get(b.getContext(), schedule.getRescaleLate()
                                                   ? tile::Overlap::Late
                                                   : tile::Overlap::Early));
  if (schedule.getOverlap() == schedule::Overlap::PingPong)
    loop->setAttr(Tile::kPingPongAttrName, b.getUnitAttr());
  if (schedule.getLateKeys())
    loop->setAttr(Tile::kIssueLateAttrName,
                  b.getI64IntegerAttr(schedule.getLateKeys()));
  // What a role computes runs beside what others multiply, and products that
  // are added up beside each other.
  if (hasScoreRole(schedule))
    loop->setAttr(Tile::kDeferWaitsAttrName, b.getUnitAttr());
  if (schedule.getSplitMasked())
    loop->setAttr(Tile::kSplitAttrName, b.getUnitAttr());
  if (schedule.getUnroll() > 1)
    loop->setAttr(Tile::kUnrollAttrName,
                  b.getI64IntegerAttr(schedule.getUnroll()));
}
