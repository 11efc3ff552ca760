// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads what is judged: the problem from its file, the measurements from a
// report of attune-tune.

#include "attune/InitAllDialects.h"
#include "attune/Target/TargetRegistry.h"
#include "attune/Tuning/AttentionProblem.h"
#include "attune/Tuning/CandidateRequest.h"
#include "attune/Tuning/Judge.h"
#include "attune/Tuning/PerformanceModel.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace attune;
using namespace attune::tuning;
namespace json = llvm::json;

/// How much slower than the best a schedule may be to count as found.
static constexpr double kFound = 0.03;
/// A random search is replayed so often.
static constexpr uint64_t kSeeds = 25;

static std::optional<Judged> readResult(const json::Value &value,
                                        const PerformanceModel &model) {
  const json::Object *object = value.getAsObject();
  const json::Object *knobs = object ? object->getObject("schedule") : nullptr;
  std::optional<double> time =
      object ? object->getNumber("median_ns") : std::nullopt;
  if (!knobs || !time || *time <= 0)
    return std::nullopt;
  // What was measured before there was a knob had its default: with that,
  // everything stays as it was.
  json::Object completed = *knobs;
  Space space = makeScheduleSpace();
  for (const Knob &knob : space.getKnobs())
    completed.try_emplace(knob.name, knob.init);
  std::optional<Point> point = readSchedule(&completed);
  if (!point)
    return std::nullopt;
  Judged judged;
  judged.result.point = std::move(*point);
  judged.result.samples = {*time};
  if (const json::Value *resources = object->get("resources"))
    fromJSON(*resources, judged.result.resources);
  Schedule schedule([&](size_t place) { return judged.result.point[place]; });
  judged.predicted = model.predict(schedule, nullptr);
  judged.predictedCompiled = model.predict(schedule, &judged.result.resources);
  return judged;
}

static void print(llvm::raw_ostream &os, llvm::StringRef name,
                  llvm::StringRef chip, llvm::ArrayRef<Judged> schedules) {
  Judgement found = judge(schedules);
  os << llvm::formatv("{0} on {1}: {2} measured schedules\n", name, chip,
                      found.count);
  os << llvm::formatv("  model             rank correlation {0:F3}, median "
                      "error {1:P1}\n",
                      found.correlation, found.error);
  os << llvm::formatv("  model, compiled   rank correlation {0:F3}, median "
                      "error {1:P1}\n",
                      found.correlationCompiled, found.errorCompiled);
  for (auto [share, regret] : llvm::zip_equal(kJudgedShares, found.regret))
    os << llvm::formatv("  regret of its best {0,3:P0}: {1:P1}\n", share,
                        regret);
  Space space = makeScheduleSpace();
  for (llvm::StringRef strategy : getStrategyNames()) {
    // These two draw nothing.
    bool isFixed = strategy == "guided" || strategy == "grid";
    uint64_t seeds = isFixed ? 1 : kSeeds;
    double tried = 0;
    for (uint64_t seed = 1; seed <= seeds; ++seed)
      tried += replay(strategy, space, schedules, seed, kFound);
    os << llvm::formatv("  {0}: within {1:P0} of the best after {2:F0}\n",
                        strategy, kFound, tried / seeds);
  }
}

static llvm::Error run(llvm::raw_ostream &os, llvm::StringRef input,
                       llvm::StringRef report, const SizeMap &sizes) {
  auto buffer = llvm::MemoryBuffer::getFile(report);
  if (!buffer)
    return llvm::createStringError("cannot read '" + report +
                                   "': " + buffer.getError().message());
  llvm::Expected<json::Value> parsed = json::parse((*buffer)->getBuffer());
  if (!parsed)
    return llvm::joinErrors(
        llvm::createStringError("expects JSON in '" + report + "'"),
        parsed.takeError());
  const json::Object *root = parsed->getAsObject();
  const json::Array *problems = root ? root->getArray("problems") : nullptr;
  if (!problems)
    return llvm::createStringError("expects 'problems' in '" + report +
                                   "', a report of attune-tune");

  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(input, sources, ParserConfig(&context));
  if (!module)
    return llvm::createStringError("cannot read '" + input + "'");
  llvm::SmallVector<attn::AttentionOp> ops;
  module->walk([&](attn::AttentionOp op) { ops.push_back(op); });

  for (const json::Value &value : *problems) {
    const json::Object *problem = value.getAsObject();
    std::optional<llvm::StringRef> key, chip;
    const json::Array *results = nullptr;
    if (problem) {
      key = problem->getString("key");
      chip = problem->getString("chip");
      results = problem->getArray("results");
    }
    if (!key || !chip || !results)
      return llvm::createStringError(
          "expects a key, a chip and results of each problem in '" + report +
          "'");
    FailureOr<tile::TargetAttr> target =
        getTarget(&context, *chip, [&] { return emitError(module->getLoc()); });
    if (failed(target))
      return llvm::createStringError("cannot judge what was measured on '" +
                                     *chip + "'");
    bool isThere = false;
    for (attn::AttentionOp op : ops) {
      Task task = makeTask(op, *target, sizes);
      if (task.key != *key)
        continue;
      isThere = true;
      PerformanceModel model(Workload::get(op, sizes), *target);
      std::vector<Judged> schedules;
      for (const json::Value &result : *results)
        if (std::optional<Judged> judged = readResult(result, model))
          schedules.push_back(std::move(*judged));
      if (schedules.empty())
        return llvm::createStringError("expects times of '" + task.name +
                                       "' in '" + report +
                                       "', but nothing was timed");
      print(os, task.name, *chip, schedules);
      break;
    }
    if (!isThere)
      return llvm::createStringError("expects the problem with the key " +
                                     *key + " in '" + input +
                                     "', but there is none");
  }
  return llvm::Error::success();
}

int tuning::judgeReport(llvm::raw_ostream &os, llvm::StringRef input,
                        llvm::StringRef report, const SizeMap &sizes) {
  llvm::Error error = run(os, input, report, sizes);
  if (!error)
    return 0;
  llvm::WithColor::error(llvm::errs(), "attune-tune")
      << llvm::toString(std::move(error)) << "\n";
  return 1;
}
