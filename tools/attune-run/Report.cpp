// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formats the report.

#include "Report.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

using namespace attune;
using namespace attune::run;
using llvm::format;
using llvm::json::Array;
using llvm::json::Object;

static double getTeraflops(double flops, double milliseconds) {
  return milliseconds > 0 ? flops / milliseconds * 1e-9 : 0;
}

/// How much of what is allowed was used.
static double getRatio(const Comparison &comparison) {
  return comparison.tolerance > 0 ? comparison.maxError / comparison.tolerance
                                  : 0;
}

bool Report::passed() const {
  if (launches && launches->unequal)
    return false;
  return !checks || llvm::all_of(*checks, [](const ResultCheck &check) {
    return check.comparison.passed;
  });
}

/// What a model says of the main loop: what the busiest part needs counts.
static void printLoop(llvm::raw_ostream &stream, const Object &resources) {
  std::optional<int64_t> warps = resources.getInteger("loop_warps");
  if (!warps)
    return;
  auto get = [&](const char *key) {
    return resources.getInteger(key).value_or(0);
  };
  stream << "model     " << *warps
         << " warps of an SM: an iteration takes its parts "
         << get("loop_matrix_clocks") << " (matrix), "
         << get("loop_vector_clocks") << " (vector, with "
         << get("loop_exp_clocks") << " of exponentials), "
         << get("loop_shared_clocks") << " (shared memory, with "
         << get("loop_conflict_clocks") << " of conflicts of banks), "
         << get("loop_cache_clocks") << " (cache) and "
         << get("loop_alone_clocks") << " (one warp, with "
         << get("loop_wait_clocks") << " of waits) clocks, "
         << get("loop_tflops") << " TFLOP/s\n";
}

static void printKernel(llvm::raw_ostream &stream,
                        const llvm::json::Value &value) {
  const Object *manifest = value.getAsObject();
  if (!manifest)
    return;
  stream << "kernel    " << manifest->getString("kernel").value_or("?") << ", "
         << manifest->getString("chip").value_or("?");
  auto number = [&](const Object *from, const char *key, const char *unit) {
    if (auto found = from ? from->getInteger(key) : std::nullopt)
      stream << ", " << *found << ' ' << unit;
  };
  const Object *resources = manifest->getObject("resources");
  number(resources, "registers", "registers");
  number(resources, "spill_store_bytes", "bytes spilled");
  number(manifest, "shared_bytes", "bytes of shared memory");
  stream << '\n';
  if (resources)
    printLoop(stream, *resources);
}

void Report::printTable(llvm::raw_ostream &stream) const {
  stream << "device    " << device.name << " (" << device.chip << ", "
         << device.sms << " SMs)\n";
  for (const llvm::json::Value &kernel : kernels)
    printKernel(stream, kernel);
  if (checks)
    for (const ResultCheck &check : *checks) {
      const Comparison &comparison = check.comparison;
      stream << (comparison.passed ? "right     " : "WRONG     ") << check.name
             << ": error " << format("%.3e", comparison.maxError)
             << ", allowed " << format("%.3e", comparison.tolerance)
             << ", ratio " << format("%.2f", getRatio(comparison));
      if (!comparison.passed)
        stream << ": " << comparison.reason;
      stream << '\n';
    }
  if (launches)
    stream << (launches->unequal ? "UNEQUAL   " : "equal     ")
           << launches->all - launches->unequal << " of " << launches->all
           << " launches gave the same bits\n";
  if (counts)
    counts->printTable(stream);
  if (!timing)
    return;
  stream << "time      median " << format("%.4f", timing->median) << " ms ("
         << format("%.4f", timing->low) << " to "
         << format("%.4f", timing->high) << "), min "
         << format("%.4f", timing->min) << " ms, " << timing->samples.size()
         << " launches\n"
         << "speed     " << format("%.1f", getTeraflops(flops, timing->median))
         << " TFLOP/s";
  const Conditions &conditions = timing->conditions;
  if (conditions.clockMHz)
    stream << " at " << *conditions.clockMHz << " MHz";
  if (conditions.state)
    stream << ", " << toString(*conditions.state);
  if (conditions.settled == false)
    stream << ", not settled";
  if (conditions.throttleReasons.value_or(0))
    stream << ", limited by "
           << describeThrottling(*conditions.throttleReasons);
  if (conditions.energyJoules && conditions.meanPowerWatts)
    stream << "\nenergy    " << format("%.3g", *conditions.energyJoules)
           << " J per launch, " << format("%.0f", *conditions.meanPowerWatts)
           << " W";
  if (conditions.picojoulesPerFlop)
    stream << ", " << format("%.3f", *conditions.picojoulesPerFlop)
           << " pJ/FLOP";
  stream << '\n';
}

/// JSON has no infinity.
static llvm::json::Value finiteOrNull(double value) {
  return std::isfinite(value) ? llvm::json::Value(value) : nullptr;
}

llvm::json::Value Report::toJSON() const {
  Object report{{"function", function},
                {"seed", static_cast<int64_t>(seed)},
                {"flops", flops},
                {"bytes", bytes},
                {"kernels", Array(kernels)},
                {"device", Object{{"name", device.name},
                                  {"chip", device.chip},
                                  {"sms", device.sms},
                                  {"driver", device.driverVersion},
                                  {"clock_mhz", device.clockMHz}}}};
  if (checks) {
    Array list;
    for (const ResultCheck &check : *checks)
      list.push_back(
          Object{{"name", check.name},
                 {"passed", check.comparison.passed},
                 {"max_error", finiteOrNull(check.comparison.maxError)},
                 {"tolerance", finiteOrNull(check.comparison.tolerance)},
                 {"reason", check.comparison.reason}});
    report["passed"] = passed();
    report["results"] = std::move(list);
  }
  if (launches)
    report["launches"] =
        Object{{"all", launches->all}, {"unequal", launches->unequal}};
  if (counts)
    report["counts"] = counts->toJSON();
  if (timing) {
    Object time{{"median_ms", timing->median},
                {"min_ms", timing->min},
                {"low_ms", timing->low},
                {"high_ms", timing->high},
                {"tflops", getTeraflops(flops, timing->median)},
                {"samples_ms", Array(timing->samples)}};
    addTo(time, timing->conditions);
    report["time"] = std::move(time);
  }
  return report;
}
