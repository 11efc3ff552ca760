// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares ops without their sizes, and then by them.

#include "attune/Schedule/TuningSpec.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/RegionUtils.h"
#include <cmath>

using namespace mlir;
using namespace attune;
using attn::AttentionOp;
using attn::ScheduleAttr;

/// How far an op is from another one: first by lengths, then by heads.
using Distance = std::pair<double, double>;

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
/// matter of schedules. It is only compared, and never verified.
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
  for (OpOperand &operand : op->getOpOperands()) {
    bool isSequence = llvm::is_contained(
        {op.getQuery(), op.getKey(), op.getValue()}, operand.get());
    Type type = forgetSizes(operand.get().getType(),
                            isSequence ? op.getOrder() : StringRef("h"));
    copy->setOperand(operand.getOperandNumber(), block->addArgument(type, loc));
  }
  copy.getResult().setType(cast<RankedTensorType>(
      forgetSizes(op.getResult().getType(), op.getOrder())));
  if (Value lse = copy.getLse())
    lse.setType(forgetSizes(lse.getType(), "bhs"));
  return module;
}

std::string attune::describeKind(AttentionOp op) {
  OwningOpRef<ModuleOp> kind = isolateKind(op);
  std::string text;
  llvm::raw_string_ostream os(text);
  kind->print(os, OpPrintingFlags().printGenericOpForm());
  return text;
}

/// The ratio of two sizes, as the amount of its logarithm.
static double compareSizes(int64_t left, int64_t right) {
  if (left <= 0 || right <= 0) // not known
    return 0;
  return std::abs(std::log2(static_cast<double>(left)) -
                  std::log2(static_cast<double>(right)));
}

static Distance measure(AttentionOp left, AttentionOp right) {
  auto heads = [](AttentionOp op) {
    int64_t count = op.getHeadsQ(), batch = op.getBatch();
    return ShapedType::isDynamic(count) || ShapedType::isDynamic(batch)
               ? -1
               : count * batch;
  };
  return {compareSizes(left.getSeqQ(), right.getSeqQ()) +
              compareSizes(left.getSeqK(), right.getSeqK()),
          compareSizes(heads(left), heads(right))};
}

LogicalResult TuningSpecs::read(StringRef path, Location reader) {
  MLIRContext *context = reader.getContext();
  OwningOpRef<ModuleOp> spec =
      parseSourceFile<ModuleOp>(path, ParserConfig(context));
  if (!spec)
    return emitError(reader) << "cannot read the tuning spec '" << path << "'";
  auto chip = (*spec)->getAttrOfType<StringAttr>(kTunedForAttrName);
  if (!chip)
    return emitError(spec->getLoc())
           << "expects a tuning spec to name its chip in '" << kTunedForAttrName
           << "'";
  spec->walk([&](AttentionOp op) {
    if (ScheduleAttr schedule = op.getScheduleAttr())
      add(op, schedule, chip.getValue());
  });
  modules.push_back(std::move(spec));
  return success();
}

void TuningSpecs::add(AttentionOp op, ScheduleAttr schedule, StringRef chip) {
  entries.push_back({op, schedule, chip.str(), describeKind(op)});
}

SmallVector<ScheduleAttr>
TuningSpecs::findClosest(AttentionOp op, StringRef chip, size_t count) const {
  std::string kind = describeKind(op);
  SmallVector<std::pair<Distance, size_t>> found;
  for (auto [i, entry] : llvm::enumerate(entries))
    if (entry.chip == chip && entry.kind == kind)
      found.emplace_back(measure(op, entry.op), i);
  llvm::sort(found);
  SetVector<ScheduleAttr> schedules;
  for (auto [distance, i] : found)
    if (schedules.size() < count)
      schedules.insert(entries[i].schedule);
  return schedules.takeVector();
}
