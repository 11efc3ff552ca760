// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last conversion of the host side: upstream's patterns, and calls of the
// runtime for what upstream has no lowering of.

#include "HostOps.h"
#include "attune/Conversion/Passes.h"
#include "attune/Dialect/Launch/IR/Launch.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace attune {
#define GEN_PASS_DEF_CONVERTHOSTTOLLVMPASS
#include "attune/Conversion/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

namespace {
struct ConvertHostToLLVM
    : attune::impl::ConvertHostToLLVMPassBase<ConvertHostToLLVM> {
  void runOnOperation() override;

private:
  /// Functions take their caller's context, and have a C interface.
  LogicalResult addContexts();
  /// Structured control flow and assertions become branches.
  LogicalResult flatten();
  LogicalResult simplify();
  LogicalResult convert(const KernelImages &images);
};
} // namespace

/// What spoke of the kernels.
static void removeKernelAttributes(Operation *op) {
  SmallVector<NamedAttribute> attributes(op->getDiscardableAttrs());
  for (NamedAttribute attribute : attributes)
    if (isa_and_nonnull<gpu::GPUDialect, launch::LaunchDialect,
                        tile::TileDialect>(attribute.getNameDialect()))
      op->removeDiscardableAttr(attribute.getName());
}

LogicalResult ConvertHostToLLVM::addContexts() {
  auto pointer = LLVM::LLVMPointerType::get(&getContext());
  SymbolTable symbols(getOperation());
  SmallVector<func::CallOp> calls;
  getOperation().walk([&](func::CallOp call) { calls.push_back(call); });
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    removeKernelAttributes(function);
    if (function.isExternal())
      continue;
    if (failed(function.insertArgument(0, pointer, {}, function.getLoc())))
      return function.emitOpError() << "expects a body that takes a context";
    if (function.isPublic())
      function->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                        UnitAttr::get(&getContext()));
  }
  for (func::CallOp call : calls) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (callee && !callee.isExternal())
      call->insertOperands(
          0, call->getParentOfType<func::FuncOp>().getArgument(0));
  }
  return success();
}

LogicalResult ConvertHostToLLVM::flatten() {
  ConversionTarget flat(getContext());
  flat.addIllegalDialect<scf::SCFDialect>();
  flat.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  RewritePatternSet patterns(&getContext());
  populateSCFToControlFlowConversionPatterns(patterns);
  if (failed(applyPartialConversion(getOperation(), flat, std::move(patterns))))
    return failure();
  SmallVector<cf::AssertOp> asserts;
  getOperation().walk([&](cf::AssertOp op) { asserts.push_back(op); });
  IRRewriter rewriter(&getContext());
  for (cf::AssertOp op : asserts)
    if (failed(lowerAssert(rewriter, op)))
      return failure();
  return success();
}

LogicalResult ConvertHostToLLVM::simplify() {
  RewritePatternSet patterns(&getContext());
  memref::populateExpandStridedMetadataPatterns(patterns);
  memref::populateResolveExtractStridedMetadataPatterns(patterns);
  populateAffineToStdConversionPatterns(patterns);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  return applyPatternsGreedily(getOperation(), std::move(patterns));
}

LogicalResult ConvertHostToLLVM::convert(const KernelImages &images) {
  MLIRContext *context = &getContext();
  LowerToLLVMOptions options(context);
  LLVMTypeConverter converter(context, options);
  ConversionTarget target(*context);
  target.addLegalDialect<LLVM::LLVMDialect>();
  target.addLegalOp<ModuleOp>();
  RewritePatternSet patterns(context);
  populateHostCallPatterns(converter, images, patterns);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
  populateFuncToLLVMConversionPatterns(converter, patterns);
  return applyFullConversion(getOperation(), target, std::move(patterns));
}

void ConvertHostToLLVM::runOnOperation() {
  ModuleOp module = getOperation();
  if (failed(checkHostCode(module)))
    return signalPassFailure();
  FailureOr<KernelImages> images = makeKernelImages(module);
  if (failed(images))
    return signalPassFailure();
  for (auto binary : llvm::make_early_inc_range(module.getOps<gpu::BinaryOp>()))
    binary.erase();
  removeKernelAttributes(module);
  if (failed(addContexts()) || failed(flatten()) || failed(simplify()) ||
      failed(convert(*images)))
    return signalPassFailure();
}
