// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes attention ops out of their module, and puts schedules onto them.

#include "attune/Tuning/AttentionProblem.h"
#include "attune/Schedule/Legality.h"
#include "attune/Schedule/TuningSpec.h"
#include "attune/Tuning/TransformScript.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace attune;
using namespace attune::tuning;
using attn::AttentionOp;
using attn::ScheduleAttr;

Space tuning::makeScheduleSpace() {
  std::vector<Knob> knobs;
  for (const ScheduleAttr::Knob &knob : ScheduleAttr::getKnobs()) {
    Knob made{knob.name.str(), knob.init, knob.searched.vec()};
    llvm::copy_if(knob.domain, std::back_inserter(made.asked),
                  [&](int64_t value) {
                    return !llvm::is_contained(knob.searched, value);
                  });
    knobs.push_back(std::move(made));
  }
  return Space(std::move(knobs));
}

void tuning::setSchedule(AttentionOp op, ArrayRef<int64_t> point) {
  auto schedule = ScheduleAttr::fromValues([&] { return op.emitError(); },
                                           op.getContext(), point);
  assert(schedule && "expects a point of the search space");
  op.setScheduleAttr(schedule);
}

OwningOpRef<ModuleOp> tuning::isolate(AttentionOp op) {
  Location loc = UnknownLoc::get(op.getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());

  // Each operand is an argument of its own: whether a caller has one tensor for
  // several of them makes no other problem.
  llvm::SmallVector<Value> used(op->getOperands());
  size_t operands = used.size();
  llvm::SetVector<Value> inRegions;
  getUsedValuesDefinedAbove(op->getRegions(), inRegions);
  llvm::SmallVector<Operation *> constants;
  for (Value value : inRegions) {
    Operation *definition = value.getDefiningOp();
    if (definition && definition->hasTrait<OpTrait::ConstantLike>())
      constants.push_back(definition);
    else
      used.push_back(value);
  }

  auto function = func::FuncOp::create(
      builder, loc, "attention",
      builder.getFunctionType(TypeRange(used), op->getResultTypes()));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  IRMapping mapping;
  mapping.map(ArrayRef(used).drop_front(operands),
              body->getArguments().drop_front(operands));
  for (Operation *constant :
       llvm::SetVector<Operation *>(constants.begin(), constants.end()))
    builder.clone(*constant, mapping);
  auto copy = cast<AttentionOp>(builder.clone(*op, mapping));
  copy->setOperands(body->getArguments().take_front(operands));
  copy.removeScheduleAttr();
  func::ReturnOp::create(builder, loc, copy->getResults());
  return module;
}

Legality tuning::makeLegality(AttentionOp op, tile::TargetAttr target) {
  return [problem = ScheduleProblem::get(op),
          target](const Probe &point) -> std::optional<tuning::Refusal> {
    Schedule schedule([&](size_t place) { return point[place]; });
    std::optional<attune::Refusal> refusal =
        checkSchedule(problem, schedule, target);
    if (!refusal)
      return std::nullopt;
    return tuning::Refusal{refusal->id.str(), std::move(refusal->getMessage)};
  };
}

/// The sizes that are known, by the names of the command line.
static SizeMap collectSizes(AttentionOp op, const SizeMap &given) {
  SizeMap sizes = given;
  auto add = [&](const char *name, int64_t size) {
    if (!ShapedType::isDynamic(size))
      sizes[name] = size;
  };
  add("batch", op.getBatch());
  add("heads", op.getHeadsQ());
  add("kv-heads", op.getHeadsKV());
  add("seq-q", op.getSeqQ());
  add("seq-k", op.getSeqK());
  return sizes;
}

Task tuning::makeTask(AttentionOp op, tile::TargetAttr target,
                      const SizeMap &sizes) {
  Task task;
  auto function = op->getParentOfType<func::FuncOp>();
  task.name = function ? function.getName().str() : "attention";
  OwningOpRef<ModuleOp> module = isolate(op);
  setSizes(*module, sizes);
  task.text = printModule(*module);
  task.key = makeProblemKey(task.text);
  task.kind = makeProblemKey(describeKind(op));
  task.sizes = collectSizes(op, sizes);
  task.flops = countFlops(*module);
  task.chip = target.getChip().str();
  if (auto schedule = selectSchedule(ScheduleProblem::get(op), target)) {
    llvm::SmallVector<int64_t> values = schedule->getValues();
    task.baseline.assign(values.begin(), values.end());
  }
  task.print = [op, sizes](ArrayRef<int64_t> point) {
    OwningOpRef<ModuleOp> copy = isolate(op);
    setSizes(*copy, sizes);
    copy->walk([&](AttentionOp inside) { setSchedule(inside, point); });
    return printModule(*copy);
  };
  return task;
}
