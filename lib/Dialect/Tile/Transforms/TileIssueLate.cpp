// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Issues the end of a loop's last MMA behind what needs the first one alone.

#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace attune::tile {
#define GEN_PASS_DEF_TILEISSUELATEPASS
#include "attune/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attune::tile

using namespace mlir;
using namespace attune;
using namespace attune::tile;

namespace {

struct TileIssueLate : tile::impl::TileIssueLatePassBase<TileIssueLate> {
  void runOnOperation() override;
};

} // namespace

/// Behind what the late terms are issued: the first maxima of rows that follow
/// the wait for the loop's first MMA, which come behind the last one. Null
/// where there are none, or where the last one's result is wanted before.
static ReduceOp findMaxima(ArrayRef<MmaAsyncOp> multiplies) {
  MmaAsyncOp first = multiplies.front(), last = multiplies.back();
  Block *body = last->getBlock();
  auto isLate = [&](Operation *user) {
    return user->getBlock() == body && last->isBeforeInBlock(user);
  };
  for (auto reduce : body->getOps<ReduceOp>()) {
    if (reduce.getKind() != ReductionKind::Max || reduce.getDim() != 1 ||
        !isLate(reduce))
      continue;
    bool isThere = llvm::any_of(first->getUsers(), [&](Operation *user) {
      return isa<WaitOp>(user) && isLate(user) && user->isBeforeInBlock(reduce);
    });
    bool isWanted = llvm::any_of(last->getUsers(), [&](Operation *user) {
      return user->getBlock() != body || user->isBeforeInBlock(reduce);
    });
    return isThere && !isWanted ? reduce : ReduceOp();
  }
  return {};
}

static void issueLate(scf::ForOp loop, int64_t terms) {
  auto multiplies = llvm::to_vector(loop.getBody()->getOps<MmaAsyncOp>());
  if (multiplies.size() < 2)
    return;
  MmaAsyncOp last = multiplies.back();
  auto [from, to] = last.getTermRange();
  if (last.getScope() != MmaScope::Warpgroup || last.getPackedRhs() ||
      to - from <= terms)
    return;
  ReduceOp maxima = findMaxima(multiplies);
  if (!maxima)
    return;
  OpBuilder b(last->getContext());
  b.setInsertionPointAfter(maxima);
  auto late = cast<MmaAsyncOp>(b.clone(*last));
  last.replaceAllUsesWith(late.getResult());
  late.getAccMutable().assign(last.getResult());
  last.setTerms({from, to - terms});
  late.setTerms({to - terms, to});
}

void TileIssueLate::runOnOperation() {
  SmallVector<std::pair<scf::ForOp, int64_t>> loops;
  getOperation().walk([&](scf::ForOp loop) {
    if (auto terms = dyn_cast_or_null<IntegerAttr>(
            loop->removeAttr(TileDialect::kIssueLateAttrName)))
      loops.emplace_back(loop, terms.getInt());
  });
  for (auto [loop, terms] : loops)
    issueLate(loop, terms);
}
