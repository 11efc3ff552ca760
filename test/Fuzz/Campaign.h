// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes inputs from seeds, runs them in processes that may die, and makes those
// that fail smaller.

#ifndef ATTUNE_TEST_FUZZ_CAMPAIGN_H
#define ATTUNE_TEST_FUZZ_CAMPAIGN_H

#include "Mutator.h"
#include "Runner.h"
#include <array>
#include <functional>

namespace attune::fuzz {

class Campaign {
public:
  struct Options {
    uint64_t seed = 1;
    /// The inputs first, first + 1, and so on.
    size_t first = 0;
    size_t count = 1000;
    /// Percent of the inputs that are command lines.
    unsigned commands = 5;
    /// Seconds of CPU time that an input may take.
    unsigned seconds = 20;
    /// A program that compiles crashes, to test the fuzzer itself.
    bool plantsCrashes = false;
    /// Folder of the tools.
    std::string tools;
    /// Folder for inputs that fail.
    std::string output;
  };

  Campaign(Options options, Seeds seeds);

  /// Runs all inputs, writes what failed, and prints how many did. Returns how
  /// many different failures there were.
  size_t run();

private:
  struct Shared;

  /// The input of a number; the same for the same seeds and options.
  Input makeInput(size_t number) const;
  /// Runs inputs in another process, up to one that fails; the reason, or
  /// nothing. `at` is where it ended.
  std::string runApart(size_t begin, size_t end,
                       llvm::function_ref<Input(size_t)> get, size_t &at);
  std::string runApart(const Input &input);
  Input reduce(Input input, const std::string &reason);
  void report(size_t number, const std::string &reason);

  Options options;
  Seeds seeds;
  Runner runner;
  Mutator programs;
  Mutator commands;
  std::string scratch;
  Shared *shared;
  std::map<std::string, size_t> failures;
};

} // namespace attune::fuzz

#endif // ATTUNE_TEST_FUZZ_CAMPAIGN_H
