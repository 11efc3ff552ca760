// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unrolls the loops over key blocks.

#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"

namespace attune::tile {
#define GEN_PASS_DEF_TILEUNROLLLOOPSPASS
#include "attune/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attune::tile

using namespace mlir;
using namespace attune;
using namespace attune::tile;

namespace {
struct TileUnrollLoops : tile::impl::TileUnrollLoopsPassBase<TileUnrollLoops> {
  void runOnOperation() override;
};
} // namespace

/// Whether the loop still puts or gets: one role has those of the other.
static bool usesChannels(scf::ForOp loop) {
  return loop.getBody()
      ->walk([](Operation *op) {
        return isa<PutOp, GetOp>(op) ? WalkResult::interrupt()
                                     : WalkResult::advance();
      })
      .wasInterrupted();
}

void TileUnrollLoops::runOnOperation() {
  SmallVector<std::pair<scf::ForOp, int64_t>> loops;
  getOperation().walk([&](scf::ForOp loop) {
    auto factor = dyn_cast_or_null<IntegerAttr>(
        loop->removeAttr(TileDialect::kUnrollAttrName));
    if (factor && factor.getInt() > 1 && usesChannels(loop))
      loops.push_back({loop, factor.getInt()});
  });
  // Fails for loops that never run, which may stay.
  for (auto [loop, factor] : loops)
    (void)loopUnrollByFactor(loop, factor);
}
