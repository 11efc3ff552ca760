// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of a command line that tools share which run a function: which one,
// on what, and how the host executor does it.

#ifndef ATTUNE_TOOLS_RUNOPTIONS_H
#define ATTUNE_TOOLS_RUNOPTIONS_H

#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Execution/Runner.h"
#include "attune/Simulator/HostDevice.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"

namespace attune {

/// One is made in the main function of a tool.
struct RunOptions {
  /// `category` is the heading of the options in the tool's help.
  explicit RunOptions(llvm::StringRef category);

  llvm::cl::OptionCategory category;
  template <typename T> using Opt = llvm::cl::opt<T>;

  Opt<std::string> input{llvm::cl::Positional, llvm::cl::desc("<input file>"),
                         llvm::cl::init("-"), llvm::cl::cat(category)};
  Opt<std::string> function{
      "function",
      llvm::cl::desc("Function to run, where the input has several"),
      llvm::cl::cat(category)};
  Opt<std::string> chip{
      "chip",
      llvm::cl::desc("Chip to compile for; that of the device, or that a "
                     "compiled input is for, if not given"),
      llvm::cl::cat(category)};
  Opt<std::string> schedule{
      "schedule",
      llvm::cl::desc("Tunables as attune-set-schedule takes them, such as "
                     "\"block-m=64 num-warps=4\""),
      llvm::cl::cat(category)};
  Opt<uint64_t> seed{"seed", llvm::cl::desc("Seed of the inputs"),
                     llvm::cl::init(0), llvm::cl::cat(category)};

  Opt<std::string> inputClass{
      "input-class",
      llvm::cl::desc("What random inputs are like: normal, of variance 1, or "
                     "another class that the ops have (of attention: repelled, "
                     "all scores far below 0; spread, scores far apart)"),
      llvm::cl::init(kNormalInputs.str()), llvm::cl::cat(category)};

  /// An option for each size that a problem may have (KnobSet::sizes).
  struct SizeOption {
    SizeOption(const SizeInfo &info, llvm::cl::OptionCategory &category)
        : name(info.name),
          text(info.name, llvm::cl::desc(info.doc), llvm::cl::cat(category)) {}
    llvm::StringRef name;
    /// Empty where not given.
    Opt<std::string> text;
  };
  std::vector<std::unique_ptr<SizeOption>> sizes;
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

  // Of the host executor.
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
  Opt<uint64_t> hostSeed{
      "host-seed",
      llvm::cl::desc("Order in which --device=host runs threads and lets "
                     "asynchronous copies land; 0 is in turn and late"),
      llvm::cl::init(0), llvm::cl::cat(category)};
  Opt<bool> hostAnyOrder{
      "host-any-order",
      llvm::cl::desc("With --host-seed, that of workgroups as well: not for "
                     "kernels whose workgroups wait for those before them"),
      llvm::cl::init(false), llvm::cl::cat(category)};
  Opt<int64_t> maxThreads{
      "max-threads",
      llvm::cl::desc("Most threads of a launch with --device=host"),
      llvm::cl::init(HostOptions().maxThreads), llvm::cl::cat(category)};
  Opt<int64_t> maxSteps{
      "max-steps",
      llvm::cl::desc("Most iterations of a thread with --device=host"),
      llvm::cl::init(HostOptions().maxSteps), llvm::cl::cat(category)};

  HostOptions getHostOptions() const;
  /// The chip that the host executor stands for: the one that `module` is
  /// compiled for, else that of --chip. Emits a diagnostic where there is none.
  mlir::FailureOr<tile::TargetAttr> findHostTarget(mlir::ModuleOp module) const;
  /// The files of --input.
  llvm::Expected<InputFiles> getInputs() const;
  /// The sizes above as numbers.
  llvm::Expected<ProblemSizes> getSizes() const;
  /// Fails where a size was given that no argument has.
  static llvm::Error checkUnused(const Problem &problem);
  /// Fails where an option of the host executor was given, which another device
  /// would ignore.
  llvm::Error checkNoHostOptions() const;
  /// The function that --function names, or the only one with ops
  /// that can be tuned.
  llvm::Expected<mlir::func::FuncOp>
  chooseFunction(mlir::ModuleOp module) const;
  /// Adds what --schedule asks for to a pipeline for modules.
  llvm::Error addSchedule(mlir::OpPassManager &pm) const;
};

} // namespace attune

#endif // ATTUNE_TOOLS_RUNOPTIONS_H
