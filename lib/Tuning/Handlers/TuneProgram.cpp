// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ties the search to a payload, a script and a pipeline. All that is wrong with
// these is found before the first candidate is compiled.

#include "TuneProgram.h"
#include "Remarks.h"
#include "ScriptTask.h"
#include "WinnerCommand.h"
#include "attune/Execution/HostCode.h"
#include "attune/InitAllDialects.h"
#include "attune/Runtime/ArtifactWriter.h"
#include "attune/Tuning/DeviceWorkers.h"
#include "attune/Tuning/ProgramHandler.h"
#include "attune/Tuning/Reproducer.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/TargetParser/Host.h"
#include <thread>

using namespace mlir;
using namespace attune;
using namespace attune::tuning;

static llvm::Error checkOptions(const TuneFileOptions &options) {
  if (options.device != "auto" && options.device != "cpu")
    return llvm::createStringError(
        "expects --device to be auto or cpu with --pipeline, for its programs "
        "are executed on the CPU, but got '" +
        options.device + "'");
  if (!options.chip.empty() || !options.sizes.empty())
    return llvm::createStringError(
        "expects no --chip and no --size with --pipeline, for its programs are "
        "compiled for this CPU and for the sizes of their types");
  if (options.namesState)
    return llvm::createStringError(
        "expects no --state and no --objective with --pipeline, for its "
        "programs are timed on the CPU");
  if (options.namesDevices)
    return llvm::createStringError("expects no --gpus and no --launcher with "
                                   "--pipeline, for processors of two machines "
                                   "are seldom alike");
  for (const std::string &library : options.libraries)
    if (llvm::StringRef(library).contains(','))
      return llvm::createStringError(
          "expects a library without a comma in its path, but got '" + library +
          "'");
  return llvm::Error::success();
}

/// The function that is to be run.
static llvm::Expected<func::FuncOp> findEntry(const TuneFileOptions &options,
                                              ModuleOp payload) {
  llvm::SmallVector<func::FuncOp> functions;
  for (auto function : payload.getOps<func::FuncOp>())
    if (!function.isExternal() && !function.isPrivate())
      functions.push_back(function);
  auto names = llvm::map_range(functions, [](func::FuncOp function) {
    return "'" + function.getName().str() + "'";
  });
  if (options.entry.empty()) {
    if (functions.size() == 1)
      return functions.front();
    return llvm::createStringError(
        functions.empty()
            ? "expects a public function with a body in '" + options.input +
                  "', but there is none"
            : "expects --entry where there are several functions, which are " +
                  llvm::join(names, ", "));
  }
  for (func::FuncOp function : functions)
    if (function.getName() == options.entry)
      return function;
  return llvm::createStringError(
      "expects a public function '" + options.entry + "' with a body in '" +
      options.input + "', but there " +
      (functions.empty() ? "is none" : "is only " + llvm::join(names, ", ")));
}

/// Of a file with payload and script or, if the latter is given, the payload.
static std::string getCommand(const ProgramRecipe &recipe, llvm::StringRef file,
                              llvm::StringRef script) {
  std::string command = "attune-tune " + quoteForShell(file) +
                        makeOption("script", script) +
                        makeOption("pipeline", recipe.pipeline) +
                        makeOption("entry", recipe.entry);
  if (recipe.reference != TuneFileOptions().referencePipeline)
    command += makeOption("reference-pipeline", recipe.reference);
  return command + makeOption("shared-libs", llvm::join(recipe.libraries, ","));
}

/// What is selected is the default, and that is tried first.
static constexpr llvm::StringLiteral kSelectedOnly = " --budget=1";

/// The command that runs a winner.
static std::string getWinnerCommand(const TuneFileOptions &options,
                                    const ProgramRecipe &recipe,
                                    const Space &space,
                                    llvm::ArrayRef<int64_t> point) {
  bool hasInput = options.input != "-";
  if (hasOutputFile(options) && options.script.empty())
    return getCommand(recipe, options.output, "") + kSelectedOnly.str();
  if (hasOutputFile(options) && hasInput)
    return getCommand(recipe, options.input, options.output) +
           kSelectedOnly.str();
  std::string only = makeOnly(space, point);
  return hasInput && !only.empty()
             ? getCommand(recipe, options.input, options.script) + only
             : "";
}

static llvm::Error writeWinner(const TuneFileOptions &options,
                               const ScriptTask &script, const Task &task,
                               const std::string &device,
                               const ProgramRecipe &recipe,
                               const Result &winner) {
  if (options.output.empty())
    return llvm::Error::success();
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::formatv("// {0}: {1:F1} us on {2}\n", task.name,
                      winner.getSummary().median / 1000, device)
     << "// " << script.getSpace().getSpace().toString(winner.point) << "\n"
     << "// Reproduce with: " << script.getCommand("mlir-opt")
     << " | mlir-opt --pass-pipeline=" << quoteForShell(recipe.pipeline) << "\n"
     << script.printWinner(winner.point);
  return writeFile(options.output, text);
}

static llvm::Expected<ProgramRecipe>
readRecipe(MLIRContext &context, const TuneFileOptions &options) {
  ProgramRecipe recipe{options.entry, options.pipeline,
                       options.referencePipeline, options.libraries};
  // A line of the recipe has one.
  for (std::string *pipeline : {&recipe.pipeline, &recipe.reference})
    llvm::replace(*pipeline, '\n', ' ');
  if (llvm::Error error =
          checkPipeline(&context, "--pipeline", recipe.pipeline))
    return error;
  if (llvm::Error error =
          checkPipeline(&context, "--reference-pipeline", recipe.reference))
    return error;
  return recipe;
}

/// Whether there is something to compare.
static llvm::Error checkResults(func::FuncOp function) {
  FailureOr<HostSignature> signature = HostSignature::get(function);
  if (failed(signature))
    return llvm::createStringError("cannot run '" + function.getName() + "'");
  bool hasResults = !signature->results.empty() ||
                    llvm::any_of(signature->arguments, [](auto &argument) {
                      return argument.kind == HostValue::Kind::MemRef;
                    });
  if (!hasResults)
    return llvm::createStringError(
        "expects results or memrefs of '" + function.getName() +
        "', so that there is something to compare, but got none");
  return llvm::Error::success();
}

static std::string describeDevice(llvm::StringRef chip) {
  return llvm::formatv("CPU ({0}, {1} processors)", chip,
                       std::thread::hardware_concurrency());
}

/// A task of this CPU, with its vendor's time.
static llvm::Expected<Task> nameTask(const TuneFileOptions &options,
                                     const std::string &entry) {
  Task task;
  task.name = entry;
  task.chip = llvm::sys::getHostCPUName().str();
  auto vendors = resolveVendorTimes(options.vendors, {{task.name, task.flops}},
                                    options.input);
  if (!vendors)
    return vendors.takeError();
  task.vendorTime = vendors->front();
  return task;
}

/// Makes `workers` of the CPU called `device`, which live as long as the
/// search.
static llvm::Expected<WorkerPool *>
startWorkers(const TuneFileOptions &options, const Task &task,
             const std::string &device, WorkerLimits limits,
             const volatile sig_atomic_t &interrupted,
             std::unique_ptr<DeviceWorkers> &workers) {
  limits.requestSeconds = options.runSeconds;
  limits.startSeconds = options.prepareSeconds;
  auto made = DeviceWorkers::create(
      options.executable, DeviceIdentity{"cpu", device, task.chip}, {0},
      options.launchers, task.text, limits, interrupted);
  if (!made)
    return made.takeError();
  workers = std::move(*made);
  // A reference that cannot be computed is no candidate's fault.
  auto started = workers->getPool().startAll(&interrupted);
  if (!started)
    return started.takeError();
  return &workers->getPool();
}

llvm::Error tuning::tuneProgram(const TuneFileOptions &options,
                                const volatile sig_atomic_t &interrupted) {
  SearchRunner runner(options, interrupted);
  if (llvm::Error error = runner.checkOptions())
    return error;
  if (llvm::Error error = checkOptions(options))
    return error;
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  llvm::Expected<ProgramRecipe> read = readRecipe(context, options);
  if (!read)
    return read.takeError();
  ProgramRecipe recipe = std::move(*read);
  if (llvm::Error error = enableRemarks(context, options))
    return error;
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  auto module =
      parseSourceFile<ModuleOp>(options.input, sources, ParserConfig(&context));
  if (!module)
    return llvm::createStringError("cannot read '" + options.input + "'");
  auto script = ScriptTask::create(options, *module);
  if (!script)
    return script.takeError();
  llvm::Expected<func::FuncOp> function =
      findEntry(options, (*script)->getPayload());
  if (!function)
    return function.takeError();
  recipe.entry = function->getName().str();
  if (llvm::Error error = checkResults(*function))
    return error;
  llvm::Expected<Task> named = nameTask(options, recipe.entry);
  if (!named)
    return named.takeError();
  Task task = std::move(*named);
  if (llvm::Error error =
          (*script)->complete(task, (*script)->getPayload(), recipe.print()))
    return error;
  task.getCommand = [&](llvm::StringRef file) {
    return getCommand(recipe, file, /*script=*/"") + kSelectedOnly.str();
  };
  const ScriptSpace &space = (*script)->getSpace();
  llvm::Expected<Space> limited = space.getSpace().limit(options.only);
  if (!limited)
    return limited.takeError();
  std::string device = describeDevice(task.chip);
  std::unique_ptr<DeviceWorkers> workers;
  SearchSetup setup{task,
                    std::move(*limited),
                    space.makeLegality(),
                    {task.key, task.chip, device, runner.describeCompiler()}};
  setup.compileWorker = {"--worker=compile"};
  setup.compileLimits = runner.getCompileLimits();
  setup.openDevices = [&]() -> llvm::Expected<WorkerPool *> {
    return startWorkers(options, task, device, runner.getCompileLimits(),
                        interrupted, workers);
  };
  setup.getCommand = [&](llvm::ArrayRef<int64_t> point) {
    return getWinnerCommand(options, recipe, setup.space, point);
  };
  if (llvm::Error error = runner.openStore())
    return error;
  llvm::Expected<std::optional<Outcome>> outcome = runner.search(setup);
  if (!outcome)
    return outcome.takeError();
  if (!*outcome)
    return llvm::Error::success();
  if (llvm::Error error = runner.writeReport())
    return error;
  if (interrupted)
    return llvm::Error::success();
  llvm::Expected<const Result *> winner = getWinner(task, **outcome);
  if (!winner)
    return winner.takeError();
  emitRemarks(task, setup.space, **outcome, function->getLoc(),
              [&](size_t knob) { return space.getPlaces(knob); });
  return writeWinner(options, **script, task, device, recipe, **winner);
}
