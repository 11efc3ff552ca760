// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts a schedule on every op that can be tuned. The options are those of all
// sets, one for each name of a tunable.

#include "attune/Schedule/Transforms/Passes.h"
#include "attune/Schedule/TunableOpInterface.h"
#include "llvm/ADT/StringSet.h"

namespace attune {
#define GEN_PASS_DEF_ATTUNESETSCHEDULEPASS
#include "attune/Schedule/Transforms/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

namespace {
struct AttuneSetSchedule
    : attune::impl::AttuneSetSchedulePassBase<AttuneSetSchedule> {
  AttuneSetSchedule();
  /// Options belong to a pass; their values are copied by whoever clones it.
  AttuneSetSchedule(const AttuneSetSchedule &) : AttuneSetSchedule() {}

  /// Refuses a tunable that is named twice.
  LogicalResult initializeOptions(
      StringRef text,
      function_ref<LogicalResult(const Twine &)> errorHandler) override;
  void runOnOperation() override;

private:
  /// The options that were given, by their names.
  SmallVector<std::pair<StringRef, StringRef>> getGiven();
  LogicalResult set(TunableOpInterface op);

  /// Empty where not given, for sets may have different defaults.
  std::vector<std::unique_ptr<Option<std::string>>> options;
  /// Options that an op has taken.
  llvm::StringSet<> taken;
};
} // namespace

AttuneSetSchedule::AttuneSetSchedule() {
  llvm::StringSet<> known;
  for (const KnobSet *set : getKnobSets())
    for (const KnobInfo &knob : set->knobs)
      if (known.insert(knob.name).second)
        options.push_back(std::make_unique<Option<std::string>>(
            *this, knob.name, llvm::cl::desc(knob.doc)));
}

LogicalResult AttuneSetSchedule::initializeOptions(
    StringRef text, function_ref<LogicalResult(const Twine &)> errorHandler) {
  if (failed(AttuneSetSchedulePassBase::initializeOptions(text, errorHandler)))
    return failure();
  for (const auto &option : options)
    if (option->getNumOccurrences() > 1)
      return errorHandler("expects one value of '" + option->ArgStr +
                          "', but got " + Twine(option->getNumOccurrences()) +
                          "\n");
  return success();
}

SmallVector<std::pair<StringRef, StringRef>> AttuneSetSchedule::getGiven() {
  SmallVector<std::pair<StringRef, StringRef>> given;
  for (const auto &option : options)
    if (!option->empty())
      given.emplace_back(option->getArgStr(), option->getValue());
  return given;
}

LogicalResult AttuneSetSchedule::set(TunableOpInterface op) {
  const KnobSet &knobs = op.getKnobSet();
  SmallVector<int64_t> values = knobs.getDefaults();
  auto emitError = [&] { return op->emitError(); };
  for (auto [name, text] : getGiven()) {
    std::optional<size_t> place = knobs.findKnob(name);
    if (!place)
      continue;
    taken.insert(name);
    std::optional<int64_t> value =
        KnobSet::parseValue(emitError, knobs.knobs[*place], text);
    if (!value)
      return failure();
    values[*place] = *value;
  }
  op.setSchedule(knobs.getAttr(emitError, &getContext(), values));
  return success();
}

void AttuneSetSchedule::runOnOperation() {
  SmallVector<TunableOpInterface> ops;
  getOperation().walk([&](TunableOpInterface op) { ops.push_back(op); });
  taken.clear();
  for (TunableOpInterface op : ops)
    if (failed(set(op)))
      return signalPassFailure();
  for (auto [name, text] : getGiven())
    if (!ops.empty() && !taken.contains(name)) {
      ops.front()->emitError()
          << "expects a tunable of " << ops.front().getKnobSet().name
          << ", but got '" << name << "'";
      return signalPassFailure();
    }
}
