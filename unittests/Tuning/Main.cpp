// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The test program is also its own worker, and a tuner that tests can kill.

#include "Fake.h"
#include "gtest/gtest.h"

using namespace attune::tuning;

/// `--tuner <database> <log> <candidates>`: a search to be interrupted from
/// outside.
static int runTuner(char **argv) {
  fake::Problem problem;
  problem.log = argv[3];
  problem.candidates = atoi(argv[4]);
  fake::Settings settings = fake::makeSettings();
  settings.database = argv[2];
  // A final that is killed is repeated as a whole, however far it came.
  settings.options.finalRounds = 0;
  llvm::Expected<Outcome> outcome = fake::search(problem, settings);
  if (!outcome) {
    llvm::errs() << llvm::toString(outcome.takeError()) << "\n";
    return 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  signal(SIGPIPE, SIG_IGN);
  if (argc == 2 && llvm::StringRef(argv[1]) == "--worker")
    return fake::serve(/*checks=*/false);
  if (argc == 2 && llvm::StringRef(argv[1]) == "--noisy")
    return fake::serveNoisy();
  if (argc == 2 && llvm::StringRef(argv[1]) == "--checker")
    return fake::serve(/*checks=*/true);
  if (argc == 5 && llvm::StringRef(argv[1]) == "--tuner")
    return runTuner(argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
