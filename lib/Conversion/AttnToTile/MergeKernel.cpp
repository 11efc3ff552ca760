// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outlines merges: kernels of their own, and those of the last workgroup of a
// tile. MergeParts.cpp writes what they compute.

#include "MergeKernel.h"
#include "GradientRows.h"
#include "TileOrder.h"
#include "Views.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune;

/// Of split keys, rows of a tile, one for each warp: there are few of them,
/// which many warps read at once.
static constexpr int64_t kMergeRows = 4;

namespace {
/// The rows of a workgroup of a kernel that merges alone: of one head, or of
/// heads where these have one query each.
class OutputRows {
public:
  OutputRows(OpBuilder &builder, Location loc, StringRef order, Value output,
             Value queryLengths, int64_t rows, int64_t columns)
      : b(loc, builder), order(order), output(output) {
    own.rows = rows;
    own.columns = columns;
    locate();
    if (queryLengths)
      own.length = arith::IndexCastOp::create(
          b, b.getIndexType(),
          memref::LoadOp::create(b, queryLengths, own.batch));
  }

  MergeRows get();

private:
  void locate();
  Value getSize(char dim) {
    return b.createOrFold<memref::DimOp>(output,
                                         static_cast<int64_t>(order.find(dim)));
  }

  ImplicitLocOpBuilder b;
  StringRef order;
  Value output;
  bool alongHeads = false;
  Value head;
  MergeRows own;
};
} // namespace

/// Whether rows are of heads, which have one query each.
static bool areAlongHeads(Value output, StringRef order) {
  return cast<MemRefType>(output.getType())
             .getDimSize(static_cast<int64_t>(order.find('s'))) == 1;
}

void OutputRows::locate() {
  alongHeads = areAlongHeads(output, order);
  Value perTile = constant(b, own.rows);
  Value tiles = b.createOrFold<arith::CeilDivUIOp>(
      getSize(alongHeads ? 'h' : 's'), perTile);
  Value heads = alongHeads ? constant(b, 1) : getSize('h');
  QueryTile tile =
      orderByHead(b, gpu::BlockIdOp::create(b, gpu::Dimension::x).getResult(),
                  {tiles, heads, heads, getSize('b')}, /*lastFirst=*/false);
  own.batch = tile.batch;
  head = alongHeads ? constant(b, 0) : tile.headQ;
  own.first = arith::MulIOp::create(b, tile.tile, perTile);
  own.sharedHead = alongHeads ? own.first : head;
}

MergeRows OutputRows::get() {
  own.viewRows = [this](ImplicitLocOpBuilder &at, StringRef dims, Value buffer,
                        Value batch) {
    std::optional<int64_t> heads;
    if (!alongHeads)
      heads = 1;
    return viewHeads(at, dims, buffer, batch, head, heads);
  };
  own.viewNumbers = [this](ImplicitLocOpBuilder &at, Value buffer,
                           Value batch) -> Value {
    if (!alongHeads)
      return viewNumbers(at, buffer, batch, head);
    return memref::CollapseShapeOp::create(
        at, viewNumbers(at, buffer, batch, /*head=*/Value()),
        ArrayRef<ReassociationIndices>{{0, 1}});
  };
  own.locate = [this](OpBuilder &inner, Location loc,
                      Value row) -> std::pair<Value, Value> {
    if (!alongHeads)
      return {head, arith::AddIOp::create(inner, loc, own.first, row)};
    Value heads = inner.createOrFold<memref::DimOp>(
        loc, output, static_cast<int64_t>(order.find('h')));
    return {elementPosition(inner, loc, own.first, row, heads, /*clamp=*/true),
            arith::ConstantIndexOp::create(inner, loc, 0)};
  };
  return own;
}

KeyParts attune::makeKeyParts(attn::AttentionOp op, const KernelSizes &sizes,
                              KernelOutliner &outliner) {
  Value query = outliner.getInput(op.getQuery(), "query");
  SmallVector<HostProduct, 3> extents;
  HostFactor slots{query, op.getBatchPos()};
  // StepShare says which.
  slots.moreNumber = sizes.sharers;
  if (!sizes.sharers)
    extents.push_back(HostProduct{op.getScheduleAttr().getSplitK()});
  extents.push_back({1, {slots}});
  for (int64_t dim : {op.getHeadPos(), op.getSeqPos()})
    extents.push_back({1, {{query, dim}}});
  Type f32 = Float32Type::get(op.getContext());
  auto make = [&](StringRef name, auto sizes) {
    return outliner.makeWorkspace(
        {name.str(), f32, std::move(sizes), /*alignment=*/16});
  };
  KeyParts parts;
  parts.lse = make("part_lse", extents);
  if (sizes.sharers) {
    SmallVector<HostProduct, 3> ofRows{HostProduct{2}};
    for (int64_t dim : {op.getBatchPos(), op.getHeadPos(), op.getSeqPos()})
      ofRows.push_back({1, {{query, dim}}});
    parts.sharers = make("part_sharers", ofRows);
  }
  extents.push_back(HostProduct{op.getHeadDimV()});
  parts.output = make("part_output", extents);
  return parts;
}

ResultBuffers attune::makeResults(attn::AttentionOp op,
                                  KernelOutliner &outliner) {
  ResultBuffers results;
  results.output =
      outliner.makeOutput(cast<OpResult>(op.getResult()), "output");
  if (op.getLse())
    results.lse = outliner.makeOutput(cast<OpResult>(op.getLse()), "lse");
  return results;
}

/// One workgroup for each tile of rows.
static void setLaunch(OutlinedKernel &kernel, Value output, StringRef order,
                      int64_t rows, int64_t threads) {
  auto position = [&](char dim) {
    return static_cast<int64_t>(order.find(dim));
  };
  bool alongHeads = areAlongHeads(output, order);
  HostProduct grid;
  grid.factors.push_back({output, position(alongHeads ? 'h' : 's'), rows});
  if (!alongHeads)
    grid.factors.push_back({output, position('h')});
  grid.factors.push_back({output, position('b')});
  kernel.setGrid(std::move(grid));
  kernel.setBlock(threads);
}

void attune::addMergeKernel(attn::AttentionOp op, KernelOutliner &outliner,
                            const KeyParts &parts, const ResultBuffers &results,
                            const KernelSizes &sizes, int64_t lanes) {
  StringRef function = op->getParentOfType<func::FuncOp>().getName();
  OutlinedKernel &kernel = outliner.addKernel((function + "_merge").str());
  auto addRead = [&](Value value) {
    return kernel.addArgument(value, launch::Access::Read);
  };
  MergeOperands operands;
  Value outputs = addRead(parts.output), logs = addRead(parts.lse);
  int64_t rows = kMergeRows;
  if (parts.sharers) {
    operands.sharers = addRead(parts.sharers);
    operands.parts.push_back({outputs, logs});
    // Rows of one head, or of heads with the same keys.
    if (op.getSeqQ() == 1)
      rows = std::gcd(rows, sizes.members * sizes.heads);
  } else {
    operands.splits = {outputs, logs};
    operands.numSplits = operands.atOnce = op.getScheduleAttr().getSplitK();
  }
  if (op.getSinks() && !parts.sharers)
    operands.sinks = addRead(outliner.getInput(op.getSinks(), "sinks"));
  Value queryLengths;
  if (operands.sinks && op.getQueryLengths())
    queryLengths =
        addRead(outliner.getInput(op.getQueryLengths(), "query_lengths"));
  if (op.getResultScales())
    operands.resultScales =
        addRead(outliner.getInput(op.getResultScales(), "result_scales"));
  operands.output = kernel.addArgument(results.output);
  if (results.lse)
    operands.lse = kernel.addArgument(results.lse);
  OutputRows own(kernel.getBody(), op.getLoc(), op.getOrder(), operands.output,
                 queryLengths, rows, sizes.headDimV);
  buildMerge(kernel.getBody(), op.getLoc(), op.getOrder(), operands, own.get());
  setLaunch(kernel, results.output, op.getOrder(), rows, rows * lanes);
}

void attune::outlineMerge(attn::MergeOp op, tile::TargetAttr target,
                          SymbolTable &symbols) {
  OpBuilder host(op);
  cast<RuntimeVerifiableOpInterface>(*op).generateRuntimeVerification(
      host, op.getLoc(),
      [](Operation *, StringRef message) { return message.str(); });
  KernelOutliner outliner(op, symbols);
  StringRef function = op->getParentOfType<func::FuncOp>().getName();
  OutlinedKernel &kernel = outliner.addKernel((function + "_merge").str());
  MergeOperands operands;
  operands.partOrder = op.getOrder();
  for (auto [number, part, lse] :
       llvm::enumerate(op.getParts(), op.getLses())) {
    std::string name = "part" + std::to_string(number);
    Value output = kernel.addArgument(outliner.getInput(part, name));
    operands.parts.push_back(
        {output, kernel.addArgument(outliner.getInput(lse, name + "_lse"))});
  }
  Value output = outliner.makeOutput(cast<OpResult>(op.getResult()), "output");
  operands.output = kernel.addArgument(output);
  if (op.getLse())
    operands.lse = kernel.addArgument(
        outliner.makeOutput(cast<OpResult>(op.getLse()), "lse"));
  // Lanes read 16 bytes each, so that a warp has as many rows as it can read at
  // once.
  constexpr int64_t kReadBytes = 16;
  int64_t lanes = target.getLanes(),
          run = kReadBytes * 8 / op.getPartType().getElementTypeBitWidth(),
          columns = std::max<int64_t>(llvm::PowerOf2Ceil(op.getHeadDim()), run),
          lanesOfRow = std::min(columns / run, lanes);
  int64_t warps = op.getScheduleAttr().getNumWarps(),
          rows = warps * (lanes / lanesOfRow);
  OutputRows own(kernel.getBody(), op.getLoc(), op.getOrder(), operands.output,
                 /*queryLengths=*/Value(), rows, columns);
  buildMerge(kernel.getBody(), op.getLoc(), op.getOrder(), operands, own.get());
  setLaunch(kernel, output, op.getOrder(), rows, warps * lanes);
  outliner.finish();
}
