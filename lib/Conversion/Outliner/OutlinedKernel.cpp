// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One kernel: its arguments, its manifest and its launch.

#include "attune/Conversion/KernelOutliner.h"
#include "attune/Conversion/RegionClone.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace attune;

OutlinedKernel::OutlinedKernel(KernelOutliner &outliner,
                               gpu::GPUFuncOp function)
    : outliner(outliner), function(function),
      body(function.getBody().front().getTerminator()) {}

Value OutlinedKernel::addArgument(Value hostValue,
                                  std::optional<launch::Access> access) {
  size_t number = outliner.find(hostValue);
  auto *known = llvm::find_if(arguments, [&](const Argument &argument) {
    return argument.value == number;
  });
  if (known != arguments.end())
    return function.getArgument(known - arguments.begin());
  const KernelOutliner::HostValue &value = outliner.values[number];
  unsigned index = function.getNumArguments();
  assert(index == arguments.size() && "arguments are added by this alone");
  (void)function.insertArgument(index, hostValue.getType(),
                                value.argumentAttributes,
                                outliner.op->getLoc());
  arguments.push_back({number, access.value_or(value.access)});
  if (value.source)
    mapping.map(value.source, function.getArgument(index));
  return function.getArgument(index);
}

/// Whether the kernel can compute the value again.
static bool isRepeatable(Operation *op) {
  return op && isPure(op) && op->getNumRegions() == 0 &&
         op->getNumResults() == 1 &&
         isa<arith::ArithDialect, math::MathDialect, tensor::TensorDialect>(
             op->getDialect()) &&
         llvm::all_of(op->getOperandTypes(), [](Type type) {
           return type.isIntOrIndexOrFloat() || isa<RankedTensorType>(type);
         });
}

void OutlinedKernel::capture(Value value) {
  if (mapping.contains(value))
    return;
  std::string name = "capture" + std::to_string(outliner.values.size());
  if (isa<RankedTensorType>(value.getType())) {
    // Only this says which tensor of several is which, for captures are in the
    // order in which what became of the regions uses them.
    if (auto argument = dyn_cast<BlockArgument>(value))
      name = "argument" + std::to_string(argument.getArgNumber());
    addArgument(outliner.getInput(value, name));
    return;
  }
  Operation *definition = value.getDefiningOp();
  if (!isRepeatable(definition)) {
    addArgument(outliner.addScalar(value, name));
    return;
  }
  for (Value operand : definition->getOperands())
    capture(operand);
  cloneOntoBuffers(body, *definition, mapping);
}

void OutlinedKernel::setCluster(int64_t workgroups) {
  cluster = workgroups;
  if (workgroups > 1)
    function.setKnownClusterSize(
        ArrayRef<int32_t>{static_cast<int32_t>(workgroups), 1, 1});
}

void OutlinedKernel::setBlock(int64_t count) {
  threads = count;
  function.setKnownBlockSize(
      ArrayRef<int32_t>{static_cast<int32_t>(count), 1, 1});
}

std::optional<int64_t> OutlinedKernel::findArgument(Value buffer) const {
  size_t value = outliner.find(buffer);
  auto *argument = llvm::find_if(
      arguments, [&](const Argument &a) { return a.value == value; });
  if (argument == arguments.end())
    return std::nullopt;
  return argument - arguments.begin();
}

launch::ProductAttr OutlinedKernel::resolve(const HostProduct &product) const {
  SmallVector<launch::Factor> factors;
  for (const HostFactor &factor : product.factors) {
    std::optional<int64_t> argument = findArgument(factor.buffer), more = -1;
    if (factor.moreBuffer)
      more = findArgument(factor.moreBuffer);
    if (!argument || !more)
      return {};
    factors.push_back({*argument, factor.dim, factor.per, *more, factor.moreDim,
                       factor.moreNumber});
  }
  return launch::ProductAttr::get(outliner.op->getContext(), product.constant,
                                  factors);
}

launch::ManifestAttr OutlinedKernel::makeManifest() const {
  MLIRContext *context = outliner.op->getContext();
  SmallVector<Attribute> described;
  for (const Argument &argument : arguments) {
    const KernelOutliner::HostValue &value = outliner.values[argument.value];
    // A workspace that is this kernel's alone can be allocated by who launches
    // it alone, if its size follows from what is passed.
    launch::WorkspaceAttr own;
    if (value.workspace && outliner.countKernelsWith(argument.value) == 1)
      own = outliner.describeWorkspace(
          *value.workspace,
          [&](const HostProduct &product) { return resolve(product); });
    described.push_back(own ? Attribute(own)
                            : outliner.describe(value, argument.access));
  }
  launch::ProductAttr extent = resolve(grid);
  assert(extent && "a grid follows from arguments of its kernel");
  return launch::ManifestAttr::get(context, ArrayAttr::get(context, described))
      .withGrid(extent, gridLimit, cluster)
      .withBlock({threads, 1, 1});
}

void OutlinedKernel::emitLaunch(ImplicitLocOpBuilder &host) {
  Value one = arith::ConstantIndexOp::create(host, 1);
  Value workgroups = outliner.makeSize(grid);
  if (cluster != 1)
    workgroups = host.createOrFold<arith::MulIOp>(
        workgroups, arith::ConstantIndexOp::create(host, cluster));
  if (gridLimit)
    workgroups = host.createOrFold<arith::MinUIOp>(
        workgroups, arith::ConstantIndexOp::create(host, *gridLimit));
  Value block = arith::ConstantIndexOp::create(host, threads);
  SmallVector<Value> operands;
  for (const Argument &argument : arguments)
    operands.push_back(outliner.values[argument.value].value);
  auto create = [&](OpBuilder &builder, Location loc) {
    gpu::LaunchFuncOp::create(builder, loc, function,
                              gpu::KernelDim3{workgroups, one, one},
                              gpu::KernelDim3{block, one, one},
                              /*dynamicSharedMemorySize=*/Value(), operands);
  };
  // Drivers refuse an empty grid.
  std::optional<int64_t> staticGrid = getConstantIntValue(workgroups);
  if (!staticGrid) {
    Value zero = arith::ConstantIndexOp::create(host, 0);
    Value any =
        arith::CmpIOp::create(host, arith::CmpIPredicate::ne, workgroups, zero);
    scf::IfOp::create(host, any, [&](OpBuilder &builder, Location loc) {
      create(builder, loc);
      scf::YieldOp::create(builder, loc);
    });
  } else if (*staticGrid > 0) {
    create(host, host.getLoc());
  }
}
