// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outlines attention ops: the host side of the conversion. KernelBody.cpp
// writes what the kernel computes.

#include "KernelBody.h"
#include "RegionClone.h"
#include "attune/Conversion/Passes.h"
#include "attune/Schedule/Attention/HeadPacking.h"
#include "attune/Schedule/Attention/Legality.h"
#include "attune/Schedule/ForEachTunable.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/MathExtras.h"

namespace attune {
#define GEN_PASS_DEF_ATTNTOTILEPASS
#include "attune/Conversion/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

namespace {

/// Outlines one op.
class Outliner {
public:
  Outliner(attn::AttentionOp op, tile::TargetAttr target, SymbolTable &symbols)
      : op(op), target(target), symbols(symbols), host(op.getLoc(), op) {}

  LogicalResult run();

private:
  LogicalResult checkInput();
  /// The buffer type of a tensor: strided where its encoding says so.
  static MemRefType bufferType(RankedTensorType type);
  /// Adds an argument to the kernel and says what it is in the manifest.
  Value addArgument(Value hostValue, StringRef name, StringRef access);
  Value inputBuffer(Value tensor, StringRef name);
  Value outputBuffer(Value result, StringRef name);
  /// Makes a value that a region captures available in the kernel: tensors and
  /// values that cannot be recomputed become arguments, all else is copied.
  void capture(Value value, OpBuilder &kernelBuilder);
  Value launchSize();
  /// Gives the kernel the counter from which workgroups take tiles, a buffer of
  /// its own in each call, so that calls may overlap in time.
  void addCounter();

  attn::AttentionOp op;
  tile::TargetAttr target;
  SymbolTable &symbols;
  ImplicitLocOpBuilder host;
  gpu::GPUFuncOp kernel;
  SmallVector<Value> hostArguments;
  SmallVector<Attribute> manifest;
  DenseMap<Value, Value> kernelBuffers;
  KernelOperands operands;
  KernelSizes sizes;
};

struct AttnToTile : attune::impl::AttnToTilePassBase<AttnToTile> {
  void runOnOperation() override;
};

} // namespace

MemRefType Outliner::bufferType(RankedTensorType type) {
  auto strided = dyn_cast_or_null<attn::StridedAttr>(type.getEncoding());
  if (!strided)
    return MemRefType::get(type.getShape(), type.getElementType());
  return MemRefType::get(
      type.getShape(), type.getElementType(),
      StridedLayoutAttr::get(type.getContext(), 0, strided.getStrides()));
}

Value Outliner::addArgument(Value hostValue, StringRef name, StringRef access) {
  unsigned index = kernel.getNumArguments();
  (void)kernel.insertArgument(index, hostValue.getType(), DictionaryAttr(),
                              op.getLoc());
  hostArguments.push_back(hostValue);
  NamedAttrList entry;
  entry.set("name", host.getStringAttr(name));
  if (auto type = dyn_cast<MemRefType>(hostValue.getType())) {
    std::string element;
    llvm::raw_string_ostream(element) << type.getElementType();
    entry.set("type", host.getStringAttr(element));
    entry.set("rank", host.getI64IntegerAttr(type.getRank()));
    entry.set("access", host.getStringAttr(access));
  } else {
    std::string scalar;
    llvm::raw_string_ostream(scalar) << hostValue.getType();
    entry.set("type", host.getStringAttr(
                          hostValue.getType().isIndex() ? "i64" : scalar));
    entry.set("rank", host.getI64IntegerAttr(0));
    entry.set("scalar", host.getBoolAttr(true));
  }
  manifest.push_back(entry.getDictionary(op.getContext()));
  return kernel.getArgument(index);
}

Value Outliner::inputBuffer(Value tensor, StringRef name) {
  Value &buffer = kernelBuffers[tensor];
  if (!buffer) {
    auto type = bufferType(cast<RankedTensorType>(tensor.getType()));
    Value onHost = bufferization::ToBufferOp::create(host, type, tensor,
                                                     /*read_only=*/true);
    buffer = addArgument(onHost, name, "read");
    auto strided = dyn_cast_or_null<attn::StridedAttr>(
        cast<RankedTensorType>(tensor.getType()).getEncoding());
    if (strided && strided.getDivisor() != 1)
      kernel.setArgAttr(cast<BlockArgument>(buffer).getArgNumber(),
                        tile::TileDialect::kDivisorAttrName,
                        host.getI64IntegerAttr(strided.getDivisor()));
  }
  return buffer;
}

Value Outliner::outputBuffer(Value result, StringRef name) {
  auto type = cast<RankedTensorType>(result.getType());
  ReifiedRankedShapedTypeDims shapes;
  [[maybe_unused]] LogicalResult reified = op.reifyResultShapes(host, shapes);
  assert(succeeded(reified) && "attention always knows its result shapes");
  SmallVector<Value> dynamicSizes;
  for (OpFoldResult extent : shapes[cast<OpResult>(result).getResultNumber()])
    if (auto value = dyn_cast<Value>(extent))
      dynamicSizes.push_back(value);
  Value onHost = memref::AllocOp::create(host, bufferType(type), dynamicSizes);
  return addArgument(onHost, name, "write");
}

void Outliner::capture(Value value, OpBuilder &kernelBuilder) {
  if (operands.captures.contains(value))
    return;
  if (isa<RankedTensorType>(value.getType())) {
    operands.captures.map(
        value,
        inputBuffer(value, ("capture" + Twine(hostArguments.size())).str()));
    return;
  }
  Operation *definition = value.getDefiningOp();
  if (definition && isPure(definition) && definition->getNumRegions() == 0 &&
      definition->getNumResults() == 1 &&
      isa<arith::ArithDialect, math::MathDialect, tensor::TensorDialect>(
          definition->getDialect()) &&
      llvm::all_of(definition->getOperandTypes(), [](Type type) {
        return type.isIntOrIndexOrFloat() || isa<RankedTensorType>(type);
      })) {
    for (Value operand : definition->getOperands())
      capture(operand, kernelBuilder);
    cloneOntoBuffers(kernelBuilder, *definition, operands.captures);
    return;
  }
  operands.captures.map(
      value, addArgument(value, ("capture" + Twine(hostArguments.size())).str(),
                         "read"));
}

void Outliner::addCounter() {
  auto type = RankedTensorType::get({1}, host.getI32Type());
  Value zero = arith::ConstantOp::create(
      host, DenseElementsAttr::get(type, host.getI32IntegerAttr(0)));
  Value counter = bufferization::ToBufferOp::create(
      host, MemRefType::get(type.getShape(), type.getElementType()), zero);
  Value argument = addArgument(counter, "counter", "workspace");
  kernel.setArgAttr(cast<BlockArgument>(argument).getArgNumber(),
                    tile::TileDialect::kCounterAttrName, host.getUnitAttr());
}

LogicalResult Outliner::checkInput() {
  if (op.getCausal() || op.getWindow() || op.getSoftcap() ||
      op.getAlibiSlopes())
    return op.emitOpError() << "expects short forms to be expanded; run "
                               "attn-expand-short-forms first";
  if (!op.getScheduleAttr())
    return op.emitOpError() << "expects a schedule; run attune-set-schedule or "
                               "attune-select-schedule first";
  if (ShapedType::isDynamic(op.getHeadDimQK()) ||
      ShapedType::isDynamic(op.getHeadDimV()))
    return op.emitOpError()
           << "expects static head sizes, but got a dynamic one";
  Type inputType = op.getQuery().getType().getElementType();
  auto schedule = op.getScheduleAttr();
  tile::MmaAtomAttr atom = target.findAtom(inputType, schedule.getMmaWarps());
  if (!atom)
    return op.emitOpError()
           << "expects an element type that '" << target.getChip()
           << "' has a matrix instruction for, but got " << inputType;
  PaddedHeadDims padded = getPaddedHeadDims(AttentionProblem::get(op), atom);
  sizes = {schedule.getBlockM(),
           schedule.getBlockN(),
           padded.qk,
           padded.v,
           atom.getAcc().getPartialColumns().getShape(2)[1],
           target.getCache(),
           HeadPacking::get(op).count(schedule)};
  return success();
}

Value Outliner::launchSize() {
  // The order in which a kernel takes its block number apart is that of
  // BodyBuilder::locate: tiles fastest, then heads, then batch.
  Value query = hostArguments.front();
  int64_t cluster = op.getScheduleAttr().getCluster();
  Value product;
  for (auto [dim, per] : {std::pair<char, int64_t>('s', sizes.blockM * cluster),
                          {'h', sizes.heads},
                          {'b', 1}}) {
    Value extent = host.createOrFold<memref::DimOp>(
        query, static_cast<int64_t>(op.getOrder().find(dim)));
    if (per != 1)
      extent = host.createOrFold<arith::CeilDivUIOp>(
          extent, arith::ConstantIndexOp::create(host, per));
    product =
        product ? host.createOrFold<arith::MulIOp>(product, extent) : extent;
  }
  if (cluster == 1)
    return product;
  return host.createOrFold<arith::MulIOp>(
      product, arith::ConstantIndexOp::create(host, cluster));
}

LogicalResult Outliner::run() {
  if (failed(checkInput()))
    return failure();
  auto function = op->getParentOfType<func::FuncOp>();
  MLIRContext *context = op.getContext();

  OpBuilder moduleBuilder(function);
  std::string base = (function.getName() + "_kernel").str();
  auto gpuModule = gpu::GPUModuleOp::create(moduleBuilder, op.getLoc(), base);
  symbols.insert(gpuModule);
  OpBuilder gpuBuilder = OpBuilder::atBlockBegin(gpuModule.getBody());
  kernel = gpu::GPUFuncOp::create(gpuBuilder, op.getLoc(), gpuModule.getName(),
                                  FunctionType::get(context, {}, {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  UnitAttr::get(context));
  kernel->setAttr(tile::TileDialect::kScheduleAttrName, op.getScheduleAttr());

  OpBuilder body = OpBuilder::atBlockBegin(&kernel.getBody().front());
  operands.query = inputBuffer(op.getQuery(), "query");
  operands.key = inputBuffer(op.getKey(), "key");
  operands.value = inputBuffer(op.getValue(), "value");
  if (op.getSinks())
    operands.sinks = inputBuffer(op.getSinks(), "sinks");
  for (auto [tensor, buffer] : kernelBuffers)
    operands.captures.map(tensor, buffer);
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    capture(value, body);
  operands.output = outputBuffer(op.getResult(), "output");
  unsigned outputIndex = hostArguments.size() - 1, lseIndex = 0;
  if (op.getLse()) {
    operands.lse = outputBuffer(op.getLse(), "lse");
    lseIndex = hostArguments.size() - 1;
  }
  if (op.getScheduleAttr().getPersistent() == schedule::Persistent::Dynamic)
    addCounter();
  buildKernelBody(body, op, operands, sizes);
  gpu::ReturnOp::create(body, op.getLoc());

  int64_t threads = getThreads(op.getScheduleAttr(), target);
  kernel->setAttr(
      "known_block_size",
      DenseI32ArrayAttr::get(context, {static_cast<int32_t>(threads), 1, 1}));
  auto gridEntry = [&](char dim, int64_t per) -> Attribute {
    return host.getDictionaryAttr(
        {host.getNamedAttr("argument", host.getI64IntegerAttr(0)),
         host.getNamedAttr("index",
                           host.getI64IntegerAttr(op.getOrder().find(dim))),
         host.getNamedAttr("per", host.getI64IntegerAttr(per))});
  };
  NamedAttrList launchFacts;
  launchFacts.set("arguments", host.getArrayAttr(manifest));
  int64_t cluster = op.getScheduleAttr().getCluster();
  launchFacts.set(
      "grid",
      host.getArrayAttr({gridEntry('s', sizes.blockM * cluster),
                         gridEntry('h', sizes.heads), gridEntry('b', 1)}));
  if (cluster > 1) {
    launchFacts.set("cluster", host.getI64IntegerAttr(cluster));
    kernel.setKnownClusterSize(
        ArrayRef<int32_t>{static_cast<int32_t>(cluster), 1, 1});
  }
  launchFacts.set("block", host.getI64ArrayAttr({threads, 1, 1}));
  // Persistent workgroups all run at once, in whole clusters.
  std::optional<int64_t> gridLimit;
  if (op.getScheduleAttr().getPersistent() != schedule::Persistent::None) {
    int64_t resident =
        target.getCores() * op.getScheduleAttr().getMinBlocksPerCore();
    gridLimit = std::max<int64_t>(1, resident / cluster) * cluster;
    launchFacts.set("grid_limit", host.getI64IntegerAttr(*gridLimit));
  }
  kernel->setAttr("attune.manifest", launchFacts.getDictionary(context));

  Value one = arith::ConstantIndexOp::create(host, 1);
  Value grid = launchSize();
  if (gridLimit)
    grid = host.createOrFold<arith::MinUIOp>(
        grid, arith::ConstantIndexOp::create(host, *gridLimit));
  Value block = arith::ConstantIndexOp::create(host, threads);
  auto launch = [&](OpBuilder &builder, Location loc) {
    gpu::LaunchFuncOp::create(
        builder, loc, kernel, gpu::KernelDim3{grid, one, one},
        gpu::KernelDim3{block, one, one},
        /*dynamicSharedMemorySize=*/Value(), hostArguments);
  };
  // Drivers refuse an empty grid.
  std::optional<int64_t> staticGrid = getConstantIntValue(grid);
  if (!staticGrid) {
    Value zero = arith::ConstantIndexOp::create(host, 0);
    Value any =
        arith::CmpIOp::create(host, arith::CmpIPredicate::ne, grid, zero);
    scf::IfOp::create(host, any, [&](OpBuilder &builder, Location loc) {
      launch(builder, loc);
      scf::YieldOp::create(builder, loc);
    });
  } else if (*staticGrid > 0) {
    launch(host, op.getLoc());
  }
  auto toTensor = [&](Value result, unsigned index) {
    Value tensor = bufferization::ToTensorOp::create(
        host, cast<RankedTensorType>(result.getType()), hostArguments[index],
        /*restrict=*/true, /*writable=*/true);
    result.replaceAllUsesWith(tensor);
  };
  toTensor(op.getResult(), outputIndex);
  if (op.getLse())
    toTensor(op.getLse(), lseIndex);
  op.erase();
  return success();
}

void AttnToTile::runOnOperation() {
  ModuleOp module = getOperation();
  SymbolTable symbols(module);
  LogicalResult result = forEachTunable(
      module, [&](TunableOpInterface tunable, tile::TargetAttr target) {
        auto op = dyn_cast<attn::AttentionOp>(*tunable);
        if (!op)
          return success();
        module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                        UnitAttr::get(&getContext()));
        return Outliner(op, target, symbols).run();
      });
  if (failed(result))
    signalPassFailure();
}
