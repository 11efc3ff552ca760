// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tables and JSON. Numbers that were not measured are printed as `-`, never as
// 0.

#include "attune/Tuning/Report.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace attune;
using namespace attune::tuning;
namespace json = llvm::json;

static constexpr size_t kTableRows = 10;

static double getTflops(const Task &task, double nanoseconds) {
  return task.flops / nanoseconds / 1000;
}

static std::string formatOptional(std::optional<int64_t> value) {
  return value ? std::to_string(*value) : "-";
}

static std::string formatOptional(std::optional<double> value,
                                  unsigned digits) {
  if (!value)
    return "-";
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::format("%.*f", static_cast<int>(digits), *value);
  return text;
}

namespace {
/// What times are compared with.
struct Comparison {
  /// A column of the table.
  llvm::StringRef head;
  double nanoseconds;
};
} // namespace

static llvm::SmallVector<Comparison> getComparisons(const Task &task,
                                                    const Outcome &outcome) {
  llvm::SmallVector<Comparison> comparisons;
  if (outcome.baseline && outcome.results[*outcome.baseline].isTimed())
    comparisons.push_back(
        {"over default",
         outcome.results[*outcome.baseline].getSummary().median});
  if (task.vendorTime)
    comparisons.push_back({"over vendor", task.vendorTime});
  return comparisons;
}

static void printTable(llvm::raw_ostream &os, const Task &task,
                       const Space &space, const Outcome &outcome,
                       llvm::ArrayRef<size_t> order) {
  constexpr llvm::StringLiteral kSchedule =
      "schedule, where it is not the default";
  llvm::SmallVector<Comparison> comparisons = getComparisons(task, outcome);
  bool hasEnergy = llvm::any_of(order.take_front(kTableRows), [&](size_t i) {
    return outcome.results[i].conditions.energyJoules.has_value();
  });
  if (outcome.timed) {
    os << llvm::formatv("{0,4} {1,10} {2,10} {3,21}", "rank", "TFLOP/s", "us",
                        "us, 95 % interval");
    for (const Comparison &comparison : comparisons)
      os << " " << comparison.head;
    if (hasEnergy)
      os << llvm::formatv(" {0,5} {1,8}", "W", "pJ/FLOP");
    os << llvm::formatv(" {0,5} {1,6} {2,8}  {3}\n", "regs", "spills", "shared",
                        kSchedule);
  } else
    os << llvm::formatv("{0,4} {1,12} {2,7} {3,5} {4,6} {5,8}  {6}\n", "rank",
                        "predicted us", "numbers", "regs", "spills", "shared",
                        kSchedule);
  for (auto [rank, i] : llvm::enumerate(order.take_front(kTableRows))) {
    const Result &result = outcome.results[i];
    const Resources &used = result.resources;
    std::string regs = formatOptional(used.registers),
                spills = formatOptional(used.spillBytes),
                shared = formatOptional(used.sharedBytes),
                schedule = space.toString(result.point, outcome.base);
    if (outcome.timed) {
      Summary time = result.getSummary();
      std::string speed =
          task.flops
              ? llvm::formatv("{0:F1}", getTflops(task, time.median)).str()
              : "-";
      std::string interval =
          llvm::formatv("{0:F1}..{1:F1}", time.low / 1000, time.high / 1000);
      os << llvm::formatv("{0,4} {1,10} {2,10:F1} {3,21}", rank + 1, speed,
                          time.median / 1000, interval);
      for (const Comparison &comparison : comparisons) {
        std::string ratio =
            llvm::formatv("{0:F2}x", comparison.nanoseconds / time.median);
        os << " " << llvm::right_justify(ratio, comparison.head.size());
      }
      if (hasEnergy)
        os << llvm::formatv(
            " {0,5} {1,8}", formatOptional(result.conditions.meanPowerWatts, 0),
            formatOptional(result.conditions.picojoulesPerFlop, 3));
      os << llvm::formatv(" {0,5} {1,6} {2,8}  {3}\n", regs, spills, shared,
                          schedule);
    } else {
      std::string predicted =
          result.score ? llvm::formatv("{0:F1}", *result.score / 1000).str()
                       : "-";
      os << llvm::formatv("{0,4} {1,12} {2,7} {3,5} {4,6} {5,8}  {6}\n",
                          rank + 1, predicted,
                          result.stage == Stage::Final ? "right" : "-", regs,
                          spills, shared, schedule);
    }
  }
}

static void printBaseline(llvm::raw_ostream &os, const Outcome &outcome,
                          llvm::ArrayRef<size_t> order) {
  if (!outcome.baselineRefusal.empty()) {
    os << "default schedule: refused (" << outcome.baselineRefusal << ")\n";
    return;
  }
  if (!outcome.baseline)
    return;
  const Result &baseline = outcome.results[*outcome.baseline];
  const auto *rank = llvm::find(order, *outcome.baseline);
  if (rank == order.end()) {
    llvm::StringRef reason =
        llvm::StringRef(baseline.message).split('\n').first;
    os << "default schedule: " << toString(baseline.status)
       << (reason.empty() ? "" : ": ") << reason << "\n";
    return;
  }
  os << llvm::formatv("default schedule: rank {0} of {1}",
                      rank - order.begin() + 1, order.size());
  if (outcome.timed && outcome.winner)
    os << llvm::formatv(
        "; the best is {0:F2}x as fast",
        baseline.getSummary().median /
            outcome.results[*outcome.winner].getSummary().median);
  os << "\n";
}

static void printVendor(llvm::raw_ostream &os, const Task &task,
                        const Outcome &outcome) {
  if (!outcome.timed || !outcome.winner || !task.vendorTime)
    return;
  os << llvm::formatv("vendor: {0:F1} us", task.vendorTime / 1000);
  if (task.flops)
    os << llvm::formatv(", {0:F1} TFLOP/s", getTflops(task, task.vendorTime));
  os << llvm::formatv("; the best is {0:F2}x as fast\n",
                      task.vendorTime /
                          outcome.results[*outcome.winner].getSummary().median);
}

/// What the chip was like when the winner was measured, as far as it is known.
static void printConditions(llvm::raw_ostream &os, const Outcome &outcome) {
  if (!outcome.timed || !outcome.winner)
    return;
  const Conditions &seen = outcome.results[*outcome.winner].conditions;
  if (!seen.state)
    return;
  os << "the best was measured " << toString(*seen.state);
  if (seen.settled == false)
    os << ", not settled";
  if (seen.clockMHz)
    os << llvm::formatv(", at {0} MHz", *seen.clockMHz);
  if (seen.throttleReasons.value_or(0))
    os << ", limited by " << describeThrottling(*seen.throttleReasons);
  if (seen.meanPowerWatts)
    os << llvm::formatv(", {0:F0} W", *seen.meanPowerWatts);
  if (seen.picojoulesPerFlop)
    os << llvm::formatv(", {0:F3} pJ/FLOP", *seen.picojoulesPerFlop);
  os << "\n";
}

static void printFailures(llvm::raw_ostream &os, const Space &space,
                          const Outcome &outcome) {
  std::map<Status, std::vector<const Result *>> failures;
  for (const Result &result : outcome.results)
    if (result.status != Status::Ok)
      failures[result.status].push_back(&result);
  for (const auto &[status, results] : failures) {
    llvm::StringRef message = results.front()->message;
    os << llvm::formatv("{0}: {1}, for example {2}: {3}\n", toString(status),
                        results.size(),
                        space.toString(results.front()->point, outcome.base),
                        message.split('\n').first);
  }
}

/// One line for all rules.
static void summarizeRefusals(llvm::raw_ostream &os, const LegalSpace &legal) {
  auto print = [&](llvm::StringRef what, const LegalSpace::Refusals &refusals) {
    uint64_t count = 0;
    for (const auto &[id, refused] : refusals)
      count += refused.count;
    os << llvm::formatv("{0} {1} by {2} rules", count, what, refusals.size());
  };
  if (legal.refused.empty() && legal.skipped.empty())
    return;
  os << "other schedules: ";
  print("refused", legal.refused);
  if (!legal.skipped.empty()) {
    os << ", ";
    print("not worth trying", legal.skipped);
  }
  os << " (--verbose names them)\n";
}

/// The winner as attune-set-schedule takes it, for here it is complete.
static void printWinner(llvm::raw_ostream &os, const Space &space,
                        const Outcome &outcome) {
  if (!outcome.winner)
    return;
  os << (outcome.timed    ? "best: "
         : outcome.ranked ? "best by model: "
                          : "first that is valid, for nothing ranks them: ")
     << space.toString(outcome.results[*outcome.winner].point) << "\n";
}

void attune::tuning::printReport(llvm::raw_ostream &os, const Task &task,
                                 const Space &space, const LegalSpace &legal,
                                 const Outcome &outcome, bool verbose) {
  os << llvm::formatv("{0} on {1}: {2} of {3} legal schedules tried in {4}",
                      task.name, task.chip, outcome.results.size(),
                      legal.points.size(), formatDuration(outcome.seconds));
  if (outcome.reused)
    os << llvm::formatv(", {0} of them from the database", outcome.reused);
  if (outcome.copied)
    os << llvm::formatv(
        ", {0} not measured because their binary equals another",
        outcome.copied);
  os << "\n";

  if (outcome.executed) {
    uint64_t right = llvm::count_if(outcome.results, [](const Result &result) {
      return result.status == Status::Ok;
    });
    os << llvm::formatv("executed on the CPU: {0} different kernels, which are "
                        "those of {1} schedules; {2} of these are right and "
                        "have no fault\n",
                        outcome.countBinaries(), outcome.results.size(), right);
  } else {
    std::vector<size_t> order = outcome.rank();
    if (!order.empty())
      printTable(os, task, space, outcome, order);
    printBaseline(os, outcome, order);
    printVendor(os, task, outcome);
    printConditions(os, outcome);
  }
  if (!outcome.ties.empty())
    os << "within the noise of the best: " << outcome.ties.size()
       << " (their intervals overlap)\n";
  if (verbose && !outcome.base.empty())
    os << "the default schedule is " << space.toString(outcome.base) << "\n";
  if (verbose)
    printRefusals(os, space, legal);
  else
    summarizeRefusals(os, legal);
  printFailures(os, space, outcome);
  printWinner(os, space, outcome);
}

/// Parents are indices of results.
static json::Object describe(const Origin &origin,
                             const std::map<Point, size_t> &places) {
  json::Array parents;
  for (const Point &parent : origin.parents)
    if (auto it = places.find(parent); it != places.end())
      parents.push_back(int64_t(it->second));
  return json::Object{{"lineage", origin.lineage},
                      {"step", origin.step},
                      {"parents", std::move(parents)}};
}

static json::Object describe(const Task &task, const Space &space,
                             const std::map<Point, size_t> &places,
                             const Result &result) {
  json::Object object{{"schedule", space.toJSON(result.point)},
                      {"stage", toString(result.stage)},
                      {"status", toString(result.status)},
                      {"resources", toJSON(result.resources)},
                      {"reused", result.reused}};
  if (!result.message.empty())
    object["message"] = json::fixUTF8(result.message);
  if (!result.origin.lineage.empty())
    object["origin"] = describe(result.origin, places);
  if (!result.binaryHash.empty())
    object["hash"] = result.binaryHash;
  if (result.copiedFrom)
    object["copied_from"] = result.copiedFrom;
  if (result.score)
    object["score"] = *result.score;
  if (result.compiled)
    object["compile_s"] =
        json::Array{result.compiled->begin, result.compiled->end};
  if (result.measured)
    object["measure_s"] =
        json::Array{result.measured->begin, result.measured->end};
  if (result.isTimed()) {
    Summary time = result.getSummary();
    object["median_ns"] = time.median;
    object["interval_ns"] = json::Array{time.low, time.high};
    object["samples_ns"] = json::Array(result.samples);
    addTo(object, result.conditions);
    if (task.flops)
      object["tflops"] = getTflops(task, time.median);
  }
  return object;
}

void attune::tuning::printRefusals(llvm::raw_ostream &os, const Space &space,
                                   const LegalSpace &legal) {
  auto print = [&](llvm::StringRef what, const LegalSpace::Refusals &refusals) {
    for (const auto &[id, refused] : refusals)
      os << llvm::formatv("{0}, {1}: {2}, for example {3}: {4}\n", what, id,
                          refused.count, space.toString(refused.example),
                          refused.message);
  };
  print("refused", legal.refused);
  print("not worth trying", legal.skipped);
}

json::Object attune::tuning::makeRefusals(const LegalSpace::Refusals &byRule) {
  json::Object refusals;
  for (const auto &[id, refused] : byRule)
    refusals[id] = json::Object{{"count", int64_t(refused.count)},
                                {"message", refused.message}};
  return refusals;
}

json::Object attune::tuning::makeReport(const Task &task, const Space &space,
                                        const LegalSpace &legal,
                                        const SessionInfo &session,
                                        const Outcome &outcome) {
  // What is executed may be hundreds of thousands, and most are alike.
  json::Array results;
  std::map<Status, int64_t> counts;
  std::map<Point, size_t> places;
  if (!outcome.executed)
    for (auto [i, result] : llvm::enumerate(outcome.results))
      places.emplace(result.point, i);
  for (const Result &result : outcome.results) {
    ++counts[result.status];
    if (!outcome.executed || result.status != Status::Ok)
      results.push_back(describe(task, space, places, result));
  }
  json::Object statuses;
  for (auto [status, count] : counts)
    statuses[toString(status)] = count;
  json::Object report{{"problem", task.name},
                      {"key", task.key},
                      {"chip", task.chip},
                      {"device", session.key.device},
                      {"compiler", session.key.compiler},
                      {"session", session.id},
                      {"flops", task.flops},
                      {"bytes", task.bytes},
                      {"timed", outcome.timed},
                      {"objective", toString(outcome.objective)},
                      {"executed", outcome.executed},
                      {"tried", int64_t(outcome.results.size())},
                      {"binaries", int64_t(outcome.countBinaries())},
                      {"statuses", std::move(statuses)},
                      {"state", session.state},
                      {"seconds", outcome.seconds},
                      {"space", int64_t(space.size())},
                      {"legal", int64_t(legal.points.size())},
                      {"refused", makeRefusals(legal.refused)},
                      {"skipped", makeRefusals(legal.skipped)},
                      {"results", std::move(results)}};
  if (!session.key.chipState.empty())
    report["chip_state"] = session.key.chipState;
  if (!task.kind.empty())
    report["kind"] = task.kind;
  json::Object sizes;
  for (const auto &[name, size] : task.sizes)
    sizes[name] = size;
  if (!sizes.empty())
    report["sizes"] = std::move(sizes);
  if (!outcome.baselineRefusal.empty())
    report["default_refused"] = outcome.baselineRefusal;
  if (task.vendorTime)
    report["vendor_ns"] = task.vendorTime;
  if (outcome.baseline)
    report["default"] = int64_t(*outcome.baseline);
  if (outcome.winner)
    report["best"] = int64_t(*outcome.winner);
  report["ties"] = json::Array(outcome.ties);
  return report;
}

llvm::Error attune::tuning::printStatus(llvm::raw_ostream &os, Store &store) {
  if (llvm::Error error = store.verify())
    return error;
  llvm::Expected<std::vector<SessionInfo>> sessions = store.getSessions();
  if (!sessions)
    return sessions.takeError();
  if (sessions->empty())
    os << "no session yet\n";
  for (const SessionInfo &session : *sessions) {
    auto results = store.getResults(session.id);
    if (!results)
      return results.takeError();
    os << llvm::formatv(
        "session {0}: {1} on {2}, device {3}{4}, strategy {5}, started {6}, "
        "{7}\n",
        session.id, session.problemName, session.key.chip, session.key.device,
        session.key.chipState.empty() ? "" : ", " + session.key.chipState,
        session.strategy, session.started,
        session.state == SessionInfo().state && !store.isRunning(session)
            ? "killed"
            : session.state);
    std::map<Status, uint64_t> counts;
    const std::pair<std::string, Result> *best = nullptr;
    auto getMedian = [](auto &entry) {
      return entry.second.getSummary().median;
    };
    for (const auto &entry : *results) {
      ++counts[entry.second.status];
      if (entry.second.isTimed() &&
          (!best || getMedian(entry) < getMedian(*best)))
        best = &entry;
    }
    os << llvm::formatv("  {0} results for {1} legal schedules:",
                        session.results, session.legal);
    for (const auto &[status, count] : counts)
      os << " " << toString(status) << " " << count;
    os << "\n";
    if (best)
      os << llvm::formatv("  best {0:F1} us {1}\n", getMedian(*best) / 1000,
                          best->first);
    os << "  resume with: " << session.command << "\n";
  }
  return llvm::Error::success();
}
