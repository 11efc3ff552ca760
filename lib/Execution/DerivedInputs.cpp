// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The source function with other results. What these do not need is erased, so
// that the reference computes the derived arguments and nothing else.

#include "attune/Execution/DerivedInputs.h"
#include "attune/Schedule/TunableOpInterface.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace attune;

DerivedInputs attune::deriveInputs(func::FuncOp source,
                                   llvm::function_ref<bool(unsigned)> isGiven) {
  DerivedInputs derived;
  OwningOpRef<func::FuncOp> function(source.clone());
  SmallVector<TunableOpInterface> ops;
  function->walk([&](TunableOpInterface op) { ops.push_back(op); });
  SmallVector<Value> values;
  for (TunableOpInterface op : ops) {
    OpBuilder builder(op);
    for (auto [operand, value] : op.deriveOperands(builder)) {
      auto argument = dyn_cast<BlockArgument>(operand);
      if (!argument || argument.getOwner() != &function->front() ||
          isGiven(argument.getArgNumber()) ||
          llvm::is_contained(derived.arguments, argument.getArgNumber()))
        continue;
      derived.arguments.push_back(argument.getArgNumber());
      values.push_back(value);
    }
  }
  if (values.empty())
    return derived;

  Operation *terminator = function->front().getTerminator();
  terminator->setOperands(values);
  function->removeResAttrsAttr();
  function->setFunctionType(FunctionType::get(function->getContext(),
                                              function->getArgumentTypes(),
                                              ValueRange(values).getTypes()));
  IRRewriter rewriter(function->getContext());
  (void)runRegionDCE(rewriter, function->getBody());
  derived.function = std::move(function);
  return derived;
}
