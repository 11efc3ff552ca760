// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attune-gen: writes one problem, described by options, as MLIR. It is built
// and verified here, so that a problem that makes no sense is an error of this
// tool and not of the next one in the pipe.

#include "Attention.h"
#include "Matmul.h"
#include "attune/Runtime/ArtifactWriter.h"
#include "attune/Tools/ToolMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace attune::gen;

static constexpr const char *toolName = "attune-gen";

/// Fails where an option was given that only another op has.
static llvm::Error checkForeign(const CommonOptions &common,
                                llvm::cl::OptionCategory &foreign) {
  SmallVector<StringRef> given;
  for (const auto &[name, option] : llvm::cl::getRegisteredOptions())
    if (option->getNumOccurrences() &&
        llvm::is_contained(option->Categories, &foreign))
      given.push_back(name);
  if (given.empty())
    return llvm::Error::success();
  return makeError("expects no --{0} with --op={1}", *llvm::min_element(given),
                   common.op.getValue());
}

/// The module of an op whose own options are `options`.
template <typename Options>
static llvm::Expected<OwningOpRef<ModuleOp>>
build(const CommonOptions &common, const Options &options,
      llvm::cl::OptionCategory &foreign, MLIRContext *context) {
  if (llvm::Error error = checkForeign(common, foreign))
    return error;
  auto problem = options.getProblem(common);
  if (!problem)
    return problem.takeError();
  return buildModule(*problem, context);
}

int attuneGenMain(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  auto report = [](llvm::Error error) {
    llvm::WithColor::error(llvm::errs(), toolName)
        << llvm::toString(std::move(error)) << "\n";
    return EXIT_FAILURE;
  };
  CommonOptions common;
  AttentionOptions attention;
  MatmulOptions matmul;
  llvm::cl::HideUnrelatedOptions(
      {&common.category, &attention.category, &matmul.category});
  attune::setToolVersion(toolName);
  attune::reportFatalErrors(toolName);
  llvm::cl::ParseCommandLineOptions(
      argc, argv,
      "Writes one problem as MLIR: func.func @attention or @matmul\n");

  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.getDiagEngine().registerHandler([](Diagnostic &diagnostic) {
    llvm::WithColor::error(llvm::errs(), toolName) << diagnostic << "\n";
  });
  context.printOpOnDiagnostic(false);
  llvm::Expected<OwningOpRef<ModuleOp>> module =
      makeError("expects --op to be attention or matmul, but got '{0}'",
                common.op.getValue());
  if (common.op == "attention" || common.op == "matmul") {
    llvm::consumeError(module.takeError());
    module = common.op == "attention"
                 ? build(common, attention, matmul.category, &context)
                 : build(common, matmul, attention.category, &context);
  }
  if (!module)
    return report(module.takeError());
  if (!*module)
    return EXIT_FAILURE;
  std::string text;
  llvm::raw_string_ostream(text) << **module << "\n";
  if (llvm::Error error = attune::writeFile(common.output, text))
    return report(std::move(error));
  return EXIT_SUCCESS;
}
