// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles of persistent workgroups, assigned while they run. Producers take the
// number of the next tile when they have started the last copy of one, so that
// they are never far ahead of their consumers.

#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace attune::tile {
#define GEN_PASS_DEF_TILEUSEWORKCOUNTERPASS
#include "attune/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attune::tile

using namespace mlir;
using namespace attune;
using namespace attune::tile;

namespace {
struct TileUseWorkCounter
    : tile::impl::TileUseWorkCounterPassBase<TileUseWorkCounter> {
  void runOnOperation() override;
};
} // namespace

/// The loop of a role over the tiles of its workgroup.
static scf::ForOp findTileLoop(Region &role) {
  for (auto loop : role.getOps<scf::ForOp>())
    if (loop->hasAttr(TileDialect::kDynamicAttrName))
      return loop;
  return {};
}

/// Whether it goes in steps of the number of workgroups, and carries counts and
/// tokens alone.
static bool isTileLoop(scf::ForOp loop) {
  return loop.getStep().getDefiningOp<gpu::GridDimOp>() &&
         llvm::all_of(loop.getInitArgs(), [](Value value) {
           return value.getType().isIndex() || isa<TokenType>(value.getType());
         });
}

static BlockArgument findWorkCounter(gpu::GPUFuncOp kernel) {
  for (BlockArgument argument : kernel.getArguments())
    if (kernel.getArgAttr(argument.getArgNumber(),
                          TileDialect::kWorkCounterAttrName))
      return argument;
  return {};
}

/// Gives the number of the tile after one, of an element of the tile scheduler.
using NextTile = function_ref<Value(OpBuilder &, Value element, Value tile)>;

/// Makes a loop over tiles, which carries no tiles, one that asks for the
/// next tile at its end.
static void replaceLoop(scf::ForOp loop, NextTile getNext) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  SmallVector<Value> initial{loop.getLowerBound(),
                             arith::ConstantIndexOp::create(b, loc, 0)};
  llvm::append_range(initial, loop.getInitArgs());
  auto get = scf::WhileOp::create(
      b, loc, ValueRange(initial).getTypes(), initial,
      [&](OpBuilder &inner, Location at, ValueRange values) {
        Value more = arith::CmpIOp::create(inner, at, arith::CmpIPredicate::slt,
                                           values[0], loop.getUpperBound());
        scf::ConditionOp::create(inner, at, more, values);
      },
      /*afterBuilder=*/nullptr);
  Block *body = get.getAfterBody();
  // The tile, the number of the element, and what the loop carries.
  Value tile = body->getArgument(0), element = body->getArgument(1);
  loop.getInductionVar().replaceAllUsesWith(tile);
  for (auto [old, value] : llvm::zip_equal(loop.getRegionIterArgs(),
                                           body->getArguments().drop_front(2)))
    old.replaceAllUsesWith(value);
  body->getOperations().splice(body->end(), loop.getBody()->getOperations());
  Operation *yield = &body->back();
  b.setInsertionPoint(yield);
  Value next = getNext(b, element, tile);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  SmallVector<Value> yielded{next, arith::AddIOp::create(b, loc, element, one)};
  llvm::append_range(yielded, yield->getOperands());
  scf::YieldOp::create(b, loc, yielded);
  yield->erase();
  loop.replaceAllUsesWith(get.getResults().drop_front(2));
  loop.erase();
}

void TileUseWorkCounter::runOnOperation() {
  gpu::GPUFuncOp kernel = getOperation();
  bool isDynamic = false;
  kernel.walk([&](scf::ForOp loop) {
    isDynamic |= loop->hasAttr(TileDialect::kDynamicAttrName);
  });
  if (!isDynamic)
    return;
  auto refuse = [&](StringRef what) {
    emitError(kernel.getLoc()) << "expects " << what << " where a loop is '"
                               << TileDialect::kDynamicAttrName << "'";
    signalPassFailure();
  };
  auto allRoles = kernel.getBody().getOps<SpecializeOp>();
  if (allRoles.empty())
    return refuse("roles of warps, of tile-specialize-warps,");
  SpecializeOp roles = *allRoles.begin();
  // The first role of one thread takes tiles for all of them.
  scf::ForOp producer;
  SmallVector<scf::ForOp> others;
  for (auto [i, program] : llvm::enumerate(roles.getPrograms())) {
    scf::ForOp loop = findTileLoop(program);
    if (!loop)
      continue;
    if (!isTileLoop(loop))
      return refuse("a loop over tiles, in steps of the grid, in each role");
    if (!producer && roles.getRole(i).getThreads() == RoleThreads::One)
      producer = loop;
    else
      others.push_back(loop);
  }
  if (!producer || others.empty())
    return refuse(
        "a role of one thread, and another one, with loops over tiles");
  BlockArgument counter = findWorkCounter(kernel);
  if (!counter)
    return refuse("an argument with the attribute '" +
                  TileDialect::kWorkCounterAttrName.str() + "'");

  Block &entry = kernel.getBody().front();
  OpBuilder b(&entry, entry.begin());
  Value scheduler =
      SchedulerOp::create(b, kernel.getLoc(), SchedulerType::get(&getContext()),
                          /*offset=*/IntegerAttr());
  Value total = producer.getUpperBound();
  replaceLoop(producer, [&](OpBuilder &inner, Value element, Value tile) {
    return FetchWorkOp::create(inner, kernel.getLoc(), inner.getIndexType(),
                               scheduler, element, counter, tile, total);
  });
  for (scf::ForOp consumer : others)
    replaceLoop(consumer, [&](OpBuilder &inner, Value element, Value tile) {
      return GetWorkOp::create(inner, kernel.getLoc(), inner.getIndexType(),
                               scheduler, element, tile);
    });
}
