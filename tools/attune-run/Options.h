// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of attune-run, but for what tools share.

#ifndef ATTUNE_TOOLS_ATTUNE_RUN_OPTIONS_H
#define ATTUNE_TOOLS_ATTUNE_RUN_OPTIONS_H

#include "attune/Runtime/Conditions.h"
#include "attune/Tools/PathOption.h"
#include "attune/Tools/RunOptions.h"

namespace attune::run {

struct Options : RunOptions {
  Options() : RunOptions("attune-run options") {}

  Opt<std::string> device{"device",
                          llvm::cl::desc("auto, cuda, hip, or host to run "
                                         "the chip's kernel on the CPU"),
                          llvm::cl::init("auto"), llvm::cl::cat(category)};
  Opt<int> ordinal{"device-number", llvm::cl::desc("Which of several devices"),
                   llvm::cl::init(0), llvm::cl::cat(category)};
  PathOption ptxas{"ptxas", llvm::cl::desc("Path of ptxas"),
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
  Opt<ChipState> state{
      "state", llvm::cl::desc("State of the chip in which --bench times"),
      llvm::cl::values(
          clEnumValN(ChipState::Sustained, "sustained",
                     "steady clocks: the kernels run without pause until clock "
                     "and power have settled, and go on; counts energy"),
          clEnumValN(ChipState::Cool, "cool",
                     "as it is: a short burst of launches")),
      llvm::cl::init(ChipState::Sustained), llvm::cl::cat(category)};
  Opt<unsigned> repeats{"repeats", llvm::cl::desc("Timed launches"),
                        llvm::cl::init(30), llvm::cl::cat(category)};
  Opt<unsigned> launches{
      "equal-launches",
      llvm::cl::desc("Verify, launch so many times more, and expect the same "
                     "bits each time"),
      llvm::cl::init(0), llvm::cl::cat(category)};
  Opt<bool> json{"json", llvm::cl::desc("Print JSON instead of a table"),
                 llvm::cl::cat(category)};

  Opt<bool> counts{"counts",
                   llvm::cl::desc("Count bank conflicts, sectors, matrix ops "
                                  "and exponentials with --device=host"),
                   llvm::cl::cat(category)};
  PathOption outputDir{
      "output-dir",
      llvm::cl::desc("Folder for the arguments and the verified results, as "
                     "argument<n>.npy and result<n>.npy"),
      llvm::cl::cat(category)};
};

} // namespace attune::run

#endif // ATTUNE_TOOLS_ATTUNE_RUN_OPTIONS_H
