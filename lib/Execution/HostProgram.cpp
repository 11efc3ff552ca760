// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interpreter. Scalar arithmetic is left to the folders of the ops, and
// other ops on tensors to upstream's compilation for the CPU, so only ops that
// allocate, alias, fill, branch, launch or make tensor maps are named here.

#include "attune/Execution/HostProgram.h"
#include "HostComputation.h"
#include "attune/Conversion/SwizzleBytes.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attune;

llvm::Error HostRun::relaunch(bool computes) {
  for (auto &step : steps) {
    llvm::Error error = llvm::Error::success();
    if (auto *launch = std::get_if<Launch>(&step))
      error = device->launch(*launch->kernel, launch->shape,
                             launch->arguments.getPointers());
    else if (auto *fill = std::get_if<Fill>(&step))
      error = (*fill)->fill(0);
    else if (auto *copy = std::get_if<Copy>(&step); copy && computes)
      error = copy->target->assign(*copy->source);
    else if (computes)
      error = std::get<Computation>(step)->run();
    if (error)
      return error;
  }
  return llvm::Error::success();
}

int64_t HostRun::getNumLaunches() const {
  return llvm::count_if(
      steps, [](const auto &step) { return std::get_if<Launch>(&step); });
}

static LogicalResult report(Operation *op, llvm::Error error) {
  return op->emitError() << llvm::toString(std::move(error));
}

static std::string getKernelKey(StringRef binary, StringRef kernel) {
  return (binary + "::" + kernel).str();
}

/// The kernels of a module in LLVM dialect.
static SmallVector<LLVM::LLVMFuncOp> getKernels(gpu::GPUModuleOp module) {
  SmallVector<LLVM::LLVMFuncOp> kernels;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (function->hasAttr(gpu::GPUDialect::getKernelFuncAttrName()))
      kernels.push_back(function);
  return kernels;
}

llvm::Error HostProgram::load(StringRef image, StringRef holder, StringRef name,
                              launch::ManifestAttr manifest) {
  auto kernel =
      device.loadKernel(image, name, manifest ? manifest.getSharedBytes() : 0);
  if (!kernel)
    return kernel.takeError();
  kernels[getKernelKey(holder, name)] = std::move(*kernel);
  return llvm::Error::success();
}

LogicalResult HostProgram::loadIR(ModuleOp module) {
  for (auto binary : module.getOps<gpu::BinaryOp>())
    // Without a place: the source there is one line with all of the code.
    return emitError(UnknownLoc::get(module.getContext()))
           << "gpu.binary '" << binary.getName()
           << "' expects a kernel in LLVM dialect to be executed on the host, "
              "but got machine code; compile with format=llvm";
  for (auto holder : module.getOps<gpu::GPUModuleOp>()) {
    auto target = tile::TargetAttr::lookup(holder);
    if (!target)
      return holder.emitOpError()
             << "expects a '" << tile::TileDialect::kTargetAttrName
             << "' attribute on the module or around it; run "
                "attune-attach-target first";
    // The image stands alone.
    OwningOpRef<gpu::GPUModuleOp> copy = holder.clone();
    (*copy)->setAttr(tile::TileDialect::kTargetAttrName, target);
    std::string image;
    llvm::raw_string_ostream stream(image);
    if (failed(writeBytecodeToFile(*copy, stream)))
      return holder.emitOpError() << "expects ops that have bytecode";
    for (LLVM::LLVMFuncOp function : getKernels(holder))
      if (auto error = load(image, holder.getName(), function.getName(),
                            launch::getManifest(function)))
        return report(function, std::move(error));
  }
  return success();
}

FailureOr<std::unique_ptr<HostProgram>> HostProgram::load(ModuleOp module,
                                                          Device &device) {
  std::unique_ptr<HostProgram> program(new HostProgram(device));
  if (device.getKernelFormat() == KernelFormat::IR) {
    if (failed(program->loadIR(module)))
      return failure();
    return program;
  }
  for (auto binary : module.getOps<gpu::BinaryOp>()) {
    auto object = cast<gpu::ObjectAttr>(binary.getObjects()[0]);
    gpu::KernelTableAttr table = object.getKernels();
    if (!table || table.empty()) {
      binary.emitOpError() << "expects an object that names its kernels; "
                              "compile with attune-emit-binary";
      return failure();
    }
    for (gpu::KernelMetadataAttr metadata : table)
      if (auto error = program->load(
              object.getObject().getValue(), binary.getName(),
              metadata.getName().getValue(), launch::getManifest(binary)))
        return report(binary, std::move(error));
  }
  return program;
}

namespace attune {
/// One run of a function.
class HostInterpreter {
public:
  HostInterpreter(HostProgram &program, HostRun &run)
      : program(program), run(run) {}

  LogicalResult execute(func::FuncOp function, ArrayRef<Datum> arguments);

private:
  /// Executes all ops but the terminator, whose operands are the block's value.
  FailureOr<std::vector<Datum>> execute(Block &block);
  LogicalResult execute(Operation *op);
  LogicalResult allocate(Operation *op, ShapedType type, ValueRange sizes);
  LogicalResult alias(Operation *op, Value source);
  LogicalResult update(bufferization::ToBufferOp op);
  LogicalResult collapse(tensor::CollapseShapeOp op);
  LogicalResult expand(tensor::ExpandShapeOp op);
  LogicalResult reshape(Operation *op, Value source, ArrayRef<int64_t> sizes);
  LogicalResult dimension(Operation *op, Value source, Value index);
  FailureOr<std::shared_ptr<DeviceTensor>>
  materialize(Operation *op, DenseElementsAttr elements);
  LogicalResult constant(arith::ConstantOp op);
  LogicalResult extract(Operation *op);
  LogicalResult branch(scf::IfOp op);
  LogicalResult check(cf::AssertOp op);
  LogicalResult makeMap(nvgpu::TmaCreateDescriptorOp op);
  LogicalResult fill(gpu::MemsetOp op);
  LogicalResult execute(gpu::LaunchFuncOp op);
  LogicalResult compute(Operation *op);
  LogicalResult fold(Operation *op);
  FailureOr<int64_t> integer(Operation *op, Value value);
  void bind(Value value, std::shared_ptr<DeviceTensor> tensor);

  HostProgram &program;
  HostRun &run;
  DenseMap<Value, Datum> values;
};
} // namespace attune

void HostInterpreter::bind(Value value, std::shared_ptr<DeviceTensor> tensor) {
  run.buffers.push_back(tensor);
  values[value].tensor = std::move(tensor);
}

FailureOr<int64_t> HostInterpreter::integer(Operation *op, Value value) {
  auto attribute = dyn_cast_or_null<IntegerAttr>(values[value].scalar);
  if (!attribute)
    return op->emitError() << "expects an integer known on the host";
  return attribute.getInt();
}

LogicalResult HostInterpreter::allocate(Operation *op, ShapedType type,
                                        ValueRange sizes) {
  SmallVector<int64_t> dynamicSizes;
  for (Value size : sizes) {
    FailureOr<int64_t> extent = integer(op, size);
    if (failed(extent))
      return failure();
    if (*extent < 0)
      return op->emitError()
             << "expects sizes of at least 0, but got " << *extent;
    dynamicSizes.push_back(*extent);
  }
  FailureOr<TensorShape> shape = getTensorShape(op, type, dynamicSizes);
  if (failed(shape))
    return failure();
  auto tensor = DeviceTensor::create(program.device, std::move(*shape));
  if (!tensor)
    return report(op, tensor.takeError());
  bind(op->getResult(0), std::move(*tensor));
  return success();
}

LogicalResult HostInterpreter::alias(Operation *op, Value source) {
  Datum datum = values.lookup(source);
  values[op->getResult(0)] = std::move(datum);
  return success();
}

/// A buffer of a tensor that kernels change. Another one: the caller's has its
/// old value when the run is checked, or done once more.
LogicalResult HostInterpreter::update(bufferization::ToBufferOp op) {
  std::shared_ptr<DeviceTensor> source = values[op.getTensor()].tensor;
  auto tensor = DeviceTensor::create(program.device, source->getShape());
  if (!tensor)
    return report(op, tensor.takeError());
  std::shared_ptr<DeviceTensor> target = std::move(*tensor);
  if (auto error = target->assign(*source))
    return report(op, std::move(error));
  run.steps.push_back(HostRun::Copy{source, target});
  bind(op.getBuffer(), std::move(target));
  return success();
}

LogicalResult HostInterpreter::reshape(Operation *op, Value source,
                                       ArrayRef<int64_t> sizes) {
  const std::shared_ptr<DeviceTensor> &tensor = values[source].tensor;
  const TensorShape &shape = tensor->getShape();
  if (!shape.isContiguous())
    return op->emitOpError()
           << "expects a tensor without gaps to run, but got " << shape.str();
  int64_t elements =
      TensorShape::contiguous(shape.type, sizes).getNumElements();
  if (elements != shape.getNumElements())
    return op->emitOpError() << "expects " << shape.getNumElements()
                             << " elements, but got " << elements;
  bind(op->getResult(0), DeviceTensor::reshape(tensor, sizes));
  return success();
}

LogicalResult HostInterpreter::collapse(tensor::CollapseShapeOp op) {
  const TensorShape &shape = values[op.getSrc()].tensor->getShape();
  SmallVector<int64_t> sizes;
  for (const ReassociationIndices &dims : op.getReassociationIndices()) {
    int64_t &size = sizes.emplace_back(1);
    for (int64_t dim : dims)
      size *= shape.sizes[dim];
  }
  return reshape(op, op.getSrc(), sizes);
}

LogicalResult HostInterpreter::expand(tensor::ExpandShapeOp op) {
  SmallVector<int64_t> sizes;
  for (OpFoldResult size : op.getMixedOutputShape()) {
    std::optional<int64_t> known = getConstantIntValue(size);
    if (auto value = dyn_cast<Value>(size); value && !known) {
      FailureOr<int64_t> extent = integer(op, value);
      if (failed(extent))
        return failure();
      known = *extent;
    }
    sizes.push_back(*known);
  }
  return reshape(op, op.getSrc(), sizes);
}

LogicalResult HostInterpreter::dimension(Operation *op, Value source,
                                         Value index) {
  FailureOr<int64_t> position = integer(op, index);
  if (failed(position))
    return failure();
  const TensorShape &shape = values[source].tensor->getShape();
  if (*position < 0 || *position >= static_cast<int64_t>(shape.sizes.size()))
    return op->emitError() << "expects a dimension of a tensor of rank "
                           << shape.sizes.size() << ", but got " << *position;
  values[op->getResult(0)].scalar = IntegerAttr::get(
      IndexType::get(op->getContext()), shape.sizes[*position]);
  return success();
}

FailureOr<std::shared_ptr<DeviceTensor>>
HostInterpreter::materialize(Operation *op, DenseElementsAttr elements) {
  FailureOr<TensorShape> shape = getTensorShape(op, elements.getType());
  if (failed(shape))
    return failure();
  auto copy = DeviceTensor::create(program.device,
                                   toTensor(std::move(*shape), elements));
  if (!copy)
    return report(op, copy.takeError());
  return std::shared_ptr<DeviceTensor>(std::move(*copy));
}

LogicalResult HostInterpreter::constant(arith::ConstantOp op) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elements) {
    values[op.getResult()].scalar = op.getValue();
    return success();
  }
  auto tensor = materialize(op, elements);
  if (failed(tensor))
    return failure();
  bind(op.getResult(), std::move(*tensor));
  return success();
}

/// An element of a tensor or a buffer, integers with all of their bits.
LogicalResult HostInterpreter::extract(Operation *op) {
  auto tensor = values[op->getOperand(0)].tensor->read();
  if (!tensor)
    return report(op, tensor.takeError());
  int64_t offset = 0;
  for (auto [index, size, stride] :
       llvm::zip_equal(op->getOperands().drop_front(), tensor->shape.sizes,
                       tensor->shape.strides)) {
    FailureOr<int64_t> position = integer(op, index);
    if (failed(position))
      return failure();
    if (*position < 0 || *position >= size)
      return op->emitError()
             << "expects an index below " << size << ", but got " << *position;
    offset += *position * stride;
  }
  Type type = op->getResult(0).getType();
  uint64_t bits = 0, bytes = getBytes(tensor->shape.type);
  memcpy(&bits, &tensor->bytes[offset * bytes], bytes);
  Attribute &scalar = values[op->getResult(0)].scalar;
  if (isa<FloatType>(type))
    scalar = FloatAttr::get(type, tensor->load(offset));
  else
    scalar = IntegerAttr::get(
        type,
        APInt(64, bits).trunc(ConstantIntRanges::getStorageBitwidth(type)));
  return success();
}

LogicalResult HostInterpreter::branch(scf::IfOp op) {
  FailureOr<int64_t> condition = integer(op, op.getCondition());
  if (failed(condition))
    return failure();
  Region &region = *condition ? op.getThenRegion() : op.getElseRegion();
  if (region.empty())
    return success();
  FailureOr<std::vector<Datum>> yielded = execute(region.front());
  if (failed(yielded))
    return failure();
  for (auto [result, datum] : llvm::zip_equal(op.getResults(), *yielded))
    values[result] = datum;
  return success();
}

/// Adds the numbers that the condition compares to the message; where a
/// remainder is compared, those that were divided.
LogicalResult HostInterpreter::check(cf::AssertOp op) {
  FailureOr<int64_t> holds = integer(op, op.getArg());
  if (failed(holds))
    return failure();
  if (*holds)
    return success();
  InFlightDiagnostic diagnostic = op.emitError() << op.getMsg();
  Operation *numbers = op.getArg().getDefiningOp<arith::CmpIOp>();
  if (!numbers)
    return diagnostic;
  if (Operation *rest = numbers->getOperand(0).getDefiningOp();
      isa_and_nonnull<arith::RemUIOp, arith::RemSIOp>(rest))
    numbers = rest;
  auto left = dyn_cast_or_null<IntegerAttr>(
           values.lookup(numbers->getOperand(0)).scalar),
       right = dyn_cast_or_null<IntegerAttr>(
           values.lookup(numbers->getOperand(1)).scalar);
  if (left && right)
    diagnostic << ", but got " << left.getInt() << " and " << right.getInt();
  return diagnostic;
}

LogicalResult HostInterpreter::makeMap(nvgpu::TmaCreateDescriptorOp op) {
  // The op's verifier wants no interleaving, and how much of a row is fetched
  // at once is left to the device.
  nvgpu::TensorMapDescriptorType type = op.getTensorMap().getType();
  if (type.getOob() != nvgpu::TensorMapOOBKind::OOB_ZERO)
    return op.emitOpError() << "expects 'oob = zero' to run, but got " << type;
  SmallVector<int64_t> box;
  for (Value size : op.getBoxDimensions()) {
    FailureOr<int64_t> extent = integer(op, size);
    if (failed(extent))
      return failure();
    box.push_back(*extent);
  }
  MemRefType expected = type.getTensor();
  Type element =
      cast<BaseMemRefType>(op.getTensor().getType()).getElementType();
  if (expected.getShape() != ArrayRef(box) ||
      expected.getElementType() != element) {
    std::string got;
    llvm::raw_string_ostream stream(got);
    for (int64_t size : box)
      stream << size << 'x';
    stream << element;
    return op.emitOpError() << "expects the box and the element type of "
                            << type << ", but got " << got;
  }
  auto map = encodeTensorMap(program.device,
                             values[op.getTensor()].tensor->getArgument(), box,
                             getSwizzleBytes(type.getSwizzle()));
  if (!map)
    return report(op, map.takeError());
  values[op.getTensorMap()].map = *map;
  return success();
}

LogicalResult HostInterpreter::fill(gpu::MemsetOp op) {
  Attribute value = values[op.getValue()].scalar;
  auto integer = dyn_cast_or_null<IntegerAttr>(value);
  auto number = dyn_cast_or_null<FloatAttr>(value);
  bool isZero = (integer && integer.getValue().isZero()) ||
                (number && number.getValue().isPosZero());
  if (!isZero || op.getAsyncToken() || !op.getAsyncDependencies().empty())
    return op.emitOpError()
           << "expects zero as the value, and no async tokens, to run";
  std::shared_ptr<DeviceTensor> tensor = values[op.getDst()].tensor;
  if (auto error = tensor->fill(0))
    return report(op, std::move(error));
  if (!op->hasAttr(launch::LaunchDialect::kRestoredAttrName))
    run.steps.push_back(std::move(tensor));
  return success();
}

LogicalResult HostInterpreter::execute(gpu::LaunchFuncOp op) {
  if (!op.getAsyncDependencies().empty() || op.getAsyncToken() ||
      op.hasClusterSize())
    return op.emitOpError()
           << "expects a launch without clusters and async tokens to run";
  auto it = program.kernels.find(getKernelKey(
      op.getKernelModuleName().getValue(), op.getKernelName().getValue()));
  if (it == program.kernels.end())
    return op.emitOpError()
           << (program.device.getKernelFormat() == KernelFormat::IR
                   ? "expects a gpu.module in LLVM dialect with kernel "
                   : "expects a gpu.binary with kernel ")
           << op.getKernel() << ", but there is none";
  LaunchShape shape;
  gpu::KernelDim3 grid = op.getGridSizeOperandValues();
  gpu::KernelDim3 block = op.getBlockSizeOperandValues();
  Value extents[] = {grid.x, grid.y, grid.z, block.x, block.y, block.z};
  for (auto [index, extent] : llvm::enumerate(extents)) {
    FailureOr<int64_t> size = integer(op, extent);
    if (failed(size))
      return failure();
    (index < 3 ? shape.grid : shape.block)[index % 3] = *size;
  }
  if (Value size = op.getDynamicSharedMemorySize()) {
    FailureOr<int64_t> bytes = integer(op, size);
    if (failed(bytes))
      return failure();
    shape.sharedBytes = *bytes;
  }
  SmallVector<KernelArgument> arguments;
  for (Value operand : op.getKernelOperands()) {
    const Datum &datum = values[operand];
    if (datum.tensor) {
      arguments.push_back(datum.tensor->getArgument());
    } else if (datum.map) {
      arguments.push_back(KernelArgument::tensorMap(*datum.map));
    } else if (auto value = dyn_cast_or_null<IntegerAttr>(datum.scalar)) {
      arguments.push_back(KernelArgument::scalar(
          DataType::I64, static_cast<uint64_t>(value.getInt())));
    } else if (auto value = dyn_cast_or_null<FloatAttr>(datum.scalar)) {
      arguments.push_back(KernelArgument::scalar(
          DataType::F64, value.getValue().bitcastToAPInt().getZExtValue()));
    } else {
      return op.emitOpError()
             << "expects buffers, scalars and tensor maps as arguments to run, "
                "but got "
             << operand.getType();
    }
  }
  // Drivers refuse an empty grid; nothing is to be done then.
  if (llvm::is_contained(shape.grid, 0))
    return success();
  run.steps.push_back(
      HostRun::Launch{it->second.get(), shape, PackedArguments(arguments)});
  auto &last = std::get<HostRun::Launch>(run.steps.back());
  if (auto error = program.device.launch(*last.kernel, last.shape,
                                         last.arguments.getPointers()))
    return report(op, std::move(error));
  return success();
}

LogicalResult HostInterpreter::compute(Operation *op) {
  std::vector<Datum> inputs;
  for (Value input : TensorFunction::getInputs(op))
    inputs.push_back(values[input]);
  auto computation =
      HostComputation::create(op, std::move(inputs), program.device);
  if (failed(computation))
    return failure();
  if (auto error = (*computation)->run())
    return report(op, std::move(error));
  for (auto [result, tensor] :
       llvm::zip_equal(op->getResults(), (*computation)->getResults()))
    bind(result, tensor);
  run.steps.emplace_back(std::move(*computation));
  return success();
}

LogicalResult HostInterpreter::fold(Operation *op) {
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands())
    operands.push_back(values[operand].scalar);
  SmallVector<OpFoldResult> folded;
  if (op->getNumRegions() != 0 || failed(op->fold(operands, folded)) ||
      folded.size() != op->getNumResults())
    return op->emitError()
           << "expects an op of the host side that can be executed, such as an "
              "allocation, a launch or index arithmetic, but got '"
           << op->getName() << "'";
  for (auto [result, value] : llvm::zip_equal(op->getResults(), folded)) {
    Datum datum;
    if (auto attribute = dyn_cast<Attribute>(value))
      datum.scalar = attribute;
    else
      datum = values.lookup(cast<Value>(value));
    values[result] = std::move(datum);
  }
  return success();
}

LogicalResult HostInterpreter::execute(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](arith::ConstantOp op) { return constant(op); })
      .Case<memref::AllocOp, tensor::EmptyOp>([&](auto op) {
        return allocate(op, op.getType(), op.getDynamicSizes());
      })
      .Case([](memref::DeallocOp) { return success(); })
      .Case([&](bufferization::ToBufferOp op) {
        return op.getReadOnly() ? alias(op, op.getTensor()) : update(op);
      })
      .Case([&](bufferization::ToTensorOp op) {
        return alias(op, op.getBuffer());
      })
      .Case<memref::CastOp, tensor::CastOp>(
          [&](auto op) { return alias(op, op.getSource()); })
      .Case<memref::DimOp, tensor::DimOp>(
          [&](auto op) { return dimension(op, op.getSource(), op.getIndex()); })
      .Case<tensor::ExtractOp, memref::LoadOp>(
          [&](Operation *op) { return extract(op); })
      .Case([&](tensor::CollapseShapeOp op) { return collapse(op); })
      .Case([&](tensor::ExpandShapeOp op) { return expand(op); })
      .Case([&](scf::IfOp op) { return branch(op); })
      .Case([&](cf::AssertOp op) { return check(op); })
      .Case([&](nvgpu::TmaCreateDescriptorOp op) { return makeMap(op); })
      .Case([&](gpu::MemsetOp op) { return fill(op); })
      .Case([&](gpu::LaunchFuncOp op) { return execute(op); })
      .Default([&](Operation *op) {
        return isComputedOnHost(op) ? compute(op) : fold(op);
      });
}

FailureOr<std::vector<Datum>> HostInterpreter::execute(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(execute(&op)))
      return failure();
  std::vector<Datum> yielded;
  for (Value value : block.getTerminator()->getOperands())
    yielded.push_back(values[value]);
  return yielded;
}

LogicalResult HostInterpreter::execute(func::FuncOp function,
                                       ArrayRef<Datum> arguments) {
  if (!function.getBody().hasOneBlock())
    return function.emitError() << "expects a function of one block to run";
  if (arguments.size() != function.getNumArguments())
    return function.emitError()
           << "expects " << function.getNumArguments()
           << " arguments to run, but got " << arguments.size();
  for (auto [argument, datum] :
       llvm::zip_equal(function.getArguments(), arguments)) {
    values[argument] = datum;
    // The kernels of a relaunch read them again.
    if (datum.tensor)
      run.buffers.push_back(datum.tensor);
  }
  FailureOr<std::vector<Datum>> results = execute(function.front());
  if (failed(results))
    return failure();
  run.results = std::move(*results);
  return success();
}

FailureOr<HostRun> HostProgram::run(func::FuncOp function,
                                    ArrayRef<Datum> arguments) {
  HostRun run;
  run.device = &device;
  if (failed(HostInterpreter(*this, run).execute(function, arguments)))
    return failure();
  return run;
}
