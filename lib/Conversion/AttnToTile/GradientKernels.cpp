// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of keys and values, and those of queries, are sums over different
// dimensions. In the split form each kernel adds up its own in registers. So
// there are no additions to memory, and results have equal bits in every run;
// the scores are computed once more, and twice where gradients of keys and of
// values are apart. In the fused form the kernel of keys adds its part of the
// gradients of queries to memory, and a last one rounds them; in the ordered
// one, too, but in an order that is the same in every run.

#include "GradientKernels.h"
#include "BlockLists.h"
#include "GradientBody.h"
#include "attune/Conversion/KernelOutliner.h"
#include "attune/Dialect/Attn/Analysis/RegionTiles.h"
#include "attune/Dialect/Attn/IR/SizeFacts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/RegionUtils.h"
#include <map>

using namespace mlir;
using namespace attune;

/// Warps of a workgroup of kernels that multiply nothing.
static constexpr int64_t kRowWarps = 4;

static LogicalResult check(attn::AttentionGradOp op) {
  if (!op.getWrt().empty() && op.getDeterministic())
    return op.emitOpError()
           << "expects gradients of query, key and value alone where they are "
              "deterministic, for those of tensors are added up in no order, "
              "but got one of "
           << op.getWrt().front().getType();
  for (Value grad : op.getWrtGrads())
    if (auto type = cast<RankedTensorType>(grad.getType()); type.getEncoding())
      return op.emitOpError()
             << "expects gradients of tensors in row-major order, but got "
             << type;
  if (op.hasBlockLists())
    return op.emitOpError() << "expects no lists of blocks, which kernels of "
                               "gradients do not take";
  return success();
}

namespace {
class GradientOutliner {
public:
  GradientOutliner(attn::AttentionGradOp op, tile::TargetAttr target,
                   tile::MmaAtomAttr atom, SymbolTable &symbols)
      : op(op), target(target), atom(atom), outliner(op, symbols),
        padded(getPaddedHeadDims(AttentionGradProblem::get(op), atom)) {}

  void outline();

private:
  OutlinedKernel &addKernel(StringRef suffix) {
    StringRef function = op->getParentOfType<func::FuncOp>().getName();
    return outliner.addKernel((function + suffix).str());
  }
  Value getInput(Value tensor, StringRef name) {
    return outliner.getInput(tensor, name);
  }
  Value addOutput(OutlinedKernel &kernel, Value result, StringRef name) {
    if (!result)
      return {};
    return kernel.addArgument(
        outliner.makeOutput(cast<OpResult>(result), name));
  }
  /// One workgroup for each tile of `rows` of a tensor of the op's order, and
  /// for each batch of packed ones, whose starts are not null.
  void setGrid(OutlinedKernel &kernel, Value buffer, int64_t rows,
               Value starts = {});
  void addDeltas();
  void addGradients(const GradientKernel &shape);
  /// Makes gradients of tensors 0, which kernels add to.
  void addClears(const GradientKernel &shape);
  /// Whether scores read a tensor that `wrt` names.
  bool isRead(Value tensor);
  /// Whether tiles that `shape` stores are all of a tensor's gradient.
  bool isStored(Value tensor, const GradientKernel &shape);
  /// Rounds sums of queries.
  void addQueryGrad();
  /// A number for each query, or a row of `columns`.
  Value makeSums(StringRef name, int64_t columns = 0);
  /// A count for each block of queries that `shape` visits.
  Value makeTurns(const GradientKernel &shape);
  /// A count for each head of keys.
  Value makeCounters();
  /// A count of 0 for each of `counts`, and 0 again behind the kernel.
  Value makeZeros(StringRef name, HostProduct counts);

  attn::AttentionGradOp op;
  tile::TargetAttr target;
  tile::MmaAtomAttr atom;
  KernelOutliner outliner;
  PaddedHeadDims padded;
  /// `querySums` is null in the split form, and where none are wanted.
  Value shifts, deltas, querySums;
  int64_t rowsBefore = 0;
  tile::LayoutAttr sumsLayout;
  /// As GradientOperands has them.
  SmallVector<std::pair<Value, Value>, 1> tensorGrads;
  Value sinksGrad;
  /// Of tiles of keys, which two kernels may own, and of queries.
  std::map<MaskDim, BlockLists> lists;
};
} // namespace

void GradientOutliner::setGrid(OutlinedKernel &kernel, Value buffer,
                               int64_t rows, Value starts) {
  HostProduct grid;
  for (auto [position, per] : {std::pair(op.getSeqPos(), rows),
                               {op.getHeadPos(), 1},
                               {op.getBatchPos(), 1}})
    grid.factors.push_back({buffer, position, per});
  grid.factors.front().moreBuffer = starts;
  kernel.setGrid(std::move(grid));
}

Value GradientOutliner::makeSums(StringRef name, int64_t columns) {
  Value outputGrad = getInput(op.getOutputGrad(), "output_grad");
  SmallVector<HostProduct, 3> sizes;
  for (int64_t position : {op.getBatchPos(), op.getHeadPos(), op.getSeqPos()})
    sizes.push_back({1, {{outputGrad, position}}});
  HostFactor &rows = sizes.back().factors.front();
  if (columns) {
    rows.moreNumber = rowsBefore;
    // By threads, rows of a block that do not exist are among those that do.
    if (sumsLayout)
      rows.per = sizes.back().constant = kRowBlock;
    sizes.push_back({columns, {}});
  } else {
    sizes.front().constant = GradientOperands::countCopies(rowsBefore);
    rows.per = sizes.back().constant = kRowBlock;
    rows.moreNumber = rowsBefore ? 1 : 0;
  }
  return outliner.makeWorkspace({name.str(), Float32Type::get(op.getContext()),
                                 sizes,
                                 /*alignment=*/16});
}

Value GradientOutliner::makeTurns(const GradientKernel &shape) {
  Value query = getInput(op.getQuery(), "query");
  HostProduct blocks{1,
                     {{query, op.getBatchPos()},
                      {query, op.getHeadPos()},
                      {query, op.getSeqPos(), shape.visited}}};
  if (Value starts = op.getQueryStarts())
    blocks.factors.back().moreBuffer = getInput(starts, "query_starts");
  return makeZeros("turns", std::move(blocks));
}

Value GradientOutliner::makeCounters() {
  Value key = getInput(op.getKey(), "key");
  return makeZeros("counters",
                   {1, {{key, op.getBatchPos()}, {key, op.getHeadPos()}}});
}

Value GradientOutliner::makeZeros(StringRef name, HostProduct counts) {
  return outliner.makeWorkspace({name.str(),
                                 IntegerType::get(op.getContext(), 32),
                                 {std::move(counts)},
                                 /*alignment=*/4,
                                 launch::Contents::Zero,
                                 /*restored=*/true});
}

void GradientOutliner::addDeltas() {
  Value outputGrad = getInput(op.getOutputGrad(), "output_grad");
  shifts = makeSums("shifts");
  deltas = makeSums("deltas");
  OutlinedKernel &kernel = addKernel("_deltas");
  GradientOperands operands;
  operands.outputGrad = kernel.addArgument(outputGrad);
  Value output = kernel.addArgument(getInput(op.getOutput(), "output")),
        lse = kernel.addArgument(getInput(op.getLse(), "lse")), lseGrad;
  if (op.getLseGrad())
    lseGrad = kernel.addArgument(getInput(op.getLseGrad(), "lse_grad"));
  operands.shifts = kernel.addArgument(shifts, launch::Access::Write);
  operands.deltas = kernel.addArgument(deltas, launch::Access::Write);
  operands.rowsBefore = rowsBefore;
  if (querySums)
    operands.querySums = kernel.addArgument(querySums, launch::Access::Write);
  if (sinksGrad) {
    operands.sinks = kernel.addArgument(getInput(op.getSinks(), "sinks"));
    operands.sinksGrad =
        kernel.addArgument(sinksGrad, launch::Access::ReadWrite);
  }
  buildDeltaBody(kernel.getBody(), op, output, lse, lseGrad, operands,
                 kRowBlock, padded.v, padded.qk);
  setGrid(kernel, outputGrad, kRowBlock);
  kernel.setBlock(kRowWarps * target.getLanes());
}

bool GradientOutliner::isRead(Value tensor) {
  return op.getScore()
      .walk([&](tensor::ExtractOp read) {
        return read.getTensor() == tensor ? WalkResult::interrupt()
                                          : WalkResult::advance();
      })
      .wasInterrupted();
}

bool GradientOutliner::isStored(Value tensor, const GradientKernel &shape) {
  // Blocks that a mask hides are not visited. Sinks are added to elsewhere.
  if (op.hasMask() || tensor == op.getSinks())
    return false;
  for (auto [read, tile] :
       llvm::zip_equal(findRegionTiles(op), getRegionTiles(op)))
    if (read.getTensor() == tensor)
      return takesRegionTile(tile, op.getScheduleAttr(), shape, target) &&
             isOfOneHead(op, read) && coversTensor(op, read);
  return false;
}

void GradientOutliner::addClears(const GradientKernel &shape) {
  for (auto [number, result] : llvm::enumerate(op.getWrtGrads())) {
    Value grad = outliner.makeOutput(
        cast<OpResult>(result), ("tensor" + Twine(number) + "_grad").str());
    Value tensor = op.getWrt()[number];
    if (tensor == op.getSinks())
      sinksGrad = grad;
    if (isRead(tensor))
      tensorGrads.emplace_back(tensor, grad);
    if (isStored(tensor, shape))
      continue;
    OutlinedKernel &kernel = addKernel("_clear");
    buildClearBody(kernel.getBody(), op.getLoc(), kernel.addArgument(grad));
    HostProduct grid;
    int64_t rank = cast<RankedTensorType>(result.getType()).getRank();
    for (int64_t dim = 0; dim < rank; ++dim)
      grid.factors.push_back({grad, dim, dim == rank - 1 ? kClearBlock : 1});
    kernel.setGrid(std::move(grid));
    kernel.setBlock(kRowWarps * target.getLanes());
  }
}

void GradientOutliner::addQueryGrad() {
  OutlinedKernel &kernel = addKernel("_query_grad");
  GradientOperands operands;
  operands.rowsBefore = rowsBefore;
  operands.sumsLayout = sumsLayout;
  operands.querySums = kernel.addArgument(querySums, launch::Access::Read);
  Value output =
      outliner.makeOutput(cast<OpResult>(op.getQueryGrad()), "query_grad");
  operands.queryGrad = kernel.addArgument(output);
  buildQueryGradBody(kernel.getBody(), op, operands, kRowBlock, padded.qk);
  setGrid(kernel, output, kRowBlock);
  kernel.setBlock((sumsLayout ? sumsLayout.getNumWarps() : kRowWarps) *
                  target.getLanes());
}

void GradientOutliner::addGradients(const GradientKernel &shape) {
  bool ownsKeys = shape.owns == MaskDim::Key;
  bool visitsListed = op.getScheduleAttr().getListBlocks() && op.hasMask();
  if (visitsListed && !lists.count(shape.owns))
    lists[shape.owns] = addBlockListKernels(
        op, outliner, {shape.owns, shape.owned, shape.visited},
        target.getLanes());
  OutlinedKernel &kernel = addKernel(!ownsKeys         ? "_query_grad"
                                     : shape.sumsOwned ? "_key_grad"
                                                       : "_value_grad");
  GradientOperands operands;
  auto add = [&](Value tensor, StringRef name) {
    return kernel.addArgument(getInput(tensor, name));
  };
  operands.query = add(op.getQuery(), "query");
  operands.key = add(op.getKey(), "key");
  if (shape.sumsOwned)
    operands.value = add(op.getValue(), "value");
  operands.outputGrad = add(op.getOutputGrad(), "output_grad");
  addDropoutAndLengths(op, operands, add);
  operands.shifts = kernel.addArgument(shifts, launch::Access::Read);
  operands.rowsBefore = rowsBefore;
  if (shape.sumsOwned)
    operands.deltas = kernel.addArgument(deltas, launch::Access::Read);
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    kernel.capture(value);
  operands.captures = kernel.getMapping();
  if (visitsListed)
    lists[shape.owns].pass(kernel, operands);
  if (ownsKeys) {
    if (shape.sumsOwned)
      operands.keyGrad = addOutput(kernel, op.getKeyGrad(), "key_grad");
    if (shape.sumsValues)
      operands.valueGrad = addOutput(kernel, op.getValueGrad(), "value_grad");
    if (shape.addsQueries) {
      operands.querySums = kernel.addArgument(querySums);
      operands.sumsLayout = sumsLayout;
    }
    if (shape.addsInOrder)
      operands.turns = kernel.addArgument(makeTurns(shape));
    if (shape.roundsQueries) {
      operands.counters = kernel.addArgument(makeCounters());
      operands.queryGrad = addOutput(kernel, op.getQueryGrad(), "query_grad");
    }
    if (shape.sumsOwned)
      for (auto [tensor, grad] : tensorGrads)
        operands.tensorGrads.emplace_back(
            tensor, kernel.addArgument(grad, isStored(tensor, shape)
                                                 ? launch::Access::Write
                                                 : launch::Access::ReadWrite));
  } else {
    operands.queryGrad = addOutput(kernel, op.getQueryGrad(), "query_grad");
  }
  WarpBudget budget = getBudget(AttentionGradProblem::get(op),
                                op.getScheduleAttr(), shape, target);
  budget.mark(kernel.getFunction(), target);
  buildGradientBody(kernel.getBody(), op, operands, shape, atom, target);
  Value starts = ownsKeys ? op.getKeyStarts() : op.getQueryStarts();
  setGrid(kernel,
          ownsKeys ? getInput(op.getKey(), "key")
                   : getInput(op.getQuery(), "query"),
          shape.owned,
          starts ? getInput(starts, ownsKeys ? "key_starts" : "query_starts")
                 : Value());
  kernel.setBlock(budget.getThreads(target));
}

void GradientOutliner::outline() {
  bool wantsQuery = bool(op.getQueryGrad()),
       wantsKey = op.getKeyGrad() ||
                  llvm::any_of(op.getWrt(),
                               [&](Value tensor) { return isRead(tensor); }),
       wantsValue = bool(op.getValueGrad());
  auto isWanted = [&](const GradientKernel &shape) {
    if (shape.owns == MaskDim::Query)
      return wantsQuery;
    return shape.addsQueries || (shape.sumsOwned && wantsKey) ||
           (shape.sumsValues && wantsValue);
  };
  schedule::AttentionGradAttr schedule = op.getScheduleAttr();
  SmallVector<GradientKernel, 3> shapes;
  for (MaskDim owns : {MaskDim::Key, MaskDim::Query})
    llvm::append_range(shapes, getGradientKernels(schedule, owns));
  // Sums of queries that nobody wants need not be made.
  shapes.front().addsQueries &= wantsQuery;
  shapes.front().addsInOrder &= wantsQuery;
  shapes.front().roundsQueries &= wantsQuery;
  // Boxes end with a batch, and copy engines add to no row before the first.
  if ((op.getQueryStarts() || op.getQueryLengths()) &&
      schedule.getMmaWarps() > 1)
    rowsBefore = shapes.front().visited;
  if (shapes.front().addsQueries) {
    if (addsByThreads(AttentionGradProblem::get(op), shapes.front(), atom))
      sumsLayout = getQuerySumsLayout(shapes.front(), atom, padded.qk);
    querySums = makeSums("query_sums", padded.qk);
  }
  addClears(shapes.front());
  addDeltas();
  for (const GradientKernel &shape : shapes)
    if (isWanted(shape))
      addGradients(shape);
  if (querySums && !shapes.front().roundsQueries)
    addQueryGrad();
  outliner.finish();
}

LogicalResult attune::outlineAttentionGrad(attn::AttentionGradOp op,
                                           tile::TargetAttr target,
                                           SymbolTable &symbols) {
  if (failed(check(op)))
    return failure();
  tile::MmaAtomAttr atom =
      findAtom(AttentionGradProblem::get(op), op.getScheduleAttr(), target);
  if (!atom)
    return op.emitOpError()
           << "expects an element type that '" << target.getChip()
           << "' has a matrix instruction for, but got " << op.getElementType();
  OpBuilder host(op);
  // What starts hold is on the device.
  attn::emitSizeChecks(host, op);
  GradientOutliner(op, target, atom, symbols).outline();
  return success();
}
