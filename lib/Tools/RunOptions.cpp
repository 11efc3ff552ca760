// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stands on the command line as text.

#include "attune/Tools/RunOptions.h"
#include "attune/Dialect/Launch/IR/Launch.h"
#include "attune/Schedule/Transforms/Passes.h"
#include "attune/Target/TargetRegistry.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attune;

/// Sizes beyond this are mistakes; ops refuse them too.
static constexpr int64_t kMaxSize = 2147483647;

RunOptions::RunOptions(StringRef heading) : category(heading) {
  for (const SizeInfo &size : getProblemSizes())
    sizes.push_back(std::make_unique<SizeOption>(size, category));
}

static llvm::Expected<int64_t> parseSize(StringRef option, StringRef text) {
  int64_t size;
  if (text.getAsInteger(10, size) || size < 0 || size > kMaxSize)
    return llvm::createStringError("--" + option + " expects a size of 0 to " +
                                   llvm::Twine(kMaxSize) + ", but got '" +
                                   text + "'");
  return size;
}

FailureOr<tile::TargetAttr> RunOptions::findHostTarget(ModuleOp module) const {
  auto target = module->getAttrOfType<tile::TargetAttr>(
      tile::TileDialect::kTargetAttrName);
  if (isCompiled(module) && target)
    return target;
  auto emitError = [&] { return module.emitError(); };
  // Binaries say their chips themselves.
  for (auto binary : module.getOps<gpu::BinaryOp>())
    if (launch::ManifestAttr manifest = launch::getManifest(binary);
        manifest && manifest.getChip())
      return getTarget(module.getContext(), manifest.getChip().getValue(),
                       emitError);
  if (chip.empty())
    return emitError() << "expects --chip=<name>, or a kernel that is compiled "
                          "for a chip, to be executed on the host";
  return getTarget(module.getContext(), chip, emitError);
}

llvm::Expected<ProblemSizes> RunOptions::getSizes() const {
  ProblemSizes sizes;
  for (const auto &option : this->sizes) {
    if (option->text.empty())
      continue;
    auto size = parseSize(option->name, option->text);
    if (!size)
      return size.takeError();
    sizes.named[option->name.str()] = *size;
  }
  for (StringRef text : shapes) {
    auto [argument, list] = text.split('=');
    unsigned index;
    if (list.empty() || argument.getAsInteger(10, index))
      return llvm::createStringError(
          "--shape expects <argument>=<size>x<size>..., but got '" + text +
          "'");
    for (StringRef part : llvm::split(list, 'x')) {
      auto size = parseSize("shape", part);
      if (!size)
        return size.takeError();
      sizes.shapes[index].push_back(*size);
    }
  }
  return sizes;
}

llvm::Expected<InputFiles> RunOptions::getInputs() const {
  InputFiles files;
  for (StringRef text : inputs) {
    auto [argument, path] = text.split('=');
    unsigned index;
    if (path.empty() || argument.getAsInteger(10, index))
      return llvm::createStringError(
          "--input expects <argument>=<file>, but got '" + text + "'");
    if (!files.try_emplace(index, path.str()).second)
      return llvm::createStringError("--input expects one file for an "
                                     "argument, but got two for argument " +
                                     argument);
  }
  return files;
}

HostOptions RunOptions::getHostOptions() const {
  HostOptions host;
  if (!checks.empty()) {
    host.checks = 0;
    for (HostCheck check : checks)
      host.checks |= static_cast<unsigned>(check);
  }
  host.seed = hostSeed;
  host.anyOrder = hostAnyOrder;
  host.maxThreads = maxThreads;
  host.maxSteps = maxSteps;
  return host;
}

llvm::Error RunOptions::checkUnused(const Problem &problem) {
  if (problem.unusedSizes.empty())
    return llvm::Error::success();
  return llvm::createStringError("expects sizes that an argument has, but got "
                                 "--" +
                                 llvm::join(problem.unusedSizes, ", --"));
}

llvm::Error RunOptions::checkNoHostOptions() const {
  auto check = [](const llvm::cl::Option &option) -> llvm::Error {
    if (option.getNumOccurrences())
      return llvm::createStringError("expects --device=host with --" +
                                     option.ArgStr);
    return llvm::Error::success();
  };
  llvm::Error seed = llvm::joinErrors(check(hostSeed), check(hostAnyOrder)),
              most = llvm::joinErrors(check(maxThreads), check(maxSteps));
  return llvm::joinErrors(llvm::joinErrors(check(checks), std::move(seed)),
                          std::move(most));
}

llvm::Expected<func::FuncOp> RunOptions::chooseFunction(ModuleOp module) const {
  SmallVector<func::FuncOp> functions = getSourceFunctions(module);
  std::string names;
  for (func::FuncOp candidate : functions) {
    if (candidate.getName() == function)
      return candidate;
    names += (names.empty() ? "" : ", ") + candidate.getName().str();
  }
  if (!function.empty())
    return llvm::createStringError(
        "--function expects one of the functions that can be tuned (" + names +
        "), but got '" + function + "'");
  if (functions.empty())
    return llvm::createStringError(
        "expects a function with an op that can be tuned; a compiled module "
        "keeps it in a "
        "module with the attribute '" +
        kSourceAttrName + "'");
  if (functions.size() > 1)
    return llvm::createStringError(
        "expects --function=<name> where there are several: " + names);
  return functions.front();
}

llvm::Error RunOptions::addSchedule(OpPassManager &pm) const {
  if (schedule.empty())
    return llvm::Error::success();
  // The reason goes to standard error.
  if (failed(parsePassPipeline("attune-set-schedule{" + schedule + "}", pm,
                               llvm::errs())))
    return llvm::createStringError("--schedule expects tunables as "
                                   "attune-set-schedule takes them, but got '" +
                                   schedule + "'");
  return llvm::Error::success();
}
