// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The op's own passes, upstream's bufferization and upstream's LLVM, in a JIT.
// Inputs are packed first, so that strides need not be understood here.

#include "attune/Execution/HostReference.h"
#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Execution/Reference.h"
#include "attune/Runtime/Launch.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/TargetSelect.h"
#include <cstring>

using namespace mlir;
using namespace attune;

/// Bit patterns and rounding of bf16 are expanded: not every C library has
/// functions for them.
static void buildPipeline(func::FuncOp source, PassManager &pm,
                          ReferenceRun run) {
  buildReference(source, pm, run);
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
  // Functions of integers are not in libm, and some of floats not in LLVM.
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

/// A module with `source` alone, whose tensors are contiguous, called through
/// MLIR's C interface.
static OwningOpRef<ModuleOp> makeModule(func::FuncOp source) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(source.getLoc());
  func::FuncOp function = source.clone();
  module->push_back(function);
  // Sizes are checked where kernels run; here a failure would end the process.
  function.walk([](cf::AssertOp op) { op.erase(); });
  function->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                    UnitAttr::get(source.getContext()));
  AttrTypeReplacer replacer;
  replacer.addReplacement([](RankedTensorType type) -> std::optional<Type> {
    if (!isa_and_nonnull<attn::StridedAttr>(type.getEncoding()))
      return std::nullopt;
    return RankedTensorType::get(type.getShape(), type.getElementType());
  });
  replacer.recursivelyReplaceElementsIn(module.get(), /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  return module;
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
static std::vector<float> takeResult(uint64_t *descriptor, int64_t rank) {
  int64_t count = 1;
  for (int64_t dim = 0; dim < rank; ++dim)
    count *= static_cast<int64_t>(descriptor[3 + dim]);
  auto *data = reinterpret_cast<float *>(descriptor[1]) + descriptor[2];
  std::vector<float> values(data, data + count);
  std::free(reinterpret_cast<void *>(descriptor[0]));
  return values;
}

FailureOr<std::vector<std::vector<float>>>
attune::runReferenceOnHost(func::FuncOp source, ArrayRef<Tensor> inputs,
                           ReferenceRun run) {
  static bool initialised = !llvm::InitializeNativeTarget() &&
                            !llvm::InitializeNativeTargetAsmPrinter();
  if (!initialised)
    return source.emitError() << "expects a build of LLVM with a back end for "
                                 "this machine to compute the reference on it";
  for (Type type : source.getResultTypes())
    if (!isa<RankedTensorType>(type) ||
        !isa<FloatType>(getElementTypeOrSelf(type)))
      return source.emitError()
             << "expects tensors of floats as results, but got " << type;
  OwningOpRef<ModuleOp> module = makeModule(source);
  PassManager pm(source.getContext());
  buildPipeline(source, pm, run);
  if (failed(pm.run(*module)))
    return source.emitError()
           << "expects a function whose reference can be compiled for the CPU";
  ExecutionEngineOptions options;
  // They write a file for each run, into folders that users share.
  options.enableGDBNotificationListener = false;
  options.enablePerfNotificationListener = false;
  auto optimize = makeOptimizingTransformer(/*optLevel=*/2, /*sizeLevel=*/0,
                                            /*targetMachine=*/nullptr);
  options.transformer = optimize;
  auto engine = ExecutionEngine::create(*module, options);
  if (!engine)
    return source.emitError() << llvm::toString(engine.takeError());

  // The C interface takes a pointer to all results, then one to each memref;
  // scalars go by value. The packed call takes pointers to these.
  std::vector<uint64_t> results;
  for (Type type : source.getResultTypes())
    results.resize(results.size() + 3 +
                   2 * cast<RankedTensorType>(type).getRank());
  SmallVector<Tensor> packed;
  for (const Tensor &input : inputs)
    packed.push_back(pack(input));
  // Pointers into the descriptors are kept: they may not move.
  std::vector<SmallVector<uint64_t>> descriptors;
  descriptors.reserve(packed.size());
  std::vector<void *> pointers{results.data()};
  for (auto [tensor, type] :
       llvm::zip_equal(packed, source.getArgumentTypes())) {
    if (!isa<RankedTensorType>(type)) {
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
    bool byValue = index > 0 &&
                   !isa<RankedTensorType>(source.getArgumentTypes()[index - 1]);
    arguments.push_back(byValue ? pointer : static_cast<void *>(&pointer));
  }
  if (auto error = (*engine)->invokePacked(
          ("_mlir_ciface_" + source.getName()).str(), arguments))
    return source.emitError() << llvm::toString(std::move(error));
  std::vector<std::vector<float>> values;
  uint64_t *descriptor = results.data();
  for (Type type : source.getResultTypes()) {
    int64_t rank = cast<RankedTensorType>(type).getRank();
    values.push_back(takeResult(descriptor, rank));
    descriptor += 3 + 2 * rank;
  }
  return values;
}
