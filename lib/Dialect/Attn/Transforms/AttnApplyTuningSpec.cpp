// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the op of a tuning spec that is most like one of the module. Legality
// does not look at batch, heads and lengths, so what was found for some of them
// is legal for all.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Dialect/Attn/Transforms/Passes.h"
#include "attune/Schedule/ForEachAttention.h"
#include "attune/Schedule/TuningSpec.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/RegionUtils.h"
#include <cmath>

namespace attune::attn {
#define GEN_PASS_DEF_ATTNAPPLYTUNINGSPECPASS
#include "attune/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attune::attn

using namespace mlir;
using namespace attune;
using namespace attune::attn;

namespace {

/// How far an op is from another one: first by lengths, then by heads. Infinite
/// where they differ in more.
using Distance = std::pair<double, double>;

struct Entry {
  AttentionOp op;
  StringRef chip;
};

/// All that the files say.
class TuningSpecs {
public:
  LogicalResult read(StringRef path, Location reader);
  void apply(AttentionOp op, tile::TargetAttr target);

private:
  SmallVector<OwningOpRef<ModuleOp>> modules;
  SmallVector<Entry> entries;
};

struct AttnApplyTuningSpec
    : attune::attn::impl::AttnApplyTuningSpecPassBase<AttnApplyTuningSpec> {
  using AttnApplyTuningSpecPassBase::AttnApplyTuningSpecPassBase;

  void runOnOperation() override;
};

} // namespace

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

static bool areOfOneKind(AttentionOp left, AttentionOp right) {
  OwningOpRef<ModuleOp> first = isolateKind(left), second = isolateKind(right);
  return OperationEquivalence::isEquivalentTo(
      *first, *second, OperationEquivalence::IgnoreLocations);
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
    if (op.getScheduleAttr())
      entries.push_back({op, chip.getValue()});
  });
  modules.push_back(std::move(spec));
  return success();
}

void TuningSpecs::apply(AttentionOp op, tile::TargetAttr target) {
  if (op.getScheduleAttr())
    return;
  AttentionOp closest;
  Distance least;
  for (const Entry &entry : entries) {
    if (entry.chip != target.getChip() || !areOfOneKind(op, entry.op))
      continue;
    Distance distance = measure(op, entry.op);
    if (closest && distance >= least)
      continue;
    closest = entry.op;
    least = distance;
  }
  if (closest)
    op.setScheduleAttr(closest.getScheduleAttr());
}

void AttnApplyTuningSpec::runOnOperation() {
  TuningSpecs known;
  for (const std::string &path : specs)
    if (failed(known.read(path, getOperation().getLoc())))
      return signalPassFailure();
  if (failed(attune::forEachAttention(
          getOperation(), [&](AttentionOp op, tile::TargetAttr target) {
            known.apply(op, target);
            return success();
          })))
    signalPassFailure();
}
