// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs are packed first, so that strides need not be understood here. The
// code is called through MLIR's C interface: pointers to descriptors of
// memrefs. Results are the caller's, as upstream's deallocation has it.

#include "attune/Execution/TensorFunction.h"
#include "HostHeap.h"
#include "attune/Conversion/Passes.h"
#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Execution/HostProgram.h"
#include "attune/Runtime/Launch.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/BufferizationToMemRef/BufferizationToMemRef.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/TargetSelect.h"
#include <cstring>

using namespace mlir;
using namespace attune;

static void addToLoops(PassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createConvertElementwiseToLinalgPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  bufferization::buildBufferDeallocationPipeline(
      pm, bufferization::BufferDeallocationPipelineOptions());
  pm.addPass(createConvertBufferizationToMemRefPass());
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  pm.addPass(createCanonicalizerPass());
}

/// 16-bit floats are computed in f32, and bit patterns and rounding of bf16 are
/// expanded: not every C library has functions for them.
static void addToLLVM(PassManager &pm) {
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createAttuneExpandFloat8Pass());
  pm.addNestedPass<func::FuncOp>(math::createMathExtendToSupportedTypes());
  arith::ArithEmulateUnsupportedFloatsOptions emulate;
  emulate.sourceTypeStrs = {"bf16", "f16"};
  emulate.targetTypeStr = "f32";
  pm.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
  // Functions of integers are not in libm, and some of floats not in LLVM.
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void TensorFunction::forgetStrides(ModuleOp module) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](RankedTensorType type) -> std::optional<Type> {
    if (!isa_and_nonnull<attn::StridedAttr>(type.getEncoding()))
      return std::nullopt;
    return RankedTensorType::get(type.getShape(), type.getElementType());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

FailureOr<std::unique_ptr<TensorFunction>>
TensorFunction::compile(ModuleOp module, StringRef name) {
  auto function = module.lookupSymbol<func::FuncOp>(name);
  static bool initialised = !llvm::InitializeNativeTarget() &&
                            !llvm::InitializeNativeTargetAsmPrinter();
  if (!initialised)
    return function.emitError()
           << "expects a build of LLVM with a back end for this machine to "
              "compute tensors on it";
  function->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                    UnitAttr::get(module.getContext()));
  std::unique_ptr<TensorFunction> compiled(new TensorFunction);
  compiled->name = name.str();
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    compiled->isTensor.push_back(isa<RankedTensorType>(type));
    if (compiled->isTensor.back())
      function.setArgAttr(
          index, bufferization::BufferizationDialect::kWritableAttrName,
          BoolAttr::get(module.getContext(), false));
  }
  for (Type type : function.getResultTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    FailureOr<TensorShape> shape = getTensorShape(
        function, tensor, SmallVector<int64_t>(tensor.getNumDynamicDims()));
    if (failed(shape))
      return failure();
    compiled->results.emplace_back(shape->type, tensor.getRank());
  }

  PassManager pm(module.getContext());
  addToLoops(pm);
  addToLLVM(pm);
  if (failed(pm.run(module)))
    return failure();
  ExecutionEngineOptions options;
  // They write a file for each run, into folders that users share.
  options.enableGDBNotificationListener = false;
  options.enablePerfNotificationListener = false;
  // Most functions run once and for small tensors, and take longer to compile
  // than to run; large ones run no longer for it, for they wait for sums and
  // memory.
  options.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Less;
  auto engine = ExecutionEngine::create(module, options);
  if (!engine)
    return module.emitError() << llvm::toString(engine.takeError());
  (*engine)->registerSymbols([](llvm::orc::MangleAndInterner intern) {
    llvm::orc::SymbolMap symbols;
    for (auto [name, address] : getHostRuntimeSymbols())
      symbols[intern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                               llvm::JITSymbolFlags::Exported |
                                   llvm::JITSymbolFlags::Callable};
    return symbols;
  });
  compiled->engine = std::move(*engine);
  return compiled;
}

TensorFunction::~TensorFunction() = default;

bool TensorFunction::isSupported(Operation *op) {
  auto isValue = [](Type type) {
    return isa<RankedTensorType>(type) || type.isIntOrIndexOrFloat();
  };
  if (op->getNumResults() == 0 ||
      !llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>) ||
      !llvm::all_of(getInputs(op),
                    [&](Value value) { return isValue(value.getType()); }))
    return false;
  return !op->walk([](Operation *nested) {
              return isa_and_nonnull<affine::AffineDialect, arith::ArithDialect,
                                     index::IndexDialect, linalg::LinalgDialect,
                                     math::MathDialect, scf::SCFDialect,
                                     tensor::TensorDialect>(
                         nested->getDialect())
                         ? WalkResult::advance()
                         : WalkResult::interrupt();
            }).wasInterrupted();
}

SmallVector<Value> TensorFunction::getInputs(Operation *op) {
  SetVector<Value> inputs;
  inputs.insert_range(op->getOperands());
  getUsedValuesDefinedAbove(op->getRegions(), inputs);
  return inputs.takeVector();
}

FailureOr<std::unique_ptr<TensorFunction>>
TensorFunction::compile(Operation *op) {
  assert(isSupported(op) && "expects an op that makes tensors");
  static constexpr StringRef kName = "compute";
  OwningOpRef<ModuleOp> module = ModuleOp::create(op->getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  SmallVector<Value> inputs = getInputs(op);
  auto function = func::FuncOp::create(
      builder, op->getLoc(), kName,
      builder.getFunctionType(ValueRange(inputs).getTypes(),
                              op->getResultTypes()));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  IRMapping mapping;
  mapping.map(inputs, body->getArguments());
  Operation *copy = builder.clone(*op, mapping);
  func::ReturnOp::create(builder, op->getLoc(), copy->getResults());
  forgetStrides(*module);
  return compile(*module, kName);
}

/// A copy without gaps.
static Tensor pack(const Tensor &tensor) {
  Tensor packed(TensorShape::contiguous(tensor.shape.type, tensor.shape.sizes));
  int64_t bytes = getBytes(tensor.shape.type), target = 0;
  tensor.shape.forEachOffset([&](int64_t offset) {
    std::memcpy(&packed.bytes[target], &tensor.bytes[offset * bytes], bytes);
    target += bytes;
  });
  return packed;
}

/// The elements behind a descriptor of a contiguous memref, which is freed.
static Tensor takeResult(const uint64_t *descriptor, DataType type,
                         int64_t rank) {
  SmallVector<int64_t> sizes(descriptor + 3, descriptor + 3 + rank);
  Tensor tensor(TensorShape::contiguous(type, sizes));
  const char *data = reinterpret_cast<const char *>(descriptor[1]) +
                     static_cast<int64_t>(descriptor[2]) * getBytes(type);
  llvm::copy(ArrayRef(data, tensor.bytes.size()), tensor.bytes.begin());
  std::free(reinterpret_cast<void *>(descriptor[0]));
  return tensor;
}

llvm::Expected<std::vector<Tensor>>
TensorFunction::call(ArrayRef<Tensor> inputs) const {
  // The C interface takes a pointer to all results, then one to each memref;
  // scalars go by value. The packed call takes pointers to these.
  size_t words = 0;
  for (auto [type, rank] : results)
    words += 3 + 2 * rank;
  std::vector<uint64_t> returned(words);
  SmallVector<Tensor> packed;
  for (const Tensor &input : inputs)
    packed.push_back(pack(input));
  // Pointers into the descriptors are kept: they may not move.
  std::vector<SmallVector<uint64_t>> descriptors;
  descriptors.reserve(packed.size());
  std::vector<void *> pointers{returned.data()};
  for (auto [tensor, takesTensor] : llvm::zip_equal(packed, isTensor)) {
    if (!takesTensor) {
      pointers.push_back(tensor.bytes.data());
      continue;
    }
    KernelArgument argument = KernelArgument::buffer(
        reinterpret_cast<DeviceAddress>(tensor.bytes.data()), tensor.shape);
    descriptors.emplace_back(PackedArguments(argument).getWords());
    pointers.push_back(descriptors.back().data());
  }
  SmallVector<void *> arguments;
  for (auto [index, pointer] : llvm::enumerate(pointers)) {
    bool byValue = index > 0 && !isTensor[index - 1];
    arguments.push_back(byValue ? pointer : static_cast<void *>(&pointer));
  }
  if (auto error = engine->invokePacked("_mlir_ciface_" + name, arguments))
    return std::move(error);
  std::vector<Tensor> tensors;
  const uint64_t *descriptor = returned.data();
  for (auto [type, rank] : results) {
    tensors.push_back(takeResult(descriptor, type, rank));
    descriptor += 3 + 2 * rank;
  }
  return tensors;
}
