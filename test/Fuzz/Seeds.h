// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the fuzzer starts from: the programs of the tests and examples, and the
// command lines that the tests run.

#ifndef ATTUNE_TEST_FUZZ_SEEDS_H
#define ATTUNE_TEST_FUZZ_SEEDS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace attune::fuzz {

/// A command line, or a program that passes are to be run on in this process.
struct Input {
  /// The program, or what the command finds as file `input.mlir`.
  std::string text;
  /// The tool and its arguments; without a tool only passes, each as attune-opt
  /// takes it (`--name=options`).
  std::vector<std::string> arguments;
  bool isCommand = false;
  /// The file that it was made from.
  std::string origin;
};

struct Seeds {
  std::vector<Input> programs;
  std::vector<Input> commands;
  /// Every pass that a test runs, with its options.
  std::vector<std::string> passes;
};

/// Reads all tests and examples below some folders, in the order of their
/// names.
llvm::Expected<Seeds> readSeeds(llvm::ArrayRef<std::string> folders);

} // namespace attune::fuzz

#endif // ATTUNE_TEST_FUZZ_SEEDS_H
