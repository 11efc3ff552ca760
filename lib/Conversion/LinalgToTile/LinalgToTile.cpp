// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outlines contractions with the elementwise ops around them. MatmulBody.cpp
// writes what the kernel computes.

#include "MatmulBody.h"
#include "attune/Conversion/KernelOutliner.h"
#include "attune/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace attune {
#define GEN_PASS_DEF_LINALGTOTILEPASS
#include "attune/Conversion/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;
using matmul::ContractionGroup;
using matmul::Dim;
using matmul::TensorAccess;

/// On a contraction: its tunables.
static constexpr llvm::StringLiteral kScheduleName = "attune.schedule";

namespace {

/// Outlines one group.
class MatmulOutliner {
public:
  MatmulOutliner(ContractionGroup &group, tile::TargetAttr target,
                 const MatmulSchedule &schedule, SymbolTable &symbols)
      : group(group), target(target), schedule(schedule),
        outliner(group.getRoot(), symbols) {}

  LogicalResult run();

private:
  LogicalResult check();
  /// The tensor with one dimension for each of the access's, as an input.
  MatmulOperand addInput(const TensorAccess &access, StringRef name);
  MatmulOperand addOutput(const TensorAccess &access, OpResult result,
                          StringRef name);
  void addOperands();
  void setLaunch();

  ContractionGroup &group;
  tile::TargetAttr target;
  const MatmulSchedule &schedule;
  KernelOutliner outliner;
  OutlinedKernel *kernel = nullptr;
  MatmulOperands operands;
  /// Host buffers that know m and k, n, and the batch.
  std::pair<Value, int64_t> sizeM, sizeN, sizeBatch;
};

struct LinalgToTile : attune::impl::LinalgToTilePassBase<LinalgToTile> {
  void runOnOperation() override;
};

} // namespace

/// Why a tensor cannot be read as tiles; empty if it can.
static std::string refuse(const TensorAccess &access, bool isOperand) {
  if (!access.isPlain())
    return "dimensions of the contraction as a whole";
  if (isOperand && !access.reads(Dim::K))
    return "a dimension that is summed over";
  return "";
}

LogicalResult MatmulOutliner::check() {
  Operation *op = group.contractions.front().op;
  auto error = [&](const Twine &what) {
    return op->emitError() << "expects " << what
                           << ", of which a kernel can be made";
  };
  if (group.partnerStride)
    return error("an epilogue that reads the sums of its own column");
  SmallVector<std::pair<const TensorAccess *, bool>> accesses;
  for (const matmul::Contraction &contraction : group.contractions) {
    accesses.push_back({&contraction.lhs, true});
    accesses.push_back({&contraction.rhs, true});
  }
  for (const matmul::EpilogueOperand &operand : group.operands)
    accesses.push_back({&operand.access, false});
  for (const TensorAccess &result : group.results)
    accesses.push_back({&result, false});
  for (auto [access, isOperand] : accesses)
    if (std::string why = refuse(*access, isOperand); !why.empty())
      return error("tensors that are read by " + why);
  return success();
}

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

void MatmulOutliner::setLaunch() {
  int64_t cluster = schedule.cluster;
  HostProduct grid;
  grid.factors.push_back(
      {sizeM.first, sizeM.second,
       schedule.blockM * (schedule.clusterAlongN ? 1 : cluster)});
  grid.factors.push_back(
      {sizeN.first, sizeN.second,
       schedule.blockN * (schedule.clusterAlongN ? cluster : 1)});
  if (sizeBatch.first)
    grid.factors.push_back({sizeBatch.first, sizeBatch.second});
  kernel->setGrid(std::move(grid));
  kernel->setCluster(cluster);
  kernel->setBlock((schedule.numWarps + schedule.producerWarps) *
                   target.getLanes());
  if (schedule.persistent == MatmulSchedule::Persistent::None)
    return;
  int64_t resident = target.getCores() * schedule.minBlocksPerCore;
  kernel->setGridLimit(std::max<int64_t>(1, resident / cluster) * cluster);
}

LogicalResult MatmulOutliner::run() {
  if (failed(check()))
    return failure();
  Operation *root = group.getRoot();
  StringRef function = root->getParentOfType<func::FuncOp>().getName();
  kernel = &outliner.addKernel((function + "_kernel").str());
  addOperands();
  if (schedule.persistent == MatmulSchedule::Persistent::Dynamic) {
    Builder b(root->getContext());
    Value counter = outliner.makeWorkspace({"counter",
                                            b.getI32Type(),
                                            {HostProduct{1}},
                                            /*alignment=*/4,
                                            launch::Contents::Zero,
                                            /*restored=*/true});
    auto argument = cast<BlockArgument>(kernel->addArgument(counter));
    kernel->getFunction().setArgAttr(argument.getArgNumber(),
                                     tile::TileDialect::kCounterAttrName,
                                     b.getUnitAttr());
  }
  buildMatmulBody(kernel->getBody(), root->getLoc(), group, operands, schedule);
  setLaunch();
  SmallVector<Operation *> others(group.ops.getArrayRef().drop_back());
  outliner.finish();
  // What made the operands may have other readers.
  for (Operation *op : llvm::reverse(others))
    if (isOpTriviallyDead(op))
      op->erase();
  return success();
}

static MatmulSchedule readSchedule(DictionaryAttr values) {
  MatmulSchedule schedule;
  auto get = [&](StringRef name, auto &field) {
    if (auto value = values.getAs<IntegerAttr>(name))
      field = static_cast<std::decay_t<decltype(field)>>(value.getInt());
  };
  get("block_m", schedule.blockM);
  get("block_n", schedule.blockN);
  get("block_k", schedule.blockK);
  get("num_warps", schedule.numWarps);
  get("warps_n", schedule.warpsN);
  get("mma_warps", schedule.mmaWarps);
  get("producer_warps", schedule.producerWarps);
  get("stages", schedule.stages);
  get("group", schedule.group);
  get("cluster", schedule.cluster);
  get("min_blocks", schedule.minBlocksPerCore);
  get("along_n", schedule.alongColumns);
  get("cluster_n", schedule.clusterAlongN);
  get("out_shared", schedule.outputInShared);
  get("persistent", schedule.persistent);
  get("producer_registers", schedule.producerRegisters);
  get("consumer_registers", schedule.consumerRegisters);
  return schedule;
}

void LinalgToTile::runOnOperation() {
  ModuleOp module = getOperation();
  SymbolTable symbols(module);
  for (auto function : llvm::to_vector(module.getOps<func::FuncOp>()))
    for (ContractionGroup &group : matmul::findContractionGroups(function)) {
      Operation *op = group.contractions.front().op;
      auto values = op->getAttrOfType<DictionaryAttr>(kScheduleName);
      if (!values)
        continue;
      auto target = tile::TargetAttr::lookup(op);
      if (!target) {
        op->emitError() << "expects a '" << tile::TileDialect::kTargetAttrName
                        << "' attribute around it; run attune-attach-target "
                           "first";
        return signalPassFailure();
      }
      module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                      UnitAttr::get(&getContext()));
      if (failed(MatmulOutliner(group, target, readSchedule(values), symbols)
                     .run()))
        return signalPassFailure();
    }
}
