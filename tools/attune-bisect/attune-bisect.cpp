// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attune-bisect: runs a pipeline pass by pass, executes what each pass made on
// the CPU, and names the first one after which the numbers are wrong.

#include "PassRecorder.h"
#include "attune/Execution/Stage.h"
#include "attune/InitAllDialects.h"
#include "attune/InitAllPasses.h"
#include "attune/Runtime/ArtifactWriter.h"
#include "attune/Tools/PathOption.h"
#include "attune/Tools/RunOptions.h"
#include "attune/Tools/ToolMain.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace attune;
using namespace attune::bisect;

/// What is written where a pass is found.
static constexpr llvm::StringLiteral kBefore = "before.mlir",
                                     kAfter = "after.mlir";

namespace {

struct Options : RunOptions {
  Options() : RunOptions("attune-bisect options") {}

  Opt<std::string> pipeline{
      "pass-pipeline",
      llvm::cl::desc("Passes to search, as \"builtin.module(...)\"; from "
                     "tensors to LLVM dialect if not given"),
      llvm::cl::cat(category)};
  llvm::cl::list<std::string> plugins{
      "load-pass-plugin", llvm::cl::desc("Library with more passes"),
      llvm::cl::cat(category)};
  Opt<double> tolerance{
      "tolerance",
      llvm::cl::desc("Largest distance from the reference that is right; by "
                     "the rule of the op if not given"),
      llvm::cl::init(-1), llvm::cl::cat(category)};
  PathOption outputDir{
      "o",
      llvm::cl::desc("Folder for the input and, where a pass is found, the "
                     "module before.mlir and after.mlir"),
      llvm::cl::value_desc("folder"), llvm::cl::cat(category)};
};

/// What running a module has shown.
struct Outcome {
  enum class Kind { Right, Wrong, Fault, NotRun } kind = Kind::NotRun;
  Stage stage = Stage::Tensors;
  /// Of the worst result.
  double error = 0, allowed = 0;
  /// Why it is not right, for people.
  std::string reason;
  std::vector<Tensor> results;
  /// What was said while it ran.
  std::vector<Diagnostic> diagnostics;
};

class Tool {
public:
  Tool(const Options &options, MLIRContext &context)
      : options(options), context(context) {}

  LogicalResult run();
  /// Of a run that failed.
  int getExitCode() const { return isWrong ? kExitWrongKernel : kExitFailure; }

private:
  LogicalResult fail(const Twine &message) {
    llvm::WithColor::error(llvm::errs(), "attune-bisect") << message << '\n';
    return failure();
  }
  LogicalResult fail(llvm::Error error) {
    return fail(llvm::toString(std::move(error)));
  }

  LogicalResult addPasses(PassManager &pm, ModuleOp module);
  /// Removes what an earlier search has left in the folder.
  LogicalResult clean();
  LogicalResult write(StringRef name, ModuleOp module);
  Outcome execute(ModuleOp module);
  /// Executes a module and prints a line. False if it is bad.
  bool check(StringRef pass, ModuleOp module);
  /// Says which pass it was.
  LogicalResult report(StringRef pass, ModuleOp module);
  LogicalResult search(ModuleOp input, const PassRecord &record);

  const Options &options;
  MLIRContext &context;
  HostDevice *device = nullptr;
  Runner *runner = nullptr;
  /// The last module that was right, and what it computed.
  ModuleOp right;
  std::vector<Tensor> results;
  Outcome last;
  /// Passes since then whose modules cannot be run.
  SmallVector<StringRef> skipped;
  unsigned numRun = 0, numSkipped = 0;
  /// Whether a module was found whose results are wrong.
  bool isWrong = false;
};

} // namespace

LogicalResult Tool::addPasses(PassManager &pm, ModuleOp module) {
  if (options.pipeline.empty()) {
    if (isCompiled(module))
      return fail("expects --pass-pipeline=<passes> for a module that is "
                  "compiled already");
    if (auto error = options.addSchedule(pm))
      return fail(std::move(error));
    CompileOptions compile;
    compile.chip = options.chip.getValue();
    compile.format = CompileFormat::LLVM;
    buildCompilePipeline(pm, compile);
    return success();
  }
  if (!options.schedule.empty())
    return fail("--schedule expects no --pass-pipeline, which may hold "
                "attune-set-schedule itself");
  std::string reason;
  llvm::raw_string_ostream stream(reason);
  FailureOr<OpPassManager> parsed = parsePassPipeline(options.pipeline, stream);
  if (failed(parsed))
    return fail("--pass-pipeline: " + StringRef(reason).trim());
  if (parsed->getOpAnchorName() != ModuleOp::getOperationName())
    return fail("--pass-pipeline expects builtin.module(<passes>), but got '" +
                options.pipeline + "'");
  static_cast<OpPassManager &>(pm) = std::move(*parsed);
  return success();
}

LogicalResult Tool::clean() {
  if (options.outputDir.empty())
    return success();
  for (StringRef name : {kBefore, kAfter}) {
    SmallString<128> path(options.outputDir);
    llvm::sys::path::append(path, name);
    if (std::error_code error = llvm::sys::fs::remove(path))
      return fail("expects to remove '" + path +
                  "', but got: " + error.message());
  }
  return success();
}

LogicalResult Tool::write(StringRef name, ModuleOp module) {
  if (options.outputDir.empty())
    return success();
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  stream << '\n';
  ArtifactWriter writer(options.outputDir);
  if (auto error = writer.add(name, text))
    return fail(std::move(error));
  if (auto error = writer.commit())
    return fail(std::move(error));
  return success();
}

Outcome Tool::execute(ModuleOp module) {
  Outcome outcome;
  outcome.stage = getStage(module);
  int64_t faultsBefore = device->getNumFaults();
  FailureOr<std::vector<ResultCheck>> checks = failure();
  {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      outcome.diagnostics.push_back(std::move(diagnostic));
    });
    checks = runner->verify(module);
  }
  if (failed(checks)) {
    for (const Diagnostic &diagnostic : outcome.diagnostics)
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
          outcome.reason.empty())
        outcome.reason = diagnostic.str();
    if (device->getNumFaults() > faultsBefore)
      outcome.kind = Outcome::Kind::Fault;
    return outcome;
  }
  outcome.kind = Outcome::Kind::Right;
  outcome.results = runner->getResults().vec();
  double worst = -1;
  for (const ResultCheck &check : *checks) {
    const Comparison &comparison = check.comparison;
    double ratio = comparison.maxError / comparison.tolerance;
    if (!comparison.passed && outcome.kind == Outcome::Kind::Right) {
      outcome.kind = Outcome::Kind::Wrong;
      outcome.reason = check.explain();
    }
    if (!(ratio <= worst)) {
      worst = ratio;
      outcome.error = comparison.maxError;
      outcome.allowed = comparison.tolerance;
    }
  }
  return outcome;
}

static bool haveSameBits(ArrayRef<Tensor> left, ArrayRef<Tensor> right) {
  return llvm::equal(left, right, [](const Tensor &a, const Tensor &b) {
    return a.shape.type == b.shape.type && a.bytes == b.bytes;
  });
}

bool Tool::check(StringRef pass, ModuleOp module) {
  last = execute(module);
  llvm::raw_ostream &os = llvm::outs();
  os << llvm::left_justify(pass, 32) << ' '
     << llvm::left_justify(getStageName(last.stage), 7);
  switch (last.kind) {
  case Outcome::Kind::NotRun:
    os << "cannot run: " << last.reason << '\n';
    skipped.push_back(pass);
    ++numSkipped;
    return true;
  case Outcome::Kind::Fault:
    os << "FAULT: " << last.reason << '\n';
    return false;
  case Outcome::Kind::Wrong:
    os << "WRONG: " << last.reason << '\n';
    return false;
  case Outcome::Kind::Right:
    os << "right, error " << llvm::format("%.3e", last.error) << ", allowed "
       << llvm::format("%.3e", last.allowed);
    if (right)
      os << (haveSameBits(results, last.results) ? ", same bits" : ", changed");
    os << '\n';
    right = module;
    results = std::move(last.results);
    skipped.clear();
    ++numRun;
    return true;
  }
  llvm_unreachable("an outcome without a line");
}

LogicalResult Tool::report(StringRef pass, ModuleOp module) {
  isWrong = true;
  for (Diagnostic &diagnostic : last.diagnostics)
    context.getDiagEngine().emit(std::move(diagnostic));
  if (failed(write(kAfter, module)) || (right && failed(write(kBefore, right))))
    return failure();
  if (!skipped.empty())
    return fail("the results are wrong after '" + pass +
                "': it or one of those before it that cannot be run (" +
                llvm::join(skipped, ", ") + ") is to blame");
  if (!right)
    return fail("expects an input whose results are right");
  return fail("'" + pass + "' is the pass after which the results are wrong");
}

LogicalResult Tool::search(ModuleOp input, const PassRecord &record) {
  if (!check("(input)", input))
    return report("(input)", input);
  for (const PassStep &step : record.steps) {
    if (!step.module) {
      llvm::outs() << llvm::left_justify(step.pass, 32) << " unchanged\n";
      continue;
    }
    if (!check(step.pass, *step.module))
      return report(step.pass, *step.module);
  }
  if (!record.failed.empty())
    return fail("'" + record.failed +
                "' fails; the results are right before it");
  if (numRun == 0)
    return fail("expects a module that can be run after some pass");
  llvm::outs() << "no pass is wrong: " << numRun << " modules are right, "
               << numSkipped << " cannot be run\n";
  return success();
}

LogicalResult Tool::run() {
  for (const std::string &path : options.plugins) {
    auto plugin = PassPlugin::load(path);
    if (!plugin)
      return fail(plugin.takeError());
    plugin->registerPassRegistryCallbacks();
  }
  if (options.tolerance.getNumOccurrences() > 0 && !(options.tolerance >= 0))
    return fail("--tolerance expects a number of at least 0, but got " +
                std::to_string(options.tolerance));
  auto sizes = options.getSizes();
  if (!sizes)
    return fail(sizes.takeError());
  auto files = options.getInputs();
  if (!files)
    return fail(files.takeError());
  auto input = parseSourceFile<ModuleOp>(options.input, &context);
  if (!input || failed(raiseAttention(*input)))
    return failure();
  auto chosen = options.chooseFunction(*input);
  if (!chosen)
    return fail(chosen.takeError());
  OwningOpRef<func::FuncOp> source = chosen->clone();
  FailureOr<tile::TargetAttr> target = options.findHostTarget(*input);
  if (failed(target))
    return failure();
  PassManager pm(&context);
  if (failed(addPasses(pm, *input)) || failed(write("input.mlir", *input)) ||
      failed(clean()))
    return failure();

  HostDevice host(context, *target, options.getHostOptions());
  device = &host;
  auto created =
      Runner::create(*source, host, *sizes, options.seed, ReferencePlace::Host,
                     std::move(*files), options.inputClass);
  if (failed(created))
    return failure();
  runner = created->get();
  if (auto error = RunOptions::checkUnused(runner->getProblem()))
    return fail(std::move(error));
  if (options.tolerance >= 0)
    runner->setTolerance(options.tolerance);
  OwningOpRef<ModuleOp> module = input->clone();
  PassRecord record = runAndRecord(pm, *module);
  return search(*input, record);
}

int attuneBisectMain(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  Options options;
  llvm::cl::HideUnrelatedOptions(options.category);
  setToolVersion("attune-bisect");
  reportFatalErrors("attune-bisect");
  llvm::cl::ParseCommandLineOptions(
      argc, argv,
      "Names the pass of a pipeline after which a kernel is wrong\n\n"
      "  The module is executed on the CPU after each pass. Exit code 2 if a "
      "pass is\n  named.\n");
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllPasses();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  Tool tool(options, context);
  return succeeded(tool.run()) ? kExitSuccess : tool.getExitCode();
}
