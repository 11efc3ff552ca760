// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One warp for each pair of a query tile and a key block finds out whether the
// mask shows keys there, and whether it hides some. Then one thread for each
// tile writes its lists, so that their order, and with it that of all sums, is
// always the same.

#include "BlockLists.h"
#include "Lanes.h"
#include "Views.h"
#include "attune/Conversion/RegionClone.h"
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
  ListBuilder(attn::AttentionOp op, KernelOutliner &outliner,
              const KernelSizes &sizes, int64_t lanes);

  /// Writes what is said of each pair.
  void addPairs();
  void addLists();
  const BlockLists &getLists() { return lists; }

private:
  /// A number taken apart into places, one for each size; the last is fastest.
  SmallVector<Value> delinearize(ImplicitLocOpBuilder &b, Value number,
                                 ArrayRef<Value> sizes);
  OutlinedKernel &addKernel(StringRef part, int64_t threads);
  /// The last of `size` positions from `first` on, of which there are not more
  /// than a dimension of `buffer`, an argument, has.
  Value getLast(ImplicitLocOpBuilder &b, Value first, int64_t size,
                Value buffer);
  /// What is said of the positions that one lane looks at.
  Value scanPair(ImplicitLocOpBuilder &b, OutlinedKernel &kernel,
                 ValueRange place, Value lane);

  attn::AttentionOp op;
  KernelOutliner &outliner;
  const KernelSizes &sizes;
  int64_t lanes;
  Value query, key;
  /// Batches, heads, query tiles and key blocks.
  SmallVector<HostProduct> extents;
  Value pairs;
  BlockLists lists;
};
} // namespace

static Value literal(ImplicitLocOpBuilder &b, int32_t value) {
  return arith::ConstantIntOp::create(b, value, 32);
}

ListBuilder::ListBuilder(attn::AttentionOp op, KernelOutliner &outliner,
                         const KernelSizes &sizes, int64_t lanes)
    : op(op), outliner(outliner), sizes(sizes), lanes(lanes),
      query(outliner.getInput(op.getQuery(), "query")),
      key(outliner.getInput(op.getKey(), "key")) {
  // Heads that share tiles are not told apart.
  auto count = [&](unsigned argument, int64_t dim) {
    return op.getMask().getArgument(argument).use_empty()
               ? HostProduct{1}
               : HostProduct{1, {{query, dim}}};
  };
  extents = {count(0, op.getBatchPos()),
             count(1, op.getHeadPos()),
             {1, {{query, op.getSeqPos(), sizes.blockM}}},
             {1, {{key, op.getSeqPos(), sizes.blockN}}}};
  auto allocate = [&](StringRef name, bool isList) {
    ArrayRef<HostProduct> shape(extents);
    return outliner.makeWorkspace(
        {name.str(), IntegerType::get(op.getContext(), 32),
         SmallVector<HostProduct, 3>(isList ? shape : shape.drop_back()),
         /*alignment=*/16});
  };
  pairs = allocate("block_pairs", true);
  lists = {allocate("block_counts", false), allocate("block_indices", true),
           allocate("full_block_counts", false),
           allocate("full_block_indices", true)};
}

OutlinedKernel &ListBuilder::addKernel(StringRef part, int64_t threads) {
  StringRef function = op->getParentOfType<func::FuncOp>().getName();
  OutlinedKernel &kernel = outliner.addKernel((function + "_" + part).str());
  kernel.setBlock(threads);
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

Value ListBuilder::getLast(ImplicitLocOpBuilder &b, Value first, int64_t size,
                           Value buffer) {
  Value length = b.createOrFold<memref::DimOp>(buffer, op.getSeqPos());
  Value after = arith::MinUIOp::create(
      b, arith::AddIOp::create(b, first, constant(b, size)), length);
  return arith::SubIOp::create(b, after, constant(b, 1));
}

Value ListBuilder::scanPair(ImplicitLocOpBuilder &b, OutlinedKernel &kernel,
                            ValueRange place, Value lane) {
  Value blockN = constant(b, sizes.blockN);
  Value firstRow =
      arith::MulIOp::create(b, place[2], constant(b, sizes.blockM));
  Value firstKey = arith::MulIOp::create(b, place[3], blockN);
  Value lastRow = getLast(b, firstRow, sizes.blockM, kernel.addArgument(query));
  Value lastKey = getLast(b, firstKey, sizes.blockN, kernel.addArgument(key));
  auto loop =
      scf::ForOp::create(b, lane, constant(b, sizes.blockM * sizes.blockN),
                         constant(b, lanes), literal(b, 0));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value element = loop.getInductionVar();
  Value row = arith::DivUIOp::create(b, element, blockN),
        column = arith::RemUIOp::create(b, element, blockN);
  // Positions behind the last ones say again what these say.
  row = arith::MinUIOp::create(b, arith::AddIOp::create(b, firstRow, row),
                               lastRow);
  column = arith::MinUIOp::create(b, arith::AddIOp::create(b, firstKey, column),
                                  lastKey);
  IRMapping mapping = kernel.getMapping();
  mapping.map(op.getMask().getArguments(),
              ValueRange{place[0], place[1], row, column});
  Value visible = inlineOntoBuffers(b, op.getMask(), mapping);
  Value says = arith::SelectOp::create(b, visible, literal(b, kShows),
                                       literal(b, kHides));
  scf::YieldOp::create(
      b, ValueRange(arith::OrIOp::create(b, loop.getRegionIterArg(0), says)));
  return loop.getResult(0);
}

void ListBuilder::addPairs() {
  OutlinedKernel &kernel = addKernel("pairs", lanes);
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

void ListBuilder::addLists() {
  OutlinedKernel &kernel = addKernel("lists", 1);
  kernel.addArgument(query);
  Value source = kernel.addArgument(pairs, launch::Access::Read);
  auto add = [&](Value list) {
    return kernel.addArgument(list, launch::Access::Write);
  };
  struct Target {
    Value counts, indices;
    int32_t says;
  };
  std::array<Target, 2> targets{
      Target{add(lists.counts), add(lists.indices), kShows | kHides},
      Target{add(lists.fullCounts), add(lists.fullIndices), kShows}};
  kernel.setGrid(multiply(ArrayRef(extents).drop_back()));

  ImplicitLocOpBuilder b(op.getLoc(), kernel.getBody());
  Value number = gpu::BlockIdOp::create(b, gpu::Dimension::x);
  SmallVector<Value> extent = getSizes(b, source);
  Value blocks = extent.pop_back_val();
  SmallVector<Value> place = delinearize(b, number, extent);
  Value zero = constant(b, 0), one = constant(b, 1);
  auto loop = scf::ForOp::create(b, zero, blocks, one, ValueRange{zero, zero});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> pair(place);
    pair.push_back(loop.getInductionVar());
    Value says = memref::LoadOp::create(b, source, pair);
    Value block = arith::IndexCastOp::create(b, b.getI32Type(), pair.back());
    SmallVector<Value> counts;
    for (auto [target, count] :
         llvm::zip_equal(targets, loop.getRegionIterArgs())) {
      Value isListed = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, says,
                                             literal(b, target.says));
      pair.back() = count;
      Value indices = target.indices;
      scf::IfOp::create(b, isListed, [&](OpBuilder &inner, Location loc) {
        memref::StoreOp::create(inner, loc, block, indices, pair);
        scf::YieldOp::create(inner, loc);
      });
      Value next = arith::AddIOp::create(b, count, one);
      counts.push_back(arith::SelectOp::create(b, isListed, next, count));
    }
    scf::YieldOp::create(b, counts);
  }
  for (auto [target, count] : llvm::zip_equal(targets, loop.getResults()))
    memref::StoreOp::create(
        b, arith::IndexCastOp::create(b, b.getI32Type(), count), target.counts,
        place);
}

BlockLists attune::addBlockListKernels(attn::AttentionOp op,
                                       KernelOutliner &outliner,
                                       const KernelSizes &sizes,
                                       int64_t lanes) {
  ListBuilder builder(op, outliner, sizes, lanes);
  builder.addPairs();
  builder.addLists();
  return builder.getLists();
}
