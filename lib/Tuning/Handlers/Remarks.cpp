// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of remarks are `winner`, `other-knobs` and those of the knobs.

#include "Remarks.h"
#include "attune/Tuning/Sensitivity.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Remark/RemarkStreamer.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attune;
using namespace attune::tuning;

llvm::Error tuning::enableRemarks(MLIRContext &context,
                                  const TuneFileOptions &options) {
  if (options.remarksFilter.empty() && options.remarksFile.empty())
    return llvm::Error::success();
  std::string filter =
      options.remarksFilter.empty() ? ".*" : options.remarksFilter;
  std::string problem;
  if (!llvm::Regex(filter).isValid(problem))
    return llvm::createStringError(
        "expects a regular expression as --remarks-filter, but got '" + filter +
        "': " + problem);
  // What is for all kinds counts only for kinds that have a filter.
  remark::RemarkCategories categories;
  categories.passed = categories.analysis = filter;
  auto policy = std::make_unique<remark::RemarkEmittingPolicyAll>();
  LogicalResult enabled =
      options.remarksFile.empty()
          ? remark::enableOptimizationRemarks(context, /*streamer=*/nullptr,
                                              std::move(policy), categories,
                                              /*printAsEmitRemarks=*/true)
          : remark::enableOptimizationRemarksWithLLVMStreamer(
                context, options.remarksFile, llvm::remarks::Format::YAML,
                std::move(policy), categories);
  if (failed(enabled))
    return llvm::createStringError("cannot write remarks to '" +
                                   options.remarksFile + "'");
  return llvm::Error::success();
}

static std::string describeWinner(const Task &task, const Space &space,
                                  const Outcome &outcome) {
  const Result &winner = outcome.results[*outcome.winner];
  std::string text = space.toString(winner.point);
  if (!outcome.timed)
    return text +
           (outcome.ranked ? " is best by model"
                           : " is the first that is valid") +
           "; nothing was timed";
  double nanoseconds = winner.getSummary().median;
  text += llvm::formatv(" takes {0:F1} us", nanoseconds / 1000);
  auto compare = [&](double other, llvm::StringRef what) {
    text +=
        llvm::formatv(", {0:F2}x as fast as {1}", other / nanoseconds, what);
  };
  if (outcome.baseline && outcome.results[*outcome.baseline].isTimed())
    compare(outcome.results[*outcome.baseline].getSummary().median,
            "the default");
  if (task.vendorTime)
    compare(task.vendorTime, "the vendor's");
  return text;
}

void tuning::emitRemarks(
    const Task &task, const Space &space, const Outcome &outcome,
    Location place,
    llvm::function_ref<llvm::SmallVector<Location>(size_t)> getKnobPlaces) {
  auto options = [&](llvm::StringRef name, llvm::StringRef category) {
    return remark::RemarkOpts::name(name).category(category).function(
        task.name);
  };
  remark::passed(place, options("winner", "winner"))
      << describeWinner(task, space, outcome);
  llvm::SmallVector<llvm::StringRef> equal, constant;
  std::vector<KnobEffect> effects = getSensitivity(space, outcome);
  for (const KnobEffect &effect : effects) {
    llvm::StringRef name = space.getKnobs()[effect.knob].name;
    if (!effect.matters()) {
      equal.push_back(name);
      continue;
    }
    for (Location knobPlace : getKnobPlaces(effect.knob))
      remark::analysis(knobPlace, options(name, "sensitivity"))
          << describe(space, outcome, effect);
  }
  llvm::SmallDenseSet<size_t> varied;
  for (const KnobEffect &effect : effects)
    varied.insert(effect.knob);
  for (auto [i, knob] : llvm::enumerate(space.getKnobs()))
    if (!varied.contains(i))
      constant.push_back(knob.name);
  std::string others;
  if (!equal.empty())
    others =
        "no value is slower beyond the noise of " + llvm::join(equal, ", ");
  if (!constant.empty())
    others += (others.empty() ? "" : "; ") +
              ("only one value was tried of " + llvm::join(constant, ", "));
  if (!others.empty())
    remark::analysis(place, options("other-knobs", "sensitivity")) << others;
}
