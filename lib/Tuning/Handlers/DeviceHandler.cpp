// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifies and times candidates in a worker process that owns one device. No
// candidate is timed before its results were compared with the reference.

#include "attune/Tuning/DeviceHandler.h"
#include "attune/Execution/Runner.h"
#include "attune/InitAllDialects.h"
#include "attune/Tuning/DeviceLock.h"
#include "attune/Tuning/SizedProblem.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Base64.h"

using namespace mlir;
using namespace attune;
using namespace attune::tuning;
namespace json = llvm::json;

namespace {
class DeviceWorker {
public:
  DeviceWorker(std::string kind, int ordinal, std::string problemPath)
      : kind(std::move(kind)), ordinal(ordinal),
        problemPath(std::move(problemPath)) {}

  llvm::Expected<json::Value> start();
  json::Value handle(const json::Value &request);

private:
  llvm::Error prepare();
  json::Value verify(ModuleOp compiled);
  /// Verifies what it did not stop early.
  json::Value measure(ModuleOp compiled, std::optional<double> stopAboveNs);
  /// A failure after which the device may not be trusted any more.
  json::Value fail(llvm::StringRef what) const;

  std::string kind;
  int ordinal;
  std::string problemPath;
  DeviceLock lock;
  std::unique_ptr<Device> device;
  std::unique_ptr<MLIRContext> context;
  std::string errors;
  std::unique_ptr<ScopedDiagnosticHandler> handler;
  OwningOpRef<ModuleOp> problem;
  std::unique_ptr<Runner> runner;
};
} // namespace

/// Inputs of every candidate are the same, in this search and in the next one.
static constexpr uint64_t kSeed = 1;

llvm::Expected<json::Value> DeviceWorker::start() {
  if (!problemPath.empty())
    if (llvm::Error error = lock.acquire(kind, ordinal))
      return error;
  llvm::Expected<std::unique_ptr<Device>> opened = openDevice(kind, ordinal);
  if (!opened)
    return opened.takeError();
  device = std::move(*opened);
  if (!problemPath.empty())
    if (llvm::Error error = prepare())
      return error;
  const DeviceInfo &info = device->getInfo();
  return json::Object{{"kind", kind},
                      {"name", info.name},
                      {"chip", info.chip},
                      {"driver", info.driverVersion}};
}

llvm::Error DeviceWorker::prepare() {
  DialectRegistry registry;
  registerAllDialects(registry);
  context = std::make_unique<MLIRContext>(registry);
  context->printOpOnDiagnostic(false);
  handler = std::make_unique<ScopedDiagnosticHandler>(
      context.get(), [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
          errors += (errors.empty() ? "" : "\n") + diagnostic.str();
        return success();
      });
  problem = parseSourceFile<ModuleOp>(problemPath, context.get());
  if (!problem)
    return llvm::createStringError("cannot read the problem: " + errors);
  auto created = Runner::create(*problem->getOps<func::FuncOp>().begin(),
                                *device, getSizes(*problem), kSeed);
  if (failed(created))
    return llvm::createStringError("cannot make the inputs: " + errors);
  runner = std::move(*created);
  if (failed(runner->computeReference()))
    return llvm::createStringError("cannot compute the reference: " + errors);
  return llvm::Error::success();
}

json::Value DeviceWorker::fail(llvm::StringRef what) const {
  return json::Object{
      {"status", "run-error"},
      {"message",
       json::fixUTF8((what + (errors.empty() ? "" : ": ") + errors).str())},
      {"retire", true}};
}

json::Value DeviceWorker::verify(ModuleOp compiled) {
  FailureOr<std::vector<ResultCheck>> checks = runner->verify(compiled);
  if (failed(checks))
    return fail("cannot run the kernel");
  for (const ResultCheck &check : *checks)
    if (!check.comparison.passed)
      return json::Object{{"status", "wrong-result"},
                          {"message", check.explain()}};
  return nullptr;
}

json::Value DeviceWorker::measure(ModuleOp compiled,
                                  std::optional<double> stopAboveNs) {
  constexpr double nsPerMs = 1e6;
  auto answer = [&](const Timing &timing) {
    json::Array samples;
    for (double sample : timing.samples)
      samples.push_back(sample * nsPerMs);
    json::Object answered{{"status", "ok"}, {"samples", std::move(samples)}};
    if (timing.clockBeforeMHz && timing.clockAfterMHz)
      answered["clock_mhz"] =
          std::min(*timing.clockBeforeMHz, *timing.clockAfterMHz);
    return answered;
  };
  // A look first: most candidates are not worth more.
  BenchmarkOptions options;
  options.warmUps = 2;
  options.repeats = 5;
  FailureOr<Timing> timing = runner->time(compiled, options);
  if (failed(timing))
    return fail("cannot time the kernel");
  if (stopAboveNs && timing->median * nsPerMs > *stopAboveNs)
    return answer(*timing);
  options.repeats = 20;
  timing = runner->time(compiled, options);
  if (failed(timing))
    return fail("cannot time the kernel");
  // What is right once may be wrong after many launches in a row.
  if (json::Value wrong = verify(compiled); wrong.getAsObject())
    return wrong;
  return answer(*timing);
}

json::Value DeviceWorker::handle(const json::Value &request) {
  errors.clear();
  const json::Object *object = request.getAsObject();
  std::optional<llvm::StringRef> binary =
      object ? object->getString("binary") : std::nullopt;
  if (!binary || !runner)
    return json::Object{{"status", "run-error"},
                        {"message", "expects a binary in a request"}};
  std::vector<char> bytes;
  if (llvm::Error error = llvm::decodeBase64(*binary, bytes))
    return json::Object{{"status", "run-error"},
                        {"message", llvm::toString(std::move(error))}};
  OwningOpRef<ModuleOp> compiled = parseSourceString<ModuleOp>(
      llvm::StringRef(bytes.data(), bytes.size()), context.get());
  if (!compiled)
    return fail("cannot read the compiled module");

  if (json::Value wrong = verify(*compiled); wrong.getAsObject())
    return wrong;
  return measure(*compiled, object->getNumber("stop_above_ns"));
}

WorkerHandlers tuning::makeDeviceHandlers(std::string kind, int ordinal,
                                          std::string problem) {
  auto worker = std::make_shared<DeviceWorker>(std::move(kind), ordinal,
                                               std::move(problem));
  WorkerHandlers handlers;
  handlers.start = [worker] { return worker->start(); };
  handlers.handle = [worker](const json::Value &request) {
    return worker->handle(request);
  };
  return handlers;
}
