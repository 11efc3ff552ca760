// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outlines contractions with the elementwise ops around them. MatmulBody.cpp
// writes what the kernel computes.

#include "MatmulBody.h"
#include "attune/Conversion/KernelOutliner.h"
#include "attune/Conversion/Passes.h"
#include "attune/Matmul/SizeChecks.h"
#include "attune/Schedule/ForEachTunable.h"
#include "attune/Schedule/Matmul/Legality.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace attune {
#define GEN_PASS_DEF_CONVERTLINALGTOTILEPASS
#include "attune/Conversion/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;
using matmul::ContractionGroup;
using matmul::Dim;
using matmul::TensorAccess;

namespace {

/// Outlines one group.
class MatmulOutliner {
public:
  MatmulOutliner(ContractionGroup &group, tile::TargetAttr target,
                 schedule::MatmulAttr schedule, SymbolTable &symbols)
      : group(group), target(target), schedule(schedule),
        outliner(group.getRoot(), symbols) {}

  void run();

private:
  /// The tensor as an input, with one dimension for each of the access's if
  /// these are whole.
  MatmulOperand addInput(const TensorAccess &access, StringRef name);
  MatmulOperand addOutput(const TensorAccess &access, OpResult result,
                          StringRef name);
  void addOperands();
  /// What workgroups leave that share the terms of sums, and how many have.
  void addPartials();
  /// Blocks of the result, times `constant`.
  HostProduct countBlocks(int64_t constant) const;
  void setLaunch();

  ContractionGroup &group;
  tile::TargetAttr target;
  schedule::MatmulAttr schedule;
  KernelOutliner outliner;
  OutlinedKernel *kernel = nullptr;
  MatmulOperands operands;
  /// Host buffers that know m and k, n, and the batch.
  std::pair<Value, int64_t> sizeM, sizeN, sizeBatch;
};

struct ConvertLinalgToTile
    : attune::impl::ConvertLinalgToTilePassBase<ConvertLinalgToTile> {
  void runOnOperation() override;
};

} // namespace

/// For each dimension of a tensor the runs that it is in: what collapses it to
/// one dimension a run. Dimensions of size 1 go with a neighbour.
static SmallVector<ReassociationIndices>
getReassociation(const TensorAccess &access, int64_t rank) {
  SmallVector<ReassociationIndices> groups;
  int64_t next = 0;
  for (const matmul::Run &run : access.runs) {
    ReassociationIndices &group = groups.emplace_back();
    for (; next < static_cast<int64_t>(run.first + run.count); ++next)
      group.push_back(next);
  }
  for (; next < rank && !groups.empty(); ++next)
    groups.back().push_back(next);
  return groups;
}

static SmallVector<Dim, 3> getDims(const TensorAccess &access) {
  SmallVector<Dim, 3> dims;
  for (const matmul::Run &run : access.runs)
    dims.push_back(*run.getDim());
  return dims;
}

MatmulOperand MatmulOutliner::addInput(const TensorAccess &access,
                                       StringRef name) {
  auto type = dyn_cast<RankedTensorType>(access.tensor.getType());
  if (!type) {
    kernel->capture(access.tensor);
    return {kernel->getMapping().lookup(access.tensor), {}};
  }
  if (!access.isPlain())
    return {kernel->addArgument(outliner.getInput(access.tensor, name)),
            {},
            &access};
  Value tensor = access.tensor;
  if (static_cast<int64_t>(access.runs.size()) != type.getRank())
    tensor = tensor::CollapseShapeOp::create(
        outliner.getHost(), tensor, getReassociation(access, type.getRank()));
  Value host = outliner.getInput(tensor, name);
  MatmulOperand operand{kernel->addArgument(host), getDims(access)};
  for (auto [dim, place] :
       {std::pair(Dim::M, &sizeM), {Dim::N, &sizeN}, {Dim::Batch, &sizeBatch}})
    if (std::optional<int64_t> at = operand.find(dim); at && !place->first)
      *place = {host, *at};
  return operand;
}

MatmulOperand MatmulOutliner::addOutput(const TensorAccess &access,
                                        OpResult result, StringRef name) {
  Value buffer = kernel->addArgument(outliner.makeOutput(result, name));
  int64_t rank = cast<MemRefType>(buffer.getType()).getRank();
  if (static_cast<int64_t>(access.runs.size()) != rank)
    buffer =
        memref::CollapseShapeOp::create(kernel->getBody(), result.getLoc(),
                                        buffer, getReassociation(access, rank));
  return {buffer, getDims(access)};
}

void MatmulOutliner::addOperands() {
  auto number = [](StringRef name, size_t i, size_t count) {
    return count == 1 ? name.str() : (name + Twine(i)).str();
  };
  size_t count = group.contractions.size();
  operands.lhs = addInput(group.contractions.front().lhs, "lhs");
  for (auto [i, contraction] : llvm::enumerate(group.contractions)) {
    operands.rhs.push_back(addInput(contraction.rhs, number("rhs", i, count)));
  }
  for (auto [i, operand] : llvm::enumerate(group.operands))
    operands.epilogue.push_back(
        addInput(operand.access, number("operand", i, group.operands.size())));
  for (auto [i, access] : llvm::enumerate(group.results))
    operands.results.push_back(
        addOutput(access, group.getRoot()->getResult(i),
                  number("result", i, group.results.size())));
}

HostProduct MatmulOutliner::countBlocks(int64_t constant) const {
  int64_t cluster = schedule.getCluster();
  bool isAlongN = schedule.getClusterAlong() == schedule::ClusterAlong::N;
  HostProduct product{constant};
  product.factors.push_back({sizeM.first, sizeM.second,
                             schedule.getBlockM() * (isAlongN ? 1 : cluster)});
  product.factors.push_back({sizeN.first, sizeN.second,
                             schedule.getBlockN() * (isAlongN ? cluster : 1)});
  if (sizeBatch.first)
    product.factors.push_back({sizeBatch.first, sizeBatch.second});
  return product;
}

void MatmulOutliner::addPartials() {
  int64_t splits = schedule.getSplitK(), cluster = schedule.getCluster();
  if (splits == 1)
    return;
  Builder b(group.getRoot()->getContext());
  auto sums = static_cast<int64_t>(group.contractions.size());
  // Of tiles as they are, whatever of them is outside of the result.
  HostProduct rows =
      countBlocks((splits - 1) * sums * cluster * schedule.getBlockM());
  constexpr int64_t kLine = 128;
  operands.partials = kernel->addArgument(
      outliner.makeWorkspace({"partials",
                              b.getF32Type(),
                              {rows, HostProduct{schedule.getBlockN()}},
                              /*alignment=*/kLine}));
  operands.counters =
      kernel->addArgument(outliner.makeWorkspace({"turns",
                                                  b.getI32Type(),
                                                  {countBlocks(cluster)},
                                                  /*alignment=*/4,
                                                  launch::Contents::Zero,
                                                  /*restored=*/true}));
}

void MatmulOutliner::setLaunch() {
  int64_t cluster = schedule.getCluster();
  kernel->setGrid(countBlocks(schedule.getSplitK()));
  kernel->setCluster(cluster);
  kernel->setBlock((schedule.getNumWarps() + schedule.getProducerWarps()) *
                   target.getLanes());
  if (schedule.getPersistent() == schedule::Persistent::None)
    return;
  int64_t resident = target.getSms() * schedule.getWorkgroupsPerSm();
  // As many of each split, in whole clusters.
  int64_t unit = cluster * schedule.getSplitK();
  kernel->setGridLimit(std::max<int64_t>(1, resident / unit) * unit);
}

/// Takes the sizes of an op's results from what these are written to, so that
/// nothing but data needs the op.
static void resolveSizes(Operation *op) {
  OpBuilder b(op);
  for (OpResult result : op->getResults())
    for (Operation *user : llvm::make_early_inc_range(result.getUsers())) {
      auto dim = dyn_cast<tensor::DimOp>(user);
      ReifiedRankedShapedTypeDims sizes;
      if (!dim || !dim.getConstantIndex() ||
          failed(reifyResultShapes(b, op, sizes)))
        continue;
      OpFoldResult size =
          sizes[result.getResultNumber()][*dim.getConstantIndex()];
      dim.getResult().replaceAllUsesWith(
          getValueOrCreateConstantIndexOp(b, op->getLoc(), size));
      dim.erase();
    }
}

void MatmulOutliner::run() {
  Operation *root = group.getRoot();
  StringRef function = root->getParentOfType<func::FuncOp>().getName();
  kernel = &outliner.addKernel((function + "_kernel").str());
  addOperands();
  addPartials();
  if (schedule.getPersistent() == schedule::Persistent::Dynamic) {
    Builder b(root->getContext());
    Value counter = outliner.makeWorkspace({"counter",
                                            b.getI32Type(),
                                            {HostProduct{1}},
                                            /*alignment=*/4,
                                            launch::Contents::Zero,
                                            /*restored=*/true});
    auto argument = cast<BlockArgument>(kernel->addArgument(counter));
    kernel->getFunction().setArgAttr(argument.getArgNumber(),
                                     tile::TileDialect::kWorkCounterAttrName,
                                     b.getUnitAttr());
  }
  getWarpBudget(schedule).mark(kernel->getFunction(), target);
  MatmulProblem problem = MatmulProblem::get(group);
  MatmulPlan plan{schedule, getInterleavedColumns(problem, schedule, target),
                  chooseEvictions(problem, schedule, target)};
  buildMatmulBody(kernel->getBody(), root->getLoc(), group, operands, plan);
  setLaunch();
  SmallVector<Operation *> others(group.ops.getArrayRef().drop_back());
  outliner.finish();
  // What made the operands may have other readers.
  for (Operation *op : llvm::reverse(others)) {
    resolveSizes(op);
    if (isOpTriviallyDead(op))
      op->erase();
  }
}

static LogicalResult convert(Operation *op, tile::TargetAttr target,
                             SymbolTable &symbols) {
  // Found anew: the ops of others may be gone.
  for (ContractionGroup &group :
       matmul::findContractionGroups(*op->getBlock())) {
    if (group.contractions.front().op != op)
      continue;
    auto schedule =
        op->getAttrOfType<schedule::MatmulAttr>(kMatmulScheduleName);
    if (std::optional<Refusal> refusal =
            checkLegal(MatmulProblem::get(group), schedule, target))
      return op->emitOpError() << refusal->id << ": " << refusal->getMessage();
    OpBuilder host(group.getRoot());
    matmul::emitSizeChecks(host, group);
    MatmulOutliner(group, target, schedule, symbols).run();
    return success();
  }
  llvm_unreachable("an op that can be tuned is the first of a group");
}

void ConvertLinalgToTile::runOnOperation() {
  ModuleOp module = getOperation();
  SmallVector<Operation *> ops;
  // Of the module itself: sources that are kept beside it stay as they are.
  for (auto function : module.getOps<func::FuncOp>()) {
    matmul::warnOfContractionTypes(function);
    function.walk([&](Operation *op) {
      if (op->hasAttr(kMatmulScheduleName))
        ops.push_back(op);
    });
  }
  if (ops.empty())
    return;
  tile::TargetAttr target = requireTarget(module);
  if (!target || !llvm::all_of(ops, [](Operation *op) {
        return succeeded(checkMatmulSchedule(op));
      }))
    return signalPassFailure();
  SymbolTable symbols(module);
  for (Operation *op : ops)
    if (failed(convert(op, target, symbols)))
      return signalPassFailure();
}
