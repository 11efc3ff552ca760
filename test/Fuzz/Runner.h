// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs one input, and says what is wrong about how it ended.

#ifndef ATTUNE_TEST_FUZZ_RUNNER_H
#define ATTUNE_TEST_FUZZ_RUNNER_H

#include "Seeds.h"
#include "mlir/IR/DialectRegistry.h"

namespace attune::fuzz {

/// How an input ended.
struct Verdict {
  enum class Kind {
    /// It was compiled.
    Accepted,
    /// It was refused as it should be, with an error at its place.
    Refused,
    /// It was given up: a kernel may run for as long as it is asked to.
    Cut,
    /// Something that must not happen.
    Failed
  };
  Kind kind;
  /// Of what failed.
  std::string reason;
  /// LLVM's back end gave up half-way, where it frees nothing.
  bool leavesMemory = false;
};

/// The reason of a command that crashes, of which `stderr` says more.
constexpr llvm::StringRef kCrash = "the tool crashes";

class Runner {
public:
  /// `tools` is the folder of the tools that commands name. `seconds` of CPU
  /// time may be spent on an input. `plantsCrashes` is for the fuzzer's own
  /// test: a program that compiles crashes.
  Runner(std::string tools, unsigned seconds, bool plantsCrashes);

  /// Adds valid programs once more as generic ops: there no op's own syntax
  /// keeps a changed attribute from its verifier.
  void addGenericForms(std::vector<Input> &programs) const;

  /// What crashes takes the process with it.
  Verdict run(const Input &input) const;

private:
  Verdict runProgram(const Input &input) const;
  Verdict runCommand(const Input &input) const;

  mlir::DialectRegistry registry;
  std::string tools;
  unsigned seconds;
  bool plantsCrashes;
};

} // namespace attune::fuzz

#endif // ATTUNE_TEST_FUZZ_RUNNER_H
