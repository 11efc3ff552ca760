// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ties the search to files, chips and devices. Everything that can be wrong
// with the command line is found before the first candidate is compiled.

#include "attune/Tuning/TuneFile.h"
#include "Remarks.h"
#include "ScriptTask.h"
#include "TuneProgram.h"
#include "WinnerCommand.h"
#include "attune/Execution/Problem.h"
#include "attune/InitAllDialects.h"
#include "attune/Pipelines/Pipelines.h"
#include "attune/Runtime/ArtifactWriter.h"
#include "attune/Runtime/ExitCode.h"
#include "attune/Schedule/TuningSpec.h"
#include "attune/Target/TargetRegistry.h"
#include "attune/Tuning/DeviceWorkers.h"
#include "attune/Tuning/ModelRanker.h"
#include "attune/Tuning/Recording.h"
#include "attune/Tuning/Report.h"
#include "attune/Tuning/TunableTask.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"
#include <numeric>

using namespace mlir;
using namespace attune;
using namespace attune::tuning;

/// How many schedules of problems like this one are tried before a strategy is
/// asked.
static constexpr size_t kSeeds = 8;

namespace {
class FileTuner {
public:
  FileTuner(const TuneFileOptions &options,
            const volatile sig_atomic_t &interrupted)
      : options(options), interrupted(interrupted),
        runner(options, interrupted),
        context(makeRegistry(), MLIRContext::Threading::DISABLED),
        sourceHandler(sources, &context) {
    context.printOpOnDiagnostic(false);
  }

  llvm::Error run();
  /// Whether schedules failed that were executed on the CPU.
  bool foundFailures() const { return !failures.empty(); }

private:
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }

  llvm::Error readInput();
  /// Of an input with `count` ops that can be tuned.
  llvm::Error readScript(size_t count);
  llvm::Error findDevice();
  llvm::Error chooseChip();
  /// Finds options that would do nothing: of devices where there is none, and
  /// sizes that no op leaves open.
  llvm::Error checkUse(llvm::ArrayRef<TunableOpInterface> ops) const;
  /// One for each op. Finds what is wrong with --vendor.
  llvm::Expected<std::vector<Task>>
  makeTasks(llvm::ArrayRef<TunableOpInterface> ops) const;
  llvm::Error tune(TunableOpInterface op, Task task);
  /// Sets the schedule that won, and remembers it.
  llvm::Error keepWinner(TunableOpInterface op, const Task &task,
                         const Space &space, const Outcome &outcome);
  /// Whether kernels are executed on the CPU and none is timed.
  bool isExecuted() const { return options.device == "host"; }
  /// The command that runs the winner of an op; empty where the ops are many
  /// and there is no file with their winners.
  std::string getCommand(TunableOpInterface op, const Space &space,
                         llvm::ArrayRef<int64_t> point) const;
  /// Everything that the results depend on, beside the problem.
  std::string describeCompiler() const;
  /// The workers of the device, for one problem.
  llvm::Error openDevices(llvm::StringRef problem);
  llvm::Error writeOutput();
  StoreKey makeKey(const Task &task) const;
  void explainUntimed(const Outcome &outcome);
  /// Notes for the end that schedules failed which were executed.
  void noteFailed(const Task &task, const Outcome &outcome);

  const TuneFileOptions &options;
  const volatile sig_atomic_t &interrupted;
  SearchRunner runner;
  MLIRContext context;
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler sourceHandler;
  OwningOpRef<ModuleOp> module;
  std::optional<DeviceIdentity> device;
  std::vector<int> ordinals;
  /// Why there is no device to time on.
  std::string noDevice;
  tile::TargetAttr target;
  /// What was found before, by other searches and by this one.
  TuningSpecs specs;
  std::unique_ptr<DeviceWorkers> devices;
  /// Null where the schedules of ops are searched.
  std::unique_ptr<ScriptTask> script;
  /// Its file with the winner selected.
  std::string transformed;
  /// How many ops the input has.
  size_t problems = 0;
  /// Of what was executed; empty where all is right.
  std::string failures;
  /// One line for each op, for the head of the output.
  std::vector<std::string> provenance;
};
} // namespace

llvm::Error FileTuner::readInput() {
  llvm::Expected<std::optional<std::string>> text = readProblem(options.input);
  if (!text)
    return text.takeError();
  ParserConfig config(&context);
  module = *text ? parseSourceString<ModuleOp>(**text, config)
                 : parseSourceFile<ModuleOp>(options.input, sources, config);
  if (!module || failed(raiseAttention(*module)))
    return llvm::createStringError("cannot read '" + options.input + "'");
  for (const std::string &path : options.tuningSpecs)
    if (failed(specs.read(path, UnknownLoc::get(&context))))
      return llvm::createStringError("cannot use the tuning spec '" + path +
                                     "'");
  return llvm::Error::success();
}

llvm::Error FileTuner::readScript(size_t count) {
  if (options.script.empty() && !findScript(*module))
    return llvm::Error::success();
  if (isExecuted())
    return llvm::createStringError(
        "expects no transform script with --device=host, which executes the "
        "schedules of ops");
  if (count != 1)
    return llvm::createStringError(
        llvm::formatv("expects one op that can be tuned with a transform "
                      "script, but got {0}",
                      count)
            .str());
  auto created = ScriptTask::create(options, *module);
  if (!created)
    return created.takeError();
  script = std::move(*created);
  return llvm::Error::success();
}

static void printWarning(const std::string &message) {
  llvm::WithColor::warning(llvm::errs(), "attune-tune") << message << "\n";
}

llvm::Error FileTuner::findDevice() {
  if (options.device == "none") {
    noDevice = "--device=none was given";
    return llvm::Error::success();
  }
  if (isExecuted()) {
    noDevice = "the host executor is no chip";
    return llvm::Error::success();
  }
  llvm::Expected<DeviceIdentity> found =
      probeDevice(options.executable, options.device, options.ordinals.front());
  if (found) {
    device = std::move(*found);
    if (device->busyPercent > 0)
      printWarning(llvm::formatv(
          "the device is busy for {0} percent of the time: other work is in "
          "what is timed",
          device->busyPercent));
    ordinals = options.ordinals;
    while (options.allDevices) {
      llvm::Expected<DeviceIdentity> next =
          probeDevice(options.executable, device->kind, ordinals.back() + 1);
      if (!next || next->getKey() != device->getKey()) {
        llvm::consumeError(next.takeError());
        break;
      }
      ordinals.push_back(ordinals.back() + 1);
    }
    return llvm::Error::success();
  }
  if (options.device != "auto")
    return found.takeError();
  noDevice = llvm::toString(found.takeError());
  return llvm::Error::success();
}

llvm::Error FileTuner::chooseChip() {
  std::string chip = options.chip;
  if (chip.empty() && device)
    chip = getChipOf(device->chip).str();
  if (chip.empty())
    chip = options.fallbackChip;
  if (chip.empty())
    return llvm::createStringError(
        llvm::formatv("expects --chip where there is no device ({0}); the "
                      "chips are {1}",
                      noDevice, llvm::join(getChipNames(), ", "))
            .str());
  std::string message;
  FailureOr<tile::TargetAttr> found = [&] {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      message = diagnostic.str();
      return success();
    });
    return getTarget(&context, chip,
                     [&] { return emitError(UnknownLoc::get(&context)); });
  }();
  if (failed(found))
    return llvm::createStringError(message);
  target = *found;
  if (isExecuted())
    device = DeviceIdentity{"host", "host executor", chip};
  if (device && !runsOn(chip, device->chip)) {
    std::string mismatch =
        llvm::formatv("the device here is '{0}' ({1}), which does not run code "
                      "for '{2}'",
                      device->name, device->chip, chip);
    if (options.device != "auto")
      return llvm::createStringError(mismatch);
    noDevice = mismatch;
    device.reset();
  }
  return llvm::Error::success();
}

llvm::Error FileTuner::checkUse(llvm::ArrayRef<TunableOpInterface> ops) const {
  if (options.namesDevices && !device)
    return llvm::createStringError(
        "expects a device with --gpus and --launcher, but there is none (" +
        noDevice + ")");
  if (options.namesState && (!device || isExecuted()))
    return llvm::createStringError(
        "expects a device with --state and --objective, but there is none (" +
        noDevice + ")");
  if (options.search.objective != Objective::Time && !device->hasEnergyCounter)
    return llvm::createStringError(
        "expects a device that counts energy with --objective=" +
        toString(options.search.objective) + ", but " + device->describe() +
        " does not");
  for (const auto &[name, size] : options.sizes) {
    bool isUsed = llvm::any_of(ops, [&, &name = name,
                                     &size = size](TunableOpInterface op) {
      return llvm::any_of(llvm::zip_equal(op.getKnobSet().sizes, op.getSizes()),
                          [&](auto known) {
                            auto [info, value] = known;
                            return info.name == name &&
                                   (ShapedType::isDynamic(value) ||
                                    value == size);
                          });
    });
    if (!isUsed)
      return llvm::createStringError(
          llvm::formatv(
              "expects --size to name a size that is dynamic in '{0}', "
              "but got {1}={2}",
              options.input, name, size)
              .str());
  }
  return llvm::Error::success();
}

std::string FileTuner::describeCompiler() const {
  std::string compiler = runner.describeCompiler();
  BinaryOptions binary;
  binary.assemblerPath = options.assembler;
  if (const TargetModel *model = getTargetModel(target.getFamily()))
    compiler += " " + model->getToolchain(binary);
  return compiler;
}

StoreKey FileTuner::makeKey(const Task &task) const {
  std::string compiler = describeCompiler();
  std::string name = device ? device->getKey() : "none";
  // Another build has another executor, and lowers equal tiles to other
  // kernels.
  if (isExecuted())
    name = "host executor, " + compiler;
  return {task.key, task.chip, std::move(name), std::move(compiler),
          device && !isExecuted() ? toString(options.state).str() : ""};
}

llvm::Error FileTuner::openDevices(llvm::StringRef problem) {
  WorkerLimits limits;
  limits.requestSeconds = options.runSeconds;
  limits.startSeconds = options.prepareSeconds;
  limits.memoryBytes = options.runMemoryBytes;
  limits.limitAllocation = false; // drivers reserve far more than they use
  if (isExecuted()) {
    ordinals.resize(options.jobs);
    std::iota(ordinals.begin(), ordinals.end(), 0);
  }
  if (!options.launchers.empty() && !options.quiet)
    llvm::errs() << "waiting for the workers behind --launcher\n";
  auto made =
      DeviceWorkers::create(options.executable, *device, ordinals,
                            options.launchers, problem, limits, interrupted);
  if (!made)
    return made.takeError();
  devices = std::move(*made);
  return llvm::Error::success();
}

static void printError(llvm::StringRef message) {
  llvm::WithColor::error(llvm::errs(), "attune-tune") << message << "\n";
}

void FileTuner::explainUntimed(const Outcome &outcome) {
  bool checked =
      outcome.winner && outcome.results[*outcome.winner].stage == Stage::Final;
  llvm::WithColor::warning(llvm::errs(), "attune-tune")
      << "nothing was timed (" << noDevice << ")\n"
      << (outcome.ranked
              ? "note: every candidate was compiled and ranked by a "
                "model of its time\n"
              : "note: every candidate was compiled; none is ranked\n")
      << (checked ? "note: the kernels of the best were executed on the CPU, "
                    "for a smaller problem, and compared to the reference; "
                  : "note: no numbers were checked; ")
      << "run attune-tune on a machine with the chip before you rely on the "
         "schedule\n";
}

void FileTuner::noteFailed(const Task &task, const Outcome &outcome) {
  size_t count = llvm::count_if(outcome.results, [](const Result &result) {
    return result.status != Status::Ok;
  });
  if (count)
    failures += llvm::formatv("{0}{1} of {2} schedules of '{3}' failed on the "
                              "host executor for {4}",
                              failures.empty() ? "" : "; ", count,
                              outcome.results.size(), task.name, task.chip)
                    .str();
}

std::string FileTuner::getCommand(TunableOpInterface op, const Space &space,
                                  llvm::ArrayRef<int64_t> point) const {
  llvm::StringRef chip = target.getChip();
  bool hasInput = options.input != "-", hasOutput = hasOutputFile(options);
  if (script && hasOutput && (hasInput || options.script.empty()))
    return script->getCommand("attune-opt") + " | " +
           makeRunCommand(options, /*file=*/"", chip);
  if (script) {
    std::string only = makeOnly(space, point);
    return !hasInput || only.empty() ? ""
                                     : makeSearchCommand(options, chip) + only;
  }
  auto function = op->getParentOfType<func::FuncOp>();
  if (!function)
    return "";
  if (hasOutput)
    return makeRunCommand(options, options.output, chip) +
           (problems > 1 ? makeOption("function", function.getName()) : "");
  // A schedule on the command line is that of all ops.
  if (!hasInput || problems > 1)
    return "";
  return makeRunCommand(options, options.input, chip) +
         makeOption("schedule", space.toString(point));
}

llvm::Expected<std::vector<Task>>
FileTuner::makeTasks(llvm::ArrayRef<TunableOpInterface> ops) const {
  std::vector<Task> tasks;
  std::vector<VendorProblem> problems;
  for (TunableOpInterface op : ops) {
    tasks.push_back(makeTask(op, target, options.sizes));
    problems.push_back({tasks.back().name, tasks.back().flops});
  }
  auto vendors = resolveVendorTimes(options.vendors, problems, options.input);
  if (!vendors)
    return vendors.takeError();
  for (auto [task, vendor] : llvm::zip_equal(tasks, *vendors))
    task.vendorTime = vendor;
  return tasks;
}

llvm::Error FileTuner::tune(TunableOpInterface op, Task task) {
  for (ScheduleAttrInterface seed :
       specs.findClosest(op, target.getChip(), kSeeds))
    task.seeds.push_back(seed.getValues().vec());
  // Lives as long as the task.
  OwningOpRef<ModuleOp> problem;
  if (script) {
    problem = parseSourceString<ModuleOp>(task.text, ParserConfig(&context));
    if (llvm::Error error = script->complete(task, *problem, /*head=*/""))
      return error;
    task.getCommand = [&](llvm::StringRef file) {
      return "attune-tune " + file.str() + " --chip=" + task.chip +
             " --budget=1";
    };
  }
  Space space =
      script ? script->getSpace().getSpace() : makeSpace(op.getKnobSet());
  llvm::Expected<Space> restricted = space.limit(options.only);
  if (!restricted)
    return restricted.takeError();
  WorkerLimits checkLimits = runner.getCompileLimits();
  // For each class of inputs.
  checkLimits.requestSeconds =
      options.runSeconds * static_cast<double>(op.getInputClasses().size());
  WorkerPool checkers({{options.executable, "attune-tune", "--worker=check"}},
                      checkLimits);
  ScheduleRules rules = op.getRules(target);
  SearchSetup setup{task, std::move(*restricted),
                    script ? script->getSpace().makeLegality()
                           : makeLegality(rules.checkLegal),
                    makeKey(task)};
  if (!script && !options.everything)
    setup.worthTrying = makeLegality(rules.checkWorthTrying);
  setup.compileWorker = {isExecuted() ? "--worker=tiles" : "--worker=compile"};
  if (!options.assembler.empty())
    setup.compileWorker.push_back("--assembler=" + options.assembler);
  setup.compileLimits = runner.getCompileLimits();
  setup.openDevices = [&]() -> llvm::Expected<WorkerPool *> {
    if (!device)
      return nullptr;
    if (llvm::Error error = openDevices(task.text))
      return error;
    return &devices->getPool();
  };
  setup.checkers = &checkers;
  if (options.rank && !isExecuted() && !script)
    setup.makeRanker = [&] {
      return createModelRanker(op.createCostModel(target, options.sizes));
    };
  setup.getCommand = [&](llvm::ArrayRef<int64_t> point) {
    return getCommand(op, setup.space, point);
  };
  setup.explain = [&](const Outcome &outcome) {
    if (!device)
      explainUntimed(outcome);
  };
  llvm::Expected<std::optional<Outcome>> searched = runner.search(setup);
  devices.reset();
  if (!searched)
    return searched.takeError();
  if (!*searched)
    return llvm::Error::success();
  const Outcome &outcome = **searched;
  if (interrupted)
    return llvm::Error::success();
  if (isExecuted()) {
    noteFailed(task, outcome);
    return llvm::Error::success();
  }
  return keepWinner(op, task, setup.space, outcome);
}

llvm::Error FileTuner::keepWinner(TunableOpInterface op, const Task &task,
                                  const Space &space, const Outcome &outcome) {
  llvm::Expected<const Result *> found = getWinner(task, outcome);
  if (!found)
    return found.takeError();
  const Result &winner = **found;
  emitRemarks(task, space, outcome, op->getLoc(), [&](size_t knob) {
    return script ? script->getSpace().getPlaces(knob)
                  : llvm::SmallVector<Location>{op->getLoc()};
  });
  if (script)
    transformed = script->printWinner(winner.point);
  else
    setSchedule(op, winner.point);
  if (winner.isTimed() && !script)
    specs.add(op, op.getSchedule(), target.getChip());
  provenance.push_back(
      winner.isTimed()
          ? llvm::formatv("{0}: {1:F1} us on {2}", task.name,
                          winner.getSummary().median / 1000, device->describe())
                .str()
          : llvm::formatv("{0}: {1} for {2}{3}; nothing was timed", task.name,
                          outcome.ranked ? "chosen" : "the first that is valid",
                          task.chip, outcome.ranked ? " by a model" : "")
                .str());
  return llvm::Error::success();
}

llvm::Error FileTuner::writeOutput() {
  if (options.output.empty())
    return llvm::Error::success();
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const std::string &line : provenance)
    os << "// " << line << "\n";
  if (script) {
    os << "// Reproduce with: " << script->getCommand("attune-opt") << "\n"
       << transformed;
    return writeFile(options.output, text);
  }
  // What is written is a tuning spec as well.
  (*module)->setAttr(kTunedForAttrName,
                     StringAttr::get(&context, target.getChip()));
  module->print(os);
  os << "\n";
  return writeFile(options.output, text);
}

llvm::Error FileTuner::run() {
  if (llvm::Error error = runner.checkOptions())
    return error;
  if (llvm::Error error = enableRemarks(context, options))
    return error;
  if (llvm::Error error = readInput())
    return error;
  llvm::SmallVector<TunableOpInterface> ops;
  module->walk([&](TunableOpInterface op) { ops.push_back(op); });
  if (ops.empty())
    return llvm::createStringError("expects an op that can be tuned in '" +
                                   options.input + "', but there is none");
  problems = ops.size();
  if (llvm::Error error = readScript(problems))
    return error;
  if (llvm::Error error = findDevice())
    return error;
  if (llvm::Error error = chooseChip())
    return error;
  if (llvm::Error error = checkUse(ops))
    return error;
  if (llvm::Error error = runner.openStore())
    return error;
  llvm::Expected<std::vector<Task>> tasks = makeTasks(ops);
  if (!tasks)
    return tasks.takeError();
  for (auto [op, task] : llvm::zip_equal(ops, *tasks)) {
    if (llvm::Error error = tune(op, std::move(task)))
      return error;
    if (interrupted)
      break;
  }
  if (options.dryRun)
    return llvm::Error::success();
  if (llvm::Error error = runner.writeReport())
    return error;
  if (!failures.empty())
    return llvm::createStringError(failures);
  return interrupted ? llvm::Error::success() : writeOutput();
}

int tuning::tuneFile(const TuneFileOptions &options,
                     const volatile sig_atomic_t &interrupted) {
  int exitCode = kExitFailure;
  auto run = [&]() -> llvm::Error {
    if (!options.pipeline.empty())
      return tuneProgram(options, interrupted);
    FileTuner tuner(options, interrupted);
    llvm::Error error = tuner.run();
    if (tuner.foundFailures())
      exitCode = kExitWrongKernel;
    return error;
  };
  if (llvm::Error error = run()) {
    printError(llvm::toString(std::move(error)));
    return interrupted ? 130 : exitCode;
  }
  if (!interrupted)
    return 0;
  llvm::errs() << "interrupted; ";
  if (options.database.empty())
    llvm::errs() << "the results are lost, because there is no --db\n";
  else
    llvm::errs() << "every result so far is in '" << options.database
                 << "'; resume with: " << options.command << "\n";
  return 130;
}

int tuning::printDatabaseStatus(llvm::StringRef database) {
  auto run = [&]() -> llvm::Error {
    llvm::Expected<std::unique_ptr<Store>> store =
        Store::openReadOnly(database);
    if (!store)
      return store.takeError();
    return printStatus(llvm::outs(), **store);
  };
  if (llvm::Error error = run()) {
    printError(llvm::toString(std::move(error)));
    return 1;
  }
  return 0;
}
