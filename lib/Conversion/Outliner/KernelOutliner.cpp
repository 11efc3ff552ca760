// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host side: buffers, workspaces, and what several kernels share.

#include "attune/Conversion/KernelOutliner.h"
#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;
using namespace attune;

KernelOutliner::KernelOutliner(Operation *op, SymbolTable &symbols)
    : op(op), symbols(symbols), host(op->getLoc(), op) {}

KernelOutliner::BufferInfo KernelOutliner::getInfo(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  auto strided = dyn_cast_or_null<attn::StridedAttr>(type.getEncoding());
  if (!strided)
    return {MemRefType::get(type.getShape(), type.getElementType())};
  Builder b(type.getContext());
  BufferInfo info{MemRefType::get(
      type.getShape(), type.getElementType(),
      StridedLayoutAttr::get(type.getContext(), 0, strided.getStrides()))};
  if (strided.getDivisor() != 1)
    info.argumentAttributes = b.getDictionaryAttr(
        b.getNamedAttr(tile::TileDialect::kDivisorAttrName,
                       b.getI64IntegerAttr(strided.getDivisor())));
  return info;
}

/// Hides sizes of 0 from the kernel: as a static size, it is one of which no
/// offset is legal, so that upstream refuses every view.
static Value hideEmptyDims(OpBuilder &b, Location loc, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> shape(type.getShape());
  llvm::replace(shape, int64_t(0), ShapedType::kDynamic);
  if (shape == type.getShape())
    return buffer;
  MemRefType hidden = MemRefType::Builder(type).setShape(shape);
  return memref::CastOp::create(b, loc, hidden, buffer);
}

size_t KernelOutliner::add(HostValue value) {
  values.push_back(std::move(value));
  return values.size() - 1;
}

size_t KernelOutliner::find(Value hostValue) const {
  auto *found = llvm::find_if(
      values, [&](const HostValue &value) { return value.value == hostValue; });
  assert(found != values.end() && "expects a value that the outliner made");
  return found - values.begin();
}

Value KernelOutliner::getInput(Value tensor, StringRef name) {
  auto *known = llvm::find_if(
      values, [&](const HostValue &value) { return value.source == tensor; });
  if (known != values.end())
    return known->value;
  BufferInfo info = getInfo(tensor);
  Value buffer = bufferization::ToBufferOp::create(host, info.type, tensor,
                                                   /*read_only=*/true);
  buffer = hideEmptyDims(host, host.getLoc(), buffer);
  add({buffer, name.str(), tensor, launch::Access::Read,
       info.argumentAttributes, std::nullopt});
  return buffer;
}

Value KernelOutliner::makeOutput(OpResult result, StringRef name) {
  BufferInfo info = getInfo(result);
  SmallVector<Value> dynamicSizes;
  if (!info.type.hasStaticShape()) {
    ReifiedRankedShapedTypeDims shapes;
    [[maybe_unused]] LogicalResult reified =
        reifyResultShapes(host, op, shapes);
    assert(succeeded(reified) && "expects an op that knows its result shapes");
    for (OpFoldResult extent : shapes[result.getResultNumber()])
      if (auto value = dyn_cast<Value>(extent))
        dynamicSizes.push_back(value);
  }
  Value allocated = memref::AllocOp::create(host, info.type, dynamicSizes);
  Value buffer = hideEmptyDims(host, host.getLoc(), allocated);
  // An output is no source: who reads the op's result reads it after the
  // launches.
  add({buffer, name.str(), Value(), launch::Access::Write,
       info.argumentAttributes, std::nullopt});
  outputs.push_back({result, allocated});
  return buffer;
}

Value KernelOutliner::makeUpdate(OpResult result, Value tensor,
                                 StringRef name) {
  assert(result.getType() == tensor.getType() && "expects the old value");
  BufferInfo info = getInfo(tensor);
  // What is not read only is written: that says whether a copy is needed.
  Value taken = bufferization::ToBufferOp::create(host, info.type, tensor);
  Value buffer = hideEmptyDims(host, host.getLoc(), taken);
  // No source either: who reads the tensor reads the old value.
  add({buffer, name.str(), Value(), launch::Access::ReadWrite,
       info.argumentAttributes, std::nullopt});
  outputs.push_back({result, taken});
  return buffer;
}

Value KernelOutliner::addScalar(Value scalar, StringRef name) {
  bool isKnown = llvm::any_of(
      values, [&](const HostValue &value) { return value.value == scalar; });
  if (!isKnown)
    add({scalar, name.str(), scalar, launch::Access::Read, {}, std::nullopt});
  return scalar;
}

Value KernelOutliner::makeSize(const HostProduct &product) {
  auto multiply = [&](Value a, Value b) {
    return a ? host.createOrFold<arith::MulIOp>(a, b) : b;
  };
  Value size;
  for (const HostFactor &factor : product.factors) {
    Value extent = host.createOrFold<memref::DimOp>(factor.buffer, factor.dim);
    if (factor.per != 1)
      extent = host.createOrFold<arith::CeilDivUIOp>(
          extent, arith::ConstantIndexOp::create(host, factor.per));
    if (factor.moreBuffer)
      extent = host.createOrFold<arith::AddIOp>(
          extent,
          host.createOrFold<memref::DimOp>(factor.moreBuffer, factor.moreDim));
    if (factor.moreNumber)
      extent = host.createOrFold<arith::AddIOp>(
          extent, arith::ConstantIndexOp::create(host, factor.moreNumber));
    size = multiply(size, extent);
  }
  if (product.constant != 1 || !size)
    size =
        multiply(size, arith::ConstantIndexOp::create(host, product.constant));
  return size;
}

Value KernelOutliner::makeWorkspace(Workspace workspace) {
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamicSizes;
  for (const HostProduct &product : workspace.sizes) {
    Value size = makeSize(product);
    std::optional<int64_t> constant = getConstantIntValue(size);
    shape.push_back(constant.value_or(ShapedType::kDynamic));
    if (!constant)
      dynamicSizes.push_back(size);
  }
  Type element = workspace.elementType;
  Value buffer = memref::AllocOp::create(
      host, MemRefType::get(shape, element), dynamicSizes,
      host.getI64IntegerAttr(workspace.alignment));
  if (workspace.contents == launch::Contents::Zero) {
    Value zero = arith::ConstantOp::create(host, host.getZeroAttr(element));
    auto fill =
        gpu::MemsetOp::create(host, /*asyncToken=*/Type(),
                              /*asyncDependencies=*/ValueRange(), buffer, zero);
    if (workspace.restored)
      fill->setAttr(launch::LaunchDialect::kRestoredAttrName,
                    host.getUnitAttr());
  }
  std::string name = workspace.name;
  add({buffer,
       std::move(name),
       Value(),
       launch::Access::ReadWrite,
       {},
       std::move(workspace)});
  return buffer;
}

OutlinedKernel &KernelOutliner::addKernel(StringRef name) {
  MLIRContext *context = op->getContext();
  auto function = op->getParentOfType<FunctionOpInterface>();
  OpBuilder moduleBuilder(function);
  auto gpuModule = gpu::GPUModuleOp::create(moduleBuilder, op->getLoc(), name);
  symbols.insert(gpuModule);
  symbols.getOp()->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                           UnitAttr::get(context));
  OpBuilder gpuBuilder = OpBuilder::atBlockBegin(gpuModule.getBody());
  auto kernel =
      gpu::GPUFuncOp::create(gpuBuilder, op->getLoc(), gpuModule.getName(),
                             FunctionType::get(context, {}, {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  UnitAttr::get(context));
  OpBuilder body = OpBuilder::atBlockBegin(&kernel.getBody().front());
  gpu::ReturnOp::create(body, op->getLoc());
  kernels.push_back(OutlinedKernel(*this, kernel));
  return kernels.back();
}

//===----------------------------------------------------------------------===//
// What kernels share
//===----------------------------------------------------------------------===//

Attribute KernelOutliner::describe(const HostValue &value,
                                   launch::Access access) const {
  Type type = value.value.getType();
  if (auto buffer = dyn_cast<MemRefType>(type))
    return launch::BufferAttr::get(op->getContext(), value.name, buffer,
                                   access);
  return launch::ScalarAttr::get(op->getContext(), value.name, type);
}

launch::WorkspaceAttr KernelOutliner::describeWorkspace(
    const Workspace &workspace,
    function_ref<launch::ProductAttr(const HostProduct &)> resolve) const {
  SmallVector<Attribute> sizes;
  for (const HostProduct &product : workspace.sizes) {
    launch::ProductAttr size = resolve(product);
    if (!size)
      return {};
    sizes.push_back(size);
  }
  MLIRContext *context = op->getContext();
  return launch::WorkspaceAttr::get(
      context, workspace.name, workspace.elementType,
      ArrayAttr::get(context, sizes), workspace.alignment, workspace.contents,
      workspace.restored);
}

size_t KernelOutliner::countKernelsWith(size_t value) const {
  return llvm::count_if(kernels, [&](const OutlinedKernel &kernel) {
    return llvm::any_of(kernel.arguments, [&](const auto &argument) {
      return argument.value == value;
    });
  });
}

/// One kernel's manifest says everything, unless it has workspaces whose sizes
/// do not follow from its arguments.
bool KernelOutliner::needsSequence() const {
  return kernels.size() > 1 ||
         llvm::any_of(values, [&](const HostValue &value) {
           return value.workspace &&
                  !describeWorkspace(*value.workspace,
                                     [&](const HostProduct &product) {
                                       return kernels.front().resolve(product);
                                     });
         });
}

void KernelOutliner::addSequence() {
  MLIRContext *context = op->getContext();
  SmallVector<Attribute> described, launches;
  auto resolve = [&](const HostProduct &product) {
    SmallVector<launch::Factor> factors;
    for (const HostFactor &factor : product.factors)
      factors.push_back(
          {static_cast<int64_t>(find(factor.buffer)), factor.dim, factor.per,
           factor.moreBuffer ? static_cast<int64_t>(find(factor.moreBuffer))
                             : -1,
           factor.moreDim, factor.moreNumber});
    return launch::ProductAttr::get(context, product.constant, factors);
  };
  for (const HostValue &value : values)
    described.push_back(value.workspace ? Attribute(describeWorkspace(
                                              *value.workspace, resolve))
                                        : describe(value, value.access));
  for (OutlinedKernel &kernel : kernels) {
    SmallVector<int64_t> numbers;
    for (const auto &argument : kernel.arguments)
      numbers.push_back(static_cast<int64_t>(argument.value));
    gpu::GPUFuncOp function = kernel.getFunction();
    auto symbol = SymbolRefAttr::get(
        function->getParentOfType<gpu::GPUModuleOp>().getNameAttr(),
        FlatSymbolRefAttr::get(function.getNameAttr()));
    launches.push_back(launch::StepAttr::get(
        context, symbol, DenseI64ArrayAttr::get(context, numbers)));
  }
  auto function = op->getParentOfType<FunctionOpInterface>();
  SmallVector<Attribute> sequences;
  llvm::append_range(sequences, launch::getSequences(function));
  // Files are named after sequences.
  std::string name = function.getName().str();
  if (!sequences.empty())
    name += "_" + std::to_string(sequences.size());
  sequences.push_back(launch::SequenceAttr::get(
      context, name, ArrayAttr::get(context, described),
      ArrayAttr::get(context, launches)));
  function->setAttr(launch::LaunchDialect::kSequencesAttrName,
                    ArrayAttr::get(context, sequences));
}

void KernelOutliner::finish() {
  for (OutlinedKernel &kernel : kernels) {
    gpu::GPUFuncOp function = kernel.getFunction();
    launch::setManifest(function, kernel.makeManifest());
    auto here = host.getUnitAttr();
    if (&kernel != &kernels.front())
      function->setAttr(launch::LaunchDialect::kFollowsAttrName, here);
    if (&kernel != &kernels.back())
      function->setAttr(launch::LaunchDialect::kPrecedesAttrName, here);
    kernel.emitLaunch(host);
  }
  if (needsSequence())
    addSequence();
  for (auto [result, buffer] : outputs) {
    Value tensor = bufferization::ToTensorOp::create(
        host, cast<RankedTensorType>(result.getType()), buffer,
        /*restrict=*/true, /*writable=*/true);
    result.replaceAllUsesWith(tensor);
  }
  op->erase();
}
