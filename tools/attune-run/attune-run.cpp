// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attune-run: compiles a function with an op that can be tuned, or takes it
// compiled, runs it on a GPU, compares the results to the reference and times
// the kernels.

#include "Options.h"
#include "Report.h"
#include "attune/Dialect/Launch/IR/Launch.h"
#include "attune/Execution/Runner.h"
#include "attune/Execution/Stage.h"
#include "attune/InitAllDialects.h"
#include "attune/InitAllPasses.h"
#include "attune/Runtime/ArtifactWriter.h"
#include "attune/Runtime/Npy.h"
#include "attune/Simulator/HostDevice.h"
#include "attune/Target/TargetRegistry.h"
#include "attune/Tools/ToolMain.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace attune;
using namespace attune::run;

namespace {

class Tool {
public:
  Tool(const Options &options, MLIRContext &context)
      : options(options), context(context) {}

  LogicalResult run();
  /// Of a run that failed.
  int getExitCode() const {
    return isWrong || (host && host->getNumFaults() > 0) ? kExitWrongKernel
                                                         : kExitFailure;
  }

private:
  LogicalResult fail(const Twine &message) {
    llvm::WithColor::error(llvm::errs(), "attune-run") << message << '\n';
    return failure();
  }
  LogicalResult fail(llvm::Error error) {
    return fail(llvm::toString(std::move(error)));
  }

  void warn(const Twine &message) {
    llvm::WithColor::warning(llvm::errs(), "attune-run") << message << '\n';
  }

  LogicalResult checkOptions();
  LogicalResult open(ModuleOp module);
  LogicalResult compile(ModuleOp module, StringRef chip);
  /// Runs a function as it is.
  LogicalResult print(ModuleOp module);
  LogicalResult measure(Runner &runner, ModuleOp module, Report &report);
  /// Writes what the kernels read and wrote.
  LogicalResult writeTensors(Runner &runner);

  const Options &options;
  MLIRContext &context;
  std::unique_ptr<Device> device;
  /// The device, where it is the host executor.
  HostDevice *host = nullptr;
  /// Whether results are not what they should be.
  bool isWrong = false;
};

} // namespace

LogicalResult Tool::checkOptions() {
  if (options.device == "host" && options.bench)
    return fail("--bench expects a GPU: with --device=host nothing is timed");
  if (options.device == "host" && options.ordinal.getNumOccurrences())
    return fail("--device-number expects a GPU, but got --device=host");
  if (options.device != "host") {
    if (options.counts)
      return fail("expects --device=host with --counts");
    if (auto error = options.checkNoHostOptions())
      return fail(std::move(error));
  }
  if (options.state.getNumOccurrences() && !options.bench)
    return fail("--state expects --bench: it is the state of a chip that is "
                "timed");
  if (options.repeats < 1)
    return fail("--repeats expects at least 1, but got 0");
  return success();
}

LogicalResult Tool::open(ModuleOp module) {
  if (options.device != "host") {
    auto opened = openDevice(options.device, options.ordinal);
    if (!opened) {
      (void)fail(opened.takeError());
      llvm::WithColor::note(llvm::errs(), "attune-run")
          << "--device=host executes a kernel on the CPU: tensors with "
             "--chip=<name>, or what attune-compile makes with format=llvm\n";
      return failure();
    }
    device = std::move(*opened);
    if (int busy = options.bench ? readBusyPercent(*device) : 0)
      warn("the device is busy for " + Twine(busy) +
           " percent of the time: other work is in what is timed");
    return success();
  }
  FailureOr<tile::TargetAttr> target = options.findHostTarget(module);
  if (failed(target))
    return failure();
  HostOptions hostOptions = options.getHostOptions();
  hostOptions.counts = options.counts;
  auto made = std::make_unique<HostDevice>(context, *target, hostOptions);
  host = made.get();
  device = std::move(made);
  return success();
}

LogicalResult Tool::compile(ModuleOp module, StringRef chip) {
  PassManager pm(&context);
  if (auto error = options.addSchedule(pm))
    return fail(std::move(error));
  CompileOptions compileOptions;
  compileOptions.chip = chip.str();
  compileOptions.assembler = options.ptxas.getValue();
  if (options.device == "host")
    compileOptions.format = CompileFormat::LLVM;
  buildCompilePipeline(pm, compileOptions);
  return pm.run(module);
}

LogicalResult Tool::print(ModuleOp module) {
  SmallVector<func::FuncOp> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (options.function.empty() || function.getName() == options.function)
      functions.push_back(function);
  if (functions.size() != 1)
    return fail("--print expects one function, but there are " +
                Twine(functions.size()) + "; --function=<name> chooses");
  func::FuncOp function = functions.front();
  if (function.getNumArguments() > 0)
    return function.emitError()
           << "expects a function without arguments to print its results";
  if (failed(open(module)))
    return failure();
  OwningOpRef<ModuleOp> lowered;
  if (host) {
    auto result = lowerForHost(module);
    if (failed(result))
      return failure();
    lowered = std::move(*result);
    module = *lowered;
    function = module.lookupSymbol<func::FuncOp>(function.getName());
  }
  auto program = HostProgram::load(module, *device);
  if (failed(program))
    return failure();
  FailureOr<HostRun> run = (*program)->run(function, {});
  if (failed(run))
    return failure();
  for (auto [index, result] : llvm::enumerate(run->getResults())) {
    if (!result.tensor)
      return function.emitError() << "expects tensors as results to print";
    auto tensor = result.tensor->read();
    if (!tensor)
      return fail(tensor.takeError());
    // A line for each row.
    llvm::outs() << "result " << index << ": " << tensor->shape.str();
    const auto &sizes = tensor->shape.sizes;
    int64_t columns = sizes.empty() ? 1 : sizes.back();
    for (auto [position, value] : llvm::enumerate(tensor->toFloats()))
      llvm::outs() << (position % columns == 0 ? "\n" : " ")
                   << llvm::format("%g", value);
    llvm::outs() << '\n';
  }
  if (host && options.counts)
    host->getCounts().printTable(llvm::outs());
  return success();
}

LogicalResult Tool::writeTensors(Runner &runner) {
  auto arguments = runner.makeArguments();
  if (failed(arguments))
    return failure();
  ArtifactWriter writer(options.outputDir);
  auto add = [&](StringRef name, ArrayRef<Tensor> tensors) -> llvm::Error {
    for (auto [index, tensor] : llvm::enumerate(tensors))
      if (auto error = writer.add((name + Twine(index) + ".npy").str(),
                                  writeNpy(tensor)))
        return error;
    return llvm::Error::success();
  };
  if (auto error = add("argument", *arguments))
    return fail(std::move(error));
  if (auto error = add("result", runner.getResults()))
    return fail(std::move(error));
  if (auto error = writer.commit())
    return fail(std::move(error));
  return success();
}

LogicalResult Tool::measure(Runner &runner, ModuleOp module, Report &report) {
  if (options.verify || !options.bench || !options.outputDir.empty() ||
      options.launches) {
    auto checks = runner.verify(module);
    if (failed(checks))
      return failure();
    report.checks = std::move(*checks);
  }
  if (options.launches) {
    auto unequal = runner.countUnequal(module, options.launches);
    if (failed(unequal))
      return failure();
    report.launches = Report::Launches{options.launches, *unequal};
  }
  if (!options.outputDir.empty() && failed(writeTensors(runner)))
    return failure();
  // A wrong kernel has no speed.
  if (options.bench && report.passed()) {
    if (auto function = module.lookupSymbol<func::FuncOp>(report.function))
      function.walk([](Operation *op) {
        if (isComputedOnHost(op))
          op->emitWarning("is computed on the CPU, and not timed");
      });
    Heater heater(*device);
    BenchmarkOptions benchmarkOptions;
    benchmarkOptions.repeats = options.repeats;
    bool isSustained = options.state == ChipState::Sustained;
    if (isSustained) {
      benchmarkOptions.heater = &heater;
      benchmarkOptions.energySeconds = kEnergySeconds;
    }
    auto timing = runner.time(module, benchmarkOptions);
    if (failed(timing))
      return failure();
    for (const ConditionsWarning &warning :
         getWarnings(timing->conditions, /*wantsEnergy=*/isSustained))
      warn(warning.text);
    report.timing = std::move(*timing);
  }
  return success();
}

LogicalResult Tool::run() {
  if (failed(checkOptions()))
    return failure();
  auto sizes = options.getSizes();
  if (!sizes)
    return fail(sizes.takeError());
  auto files = options.getInputs();
  if (!files)
    return fail(files.takeError());
  auto module = parseSourceFile<ModuleOp>(options.input, &context);
  if (!module)
    return failure();
  if (options.print)
    return print(*module);
  if (failed(raiseAttention(*module)))
    return failure();
  auto chosen = options.chooseFunction(*module);
  if (!chosen)
    return fail(chosen.takeError());
  // Kept as it is: compilation changes the module.
  OwningOpRef<func::FuncOp> source = chosen->clone();

  if (failed(open(*module)))
    return failure();
  const DeviceInfo &info = device->getInfo();
  StringRef chip = options.chip;
  if (chip.empty())
    chip =
        options.device == "host" ? StringRef(info.chip) : getChipOf(info.chip);
  if (!isCompiled(*module) && failed(compile(*module, chip)))
    return failure();

  auto runner = Runner::create(*source, *device, *sizes, options.seed,
                               options.device == "host" ? ReferencePlace::Host
                                                        : options.reference,
                               std::move(*files), options.inputClass);
  if (failed(runner))
    return failure();
  if (auto error = RunOptions::checkUnused((*runner)->getProblem()))
    return fail(std::move(error));
  Report report;
  report.device = info;
  report.function = source->getName().str();
  report.seed = options.seed;
  report.flops = (*runner)->getProblem().work.flops;
  report.bytes = (*runner)->getProblem().work.bytes;
  for (auto binary : module->getOps<gpu::BinaryOp>())
    if (launch::ManifestAttr manifest = launch::getManifest(binary))
      report.kernels.push_back(manifest.toJSON());
  if (failed(measure(**runner, *module, report)))
    return failure();
  if (host && options.counts)
    report.counts = host->getCounts();
  if (options.json)
    llvm::outs() << llvm::formatv("{0:2}\n", report.toJSON());
  else
    report.printTable(llvm::outs());
  isWrong = !report.passed();
  return success(!isWrong);
}

int attuneRunMain(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  Options options;
  llvm::cl::HideUnrelatedOptions(options.category);
  setToolVersion("attune-run");
  reportFatalErrors("attune-run");
  llvm::cl::ParseCommandLineOptions(
      argc, argv,
      "Runs kernels on a GPU or on the CPU, verifies and times them\n\n"
      "  Exit code 1 if something cannot be run as asked, 2 if a kernel is "
      "wrong:\n  results, launches that are not equal, or faults that "
      "--device=host finds.\n");
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAttunePasses();
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  Tool tool(options, context);
  return succeeded(tool.run()) ? kExitSuccess : tool.getExitCode();
}
