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
using attn::AttentionOp;

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

/// A copy of the op alone, without a schedule and without those sizes, and with
/// operands that are all different: whether keys are values as well is not a
/// matter of schedules, nor is where the one diagonal of equal lengths is said
/// to end. It is only compared, and never verified.
static OwningOpRef<ModuleOp> isolateKind(AttentionOp op) {
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
  auto copy = cast<AttentionOp>(b.clone(*op, mapping));
  copy.removeScheduleAttr();
  bool hasOneDiagonal =
      ShapedType::isStatic(op.getSeqQ()) && op.getSeqQ() == op.getSeqK();
  if (attn::CausalAttr causal = op.getCausalAttr(); causal && hasOneDiagonal)
    copy.setCausalAttr(
        attn::CausalAttr::get(op.getContext(), attn::Alignment::TopLeft));
  if (attn::WindowAttr window = op.getWindowAttr(); window && hasOneDiagonal)
    copy.setWindowAttr(attn::WindowAttr::get(op.getContext(), window.getLeft(),
                                             window.getRight(),
                                             attn::Alignment::TopLeft));
  for (OpOperand &operand : op->getOpOperands()) {
    bool isSequence = llvm::is_contained(
        {op.getQuery(), op.getKey(), op.getValue()}, operand.get());
    std::string dims = isSequence ? op.getOrder().str() : "h";
    // Lists that heads or batches share are shared in the kind, too.
    auto tensor = cast<RankedTensorType>(operand.get().getType());
    if (!isSequence && tensor.getRank() > 1) {
      dims.clear();
      for (int64_t size : tensor.getShape())
        dims += size == 1 ? 'd' : 's';
    }
    Type type = forgetSizes(tensor, dims);
    copy->setOperand(operand.getOperandNumber(), block->addArgument(type, loc));
  }
  copy.getResult().setType(cast<RankedTensorType>(
      forgetSizes(op.getResult().getType(), op.getOrder())));
  if (Value lse = copy.getLse())
    lse.setType(forgetSizes(lse.getType(), "bhs"));
  return module;
}

std::string attune::describeAttentionKind(AttentionOp op) {
  OwningOpRef<ModuleOp> kind = isolateKind(op);
  std::string text;
  llvm::raw_string_ostream os(text);
  kind->print(os, OpPrintingFlags().printGenericOpForm());
  return text;
}
