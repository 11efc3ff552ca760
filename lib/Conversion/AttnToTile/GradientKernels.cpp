// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The split form: gradients of keys and values, and those of queries, are sums
// over different dimensions, and each kernel adds up its own in registers. So
// there are no additions to memory, and results have equal bits in every run;
// the scores are computed once more.

#include "GradientKernels.h"
#include "GradientBody.h"
#include "attune/Conversion/KernelOutliner.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace attune;

/// Rows of a tile whose products are summed, and warps that do it.
static constexpr int64_t kDeltaRows = 64, kDeltaWarps = 4;

static LogicalResult check(attn::AttentionGradOp op) {
  if (!op.getWrt().empty())
    return op.emitOpError()
           << "expects gradients of query, key and value alone, for there is "
              "no kernel for others, but got one of "
           << op.getWrt().front().getType();
  if (op.hasBlockLists())
    return op.emitOpError() << "expects no lists of blocks, which kernels of "
                               "gradients do not take";
  return success();
}

namespace {
class GradientOutliner {
public:
  GradientOutliner(attn::AttentionGradOp op, tile::TargetAttr target,
                   SymbolTable &symbols)
      : op(op), target(target), outliner(op, symbols) {}

  void outline(tile::MmaAtomAttr atom);

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
  /// One workgroup for each tile of `rows` of a tensor of the op's order.
  void setGrid(OutlinedKernel &kernel, Value buffer, int64_t rows);
  void addDeltas();
  void addGradients(MaskDim owns);

  attn::AttentionGradOp op;
  tile::TargetAttr target;
  KernelOutliner outliner;
  PaddedHeadDims padded;
  Value deltas;
};
} // namespace

void GradientOutliner::setGrid(OutlinedKernel &kernel, Value buffer,
                               int64_t rows) {
  HostProduct grid;
  for (auto [position, per] : {std::pair(op.getSeqPos(), rows),
                               {op.getHeadPos(), 1},
                               {op.getBatchPos(), 1}})
    grid.factors.push_back({buffer, position, per});
  kernel.setGrid(std::move(grid));
}

void GradientOutliner::addDeltas() {
  Value outputGrad = getInput(op.getOutputGrad(), "output_grad");
  HostProduct sizes[] = {{1, {{outputGrad, op.getBatchPos()}}},
                         {1, {{outputGrad, op.getHeadPos()}}},
                         {1, {{outputGrad, op.getSeqPos()}}}};
  deltas = outliner.makeWorkspace({"deltas", Float32Type::get(op.getContext()),
                                   llvm::to_vector<3>(sizes),
                                   /*alignment=*/16});
  OutlinedKernel &kernel = addKernel("_deltas");
  GradientOperands operands;
  operands.outputGrad = kernel.addArgument(outputGrad);
  Value output = kernel.addArgument(getInput(op.getOutput(), "output")),
        lseGrad;
  if (op.getLseGrad())
    lseGrad = kernel.addArgument(getInput(op.getLseGrad(), "lse_grad"));
  operands.deltas = kernel.addArgument(deltas, launch::Access::Write);
  buildDeltaBody(kernel.getBody(), op, output, lseGrad, operands, kDeltaRows,
                 padded.v);
  setGrid(kernel, outputGrad, kDeltaRows);
  kernel.setBlock(kDeltaWarps * target.getLanes());
}

void GradientOutliner::addGradients(MaskDim owns) {
  bool ownsKeys = owns == MaskDim::Key;
  OutlinedKernel &kernel = addKernel(ownsKeys ? "_key_grad" : "_query_grad");
  GradientOperands operands;
  auto add = [&](Value tensor, StringRef name) {
    return kernel.addArgument(getInput(tensor, name));
  };
  operands.query = add(op.getQuery(), "query");
  operands.key = add(op.getKey(), "key");
  operands.value = add(op.getValue(), "value");
  operands.outputGrad = add(op.getOutputGrad(), "output_grad");
  operands.lse = add(op.getLse(), "lse");
  operands.deltas = kernel.addArgument(deltas, launch::Access::Read);
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    kernel.capture(value);
  operands.captures = kernel.getMapping();
  if (ownsKeys) {
    operands.keyGrad = addOutput(kernel, op.getKeyGrad(), "key_grad");
    operands.valueGrad = addOutput(kernel, op.getValueGrad(), "value_grad");
  } else {
    operands.queryGrad = addOutput(kernel, op.getQueryGrad(), "query_grad");
  }
  GradientKernel shape = GradientKernel::get(op.getScheduleAttr(), owns);
  WarpBudget budget = getBudget(op.getScheduleAttr(), shape);
  budget.mark(kernel.getFunction(), target);
  buildGradientBody(kernel.getBody(), op, operands, shape, padded);
  setGrid(kernel,
          ownsKeys ? getInput(op.getKey(), "key")
                   : getInput(op.getQuery(), "query"),
          shape.owned);
  kernel.setBlock(budget.getThreads(target));
}

void GradientOutliner::outline(tile::MmaAtomAttr atom) {
  padded = getPaddedHeadDims(AttentionGradProblem::get(op), atom);
  addDeltas();
  if (op.getKeyGrad() || op.getValueGrad())
    addGradients(MaskDim::Key);
  if (op.getQueryGrad())
    addGradients(MaskDim::Query);
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
  cast<RuntimeVerifiableOpInterface>(*op).generateRuntimeVerification(
      host, op.getLoc(),
      [](Operation *, StringRef message) { return message.str(); });
  GradientOutliner(op, target, symbols).outline(atom);
  return success();
}
