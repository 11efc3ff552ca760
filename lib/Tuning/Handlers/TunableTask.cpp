// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes ops out of their module, and puts schedules onto them.

#include "attune/Tuning/TunableTask.h"
#include "attune/Tuning/TransformScript.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace attune;
using namespace attune::tuning;

Space tuning::makeSpace(const KnobSet &set) {
  std::vector<Knob> knobs;
  for (const KnobInfo &knob : set.knobs) {
    Knob made{knob.name.str(), knob.init, knob.searched.vec()};
    for (llvm::StringRef name : knob.names)
      made.labels.push_back(name.str());
    llvm::copy_if(knob.domain, std::back_inserter(made.asked),
                  [&](int64_t value) {
                    return !llvm::is_contained(knob.searched, value);
                  });
    knobs.push_back(std::move(made));
  }
  return Space(std::move(knobs));
}

void tuning::setSchedule(TunableOpInterface op, ArrayRef<int64_t> point) {
  ScheduleAttrInterface schedule = op.getKnobSet().getAttr(
      [&] { return op->emitError(); }, op->getContext(), point);
  assert(schedule && "expects a point of the search space");
  op.setSchedule(schedule);
}

Legality tuning::makeLegality(ScheduleRule rule) {
  return [rule = std::move(rule)](
             const Probe &point) -> std::optional<tuning::Refusal> {
    std::optional<attune::Refusal> refusal =
        rule([&](size_t place) { return point[place]; });
    if (!refusal)
      return std::nullopt;
    return tuning::Refusal{refusal->id.str(), std::move(refusal->getMessage)};
  };
}

/// The sizes that are known, by the names of the command line.
static SizeMap collectSizes(TunableOpInterface op, const SizeMap &given) {
  SizeMap sizes = given;
  for (auto [info, size] :
       llvm::zip_equal(op.getKnobSet().sizes, op.getSizes()))
    if (!ShapedType::isDynamic(size))
      sizes[info.name.str()] = size;
  return sizes;
}

Task tuning::makeTask(TunableOpInterface op, tile::TargetAttr target,
                      const SizeMap &sizes) {
  Task task;
  auto function = op->getParentOfType<func::FuncOp>();
  task.name = function ? function.getName().str() : op.getKnobSet().name.str();
  OwningOpRef<ModuleOp> module = op.isolate();
  setSizes(*module, sizes);
  task.text = printModule(*module);
  task.key = makeProblemKey(task.text);
  task.kind = makeProblemKey(op.describeKind());
  task.sizes = collectSizes(op, sizes);
  Work work = getWork(*module);
  task.flops = work.flops;
  task.bytes = work.bytes;
  task.chip = target.getChip().str();
  if (ScheduleAttrInterface schedule = op.selectSchedule(target, sizes))
    task.baseline = schedule.getValues().vec();
  task.print = [op, sizes](ArrayRef<int64_t> point) {
    OwningOpRef<ModuleOp> copy = TunableOpInterface(op).isolate();
    setSizes(*copy, sizes);
    setSchedule(getIsolatedOp(*copy), point);
    return printModule(*copy);
  };
  return task;
}
