// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attune-fuzz: runs programs and command lines that are almost those of the
// tests. Each must be compiled, or refused with an error at its place: no
// crash, no sanitizer's report, no leak, no failure without an error.

#include "Campaign.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/WithColor.h"

using namespace attune::fuzz;
namespace cl = llvm::cl;

namespace {
struct CommandLine {
  cl::list<std::string> folders{cl::Positional, cl::OneOrMore,
                                cl::desc("<folders of tests and examples>")};
  cl::opt<uint64_t> seed{"seed", cl::init(1), cl::desc("Seed")};
  cl::opt<size_t> first{"first", cl::init(0),
                        cl::desc("Number of the first input")};
  cl::opt<size_t> count{"count", cl::init(1000), cl::desc("Inputs")};
  cl::opt<unsigned> commands{
      "commands", cl::init(5),
      cl::desc("Percent of the inputs that are command lines of the tools")};
  cl::opt<unsigned> seconds{
      "seconds", cl::init(5),
      cl::desc("Seconds of CPU time that an input may take")};
  cl::opt<bool> plant{
      "plant", cl::desc("Crash where a program compiles, to test the fuzzer")};
  cl::opt<std::string> output{"o", cl::Required, cl::value_desc("folder"),
                              cl::desc("Folder for the inputs that fail")};

  // An option does not do so itself, and lld walks all that are known.
  ~CommandLine() {
    remove(folders, seed, first, count, commands, seconds, plant, output);
  }

private:
  template <typename... OptionT> static void remove(OptionT &...options) {
    (options.removeArgument(), ...);
  }
};
} // namespace

int main(int argc, char **argv) {
  Campaign::Options options;
  std::vector<std::string> folders;
  {
    // Passes have options of their own, which must not meet these.
    CommandLine line;
    cl::ParseCommandLineOptions(
        argc, argv, "Runs programs and commands that are almost valid\n");
    options = {line.seed,
               line.first,
               line.count,
               line.commands,
               line.seconds,
               line.plant,
               llvm::sys::path::parent_path(
                   llvm::sys::fs::getMainExecutable(argv[0], (void *)&main))
                   .str(),
               line.output};
    folders.assign(line.folders.begin(), line.folders.end());
  }
#if !__has_feature(address_sanitizer)
  llvm::sys::PrintStackTraceOnErrorSignal(argv[0]);
#endif
  llvm::SmallString<128> output(options.output);
  llvm::sys::fs::make_absolute(output);
  options.output = output.str().str();
  llvm::Expected<Seeds> seeds = readSeeds(folders);
  if (!seeds) {
    llvm::WithColor::error(llvm::errs(), "attune-fuzz")
        << llvm::toString(seeds.takeError()) << "\n";
    return 1;
  }
  return Campaign(std::move(options), std::move(*seeds)).run() ? 1 : 0;
}
