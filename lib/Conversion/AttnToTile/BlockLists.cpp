// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One warp for each pair of a tile and a block finds out whether the mask shows
// keys there, and whether it hides some. Then one warp for each tile writes its
// lists. Its lanes have parts that follow each other, so that the order of a
// list, and with it that of all sums, is always the same.

#include "BlockLists.h"
#include "Lanes.h"
#include "Views.h"
#include "attune/Conversion/RegionClone.h"
#include "attune/Dialect/Attn/IR/SizeFacts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace attune;

/// What is said of a pair: bits that are set where the mask shows a key, and
/// where it hides one.
static constexpr int32_t kShows = 1, kHides = 2;

namespace {
class ListBuilder {
public:
  ListBuilder(attn::AttentionOpInterface op, KernelOutliner &outliner,
              const ListedTiles &tiles, int64_t lanes);

  /// Writes what is said of each pair.
  void addPairs();
  void addLists();
  const BlockLists &getLists() { return lists; }

private:
  /// Of the blocks of a list of a tile: where counts and indices go, and what
  /// is said of them.
  struct Target {
    Value counts, indices;
    int32_t says;
  };

  /// The name of a kernel or a buffer, where there may be lists of both owners.
  std::string name(StringRef part) {
    return ((tiles.owns == MaskDim::Key ? "key_" : "") + part).str();
  }
  /// A number taken apart into places, one for each size; the last is fastest.
  SmallVector<Value> delinearize(ImplicitLocOpBuilder &b, Value number,
                                 ArrayRef<Value> sizes);
  OutlinedKernel &addKernel(StringRef part);
  /// The first and the last row of a block of `size`, of which there are not
  /// more than an argument has.
  std::pair<Value, Value> findEnds(ImplicitLocOpBuilder &b, Value block,
                                   int64_t size, Value buffer);
  /// What is said of the positions that one lane looks at.
  Value scanPair(ImplicitLocOpBuilder &b, OutlinedKernel &kernel,
                 ValueRange place, Value lane);
  /// Counts the blocks from `first` on and before `after` in the list of each
  /// target, from `counts` on. Stores them by these numbers if asked.
  SmallVector<Value> count(ImplicitLocOpBuilder &b, ArrayRef<Target> targets,
                           Value source, ArrayRef<Value> tile, Value first,
                           Value after, ValueRange counts, bool stores);

  attn::AttentionOpInterface op;
  KernelOutliner &outliner;
  ListedTiles tiles;
  int64_t lanes;
  Value query, key;
  /// Batches, heads, tiles and blocks.
  SmallVector<HostProduct> extents;
  Value pairs;
  BlockLists lists;
};
} // namespace

static Value literal(ImplicitLocOpBuilder &b, int32_t value) {
  return arith::ConstantIntOp::create(b, value, 32);
}

ListBuilder::ListBuilder(attn::AttentionOpInterface op,
                         KernelOutliner &outliner, const ListedTiles &tiles,
                         int64_t lanes)
    : op(op), outliner(outliner), tiles(tiles), lanes(lanes),
      query(outliner.getInput(op.getQuery(), "query")),
      key(outliner.getInput(op.getKey(), "key")) {
  // Heads that share tiles are not told apart.
  auto count = [&](unsigned argument, int64_t dim) {
    return op.getMask().getArgument(argument).use_empty()
               ? HostProduct{1}
               : HostProduct{1, {{query, dim}}};
  };
  bool ownsKeys = tiles.owns == MaskDim::Key;
  extents = {count(0, op.getBatchPos()),
             count(1, op.getHeadPos()),
             {1, {{ownsKeys ? key : query, op.getSeqPos(), tiles.owned}}},
             {1, {{ownsKeys ? query : key, op.getSeqPos(), tiles.visited}}}};
  auto allocate = [&](StringRef part, ArrayRef<HostProduct> sizes) {
    return outliner.makeWorkspace(
        {name(part), IntegerType::get(op.getContext(), 32),
         SmallVector<HostProduct, 3>(sizes), /*alignment=*/16});
  };
  pairs = allocate("block_pairs", extents);
  ArrayRef<HostProduct> counts = ArrayRef(extents).drop_back();
  SmallVector<HostProduct> indices(extents);
  // Loads that run ahead read an element also of what may be empty.
  attn::SizeFacts visited =
      ownsKeys ? attn::getQueryFacts(op) : attn::getKeyFacts(op);
  if (visited.min == 0)
    indices.back().factors.front().moreNumber = 1;
  lists = {tiles, allocate("block_counts", counts),
           allocate("block_indices", indices),
           allocate("full_block_counts", counts),
           allocate("full_block_indices", indices)};
}

OutlinedKernel &ListBuilder::addKernel(StringRef part) {
  StringRef function = op->getParentOfType<func::FuncOp>().getName();
  OutlinedKernel &kernel =
      outliner.addKernel((function + "_" + name(part)).str());
  kernel.setBlock(lanes);
  return kernel;
}

SmallVector<Value> ListBuilder::delinearize(ImplicitLocOpBuilder &b,
                                            Value number,
                                            ArrayRef<Value> sizes) {
  SmallVector<Value> place(sizes.size());
  for (size_t dim = sizes.size(); dim-- > 1;) {
    place[dim] = b.createOrFold<arith::RemUIOp>(number, sizes[dim]);
    number = b.createOrFold<arith::DivUIOp>(number, sizes[dim]);
  }
  place[0] = number;
  return place;
}

static HostProduct multiply(ArrayRef<HostProduct> products) {
  HostProduct result;
  for (const HostProduct &product : products) {
    result.constant *= product.constant;
    llvm::append_range(result.factors, product.factors);
  }
  return result;
}

static SmallVector<Value> getSizes(ImplicitLocOpBuilder &b, Value buffer) {
  SmallVector<Value> sizes;
  int64_t rank = cast<MemRefType>(buffer.getType()).getRank();
  for (int64_t dim = 0; dim < rank; ++dim)
    sizes.push_back(b.createOrFold<memref::DimOp>(buffer, dim));
  return sizes;
}

std::pair<Value, Value> ListBuilder::findEnds(ImplicitLocOpBuilder &b,
                                              Value block, int64_t size,
                                              Value buffer) {
  Value first = arith::MulIOp::create(b, block, constant(b, size));
  Value length = b.createOrFold<memref::DimOp>(buffer, op.getSeqPos());
  Value after = arith::MinUIOp::create(
      b, arith::AddIOp::create(b, first, constant(b, size)), length);
  return {first, arith::SubIOp::create(b, after, constant(b, 1))};
}

Value ListBuilder::scanPair(ImplicitLocOpBuilder &b, OutlinedKernel &kernel,
                            ValueRange place, Value lane) {
  Value queryBlock = place[2], keyBlock = place[3];
  int64_t queries = tiles.owned, keys = tiles.visited;
  if (tiles.owns == MaskDim::Key) {
    std::swap(queryBlock, keyBlock);
    std::swap(queries, keys);
  }
  auto queryEnds = findEnds(b, queryBlock, queries, kernel.addArgument(query));
  auto keyEnds = findEnds(b, keyBlock, keys, kernel.addArgument(key));
  auto forEach = [&](Value begin, int64_t size, int64_t step,
                     std::pair<Value, Value> ends, Value before,
                     function_ref<Value(Value, Value)> body) {
    auto loop = scf::ForOp::create(b, begin, constant(b, size),
                                   constant(b, step), before);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    // Positions behind the last one say again what that says.
    Value position = arith::MinUIOp::create(
        b, arith::AddIOp::create(b, ends.first, loop.getInductionVar()),
        ends.second);
    scf::YieldOp::create(b,
                         ValueRange(body(position, loop.getRegionIterArg(0))));
    return loop.getResult(0);
  };
  auto look = [&](Value m, Value n, Value before) -> Value {
    IRMapping mapping = kernel.getMapping();
    mapping.map(op.getMask().getArguments(),
                ValueRange{place[0], place[1], m, n});
    Value visible = inlineOntoBuffers(b, op.getMask(), mapping);
    Value says = arith::SelectOp::create(b, visible, literal(b, kShows),
                                         literal(b, kHides));
    return arith::OrIOp::create(b, before, says);
  };
  // Neighbouring lanes look at neighbouring keys, and each at many queries of
  // one: what is read for a key is read once.
  Value width = constant(b, keys);
  Value column = arith::RemUIOp::create(b, lane, width),
        row = arith::DivUIOp::create(b, lane, width);
  int64_t rowsAtOnce = std::max<int64_t>(lanes / keys, 1);
  return forEach(column, keys, lanes, keyEnds, literal(b, 0),
                 [&](Value n, Value ofOthers) {
                   return forEach(row, queries, rowsAtOnce, queryEnds, ofOthers,
                                  [&](Value m, Value before) {
                                    return look(m, n, before);
                                  });
                 });
}

void ListBuilder::addPairs() {
  OutlinedKernel &kernel = addKernel("pairs");
  kernel.addArgument(query);
  kernel.addArgument(key);
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op.getMask(), captured);
  for (Value value : captured)
    kernel.capture(value);
  Value target = kernel.addArgument(pairs, launch::Access::Write);
  kernel.setGrid(multiply(extents));

  ImplicitLocOpBuilder b(op.getLoc(), kernel.getBody());
  Value number = gpu::BlockIdOp::create(b, gpu::Dimension::x);
  Value lane = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
  SmallVector<Value> place = delinearize(b, number, getSizes(b, target));
  Value says = scanPair(b, kernel, place, lane);
  says = combineLanes<arith::OrIOp>(b, says, lanes);
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lane, constant(b, 0));
  scf::IfOp::create(b, isFirst, [&](OpBuilder &inner, Location loc) {
    memref::StoreOp::create(inner, loc, says, target, place);
    scf::YieldOp::create(inner, loc);
  });
}

SmallVector<Value> ListBuilder::count(ImplicitLocOpBuilder &b,
                                      ArrayRef<Target> targets, Value source,
                                      ArrayRef<Value> tile, Value first,
                                      Value after, ValueRange counts,
                                      bool stores) {
  auto loop = scf::ForOp::create(b, first, after, constant(b, 1), counts);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> place(tile), next;
  place.push_back(loop.getInductionVar());
  Value says = memref::LoadOp::create(b, source, place);
  Value block = arith::IndexCastOp::create(b, b.getI32Type(), place.back());
  for (auto [target, count] :
       llvm::zip_equal(targets, loop.getRegionIterArgs())) {
    Value isListed = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, says,
                                           literal(b, target.says));
    if (stores) {
      place.back() = arith::IndexCastOp::create(b, b.getIndexType(), count);
      Value indices = target.indices;
      scf::IfOp::create(b, isListed, [&](OpBuilder &inner, Location loc) {
        memref::StoreOp::create(inner, loc, block, indices, place);
        scf::YieldOp::create(inner, loc);
      });
    }
    Value one = arith::ExtUIOp::create(b, b.getI32Type(), isListed);
    next.push_back(arith::AddIOp::create(b, count, one));
  }
  scf::YieldOp::create(b, next);
  return loop.getResults();
}

/// Emits the sum of the numbers of all lanes before one, and that of all.
static std::pair<Value, Value> addUpLanes(ImplicitLocOpBuilder &b, Value number,
                                          Value lane, int64_t lanes) {
  Value zero = literal(b, 0), before = zero, all = number;
  for (int64_t distance = 1; distance < lanes; distance *= 2) {
    Value other = exchangeLanes(b, all, distance, lanes);
    Value bit = arith::AndIOp::create(b, lane, constant(b, distance));
    Value isFirst =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, bit, constant(b, 0));
    Value more = arith::SelectOp::create(b, isFirst, zero, other);
    before = arith::AddIOp::create(b, before, more);
    all = arith::AddIOp::create(b, all, other);
  }
  return {before, all};
}

void ListBuilder::addLists() {
  OutlinedKernel &kernel = addKernel("lists");
  kernel.addArgument(query);
  kernel.addArgument(key);
  Value source = kernel.addArgument(pairs, launch::Access::Read);
  auto add = [&](Value list) {
    return kernel.addArgument(list, launch::Access::Write);
  };
  std::array<Target, 2> targets{
      Target{add(lists.counts), add(lists.indices), kShows | kHides},
      Target{add(lists.fullCounts), add(lists.fullIndices), kShows}};
  kernel.setGrid(multiply(ArrayRef(extents).drop_back()));

  ImplicitLocOpBuilder b(op.getLoc(), kernel.getBody());
  Value number = gpu::BlockIdOp::create(b, gpu::Dimension::x);
  Value lane = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
  SmallVector<Value> extent = getSizes(b, source);
  Value blocks = extent.pop_back_val();
  SmallVector<Value> tile = delinearize(b, number, extent);
  Value part = b.createOrFold<arith::CeilDivUIOp>(blocks, constant(b, lanes));
  Value first =
      arith::MinUIOp::create(b, arith::MulIOp::create(b, lane, part), blocks);
  Value after =
      arith::MinUIOp::create(b, arith::AddIOp::create(b, first, part), blocks);
  Value zero = literal(b, 0);
  SmallVector<Value> own = count(b, targets, source, tile, first, after,
                                 {zero, zero}, /*stores=*/false);
  SmallVector<Value> before, all;
  for (Value number : own) {
    auto [ofOthers, ofAll] = addUpLanes(b, number, lane, lanes);
    before.push_back(ofOthers);
    all.push_back(ofAll);
  }
  count(b, targets, source, tile, first, after, before, /*stores=*/true);
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lane, constant(b, 0));
  scf::IfOp::create(b, isFirst, [&](OpBuilder &inner, Location loc) {
    for (auto [target, count] : llvm::zip_equal(targets, all))
      memref::StoreOp::create(inner, loc, count, target.counts, tile);
    scf::YieldOp::create(inner, loc);
  });
}

void BlockLists::pass(OutlinedKernel &kernel, KernelInputs &inputs) const {
  auto add = [&](Value list) {
    return kernel.addArgument(list, launch::Access::Read);
  };
  bool ownsKeys = tiles.owns == MaskDim::Key;
  inputs.listedQueries = ownsKeys ? tiles.visited : tiles.owned;
  inputs.listedKeys = ownsKeys ? tiles.owned : tiles.visited;
  inputs.blockCounts = add(counts);
  inputs.blockIndices = add(indices);
  inputs.fullBlockCounts = add(fullCounts);
  inputs.fullBlockIndices = add(fullIndices);
}

BlockLists attune::addBlockListKernels(attn::AttentionOpInterface op,
                                       KernelOutliner &outliner,
                                       const ListedTiles &tiles,
                                       int64_t lanes) {
  ListBuilder builder(op, outliner, tiles, lanes);
  builder.addPairs();
  builder.addLists();
  return builder.getLists();
}
