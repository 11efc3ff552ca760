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

/// The arguments that are results too, by the numbers of these: buffers that
/// kernels change.
static DenseMap<unsigned, unsigned> findReturnedArguments(func::FuncOp function,
                                                          func::ReturnOp end) {
  DenseMap<unsigned, unsigned> returned;
  for (OpOperand &operand : end->getOpOperands()) {
    Value value = operand.get();
    while (auto cast = value.getDefiningOp<memref::CastOp>())
      value = cast.getSource();
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && argument.getOwner() == &function.front() &&
        isa<MemRefType>(value.getType()) &&
        value.getType() == operand.get().getType())
      returned[operand.getOperandNumber()] = argument.getArgNumber();
  }
  return returned;
}

/// A function that returns a buffer which it was given has no such result: who
/// calls it has the buffer. (Upstream's does this of private functions, and of
/// scalars.) Gives whether there was such a result.
static bool dropReturnedArguments(func::FuncOp function) {
  SmallVector<func::ReturnOp> ends(function.getOps<func::ReturnOp>());
  if (ends.size() != 1)
    return false;
  DenseMap<unsigned, unsigned> returned =
      findReturnedArguments(function, ends.front());
  if (returned.empty())
    return false;
  BitVector dropped(function.getNumResults());
  for (auto [result, argument] : returned)
    dropped.set(result);
  ends.front()->eraseOperands(dropped);
  [[maybe_unused]] LogicalResult erased = function.eraseResults(dropped);
  assert(succeeded(erased) && "a function type can have any results");
  SmallVector<func::CallOp> calls;
  auto module = function->getParentOfType<ModuleOp>();
  module.walk([&](func::CallOp call) {
    if (call.getCallee() == function.getName())
      calls.push_back(call);
  });
  for (func::CallOp call : calls) {
    OpBuilder builder(call);
    auto shorter = func::CallOp::create(builder, call.getLoc(), function,
                                        call.getOperands());
    auto next = shorter->result_begin();
    for (OpResult result : call->getResults()) {
      auto it = returned.find(result.getResultNumber());
      result.replaceAllUsesWith(
          it == returned.end() ? Value(*next++) : call.getOperand(it->second));
    }
    call.erase();
  }
  return true;
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
    // A caller returns such a buffer once the function that it calls does not.
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    while (llvm::count_if(functions, dropReturnedArguments) != 0)
      ;
    bufferization::BufferResultsToOutParamsOpts results;
    results.hoistStaticAllocs = true;
    results.hoistDynamicAllocs = true;
    results.modifyPublicFunctions = true;
    if (failed(bufferization::promoteBufferResultsToOutParams(module, results)))
      return signalPassFailure();
  }
};
} // namespace
