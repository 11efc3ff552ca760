// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attune-gen: writes one problem, described by options, as MLIR. It is built
// and verified here, so that a problem that makes no sense is an error of this
// tool and not of the next one in the pipe.

#include "Append.h"
#include "Attention.h"
#include "Matmul.h"
#include "Merge.h"
#include "Quantize.h"
#include "attune/Runtime/ArtifactWriter.h"
#include "attune/Tools/ToolMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace attune::gen;

static constexpr const char *toolName = "attune-gen";

/// Fails where an option was given that the op of `own` options does not have.
static llvm::Error checkForeign(const CommonOptions &common,
                                const llvm::cl::OptionCategory &own,
                                ArrayRef<llvm::cl::OptionCategory *> all) {
  SmallVector<StringRef> given;
  for (const auto &[name, option] : llvm::cl::getRegisteredOptions()) {
    auto isOf = [&categories = option->Categories](const auto *category) {
      return llvm::is_contained(categories, category);
    };
    if (option->getNumOccurrences() && llvm::any_of(all, isOf) && !isOf(&own))
      given.push_back(name);
  }
  if (given.empty())
    return llvm::Error::success();
  return makeError("expects no --{0} with --op={1}", *llvm::min_element(given),
                   common.op.getValue());
}

/// The module of an op whose own options are `options`.
template <typename Options>
static llvm::Expected<OwningOpRef<ModuleOp>>
build(const CommonOptions &common, const Options &options,
      ArrayRef<llvm::cl::OptionCategory *> all, MLIRContext *context) {
  if (llvm::Error error = checkForeign(common, options.category, all))
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
  MergeOptions merge(attention);
  QuantizeOptions quantize(attention);
  AppendOptions append(attention, matmul, quantize);
  llvm::cl::OptionCategory *own[] = {&attention.category, &matmul.category,
                                     &merge.category, &quantize.category,
                                     &append.category};
  llvm::cl::HideUnrelatedOptions({&common.category, &attention.category,
                                  &matmul.category, &merge.category,
                                  &quantize.category, &append.category});
  attune::setToolVersion(toolName);
  attune::reportFatalErrors(toolName);
  llvm::cl::ParseCommandLineOptions(
      argc, argv,
      "Writes one problem as MLIR: func.func @attention, @matmul, @merge, "
      "@quantize or @append\n");

  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.getDiagEngine().registerHandler([](Diagnostic &diagnostic) {
    llvm::WithColor::error(llvm::errs(), toolName) << diagnostic << "\n";
  });
  context.printOpOnDiagnostic(false);
  auto buildAny = [&]() -> llvm::Expected<OwningOpRef<ModuleOp>> {
    if (common.op == "attention")
      return build(common, attention, own, &context);
    if (common.op == "matmul")
      return build(common, matmul, own, &context);
    if (common.op == "merge")
      return build(common, merge, own, &context);
    if (common.op == "quantize")
      return build(common, quantize, own, &context);
    if (common.op == "append")
      return build(common, append, own, &context);
    return makeError("expects --op to be attention, matmul, merge, quantize or "
                     "append, but got '{0}'",
                     common.op.getValue());
  };
  llvm::Expected<OwningOpRef<ModuleOp>> module = buildAny();
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
