// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What schedules of attention are chosen for: equal texts for ops of the same
// types, head sizes, masks, scores and order of dimensions.

#include "AttentionTunable.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace attune;
using attn::AttentionOpInterface;

/// `type` with batch, heads and lengths forgotten: `dims` has a letter for each
/// dimension, and only head sizes stay.
static Type forgetSizes(Type type, StringRef dims) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() != static_cast<int64_t>(dims.size()))
    return type;
  SmallVector<int64_t> shape(tensor.getShape());
  for (auto [dim, size] : llvm::zip_equal(dims, shape))
    if (dim != 'd')
      size = ShapedType::kDynamic;
  return RankedTensorType::get(shape, tensor.getElementType(),
                               tensor.getEncoding());
}

/// A letter for each dimension of a tensor that the op takes or gives.
static std::string getDims(AttentionOpInterface op, Value value) {
  attn::TensorRoles roles = op.getTensorRoles();
  if (llvm::is_contained(roles.ofQueries, value))
    return op.getOrder().str();
  if (llvm::is_contained(roles.ofKeys, value)) {
    std::string dims = op.getOrder().str();
    // The keys of a page are known, and stay.
    if (op.getPages())
      dims[op.getSeqPos()] = 'd';
    return dims;
  }
  if (value == op.getPages())
    return "bs";
  if (llvm::is_contained(roles.perQuery, value))
    return "bhs";
  auto type = cast<RankedTensorType>(value.getType());
  if (value == op.getQueryLengths() || value == op.getKeyLengths() ||
      value == op.getQueryStarts() || value == op.getKeyStarts())
    return "b";
  if (type.getRank() == 1)
    return "h";
  // Lists that heads or batches share are shared in the kind, too.
  std::string dims;
  for (int64_t size : type.getShape())
    dims += size == 1 ? 'd' : 's';
  return dims;
}

/// A copy of the op alone, without a schedule and without those sizes, and with
/// operands that are all different: whether keys are values as well is not a
/// matter of schedules, nor is where the one diagonal of equal lengths is said
/// to end. It is only compared, and never verified.
static OwningOpRef<ModuleOp> isolateKind(AttentionOpInterface op) {
  Location loc = op.getLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
  OperationState holder(loc, func::FuncOp::getOperationName());
  auto *block = new Block;
  holder.addRegion()->push_back(block);
  b.create(holder);
  b.setInsertionPointToEnd(block);

  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  IRMapping mapping;
  for (Value value : captured)
    mapping.map(value, block->addArgument(value.getType(), loc));
  Operation *copy = b.clone(*op, mapping);
  cast<TunableOpInterface>(copy).setSchedule({});
  bool hasOneDiagonal = ShapedType::isStatic(op.getSeqQ()) &&
                        op.getSeqQ() == op.getSeqK() && !op.hasLengths();
  if (attn::CausalAttr causal = op.getCausalAttr(); causal && hasOneDiagonal)
    copy->setAttr("causal", attn::CausalAttr::get(op->getContext(),
                                                  attn::Alignment::TopLeft));
  if (attn::WindowAttr window = op.getWindowAttr(); window && hasOneDiagonal)
    copy->setAttr("window", attn::WindowAttr::get(
                                op->getContext(), window.getLeft(),
                                window.getRight(), attn::Alignment::TopLeft));
  auto forget = [&](Value value) {
    return forgetSizes(value.getType(), getDims(op, value));
  };
  for (OpOperand &operand : op->getOpOperands())
    // What a region captures is the same there.
    if (!captured.contains(operand.get()))
      copy->setOperand(operand.getOperandNumber(),
                       block->addArgument(forget(operand.get()), loc));
  for (auto [result, original] :
       llvm::zip_equal(copy->getResults(), op->getResults()))
    result.setType(forget(original));
  return module;
}

std::string attune::describeAttentionKind(AttentionOpInterface op) {
  OwningOpRef<ModuleOp> kind = isolateKind(op);
  std::string text;
  llvm::raw_string_ostream os(text);
  kind->print(os, OpPrintingFlags().printGenericOpForm());
  return text;
}
