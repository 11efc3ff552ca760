// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// lld as a library. The only file of the project that knows it.

#include "AMD.h"
#include "attune/Target/Backend.h"
#include "lld/Common/CommonLinkerContext.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/CommandLine.h"
#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace mlir;
using namespace attune;

namespace {
/// Hides the process's options: lld sets all of LLVM's that it finds to their
/// defaults, those of the tool that calls it among them.
class HiddenOptions {
public:
  HiddenOptions() : lock(mutex) { swap(); }
  ~HiddenOptions() { swap(); }

private:
  void swap() {
    llvm::cl::SubCommand &shown = llvm::cl::SubCommand::getTopLevel();
    std::swap(shown.OptionsMap, hidden.OptionsMap);
    std::swap(shown.PositionalOpts, hidden.PositionalOpts);
    std::swap(shown.SinkOpts, hidden.SinkOpts);
    std::swap(shown.ConsumeAfterOpt, hidden.ConsumeAfterOpt);
  }

  static std::mutex mutex;
  std::lock_guard<std::mutex> lock;
  llvm::cl::SubCommand hidden;
};
std::mutex HiddenOptions::mutex;
} // namespace

FailureOr<std::string> amd::linkHSACO(Operation *op, StringRef object) {
  auto input = ScratchFile::create(op, "o", object);
  auto output = ScratchFile::create(op, "hsaco");
  if (failed(input) || failed(output))
    return failure();
  std::string inputPath = input->getPath().str();
  std::string outputPath = output->getPath().str();
  std::string said;
  llvm::raw_string_ostream stream(said);
  const char *arguments[] = {"ld.lld", "-shared", inputPath.c_str(), "-o",
                             outputPath.c_str()};
  // Not in the action, which leaves without destructors where lld fails.
  HiddenOptions hiddenOptions;
  LogicalResult linked = runBackend(op, [&] {
    lld::Result result =
        lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
    if (result.canRunAgain)
      lld::CommonLinkerContext::destroy();
    return success(result.retCode == 0);
  });
  if (failed(linked))
    return op->emitError() << "expects lld to link the kernel, but got: "
                           << StringRef(said).rtrim();
  return output->read(op);
}
