// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A group in a module of its own.

#include "attune/Matmul/ContractionGroup.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace attune::matmul;

namespace {
class Isolation {
public:
  explicit Isolation(const ContractionGroup &group) : group(group) {}
  OwningOpRef<ModuleOp> run();

private:
  SmallVector<Value> getUsed(Operation *op) const;
  bool isCopied(Value value) const;
  void collect(Value value);
  void copy(OpBuilder &builder, Operation *op);

  const ContractionGroup &group;
  llvm::SetVector<Value> arguments;
  IRMapping mapping;
};
} // namespace

SmallVector<Value> Isolation::getUsed(Operation *op) const {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  SmallVector<Value> used(op->getOperands());
  llvm::append_range(used, captured);
  return used;
}

/// Whether the op that makes `value` goes along: constants, empty and filled
/// tensors, and sizes of tensors that go along or are arguments, with
/// arithmetic on them.
bool Isolation::isCopied(Value value) const {
  Operation *definition = value.getDefiningOp();
  if (!definition)
    return false;
  if (group.ops.contains(definition) ||
      definition->hasTrait<OpTrait::ConstantLike>())
    return true;
  if (auto dim = dyn_cast<tensor::DimOp>(definition)) {
    Operation *source = dim.getSource().getDefiningOp();
    return isCopied(dim.getIndex()) && (arguments.contains(dim.getSource()) ||
                                        (source && group.ops.contains(source)));
  }
  if (isa<tensor::EmptyOp, linalg::FillOp>(definition))
    return true;
  return value.getType().isIndex() && isMemoryEffectFree(definition) &&
         definition->getNumRegions() == 0 &&
         isa<arith::ArithDialect, affine::AffineDialect>(
             definition->getDialect()) &&
         llvm::all_of(definition->getOperands(),
                      [&](Value operand) { return isCopied(operand); });
}

/// Makes an argument of each value that does not go along and is used.
void Isolation::collect(Value value) {
  if (!isCopied(value)) {
    arguments.insert(value);
    return;
  }
  Operation *definition = value.getDefiningOp();
  if (group.ops.contains(definition))
    return;
  for (Value operand : definition->getOperands())
    collect(operand);
}

void Isolation::copy(OpBuilder &builder, Operation *op) {
  for (Value used : getUsed(op)) {
    if (mapping.contains(used))
      continue;
    Operation *definition = used.getDefiningOp();
    assert(definition && "an argument has a value");
    copy(builder, definition);
  }
  Operation *clone = builder.clone(*op, mapping);
  // Notes of others, schedules among them, are no part of the problem.
  clone->setDiscardableAttrs(DictionaryAttr::get(op->getContext()));
  clone->walk([](Operation *inner) {
    inner->setLoc(UnknownLoc::get(inner->getContext()));
  });
}

OwningOpRef<ModuleOp> Isolation::run() {
  Operation *root = group.getRoot();
  Location loc = UnknownLoc::get(root->getContext());
  auto add = [&](const TensorAccess &access) {
    if (!isCopied(access.tensor))
      arguments.insert(access.tensor);
  };
  add(group.contractions[0].lhs);
  for (const Contraction &contraction : group.contractions)
    add(contraction.rhs);
  for (const EpilogueOperand &operand : group.operands)
    add(operand.access);
  for (Operation *op : group.ops)
    for (Value used : getUsed(op))
      collect(used);

  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  SmallVector<Type> types;
  for (Value argument : arguments)
    types.push_back(argument.getType());
  auto function = func::FuncOp::create(
      builder, loc, "matmul",
      builder.getFunctionType(types, root->getResultTypes()));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  mapping.map(arguments.getArrayRef(), body->getArguments());
  for (Operation *op : group.ops)
    if (!mapping.contains(op->getResult(0)))
      copy(builder, op);
  SmallVector<Value> results;
  for (Value result : root->getResults())
    results.push_back(mapping.lookup(result));
  func::ReturnOp::create(builder, loc, results);
  // Whether a size was asked for once or twice makes no other problem.
  IRRewriter rewriter(builder);
  DominanceInfo dominance;
  eliminateCommonSubExpressions(rewriter, dominance, function);
  return module;
}

OwningOpRef<ModuleOp> attune::matmul::isolate(const ContractionGroup &group) {
  return Isolation(group).run();
}
