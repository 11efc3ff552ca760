// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifies and times candidates in a worker process that owns one device. No
// candidate is timed before its results were compared with the reference. The
// host executor is a device that takes schedules instead of binaries, and times
// nothing.

#include "attune/Tuning/DeviceHandler.h"
#include "attune/Execution/Verifier.h"
#include "attune/InitAllDialects.h"
#include "attune/Pipelines/Pipelines.h"
#include "attune/Simulator/HostDevice.h"
#include "attune/Target/TargetRegistry.h"
#include "attune/Tuning/CandidateRequest.h"
#include "attune/Tuning/DeviceLock.h"
#include "attune/Tuning/ErrorText.h"
#include "attune/Tuning/TileHandler.h"
#include "attune/Tuning/TunableTask.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Base64.h"

using namespace mlir;
using namespace attune;
using namespace attune::tuning;
namespace json = llvm::json;

namespace {
class DeviceWorker {
public:
  DeviceWorker(std::string kind, int ordinal, std::string chip,
               std::string problemPath)
      : kind(std::move(kind)), ordinal(ordinal), chip(std::move(chip)),
        problemPath(std::move(problemPath)) {}

  llvm::Expected<json::Value> start();
  json::Value handle(const json::Value &request);

private:
  llvm::Error open();
  llvm::Error prepare();
  /// The kernel that a request describes. Null where `answer` says why there is
  /// none.
  OwningOpRef<ModuleOp> load(std::optional<llvm::StringRef> binary,
                             json::Value &answer);
  OwningOpRef<ModuleOp> lower(const json::Object &request, json::Value &answer);
  /// What a verifier said, as an answer. Null where the results are right.
  json::Value judge(FailureOr<std::string> wrong) const;
  json::Value verify(ModuleOp compiled, ArrayRef<StringRef> classes);
  /// Verifies what it did not stop early.
  json::Value measure(ModuleOp compiled, const json::Object &request);
  json::Value prove(ModuleOp compiled, unsigned launches);
  /// Whether launches of what a request asks for can be expected to.
  bool givesEqualBits(const json::Object &request);
  /// A failure after which the device may not be trusted any more.
  json::Value fail(llvm::StringRef what) const;

  std::string kind;
  int ordinal;
  std::string chip;
  std::string problemPath;
  std::unique_ptr<MLIRContext> context;
  /// Of the context.
  std::optional<ErrorText> errors;
  std::unique_ptr<Device> device;
  /// Is the device where kernels are executed on the CPU.
  HostDevice *host = nullptr;
  OwningOpRef<ModuleOp> problem;
  std::unique_ptr<Verifier> verifier;
  /// Of the device, where it is a chip.
  std::optional<Heater> heater;
  /// What candidates take turns with, and the text that it was read from: it is
  /// that of the request before, but for the first.
  OwningOpRef<ModuleOp> baseline;
  std::string baselineText;
  /// What a candidate is verified with first.
  SmallVector<StringRef> classes;
};
} // namespace

/// With so many classes of inputs a candidate is verified before it is timed. A
/// winner is verified with all.
static constexpr size_t kFirstClasses = 2;
/// With so many where each launch is executed on the CPU, for each of many
/// thousand candidates.
static constexpr size_t kHostClasses = 1;

llvm::Error DeviceWorker::open() {
  if (kind == "host") {
    FailureOr<tile::TargetAttr> target = getTarget(context.get(), chip, [&] {
      return emitError(UnknownLoc::get(context.get()));
    });
    if (failed(target))
      return llvm::createStringError(errors->get());
    auto made = std::make_unique<HostDevice>(*context, *target, HostOptions());
    host = made.get();
    device = std::move(made);
    return llvm::Error::success();
  }
  llvm::Expected<std::unique_ptr<Device>> opened = openDevice(kind, ordinal);
  if (!opened)
    return opened.takeError();
  device = std::move(*opened);
  heater.emplace(*device);
  return llvm::Error::success();
}

llvm::Expected<json::Value> DeviceWorker::start() {
  DialectRegistry registry;
  registerAllDialects(registry);
  context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  errors.emplace(context.get());
  if (llvm::Error error = open())
    return error;
  // Before there is any work of this search.
  int busyPercent = problemPath.empty() ? readBusyPercent(*device) : 0;
  if (!problemPath.empty())
    if (llvm::Error error = prepare())
      return error;
  const DeviceInfo &info = device->getInfo();
  return json::Object{
      {"kind", kind},
      {"name", info.name},
      {"chip", info.chip},
      {"driver", info.driverVersion},
      {"sms", info.sms},
      {"shared_bytes", info.sharedBytes},
      {"clock_mhz", info.clockMHz},
      {"power_limit_w", info.powerLimitWatts},
      {"busy_percent", busyPercent},
      {"energy_counter", device->readState().energyMillijoules.has_value()}};
}

llvm::Error DeviceWorker::prepare() {
  problem = parseSourceFile<ModuleOp>(problemPath, context.get());
  if (!problem)
    return llvm::createStringError("cannot read the problem: " + errors->get());
  func::FuncOp function = *problem->getOps<func::FuncOp>().begin();
  classes = getInputClasses(function);
  classes.truncate(
      std::min(classes.size(), host ? kHostClasses : kFirstClasses));
  verifier = std::make_unique<Verifier>(
      function, *device, getSizes(*problem), kInputSeed,
      host ? ReferencePlace::Host : ReferencePlace::Device);
  // A kernel that runs here: whatever the last worker left behind, this one's
  // device works.
  if (failed(verifier->prepare(classes)))
    return llvm::createStringError(
        "cannot make the inputs and the reference: " + errors->get());
  return llvm::Error::success();
}

json::Value DeviceWorker::fail(llvm::StringRef what) const {
  return json::Object{
      {"status", "run-error"},
      {"message",
       json::fixUTF8(
           (what + (errors->get().empty() ? "" : ": ") + errors->get()).str())},
      {"retire", true}};
}

json::Value DeviceWorker::judge(FailureOr<std::string> wrong) const {
  if (failed(wrong))
    return fail("cannot run the kernel");
  if (wrong->empty())
    return nullptr;
  return json::Object{{"status", "wrong-result"},
                      {"message", std::move(*wrong)}};
}

json::Value DeviceWorker::verify(ModuleOp compiled,
                                 ArrayRef<StringRef> classes) {
  return judge(verifier->verify(compiled, classes));
}

json::Value DeviceWorker::prove(ModuleOp compiled, unsigned launches) {
  json::Value wrong = judge(verifier->prove(compiled, launches));
  if (wrong.getAsObject())
    return wrong;
  return json::Object{{"status", toString(Status::Ok)}};
}

bool DeviceWorker::givesEqualBits(const json::Object &request) {
  OwningOpRef<ModuleOp> module = problem->clone();
  TunableOpInterface op = getIsolatedOp(*module);
  if (std::optional<Point> point =
          readSchedule(op.getKnobSet(), request.getObject("schedule")))
    setSchedule(op, *point);
  return op.givesEqualBits();
}

json::Value DeviceWorker::measure(ModuleOp compiled,
                                  const json::Object &request) {
  constexpr double nsPerMs = 1e6;
  std::optional<double> stopAboveNs = request.getNumber("stop_above_ns");
  auto answer = [&](const Timing &timing) {
    json::Array samples;
    for (double sample : timing.samples)
      samples.push_back(sample * nsPerMs);
    json::Object answered{{"status", "ok"}, {"samples", std::move(samples)}};
    addTo(answered, timing.conditions);
    return answered;
  };
  // A look first: most candidates are not worth more.
  BenchmarkOptions options;
  options.warmUps = 2;
  options.repeats = 5;
  if (stopAboveNs)
    options.stopAboveMs = *stopAboveNs / nsPerMs;
  FailureOr<Timing> timing = verifier->time(compiled, options);
  if (failed(timing))
    return fail("cannot time the kernel");
  if (stopAboveNs && timing->median * nsPerMs > *stopAboveNs)
    return answer(*timing);
  options.repeats = 20;
  bool isSustained =
      request.getString("chip_state") == toString(ChipState::Sustained);
  if (isSustained)
    options.heater = &*heater;
  options.energySeconds = request.getNumber("energy_s").value_or(0);
  std::optional<llvm::StringRef> text = request.getString("baseline");
  if (isSustained && text && *text != baselineText) {
    json::Value answer = nullptr;
    baseline = load(text, answer);
    if (!baseline)
      return answer;
    baselineText = text->str();
  }
  timing = verifier->time(compiled, options, text ? *baseline : ModuleOp());
  if (failed(timing))
    return fail("cannot time the kernel");
  // What is right once may be wrong after many launches in a row.
  if (json::Value wrong = verify(compiled, kNormalInputs); wrong.getAsObject())
    return wrong;
  return answer(*timing);
}

OwningOpRef<ModuleOp> DeviceWorker::load(std::optional<llvm::StringRef> binary,
                                         json::Value &answer) {
  std::vector<char> bytes;
  if (!binary) {
    answer = json::Object{{"status", "run-error"},
                          {"message", "expects a binary in a request"}};
    return nullptr;
  }
  if (llvm::Error error = llvm::decodeBase64(*binary, bytes)) {
    answer = json::Object{{"status", "run-error"},
                          {"message", llvm::toString(std::move(error))}};
    return nullptr;
  }
  OwningOpRef<ModuleOp> compiled = parseSourceString<ModuleOp>(
      llvm::StringRef(bytes.data(), bytes.size()), context.get());
  if (!compiled)
    answer = fail("cannot read the compiled module");
  return compiled;
}

OwningOpRef<ModuleOp> DeviceWorker::lower(const json::Object &request,
                                          json::Value &answer) {
  std::optional<Point> point = readSchedule(
      getIsolatedOp(*problem).getKnobSet(), request.getObject("schedule"));
  std::optional<llvm::StringRef> hash = request.getString("hash");
  if (!point || !hash) {
    answer =
        json::Object{{"status", "run-error"},
                     {"message", "expects a schedule and a hash in a request"}};
    return nullptr;
  }
  host->setSeed(getHostSeed(*hash));
  OwningOpRef<ModuleOp> module = problem->clone();
  setSchedule(getIsolatedOp(*module), *point);
  PassManager manager(context.get());
  buildTileToLLVMPipeline(manager);
  if (succeeded(lowerToTiles(*module, chip)) && succeeded(manager.run(*module)))
    return module;
  answer = fail("cannot lower the kernel");
  return nullptr;
}

json::Value DeviceWorker::handle(const json::Value &request) {
  errors->clear();
  const json::Object *object = request.getAsObject();
  if (!object || !verifier)
    return json::Object{{"status", "run-error"},
                        {"message", "expects a request for a problem"}};
  json::Value answer = nullptr;
  OwningOpRef<ModuleOp> compiled =
      host ? lower(*object, answer) : load(object->getString("binary"), answer);
  if (!compiled)
    return answer;
  if (std::optional<int64_t> launches = object->getInteger("prove"))
    return prove(*compiled, givesEqualBits(*object) ? *launches : 0);
  if (json::Value wrong = verify(*compiled, classes); wrong.getAsObject())
    return wrong;
  if (host)
    return json::Object{{"status", toString(Status::Ok)}};
  return measure(*compiled, *object);
}

WorkerHandlers tuning::makeDeviceHandlers(std::string kind, int ordinal,
                                          std::string chip,
                                          std::string problem) {
  bool isShared = kind != "host" && !problem.empty();
  auto worker = std::make_shared<DeviceWorker>(kind, ordinal, std::move(chip),
                                               std::move(problem));
  WorkerHandlers handlers;
  handlers.start = [worker] { return worker->start(); };
  handlers.handle = [worker](const json::Value &request) {
    return worker->handle(request);
  };
  return isShared ? takeTurns(std::move(handlers), std::move(kind), ordinal)
                  : handlers;
}
