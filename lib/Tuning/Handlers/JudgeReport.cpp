// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads what is judged: the problem from its file, the measurements from a
// report of attune-tune.

#include "attune/InitAllDialects.h"
#include "attune/Runtime/ArtifactWriter.h"
#include "attune/Target/TargetRegistry.h"
#include "attune/Tuning/CandidateRequest.h"
#include "attune/Tuning/Judge.h"
#include "attune/Tuning/ModelRanker.h"
#include "attune/Tuning/TunableTask.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace attune;
using namespace attune::tuning;
namespace json = llvm::json;

/// Searches of a strategy that draws.
static constexpr uint64_t kSearches = 10;

static std::optional<Judged>
readResult(const json::Value &value, const KnobSet &set, const Ranker &model) {
  const json::Object *object = value.getAsObject();
  const json::Object *knobs = object ? object->getObject("schedule") : nullptr;
  std::optional<double> time =
      object ? object->getNumber("median_ns") : std::nullopt;
  if (!knobs || !time || *time <= 0)
    return std::nullopt;
  // What was measured before there was a knob had its default: with that,
  // everything stays as it was.
  json::Object completed = *knobs;
  Space space = makeSpace(set);
  for (auto &[name, value] : space.toJSON(space.getDefault()))
    completed.try_emplace(name, value);
  std::optional<Point> point = readSchedule(set, &completed);
  if (!point)
    return std::nullopt;
  Judged judged;
  judged.result.point = std::move(*point);
  judged.result.samples = {*time};
  if (const json::Value *resources = object->get("resources"))
    fromJSON(*resources, judged.result.resources);
  judged.predicted = model.score(judged.result.point);
  judged.predictedCompiled = model.score(judged.result);
  return judged;
}

/// Prints and returns what is found.
static json::Object judge(llvm::raw_ostream &os, llvm::StringRef name,
                          llvm::StringRef chip, const Space &space,
                          llvm::ArrayRef<Judged> schedules) {
  Judgement found = tuning::judge(schedules);
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
  os << llvm::formatv("  {0,-13} | regret after 1%     5%    10%{1,6} | tried "
                      "until within 3%     2% | in 10%: shapes fastest\n",
                      "strategy", kJudgedCount);
  json::Object strategies;
  for (llvm::StringRef strategy : getStrategyNames()) {
    bool draws = !llvm::is_contained({"guided", "grid", "replay"}, strategy);
    StrategyJudgement result =
        judgeStrategy(strategy, space, schedules, draws ? kSearches : 1);
    os << llvm::formatv(
        "  {0,-13} | {1,15:P1}{2,7:P1}{3,7:P1}{4,6:P1} | {5,21:F1} {6,6:F1} | "
        "{7,14:P0} {8,7:P0}\n",
        strategy, result.regret[0], result.regret[1], result.regret[2],
        result.regret[3], result.tried[0], result.tried[1], result.shapes,
        result.fastest);
    strategies[strategy] =
        json::Object{{"regret_after_1_percent", result.regret[0]},
                     {"regret_after_5_percent", result.regret[1]},
                     {"regret_after_10_percent", result.regret[2]},
                     {"regret_after_50", result.regret[3]},
                     {"tried_until_within_3_percent", result.tried[0]},
                     {"tried_until_within_2_percent", result.tried[1]},
                     {"shapes_in_10_percent", result.shapes},
                     {"fastest_in_10_percent", result.fastest}};
  }
  return json::Object{
      {"problem", name},
      {"chip", chip},
      {"schedules", static_cast<int64_t>(found.count)},
      {"model",
       json::Object{{"correlation", found.correlation},
                    {"correlation_compiled", found.correlationCompiled},
                    {"error", found.error},
                    {"error_compiled", found.errorCompiled}}},
      {"strategies", std::move(strategies)}};
}

static llvm::Expected<json::Value> readReport(llvm::StringRef report) {
  auto buffer = llvm::MemoryBuffer::getFile(report);
  if (!buffer)
    return llvm::createStringError("cannot read '" + report +
                                   "': " + buffer.getError().message());
  llvm::Expected<json::Value> parsed = json::parse((*buffer)->getBuffer());
  if (!parsed)
    return llvm::joinErrors(
        llvm::createStringError("expects JSON in '" + report + "'"),
        parsed.takeError());
  return parsed;
}

static llvm::Error run(llvm::raw_ostream &os, llvm::StringRef input,
                       llvm::StringRef report, const SizeMap &sizes,
                       llvm::StringRef output) {
  llvm::Expected<json::Value> parsed = readReport(report);
  if (!parsed)
    return parsed.takeError();
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
  llvm::SmallVector<TunableOpInterface> ops;
  module->walk([&](TunableOpInterface op) { ops.push_back(op); });

  json::Array judged;
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
    for (TunableOpInterface op : ops) {
      Task task = makeTask(op, *target, sizes);
      if (task.key != *key)
        continue;
      isThere = true;
      const KnobSet &set = op.getKnobSet();
      std::unique_ptr<Ranker> model =
          createModelRanker(op.createCostModel(*target, sizes));
      if (!model)
        return llvm::createStringError("expects an op with a model of its time "
                                       "in '" +
                                       task.name + "', but it has none");
      std::vector<Judged> schedules;
      for (const json::Value &result : *results)
        if (std::optional<Judged> judged = readResult(result, set, *model))
          schedules.push_back(std::move(*judged));
      if (schedules.empty())
        return llvm::createStringError("expects times of '" + task.name +
                                       "' in '" + report +
                                       "', but nothing was timed");
      judged.push_back(judge(os, task.name, *chip, makeSpace(set), schedules));
      break;
    }
    if (!isThere)
      return llvm::createStringError("expects the problem with the key " +
                                     *key + " in '" + input +
                                     "', but there is none");
  }
  if (output.empty())
    return llvm::Error::success();
  json::Value numbers = json::Object{{"problems", std::move(judged)}};
  return writeFile(output, llvm::formatv("{0:2}\n", numbers).str());
}

int tuning::judgeReport(llvm::raw_ostream &os, llvm::StringRef input,
                        llvm::StringRef report, const SizeMap &sizes,
                        llvm::StringRef json) {
  llvm::Error error = run(os, input, report, sizes, json);
  if (!error)
    return 0;
  llvm::WithColor::error(llvm::errs(), "attune-tune")
      << llvm::toString(std::move(error)) << "\n";
  return 1;
}
