// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last conversion of a kernel: upstream's patterns, the target's, and the
// few of ours that finish the kernel's shell.

#include "ExpandMath.h"
#include "attune/Conversion/Passes.h"
#include "attune/Dialect/Launch/IR/Launch.h"
#include "attune/Target/TargetRegistry.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

namespace attune {
#define GEN_PASS_DEF_CONVERTKERNELTOLLVMPASS
#include "attune/Conversion/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

/// Name of the external array behind workgroup memory of run-time size.
static constexpr llvm::StringLiteral kSharedArrayName = "attune_shared";
/// Most that any swizzle or copy engine asks of its start.
static constexpr int64_t kSharedArrayAlignment = 1024;

namespace {

/// gpu.dynamic_shared_memory -> the external array. Upstream's lowering makes
/// it internal, and the back end then gives it a static size of one byte.
struct DynamicSharedMemoryPattern
    : ConvertOpToLLVMPattern<gpu::DynamicSharedMemoryOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(gpu::DynamicSharedMemoryOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto module = op->getParentOfType<gpu::GPUModuleOp>();
    auto type = cast<MemRefType>(op.getType());
    FailureOr<unsigned> space = getTypeConverter()->getMemRefAddressSpace(type);
    if (failed(space))
      return rewriter.notifyMatchFailure(op, "the memory space has no number");
    auto array = module.lookupSymbol<LLVM::GlobalOp>(kSharedArrayName);
    if (!array) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(module.getBody());
      array = LLVM::GlobalOp::create(
          rewriter, op.getLoc(),
          LLVM::LLVMArrayType::get(rewriter.getI8Type(), 0),
          /*isConstant=*/false, LLVM::Linkage::External, kSharedArrayName,
          Attribute(), kSharedArrayAlignment, *space);
    }
    Location loc = op.getLoc();
    Value base = LLVM::AddressOfOp::create(rewriter, loc, array);
    auto descriptor = MemRefDescriptor::poison(
        rewriter, loc, getTypeConverter()->convertType(type));
    Value zero = createIndexAttrConstant(rewriter, loc, getIndexType(), 0);
    Value one = createIndexAttrConstant(rewriter, loc, getIndexType(), 1);
    descriptor.setAllocatedPtr(rewriter, loc, base);
    descriptor.setAlignedPtr(rewriter, loc, base);
    descriptor.setOffset(rewriter, loc, zero);
    // Views carry their own sizes; that of the whole is known to the launch
    // alone.
    descriptor.setSize(rewriter, loc, 0, zero);
    descriptor.setStride(rewriter, loc, 0, one);
    rewriter.replaceOp(op, {descriptor});
    return success();
  }
};

/// A sum in memory that nobody looks at before the kernel's end orders no other
/// access. One of 0 is a read behind what others did before they added, with no
/// need to go by turns with these, nor for a fence.
struct AddPattern : ConvertOpToLLVMPattern<memref::AtomicRMWOp> {
  AddPattern(const LLVMTypeConverter &converter, StringRef scope,
             PatternBenefit benefit)
      : ConvertOpToLLVMPattern(converter, benefit), scope(scope) {}

  LogicalResult
  matchAndRewrite(memref::AtomicRMWOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    bool isRead = op.getKind() == arith::AtomicRMWKind::addi &&
                  isConstantIntValue(op.getValue(), 0);
    if (!isRead &&
        (op.getKind() != arith::AtomicRMWKind::addf || !op->use_empty()))
      return rewriter.notifyMatchFailure(op, "the element before is asked for");
    Value place =
        getStridedElementPtr(rewriter, op.getLoc(), op.getMemRefType(),
                             adaptor.getMemref(), adaptor.getIndices());
    if (isRead) {
      Type type = adaptor.getValue().getType();
      rewriter.replaceOpWithNewOp<LLVM::LoadOp>(
          op, type, place, /*alignment=*/type.getIntOrFloatBitWidth() / 8,
          /*isVolatile=*/false, /*isNonTemporal=*/false, /*isInvariant=*/false,
          /*isInvariantGroup=*/false, LLVM::AtomicOrdering::acquire, scope);
      return success();
    }
    rewriter.replaceOpWithNewOp<LLVM::AtomicRMWOp>(
        op, LLVM::AtomicBinOp::fadd, place, adaptor.getValue(),
        LLVM::AtomicOrdering::monotonic, scope);
    return success();
  }

private:
  StringRef scope;
};

/// A run is one operation on a vector, which nobody looks at either.
struct AddRunPattern : ConvertOpToLLVMPattern<tile::AddRunOp> {
  AddRunPattern(const LLVMTypeConverter &converter, StringRef scope)
      : ConvertOpToLLVMPattern(converter), scope(scope) {}

  LogicalResult
  matchAndRewrite(tile::AddRunOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value place =
        getStridedElementPtr(rewriter, op.getLoc(), op.getBuffer().getType(),
                             adaptor.getBuffer(), adaptor.getIndex());
    VectorType type = op.getRun().getType();
    int64_t bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
    rewriter.replaceOpWithNewOp<LLVM::AtomicRMWOp>(
        op, LLVM::AtomicBinOp::fadd, place, adaptor.getRun(),
        LLVM::AtomicOrdering::monotonic, scope,
        /*alignment=*/static_cast<unsigned>(bytes));
    return success();
  }

private:
  StringRef scope;
};

/// A type of the target's own is seen as what it is in LLVM dialect.
struct CastPattern : OpConversionPattern<UnrealizedConversionCastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(UnrealizedConversionCastOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (adaptor.getInputs().getTypes() != op.getResultTypes())
      return rewriter.notifyMatchFailure(
          op, "the result is not what the operand becomes");
    rewriter.replaceOp(op, adaptor.getInputs());
    return success();
  }
};

/// An argument of a kernel and the first of the parameters that it becomes.
struct Parameter {
  Type argument;
  size_t number;
};

struct ConvertKernelToLLVM
    : attune::impl::ConvertKernelToLLVMPassBase<ConvertKernelToLLVM> {
  void runOnOperation() override;
  LogicalResult narrowIndices();
  LogicalResult simplify(const TargetModel &model);
  LogicalResult convert(const TargetModel &model, tile::TargetAttr target);
  FailureOr<SmallVector<Parameter>>
  findParameters(gpu::GPUFuncOp kernel, const LLVMTypeConverter &converter,
                 tile::TargetAttr target);
};

} // namespace

/// Starts a kernel of a sequence before the one in front of it is done, on
/// chips that can. First of all it waits for that one, which is done only when
/// what it has waited for is: nothing of the sequence is read or written too
/// early.
static void chain(gpu::GPUFuncOp kernel, const TargetModel &model) {
  bool follows =
      kernel->removeAttr(launch::LaunchDialect::kFollowsAttrName) != nullptr;
  bool precedes =
      kernel->removeAttr(launch::LaunchDialect::kPrecedesAttrName) != nullptr;
  launch::ManifestAttr manifest = launch::getManifest(kernel);
  if (!model.startsEarly() || !manifest)
    return;
  auto builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  if (follows) {
    model.emitWaitForPredecessor(builder, kernel.getLoc());
    launch::setManifest(kernel, manifest.withEarlyStart());
  }
  if (precedes)
    model.emitStartSuccessor(builder, kernel.getLoc());
}

LogicalResult ConvertKernelToLLVM::narrowIndices() {
  OpPassManager pm(gpu::GPUModuleOp::getOperationName());
  arith::ArithIntRangeNarrowingOptions narrowing;
  narrowing.bitwidthsSupported = {32};
  pm.addPass(arith::createArithIntRangeNarrowing(narrowing));
  pm.addPass(createCSEPass());
  return runPipeline(pm, getOperation());
}

LogicalResult ConvertKernelToLLVM::simplify(const TargetModel &model) {
  RewritePatternSet patterns(&getContext());
  memref::populateExpandStridedMetadataPatterns(patterns);
  memref::populateResolveExtractStridedMetadataPatterns(patterns);
  populateAffineToStdConversionPatterns(patterns);
  populateExpandMathPatterns(patterns, model.hasTanh());
  populateExp2OnFmaPatterns(patterns);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
  return applyPatternsGreedily(getOperation(), std::move(patterns));
}

FailureOr<SmallVector<Parameter>>
ConvertKernelToLLVM::findParameters(gpu::GPUFuncOp kernel,
                                    const LLVMTypeConverter &converter,
                                    tile::TargetAttr target) {
  for (BlockArgument argument : kernel.getArguments())
    if (!converter.convertType(argument.getType()))
      return emitError(argument.getLoc())
             << "expects arguments that kernels of the family '"
             << target.getFamily() << "' can take, but got "
             << argument.getType();
  TypeConverter::SignatureConversion signature(kernel.getNumArguments());
  converter.convertFunctionSignature(kernel.getFunctionType(),
                                     /*isVariadic=*/false,
                                     /*useBarePtrCallConv=*/false, signature);
  SmallVector<Parameter> parameters;
  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes()))
    parameters.push_back({type, signature.getInputMapping(index)->inputNo});
  return parameters;
}

LogicalResult ConvertKernelToLLVM::convert(const TargetModel &model,
                                           tile::TargetAttr target) {
  gpu::GPUModuleOp module = getOperation();
  MLIRContext *context = &getContext();
  {
    ConversionTarget flat(*context);
    flat.addIllegalDialect<scf::SCFDialect>();
    flat.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    RewritePatternSet patterns(context);
    populateSCFToControlFlowConversionPatterns(patterns);
    if (failed(applyPartialConversion(module, flat, std::move(patterns))))
      return failure();
  }
  LowerToLLVMOptions options(context);
  LLVMTypeConverter converter(context, options);
  ConversionTarget conversionTarget(*context);
  conversionTarget.addLegalDialect<LLVM::LLVMDialect>();
  conversionTarget.addLegalOp<gpu::GPUModuleOp>();
  RewritePatternSet patterns(context);
  if (failed(
          model.populateGPUToLLVM(converter, patterns, conversionTarget, target,
                                  [&] { return emitError(module.getLoc()); })))
    return failure();
  llvm::StringMap<SmallVector<Parameter>> parameters;
  for (auto kernel : module.getOps<gpu::GPUFuncOp>()) {
    if (!kernel.isKernel())
      continue;
    auto found = findParameters(kernel, converter, target);
    if (failed(found))
      return failure();
    parameters[kernel.getName()] = std::move(*found);
  }
  patterns.add<DynamicSharedMemoryPattern>(converter, kTargetBenefit);
  patterns.add<CastPattern>(converter, context);
  patterns.add<AddPattern>(converter, model.getDeviceScope(), kTargetBenefit);
  patterns.add<AddRunPattern>(converter, model.getDeviceScope());
  populateExpandFloat8Patterns(patterns, kGeneralBenefit);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(
      converter, patterns, /*approximateLog1p=*/true, kGeneralBenefit);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
  vector::populateVectorFromElementsUnrollPatterns(patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  if (failed(
          applyFullConversion(module, conversionTarget, std::move(patterns))))
    return failure();
  for (auto kernel : module.getOps<LLVM::LLVMFuncOp>())
    for (const Parameter &parameter : parameters.lookup(kernel.getName()))
      model.configureParameter(kernel, parameter.number, parameter.argument);
  return success();
}

/// Takes from a kernel what its function passes on to the back end: names, and
/// pairs of a name and a value.
static SmallVector<Attribute> takePassedOn(gpu::GPUFuncOp kernel) {
  Builder b(kernel.getContext());
  SmallVector<Attribute> passed;
  if (kernel->removeAttr(tile::TileDialect::kKeepCountersAttrName))
    passed.push_back(b.getStringAttr(tile::TileDialect::kKeepCountersAttrName));
  if (Attribute how = kernel->removeAttr(tile::TileDialect::kAssemblerAttrName))
    passed.push_back(b.getArrayAttr(
        {b.getStringAttr(tile::TileDialect::kAssemblerAttrName), how}));
  return passed;
}

void ConvertKernelToLLVM::runOnOperation() {
  gpu::GPUModuleOp module = getOperation();
  auto target = tile::TargetAttr::lookup(module);
  if (!target) {
    emitError(module.getLoc())
        << "expects a '" << tile::TileDialect::kTargetAttrName
        << "' attribute on the module or around it; run attune-attach-target "
           "first";
    return signalPassFailure();
  }
  const TargetModel *model = getTargetModel(target.getFamily());
  if (!model) {
    emitError(module.getLoc())
        << "expects a family that this build knows, but got '"
        << target.getFamily() << "'";
    return signalPassFailure();
  }
  // Taken before the conversion, which keeps neither as it is.
  struct Shell {
    int64_t threads, workgroupsPerSm;
    SmallVector<Attribute> passed;
  };
  llvm::StringMap<Shell> shells;
  for (auto kernel : module.getOps<gpu::GPUFuncOp>()) {
    chain(kernel, *model);
    auto residency = dyn_cast_or_null<IntegerAttr>(
        kernel->removeAttr(tile::TileDialect::kResidencyAttrName));
    SmallVector<Attribute> passed = takePassedOn(kernel);
    std::optional<ArrayRef<int32_t>> block = kernel.getKnownBlockSize();
    if (kernel.isKernel() && block)
      shells[kernel.getName()] = {
          (*block)[0], residency ? residency.getInt() : 0, std::move(passed)};
  }
  if ((model->narrowsIndices() && failed(narrowIndices())) ||
      failed(simplify(*model)) || failed(convert(*model, target)))
    return signalPassFailure();
  // Chips that round by an instruction have no use for the mark.
  module.walk([](LLVM::FPTruncOp op) {
    op->removeAttr(tile::TileDialect::kLooseRoundingAttrName);
  });
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    // Without it every exp2 is surrounded by code for denormal results, which a
    // softmax weight can do without: they are below the rounding of the row's
    // sum.
    function.setDenormalFpMathF32("preserve-sign,preserve-sign");
    auto it = shells.find(function.getName());
    if (it == shells.end())
      continue;
    model->configureKernel(function, target, it->second.threads,
                           it->second.workgroupsPerSm);
    SmallVector<Attribute> &passed = it->second.passed;
    if (passed.empty())
      continue;
    if (ArrayAttr others = function.getPassthroughAttr())
      llvm::append_range(passed, others);
    function.setPassthroughAttr(ArrayAttr::get(&getContext(), passed));
  }
}
