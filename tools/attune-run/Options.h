// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of attune-run.

#ifndef ATTUNE_TOOLS_ATTUNE_RUN_OPTIONS_H
#define ATTUNE_TOOLS_ATTUNE_RUN_OPTIONS_H

#include "attune/Execution/Runner.h"
#include "attune/Simulator/HostDevice.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"

namespace attune::run {

struct Options {
  llvm::cl::OptionCategory category{"attune-run options"};
  template <typename T> using Opt = llvm::cl::opt<T>;

  Opt<std::string> input{llvm::cl::Positional, llvm::cl::desc("<input file>"),
                         llvm::cl::init("-"), llvm::cl::cat(category)};
  Opt<std::string> chip{
      "chip",
      llvm::cl::desc("Chip to compile for; that of the device if not "
                     "given"),
      llvm::cl::cat(category)};
  Opt<std::string> device{"device",
                          llvm::cl::desc("auto, cuda, hip, or host to run "
                                         "the chip's kernel on the CPU"),
                          llvm::cl::init("auto"), llvm::cl::cat(category)};
  Opt<int> ordinal{"device-number", llvm::cl::desc("Which of several devices"),
                   llvm::cl::init(0), llvm::cl::cat(category)};
  Opt<std::string> function{
      "function",
      llvm::cl::desc("Function to run, where the input has several"),
      llvm::cl::cat(category)};
  Opt<std::string> schedule{
      "schedule",
      llvm::cl::desc("Tunables as attn-set-schedule takes them, such as "
                     "\"block-m=64 num-warps=4\""),
      llvm::cl::cat(category)};
  Opt<std::string> ptxas{"ptxas", llvm::cl::desc("Path of ptxas"),
                         llvm::cl::cat(category)};
  Opt<bool> verify{"verify",
                   llvm::cl::desc("Compare the results to the reference "
                                  "(the default without --bench)"),
                   llvm::cl::cat(category)};
  Opt<bool> print{"print",
                  llvm::cl::desc("Run a compiled function without arguments, "
                                 "whatever it does, and print its results"),
                  llvm::cl::cat(category)};
  Opt<bool> bench{"bench", llvm::cl::desc("Time the kernels"),
                  llvm::cl::cat(category)};
  Opt<ReferencePlace> reference{
      "reference", llvm::cl::desc("Where to compute the reference"),
      llvm::cl::values(
          clEnumValN(ReferencePlace::Device, "device", "on the GPU"),
          clEnumValN(ReferencePlace::Host, "cpu",
                     "on the CPU: independent of the GPU, and slow")),
      llvm::cl::init(ReferencePlace::Device), llvm::cl::cat(category)};
  Opt<unsigned> repeats{"repeats", llvm::cl::desc("Timed launches"),
                        llvm::cl::init(30), llvm::cl::cat(category)};
  Opt<uint64_t> seed{"seed", llvm::cl::desc("Seed of the inputs"),
                     llvm::cl::init(0), llvm::cl::cat(category)};
  Opt<bool> json{"json", llvm::cl::desc("Print JSON instead of a table"),
                 llvm::cl::cat(category)};

  // With --device=host.
  llvm::cl::list<HostCheck> checks{
      "checks",
      llvm::cl::desc("What to check with --device=host (all by default)"),
      llvm::cl::CommaSeparated,
      llvm::cl::values(
          clEnumValN(HostCheck::Races, "races",
                     "accesses to workgroup memory without a barrier between"),
          clEnumValN(HostCheck::Bounds, "bounds",
                     "accesses outside of arguments and workgroup memory"),
          clEnumValN(HostCheck::Uninitialized, "uninitialized",
                     "reads of workgroup memory that was not written"),
          clEnumValN(HostCheck::Alignment, "alignment",
                     "addresses that an access does not allow"),
          clEnumValN(HostCheck::Waits, "waits",
                     "asynchronous copies that are not waited for"),
          clEnumValN(HostCheck::Convergence, "convergence",
                     "lanes of a warp that do not do the same"),
          clEnumValN(HostCheck::None, "none", "nothing")),
      llvm::cl::cat(category)};
  Opt<bool> counts{"counts",
                   llvm::cl::desc("Count bank conflicts, sectors, matrix ops "
                                  "and exponentials with --device=host"),
                   llvm::cl::cat(category)};
  Opt<uint64_t> hostSeed{
      "host-seed",
      llvm::cl::desc("Order in which --device=host runs lanes and lets "
                     "asynchronous copies land; 0 is in turn and late"),
      llvm::cl::init(0), llvm::cl::cat(category)};
  Opt<int64_t> maxLanes{
      "max-lanes",
      llvm::cl::desc("Most threads of a launch with --device=host"),
      llvm::cl::init(HostOptions().maxLanes), llvm::cl::cat(category)};
  Opt<int64_t> maxSteps{
      "max-steps",
      llvm::cl::desc("Most iterations of a thread with --device=host"),
      llvm::cl::init(HostOptions().maxSteps), llvm::cl::cat(category)};

  // Empty where not given.
  Opt<std::string> batch{"batch", llvm::cl::desc("Batch size"),
                         llvm::cl::cat(category)};
  Opt<std::string> heads{"heads", llvm::cl::desc("Number of query heads"),
                         llvm::cl::cat(category)};
  Opt<std::string> kvHeads{"kv-heads",
                           llvm::cl::desc("Number of key and value heads"),
                           llvm::cl::cat(category)};
  Opt<std::string> seqQ{"seq-q", llvm::cl::desc("Number of queries"),
                        llvm::cl::cat(category)};
  Opt<std::string> seqK{"seq-k", llvm::cl::desc("Number of keys"),
                        llvm::cl::cat(category)};
  llvm::cl::list<std::string> shapes{
      "shape",
      llvm::cl::desc("Sizes of an argument whose dimensions the options above "
                     "do not name, as <argument>=<size>x<size>..."),
      llvm::cl::cat(category)};

  llvm::cl::list<std::string> inputs{
      "input",
      llvm::cl::desc("A .npy file with the values of an argument, as "
                     "<argument>=<file>; bf16 as uint16. Others are random"),
      llvm::cl::cat(category)};
  Opt<std::string> outputDir{
      "output-dir",
      llvm::cl::desc("Folder for the arguments and the verified results, as "
                     "argument<n>.npy and result<n>.npy"),
      llvm::cl::cat(category)};

  HostOptions getHostOptions() const;
  /// The files of --input.
  llvm::Expected<InputFiles> getInputs() const;
  /// The sizes above as numbers.
  llvm::Expected<ProblemSizes> getSizes() const;
};

} // namespace attune::run

#endif // ATTUNE_TOOLS_ATTUNE_RUN_OPTIONS_H
