// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs are run in this process, as attune-opt would; commands in one of
// their own.

#include "Runner.h"
#include "attune/InitAllDialects.h"
#include "attune/InitAllPasses.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Regex.h"
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace attune::fuzz;

namespace {
/// Counts the errors of a program, and keeps those without a place.
class Errors {
public:
  explicit Errors(MLIRContext &context)
      : handler(&context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
            return;
          bool found = false;
          diagnostic.getLocation()->walk([&](Location location) {
            found |= isa<FileLineColRange>(location);
            return WalkResult::advance();
          });
          std::string text = diagnostic.str();
          // Of a pipeline, which has no place.
          found |= StringRef(text).starts_with("unable to schedule pass");
          (found ? located : unlocated).push_back(std::move(text));
        }) {}

  /// What is wrong about the errors, given what they should tell of.
  Verdict judge(bool failed) const {
    if (!failed && located.empty() && unlocated.empty())
      return {Verdict::Kind::Accepted, ""};
    if (!failed)
      return {Verdict::Kind::Failed,
              "succeeds with an error: " +
                  (located.empty() ? unlocated : located).front()};
    if (!located.empty()) {
      bool gaveUp = llvm::any_of(located, [](StringRef text) {
        return text.contains("LLVM's back end can compile, but got");
      });
      return {Verdict::Kind::Refused, "", gaveUp};
    }
    return {Verdict::Kind::Failed,
            unlocated.empty() ? "fails without an error"
                              : "an error has no place: " + unlocated.front()};
  }

  bool isSilent() const { return located.empty() && unlocated.empty(); }

private:
  std::vector<std::string> located;
  std::vector<std::string> unlocated;
  ScopedDiagnosticHandler handler;
};
} // namespace

Runner::Runner(std::string tools, unsigned seconds, bool plantsCrashes)
    : tools(std::move(tools)), seconds(seconds), plantsCrashes(plantsCrashes) {
  attune::registerAllDialects(registry);
  attune::registerAllPasses();
}

void Runner::addGenericForms(std::vector<Input> &programs) const {
  for (size_t i = 0, size = programs.size(); i < size; ++i) {
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    ScopedDiagnosticHandler silence(&context, [](Diagnostic &) {});
    auto module = parseSourceString<ModuleOp>(programs[i].text, &context);
    if (!module)
      continue;
    Input program = programs[i];
    program.text.clear();
    llvm::raw_string_ostream stream(program.text);
    module->print(stream, OpPrintingFlags().printGenericOpForm());
    programs.push_back(std::move(program));
  }
}

/// Adds passes as attune-opt's options name them; whether all are known.
static bool addPasses(OpPassManager &passes,
                      llvm::ArrayRef<std::string> arguments) {
  for (StringRef argument : arguments) {
    auto [name, options] = argument.ltrim('-').split('=');
    std::string errors;
    llvm::raw_string_ostream stream(errors);
    if (name == "pass-pipeline") {
      auto parsed = parsePassPipeline(options, stream);
      if (failed(parsed))
        return false;
      passes = std::move(*parsed);
      continue;
    }
    const PassRegistryEntry *entry = PassInfo::lookup(name);
    if (!entry)
      entry = PassPipelineInfo::lookup(name);
    if (!entry ||
        failed(entry->addToPipeline(passes, options,
                                    [](const Twine &) { return failure(); })))
      return false;
  }
  return true;
}

/// Whether all ops are of dialects that print what they parse; others of
/// upstream's print some ops that no one writes so that they are not parsed. So
/// is a gpu.binary whose handler the generic form leaves out.
static bool isPrintedRight(ModuleOp module) {
  static constexpr StringRef dialects[] = {
      "arith",  "attn",   "builtin", "func", "gpu",    "launch",
      "linalg", "memref", "scf",     "tile", "vector", "wgmma"};
  return !module
              .walk([](Operation *op) {
                auto binary = dyn_cast<gpu::BinaryOp>(op);
                bool isWhole = !binary || binary.getOffloadingHandlerAttr();
                return isWhole && llvm::is_contained(
                                      dialects,
                                      op->getName().getDialectNamespace())
                           ? WalkResult::advance()
                           : WalkResult::interrupt();
              })
              .wasInterrupted();
}

Verdict Runner::runProgram(const Input &input) const {
  itimerval limit{{0, 0}, {seconds, 0}};
  setitimer(ITIMER_PROF, &limit, nullptr);
  llvm::scope_exit stop([] {
    itimerval none{};
    setitimer(ITIMER_PROF, &none, nullptr);
  });
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  context.printStackTraceOnDiagnostic(false);
  Errors errors(context);
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(input.text, &context, "input.mlir");
  // Upstream gives the regions that it builds for ops of linalg no place.
  if (!module)
    return errors.isSilent() ? errors.judge(/*failed=*/true)
                             : Verdict{Verdict::Kind::Refused, ""};
  // What is printed says the same again.
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  if (isPrintedRight(*module) &&
      !parseSourceString<ModuleOp>(text, &context, "printed.mlir"))
    return {Verdict::Kind::Failed, "what is printed is not parsed again"};
  PassManager passes(&context, ModuleOp::getOperationName(),
                     OpPassManager::Nesting::Implicit);
  if (!addPasses(passes, input.arguments))
    return {Verdict::Kind::Refused, ""};
  bool failed = mlir::failed(passes.run(*module));
  if (!failed)
    llvm::raw_null_ostream() << *module;
  if (!failed && plantsCrashes)
    abort();
  return errors.judge(failed);
}

/// Writes the input of a command beside it, starts it, and waits.
static int start(const std::string &tool, const Input &input,
                 unsigned seconds) {
  std::error_code error;
  llvm::raw_fd_ostream("input.mlir", error) << input.text;
  pid_t child = fork();
  if (child == 0) {
    rlimit limit{seconds, seconds + 5};
    setrlimit(RLIMIT_CPU, &limit);
    alarm(30 * seconds);
    int in = open("input.mlir", O_RDONLY);
    dup2(in, 0);
    std::vector<char *> arguments;
    for (const std::string &argument : input.arguments)
      arguments.push_back(const_cast<char *>(argument.c_str()));
    arguments.push_back(nullptr);
    execv(tool.c_str(), arguments.data());
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

Verdict Runner::runCommand(const Input &input) const {
  int status = start(tools + "/" + input.arguments.front(), input, seconds);
  auto said = llvm::MemoryBuffer::getFile("stderr", /*IsText=*/true,
                                          /*RequiresNullTerminator=*/false);
  StringRef text = said ? (*said)->getBuffer() : "";
  if (WIFSIGNALED(status) &&
      (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGALRM))
    return {Verdict::Kind::Cut, ""};
  int code = WEXITSTATUS(status);
  if (WIFSIGNALED(status) || code > 2)
    return {Verdict::Kind::Failed, kCrash.str()};
  if (code == 0 && text.contains("error: "))
    return {Verdict::Kind::Failed, "the tool succeeds with an error"};
  // Errors of LLVM's command line do not have that word.
  if (code != 0 && text.trim().empty())
    return {Verdict::Kind::Failed, "the tool fails without an error"};
  return {code == 0 ? Verdict::Kind::Accepted : Verdict::Kind::Refused, ""};
}

Verdict Runner::run(const Input &input) const {
  return input.isCommand ? runCommand(input) : runProgram(input);
}
