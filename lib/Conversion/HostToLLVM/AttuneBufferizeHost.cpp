// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream's bufferization, told which layouts arguments have, and that results
// are the caller's.

#include "attune/Conversion/Passes.h"
#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Schedule/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace attune {
#define GEN_PASS_DEF_ATTUNEBUFFERIZEHOSTPASS
#include "attune/Conversion/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

/// The buffer that a caller passes as a tensor.
static bufferization::BufferLikeType
getBufferType(bufferization::TensorLikeType tensor, Attribute memorySpace,
              func::FuncOp, const bufferization::BufferizationOptions &) {
  auto ranked = dyn_cast<RankedTensorType>(tensor);
  auto strided = ranked
                     ? dyn_cast_or_null<attn::StridedAttr>(ranked.getEncoding())
                     : attn::StridedAttr();
  if (!strided)
    return cast<bufferization::BufferLikeType>(
        bufferization::getMemRefTypeWithStaticIdentityLayout(
            cast<TensorType>(tensor), memorySpace));
  return cast<bufferization::BufferLikeType>(MemRefType::get(
      ranked.getShape(), ranked.getElementType(),
      StridedLayoutAttr::get(tensor.getContext(), 0, strided.getStrides()),
      memorySpace));
}

namespace {
struct AttuneBufferizeHost
    : attune::impl::AttuneBufferizeHostPassBase<AttuneBufferizeHost> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto nested : llvm::make_early_inc_range(module.getOps<ModuleOp>()))
      if (nested->hasAttr(kSourceAttrName))
        nested.erase();
    bufferization::OneShotBufferizationOptions options;
    options.bufferizeFunctionBoundaries = true;
    options.inferFunctionResultLayout = false;
    options.functionArgTypeConverterFn = getBufferType;
    bufferization::BufferizationState state;
    if (failed(
            bufferization::runOneShotModuleBufferize(module, options, state)))
      return signalPassFailure();
    bufferization::BufferResultsToOutParamsOpts results;
    results.hoistStaticAllocs = true;
    results.hoistDynamicAllocs = true;
    results.modifyPublicFunctions = true;
    if (failed(bufferization::promoteBufferResultsToOutParams(module, results)))
      return signalPassFailure();
  }
};
} // namespace
